"""Laws of a model with memory: causality, batch mates, a cache and the decoder, bf16, and where it starts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from dnagoat.attention.cache import Cache
from dnagoat.config import Family, ModelConfig, PositionConfig
from dnagoat.counts.memory.reading import Reader
from dnagoat.counts.memory.tables import Memory, open_memory
from dnagoat.errors import OptionError
from dnagoat.evaluation.scoring.branches import Stem, score_branches
from dnagoat.generation.continuation import generate
from dnagoat.generation.decoding import Decoder
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.genome.alphabet import START, encode
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.model.transformer import DnaLM
from tests.counts.memory.genome import dataset_of, repetitive

FAMILIES: tuple[tuple[Family, ...], ...] = (
    ("words",),
    ("words", "gaps"),
    ("words", "copies"),
    ("words", "context"),
    ("words", "gaps", "copies", "context"),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    contigs = {"a": repetitive(9000, 1), "test": repetitive(1000, 4), "val": repetitive(1000, 5)}
    return open_memory(dataset_of(tmp_path_factory.mktemp("memory"), contigs))


def model_of(memory: Memory, families: tuple[Family, ...], position: str = "goat") -> DnaLM:
    """A small model in float64 whose memory is far from its start."""
    config = ModelConfig(
        layers=2, width=64, heads=2, mlp_width=64, memory=families, position=PositionConfig(name=position)
    )
    model = DnaLM(config).double().eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.memory_parameters().values():
        parameter.data += 0.2 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    reader = Reader(memory, families)
    assert model.memory is not None
    model.memory.reader = lambda: reader
    return model


def inputs(*seeds: int, length: int = 120) -> torch.Tensor:
    codes = np.stack([encode("".join(repetitive(length, seed))) for seed in seeds])
    return torch.from_numpy(to_inputs_targets(codes)[0])


@pytest.mark.parametrize("families", FAMILIES)
@torch.no_grad()
def test_causality(memory: Memory, families: tuple[Family, ...]) -> None:
    model, symbols = model_of(memory, families), inputs(11)
    before = model(symbols)
    for t in (1, 60, 119):
        changed = symbols.clone()
        changed[0, t] = (changed[0, t] + 1) % 4
        after = model(changed)
        torch.testing.assert_close(after[:, :t], before[:, :t], rtol=0, atol=1e-12)
        assert (after[:, t:] - before[:, t:]).abs().max() > 1e-6


@pytest.mark.parametrize("families", FAMILIES)
@torch.no_grad()
def test_a_batch_of_one_equals_a_batch_of_many(memory: Memory, families: tuple[Family, ...]) -> None:
    model, symbols = model_of(memory, families), inputs(11, 12, 13)
    together = model(symbols)
    for row in range(3):
        torch.testing.assert_close(model(symbols[row : row + 1])[0], together[row], rtol=0, atol=1e-12)


@pytest.mark.parametrize("edges", [(0, 1, 120), (0, 60, 61, 120), (0, 119, 120)])
@torch.no_grad()
def test_cached_equals_full(memory: Memory, edges: tuple[int, ...]) -> None:
    model, symbols = model_of(memory, FAMILIES[-1]), inputs(11, 12)
    cache = Cache(model.config, 2, 120, dtype=torch.float64)
    parts = [model(symbols[:, start:end], cache) for start, end in pairwise(edges)]
    torch.testing.assert_close(torch.cat(parts, 1), model(symbols), rtol=0, atol=1e-10)


def decoded(model: DnaLM, symbols: torch.Tensor, prompt: int, strength: float = 1.0) -> torch.Tensor:
    """Logits (2 B, T - prompt + 1, 4) of a decoder that reads a prompt of symbols (B, T), with two sequences each."""
    decoder = Decoder(model, 2 * len(symbols), symbols.shape[1], strength)
    logits = [decoder.read(symbols[:, :prompt], repeats=2)]
    logits += [decoder.step(symbols[:, t].repeat_interleave(2)) for t in range(prompt, symbols.shape[1])]
    return torch.stack(logits, 1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("prompt", [1, 40, 100])
@torch.no_grad()
def test_the_decoder_equals_the_full_pass(memory: Memory, prompt: int, dtype: torch.dtype) -> None:
    """Whatever was read as a prompt, with two sequences that continue each."""
    model, symbols = model_of(memory, FAMILIES[-1]).to(dtype), inputs(11, 12)
    full = model(symbols).repeat_interleave(2, 0)[:, prompt - 1 :]
    # Logits of about 100 are sums whose parts are as large: the worst seen is one unit of their last place.
    bar = 16 * torch.finfo(dtype).eps * float(full.abs().max())
    torch.testing.assert_close(decoded(model, symbols, prompt), full, rtol=0, atol=bar)


@torch.no_grad()
def test_the_strength_of_memory_scales_what_it_adds(memory: Memory) -> None:
    """At 0 the logits are the transformer's, which are those of the model without memory's term; between, a mixture."""
    model, symbols = model_of(memory, FAMILIES[-1]), inputs(11, 12)
    assert model.memory is not None
    found: list[torch.Tensor] = []
    hook = model.norm.register_forward_hook(lambda *seen: found.append(seen[2]))
    trained = model(symbols)
    hook.remove()
    alone = torch.nn.functional.linear(found[0], model.embedding.weight[:4])
    assert (trained - alone).abs().max() > 1, "memory adds next to nothing here"
    for strength in (0.0, 0.3, 1.0):
        expected = (alone + strength * (trained - alone)).repeat_interleave(2, 0)[:, 59:]
        torch.testing.assert_close(decoded(model, symbols, 60, strength), expected, rtol=0, atol=1e-10)


def test_generation_takes_a_strength(memory: Memory) -> None:
    """It decides what is written and what its bases are said to cost; a model without memory refuses it."""
    model, prompts = model_of(memory, FAMILIES[-1]), [encode("".join(repetitive(60, 11)))]
    written = {
        strength: next(generate(model, prompts, 80, SamplingOptions(memory_strength=strength)))
        for strength in (None, 1.0, 0.0)
    }
    assert written[None].bases == written[1.0].bases != written[0.0].bases
    symbols = torch.tensor([[START, *prompts[0], *written[0.0].codes]])
    cost = torch.log_softmax(decoded(model, symbols, len(prompts[0]) + 1, 0.0)[0, :-1], -1)
    own = cost.gather(1, torch.from_numpy(written[0.0].codes.astype(np.int64))[:, None])[:, 0]
    np.testing.assert_allclose(written[0.0].log_probabilities, own.numpy(), rtol=0, atol=1e-9)
    with pytest.raises(OptionError, match="trained without memory; leave it out"):
        next(generate(DnaLM(model.config.but(memory=())), prompts, 8, SamplingOptions(memory_strength=0.5)))


@torch.no_grad()
def test_autocast_rounds_nothing_of_memory(memory: Memory) -> None:
    """What memory adds is computed in float32 whatever the precision of the transformer's last state."""
    model, symbols = model_of(memory, FAMILIES[-1]).float(), inputs(11)
    assert model.memory is not None
    features, _ = model.memory.look_up(symbols)
    hidden = torch.randn(1, 120, 64, generator=torch.Generator().manual_seed(3)).bfloat16()
    expected = model.memory.logits(hidden.float(), features)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(model.memory.logits(hidden, features), expected, rtol=0, atol=0)


@torch.no_grad()
def test_it_starts_as_the_mean_of_its_sources(memory: Memory) -> None:
    model, symbols = model_of(memory, FAMILIES[1]), inputs(11)
    fresh = DnaLM(model.config, seed=5).memory
    assert fresh is not None and model.memory is not None
    features, _ = model.memory.look_up(symbols)
    torch.testing.assert_close(fresh.logits(torch.randn(1, 120, 64), features), features.says.mean(2))


def test_every_parameter_of_memory_learns(memory: Memory) -> None:
    """None is without a gradient after one step away from the start."""
    model = model_of(memory, FAMILIES[-1])
    symbols = inputs(11)
    loss = torch.nn.functional.cross_entropy(model(symbols[:, :-1])[0], symbols[0, 1:].clamp(max=3))
    loss.backward()
    for name, parameter in model.memory_parameters().items():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize(
    ("families", "said"),
    [(("gaps",), "memory names words"), (("words", "words"), "each once"), (("wrods",), "there are")],
)
def test_families_that_do_not_go_are_refused(families: tuple[Family, ...], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        ModelConfig(memory=families)


def test_five_letters_are_refused() -> None:
    with pytest.raises(OptionError, match="memory knows four bases"):
        ModelConfig(memory=("words",), classes=5)


def test_branches_after_a_shared_stem_look_up_what_passes_of_their_own_do(memory: Memory) -> None:
    model = model_of(memory, ("words", "gaps", "copies"))
    codes = encode("".join(repetitive(120, 4)))
    other = codes[100:].copy()
    other[0] = (other[0] + 1) % 4
    (found,) = score_branches(model, [Stem(codes[:100], (codes[100:], other))], 1 << 12)
    for nats, branch in zip(found, (codes[100:], other), strict=True):
        symbols = torch.tensor([[START, *codes[:100].tolist(), *branch.tolist()]])
        with torch.inference_mode():
            log_p = torch.log_softmax(model(symbols)[0, 100:-1], -1)
        assert nats == pytest.approx(float(log_p.gather(1, symbols[0, 101:, None]).sum()), abs=1e-6)
