"""GOAT in its authors' form against their own module, goat-attention 0.1.1, under the same weights."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dnagoat.attention.biased import Bias
from dnagoat.attention.layer import Attention
from dnagoat.attention.schemes.authors import AuthorsRecency, AuthorsSink
from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.goat import Goat, GoatConfig, PartName
from dnagoat.attention.schemes.starts import SEEDED_SD
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.measure.peer import VERSION, installed
from dnagoat.model.transformer import DnaLM
from dnagoat.training.presets import preset
from tests.goat_settings import goat_settings

needs_theirs = pytest.mark.skipif(
    installed() != VERSION, reason="goat-attention 0.1.1 is not installed: pip install --no-deps goat-attention==0.1.1"
)
HEADS, HEAD, CONTEXT = 4, 64, 1024
WIDTH = HEADS * HEAD
PARTS: list[tuple[PartName, ...]] = [("spectral",), ("sink",), ("recency",), ("spectral", "sink", "recency")]


def theirs_with(parts: tuple[PartName, ...], rank: int, seed: int = 0) -> Any:
    """Their module with a prior of which only some parts say anything, large enough that each of them is seen."""
    torch.manual_seed(seed)
    module = import_module("goat").GoatAttention(
        WIDTH,
        HEADS,
        bias=False,
        batch_first=True,
        pos_rank=rank if "spectral" in parts else 0,
        abs_rank=8,
        enable_key_bias=parts != ("spectral",),
        training_seq_len=CONTEXT,
    )
    with torch.no_grad():
        module.lambda_sym.uniform_(-1, 1)
        module.lambda_asym.uniform_(-1, 1)
        if module.enable_key_bias:
            module.key_bias.fc2.weight.zero_()
            if "recency" not in parts:
                module.recency_slope_raw.fill_(-30)
        if "sink" in parts:
            for parameter in module.key_bias.parameters():
                parameter.normal_()
            module.sink_gain.uniform_(-1, 1)
            module.sink_bump.uniform_(-1, 1)
    return module


def ours_like(theirs: Any, parts: tuple[PartName, ...], rank: int) -> Attention:
    """Our layer with their weights; content is as wide as theirs."""
    goat = GoatConfig(form="authors", parts=parts, rank=rank)
    config = ModelConfig(
        width=WIDTH,
        heads=HEADS,
        layers=1,
        context=CONTEXT,
        position=PositionConfig(settings=goat),
        kernel="sdpa",
        content=theirs.content_dim,
    )
    layer = Attention(config, 0)
    with torch.no_grad():
        for mine, projection in ((layer.query, theirs.q_proj), (layer.key, theirs.k_proj)):
            by_head = projection.weight.view(HEADS, HEAD, WIDTH)
            mine.weight.copy_(by_head[:, : theirs.content_dim].reshape(-1, WIDTH))
        layer.value.weight.copy_(theirs.v_proj.weight)
        layer.out.weight.copy_(theirs.out_proj.weight)
        copy_prior(layer.scheme, theirs)
    return layer


def copy_prior(scheme: nn.Module, theirs: Any) -> None:
    assert isinstance(scheme, Goat)
    parts: Any = scheme.parts
    if "spectral" in parts:
        parts["spectral"].even.copy_(theirs.lambda_sym)
        parts["spectral"].odd.copy_(theirs.lambda_asym)
    if "sink" in parts:
        parts["sink"].inner.load_state_dict(theirs.key_bias.fc1.state_dict())
        parts["sink"].outer.load_state_dict(theirs.key_bias.fc2.state_dict())
        parts["sink"].gain.copy_(theirs.sink_gain)
        parts["sink"].first.copy_(theirs.sink_bump)
    if "recency" in parts:
        parts["recency"].raw.copy_(theirs.recency_slope_raw)


def weights_of(layer: Attention, x: Tensor) -> Tensor:
    """(B, H, T, T): softmax of the very queries and keys that the kernel is given."""
    seen: list[Tensor] = []

    def kernel(
        q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
    ) -> Tensor:
        hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
        seen.append((q @ k.mT * scale).masked_fill(hidden, -torch.inf).softmax(-1))
        return v

    whole, layer.kernel = layer.kernel, kernel
    layer(x, At.whole(x.shape[1]))
    layer.kernel = whole
    return seen[0]


@needs_theirs
@pytest.mark.parametrize("rank", [2, 8])
@pytest.mark.parametrize("parts", PARTS, ids="+".join)
@torch.no_grad()
def test_attention_is_their_modules_under_their_weights(parts: tuple[PartName, ...], rank: int) -> None:
    theirs = theirs_with(parts, rank)
    ours = ours_like(theirs, parts, rank)
    for length in (1, 7, 128):  # beyond, their one lane of slope * j costs their float32 its digits
        x = torch.randn(1, length, WIDTH)
        y, weights = theirs(x, x, x, is_causal=True, need_weights=True, average_attn_weights=False)
        assert (weights_of(ours, x) - weights).abs().max() <= 1e-5, length
        assert (ours(x, At.whole(length)) - y).abs().max() <= 1e-5, length


def without_rounding(layer: Attention, x: Tensor) -> tuple[Tensor, Tensor]:
    """Attention weights (B, H, T, T) and outputs (B, T, width) by the formulas of the parts, in float64."""

    def heads(projection: nn.Linear) -> Tensor:
        return (x.double() @ projection.weight.double().T).unflatten(-1, (HEADS, -1)).transpose(1, 2)

    parts: Any = layer.scheme.parts
    q, k, j = heads(layer.query), heads(layer.key), torch.arange(x.shape[1], dtype=torch.float64)
    prior = sum(part.exact(j[:, None], j[None]) for part in parts.values())
    logits = q @ k.mT / q.shape[-1] ** 0.5 + prior
    weights = logits.masked_fill(torch.ones(len(j), len(j), dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    return weights, (weights @ heads(layer.value)).transpose(1, 2).flatten(2) @ layer.out.weight.double().T


@needs_theirs
@pytest.mark.parametrize("parts", PARTS, ids="+".join)
@torch.no_grad()
def test_at_the_length_of_training_ours_keeps_the_digits_that_theirs_loses(parts: tuple[PartName, ...]) -> None:
    """In float32 one lane of theirs holds slope * j, and frequencies are rounded; worst seen of ours: 2e-6."""
    theirs = theirs_with(parts, 2)
    ours = ours_like(theirs, parts, 2)
    x = torch.randn(1, CONTEXT, WIDTH)
    weights, y = without_rounding(ours, x)
    off = (ours(x, At.whole(CONTEXT)) - y).abs().max()
    assert (weights_of(ours, x) - weights).abs().max() <= 1e-5 and off <= 1e-5
    if parts == PARTS[-1]:
        assert (theirs(x, x, x, is_causal=True)[0] - y).abs().max() > 3 * off  # 1.5e-5 were seen, of ours 1.5e-6


@needs_theirs
@torch.no_grad()
def test_a_part_that_is_left_out_would_be_seen() -> None:
    """The weights above are large enough for the comparison to fail without any one of the parts."""
    theirs = theirs_with(PARTS[-1], 2)
    x = torch.randn(1, 256, WIDTH)
    whole = weights_of(ours_like(theirs, PARTS[-1], 2), x)
    for left in PARTS[:3]:
        rest = tuple(part for part in PARTS[-1] if part not in left)
        assert (weights_of(ours_like(theirs, rest, 2), x) - whole).abs().max() > 0.1, left


@needs_theirs
def test_the_start_is_theirs() -> None:
    """What they draw has their spread, all else their values; the preset's prior is theirs at step 0."""
    config, _ = preset("paper")
    goat = goat_settings(config)
    theirs = import_module("goat").GoatAttention(
        config.width,
        config.heads,
        pos_rank=goat.rank,
        abs_rank=goat.sink_frequencies,
        training_seq_len=config.context,
    )
    model = DnaLM(config, seed=5)
    parts: Any = next(model.attentions()).scheme.parts
    torch.testing.assert_close(parts["spectral"].frequencies.float(), theirs.rel_freqs_base)
    torch.testing.assert_close(parts["sink"].frequencies.float(), theirs.abs_freqs_base)
    torch.testing.assert_close(parts["recency"].raw, theirs.recency_slope_raw)
    for mine, other in ((parts["sink"].inner, theirs.key_bias.fc1), (parts["sink"].outer, theirs.key_bias.fc2)):
        assert mine.weight.shape == other.weight.shape
        torch.testing.assert_close(mine.bias, other.bias)
    torch.testing.assert_close(parts["sink"].gain, theirs.sink_gain)
    torch.testing.assert_close(parts["sink"].first, theirs.sink_bump)
    torch.testing.assert_close(parts["spectral"].odd, theirs.lambda_asym)
    every: list[Any] = [attention.scheme.parts for attention in model.attentions()]
    inner = torch.cat([layer["sink"].inner.weight.flatten() for layer in every]).detach()
    even = torch.cat([layer["spectral"].even.flatten() for layer in every]).detach()
    assert abs(float(inner.std()) / 1e-3 - 1) < 4 * (2 * len(inner)) ** -0.5
    assert abs(float(even.std()) / SEEDED_SD - 1) < 4 * (2 * len(even)) ** -0.5


@pytest.mark.parametrize("init", ["seeded", "uniform"])
def test_every_parameter_has_a_gradient_within_two_steps(init: str) -> None:
    goat = GoatConfig(form="authors", init=init)
    config = ModelConfig(width=64, heads=2, layers=1, mlp_width=64, context=64, position=PositionConfig(settings=goat))
    model, codes = DnaLM(config), torch.randint(0, 4, (2, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    felt: set[str] = set()
    for _ in range(2):
        model(codes).log_softmax(-1)[..., 0].sum().backward()
        felt |= {name for name, p in model.position_parameters().items() if p.grad is not None and p.grad.any()}
        optimizer.step()
        optimizer.zero_grad()
    without = set(model.position_parameters()) - felt
    assert without <= {"blocks.0.attention.scheme.parts.sink.outer.bias"}  # a constant a row: its gradient is 0


def test_uniform_is_no_prior_to_twelve_digits() -> None:
    goat = GoatConfig(form="authors", init="uniform")
    model = DnaLM(ModelConfig(width=128, heads=2, layers=2, position=PositionConfig(settings=goat)))
    j = torch.arange(1000)
    for attention in model.attentions():
        prior = attention.scheme.log_prior(j, j)
        assert (prior - prior[..., :1]).abs().max() < 1e-9


def test_the_form_is_its_parts_and_its_settings() -> None:
    goat = GoatConfig(form="authors")
    assert (goat.init, goat.rank, goat.periods, goat.sink_width, goat.sink_frequencies) == ("seeded", 2, None, 4, 8)
    scheme = Goat(ModelConfig(position=PositionConfig(settings=goat)))
    assert isinstance(scheme.parts["sink"], AuthorsSink) and isinstance(scheme.parts["recency"], AuthorsRecency)
    assert scheme.lanes == 12 and scheme.content == 52
    spectral: Any = scheme.parts["spectral"]
    periods = 2 * torch.pi / spectral.frequencies
    assert [round(float(period), 2) for period in periods] == [6.28, 62831.85]
