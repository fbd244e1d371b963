"""Cached decoding is the full pass: any scheme, momentum, normaliser, split of the prompt, past the training length."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from dnagoat.attention.biased import Bias
from dnagoat.attention.cache import Cache
from dnagoat.attention.fast.values import ColumnValues
from dnagoat.attention.lanes.prior_rows import BLOCK
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.generation.decoding import Decoder, bytes_a_sequence
from dnagoat.genome.alphabet import START
from dnagoat.model.transformer import DnaLM

SCHEMES = ("nope", "sinusoidal", "rope", "rope+bias", "alibi", "goat", "goat+rope", "t5", "fire")
NORMALISERS = ("softmax", "sparsemax", "entmax15", "entmax")
LENGTH, CONTEXT = 28, 10  # nearly three times the training length
RECENCY = {"alibi", "goat", "goat+rope"}


@cache
def model(scheme: str, momentum: bool = False, normaliser: str = "softmax", layers: int = 2) -> DnaLM:
    """A small float64 model whose attention is sharp and whose prior has every parameter away from zero."""
    position = PositionConfig(
        name=scheme,
        settings=GoatConfig(rank=2, periods=(3.0, 10.5), sink_width=8, sink_frequencies=2),
        momentum=MomentumConfig(strength=0.6) if momentum else None,
    )
    config = ModelConfig(
        width=64, heads=2, layers=layers, mlp_width=32, context=CONTEXT, position=position, normaliser=normaliser
    )
    return sharp(config)


def of_the_authors(momentum: bool, content: int | None) -> DnaLM:
    goat = GoatConfig(form="authors", sink_frequencies=2)
    position = PositionConfig(settings=goat, momentum=MomentumConfig(strength=0.6) if momentum else None)
    return sharp(
        ModelConfig(width=64, heads=2, layers=2, mlp_width=32, context=CONTEXT, position=position, content=content)
    )


def sharp(config: ModelConfig) -> DnaLM:
    made = DnaLM(config).double().eval()
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if ".scheme." in name or ".normaliser." in name:
                parameter.add_(0.3 * torch.rand(parameter.shape, generator=random, dtype=parameter.dtype))
            elif name.endswith(("query.weight", "key.weight")):
                parameter.mul_(8)
    return made


def symbols(rows: int = 2, length: int = LENGTH) -> Tensor:
    drawn = torch.randint(0, 5, (rows, length), generator=torch.Generator().manual_seed(2))
    drawn[:, 0] = START
    return drawn


def decoded(made: DnaLM, given: Tensor, read: int, room: int | None = None) -> Tensor:
    """Logits after symbols read - 1, read, ...: the first `read` symbols at once, the others one by one."""
    decoder = Decoder(made, len(given), room or given.shape[1])
    logits = [decoder.read(given[:, :read])]
    logits += [decoder.step(column) for column in given[:, read:].T]
    return torch.stack(logits, dim=1)


def tolerance(scheme: str, length: int = LENGTH) -> float:
    """What float32 may be off: positions in the hundreds cost recency digits."""
    return 3e-5 * max(1, length / 1024) if scheme in RECENCY else 2e-6


@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_split_of_the_prompt_gives_the_full_pass(scheme: str, momentum: bool) -> None:
    made, given = model(scheme, momentum), symbols()
    with torch.no_grad():
        full = made(given)
    for read in range(1, LENGTH + 1):
        assert (decoded(made, given, read) - full[:, read - 1 :]).abs().max() < 1e-10, read


@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_every_normaliser_gives_the_full_pass(normaliser: str, momentum: bool) -> None:
    made, given = model("goat+rope", momentum, normaliser), symbols()
    with torch.no_grad():
        full = made(given)
    for read in (1, CONTEXT, LENGTH - 1):
        assert (decoded(made, given, read) - full[:, read - 1 :]).abs().max() < 1e-10, read


@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_float32_is_within_the_tolerance_of_its_scheme(scheme: str, momentum: bool) -> None:
    made, given = model(scheme, momentum), symbols()
    with torch.no_grad():
        full = made(given)
    single = DnaLM(made.config).eval()
    single.load_state_dict(made.state_dict())
    assert (decoded(single, given, 3) - full[:, 2:]).abs().max() < tolerance(scheme)


@pytest.mark.parametrize("cut", [(1, 2, 3), (5, 6, 20), (27,), (9, 10, 11, 12)])
@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_models_own_cache_may_be_filled_in_any_pieces(scheme: str, momentum: bool, cut: tuple[int, ...]) -> None:
    made, given = model(scheme, momentum), symbols()
    held = Cache(made.config, len(given), LENGTH, dtype=torch.float64)
    with torch.no_grad():
        pieces = [made(piece, held) for piece in torch.tensor_split(given, cut, dim=1)]
        assert (torch.cat(pieces, dim=1) - made(given)).abs().max() < 1e-10


@pytest.mark.parametrize("content", [None, 21, 31], ids=["as wide as lanes leave", "odd", "wider"])
@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
def test_the_authors_form_with_a_content_of_its_own(momentum: bool, content: int | None) -> None:
    """Queries and keys are then wider than values, in the model's cache and in the decoder's."""
    made, given = of_the_authors(momentum, content), symbols()
    held = Cache(made.config, len(given), LENGTH, dtype=torch.float64)
    with torch.no_grad():
        full = made(given)
        pieces = [made(piece, held) for piece in torch.tensor_split(given, (5, 6, 20), dim=1)]
    assert (torch.cat(pieces, dim=1) - full).abs().max() < 1e-10
    for read in (1, CONTEXT, LENGTH - 1):
        assert (decoded(made, given, read) - full[:, read - 1 :]).abs().max() < 1e-10, read


@pytest.mark.parametrize("scheme", ["rope", "goat"])
def test_lanes_are_made_anew_where_a_block_of_them_ends(scheme: str) -> None:
    made, given = model(scheme, layers=1), symbols(1, 3 * BLOCK)
    with torch.no_grad():
        full = made(given)
    read = BLOCK - 3
    assert (decoded(made, given, read) - full[:, read - 1 :]).abs().max() < 1e-10


@pytest.mark.parametrize("room", [2, 3, 9, LENGTH - 1, LENGTH, LENGTH + 5])
@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_sliding_window_sees_the_first_symbol_and_the_latest(scheme: str, momentum: bool, room: int) -> None:
    made, given = model(scheme, momentum), symbols()
    i, j = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    seen = (j <= i) & ((j == 0) | (j > i - (room - 1)))

    def windowed(
        q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
    ) -> Tensor:
        added = torch.zeros(LENGTH, LENGTH, dtype=q.dtype) if bias is None else bias.block()
        return scaled_dot_product_attention(q, k, v, attn_mask=added.masked_fill(~seen, -torch.inf), scale=scale)

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        for attention in made.attentions():
            patch.setattr(attention, "kernel", windowed)
        full = made(given)
    read = min(room, 4)
    assert (decoded(made, given, read, room) - full[:, read - 1 :]).abs().max() < 1e-10


@pytest.mark.parametrize("scheme", ["sinusoidal", "goat+rope"])
@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
def test_a_prompt_that_is_read_once_serves_several_sequences(
    scheme: str, momentum: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dnagoat.generation.decoding.READ_AT_ONCE", 3 * 12)  # the last pass has fewer rows
    made, given = model(scheme, momentum), symbols(5)
    repeated = given.repeat_interleave(3, 0)
    decoder = Decoder(made, 15, LENGTH)
    logits = [decoder.read(given[:, :12], 3)] + [decoder.step(column) for column in repeated[:, 12:].T]
    with torch.no_grad():
        assert (torch.stack(logits, 1) - made(repeated)[:, 11:]).abs().max() < 1e-10


@pytest.mark.parametrize("room", [5, LENGTH, LENGTH + 7])
@pytest.mark.parametrize("normaliser", ["softmax", "entmax15"])
def test_both_layouts_of_values_give_the_same(normaliser: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made, given = model("goat", True, normaliser), symbols(3)
    rows = decoded(made, given, 4, room)
    monkeypatch.setattr("dnagoat.attention.fast.values.CACHED", 0)
    assert isinstance(Decoder(made, 3, room).values, ColumnValues)
    assert (decoded(made, given, 4, room) - rows).abs().max() < 1e-10


def test_memory_is_known_beforehand() -> None:
    made = model("goat")
    for room in (1, 16, 1000, 1024):
        decoder = Decoder(made, 3, room)
        kept = sum(part.numel() * part.element_size() for part in (decoder.k, decoder.values.held))
        assert kept < 3 * bytes_a_sequence(made, room) < 1.1 * kept


@pytest.mark.gpu
@pytest.mark.parametrize("scheme", SCHEMES)
def test_decoding_on_a_gpu_gives_the_full_pass(scheme: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    made, given = DnaLM(model(scheme).config), symbols().cuda()
    made.load_state_dict(model(scheme).state_dict())
    made = made.double().cuda().eval()
    with torch.no_grad():
        full = made(given)
    assert (decoded(made, given, 3) - full[:, 2:]).abs().max() < 1e-10
    assert np.isfinite(full.cpu().numpy()).all()
