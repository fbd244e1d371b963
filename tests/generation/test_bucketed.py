"""A GPU's decoder and its recorded steps, without a GPU: the full pass, the host's bases, one recording a bucket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.generation import bucketed, on_device
from dnagoat.generation.bucketed import BucketDecoder, bucket_of
from dnagoat.generation.continuation import Batch, Writing, _unrecorded
from dnagoat.generation.decoding import Decoder
from dnagoat.generation.on_device import DeviceWriting
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.model.replay import CudaGraphs, Replay
from dnagoat.model.transformer import DnaLM
from tests.accelerator import Operations
from tests.tape import Taped

SCHEMES = ("nope", "sinusoidal", "rope", "rope+bias", "alibi", "goat", "goat+rope", "t5", "fire")
EXTRAS = {
    "momentum": PositionConfig(name="rope", momentum=MomentumConfig(strength=0.6)),
    "convolution": PositionConfig(name="goat", convolution=3),
    "gate": PositionConfig(name="goat", gate=True),
    "authors": PositionConfig(name="goat", settings={"form": "authors"}),
    "learned periods": PositionConfig(name="goat+rope", settings={"learn_periods": True}),
}
POSITIONS = {name: PositionConfig(name=name) for name in SCHEMES} | EXTRAS
BUCKET, LENGTH, WRITTEN = 8, 28, 24


@pytest.fixture(autouse=True)
def small_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 slots, and blocks of 5 positions whose lanes are made at a time."""
    monkeypatch.setattr(bucketed, "SMALLEST", BUCKET)
    for rows in ("prior_rows", "device_rows"):
        monkeypatch.setattr(f"dnagoat.attention.lanes.{rows}.BLOCK", 5)


def model(position: PositionConfig, normaliser: str = "softmax", dtype: torch.dtype = torch.float64) -> DnaLM:
    """Attention is sharp, the prior far from zero, predictions far from uniform."""
    config = ModelConfig(
        width=64, heads=2, layers=2, mlp_width=32, context=16, position=position, normaliser=normaliser
    )
    made, random = DnaLM(config, 1).to(dtype).eval(), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if ".scheme." in name or ".normaliser." in name:
                parameter.add_(0.3 * torch.rand(parameter.shape, generator=random, dtype=dtype))
            elif name.endswith(("query.weight", "key.weight")):
                parameter.mul_(8)
        made.embedding.weight.mul_(20)
    return made


def symbols(rows: int = 2) -> Tensor:
    return torch.randint(0, 5, (rows, LENGTH), generator=torch.Generator().manual_seed(2))


def decoded(kind: type[Decoder], made: DnaLM, given: Tensor, read: int, room: int) -> Tensor:
    decoder = kind(made, len(given), room)
    logits = [decoder.read(given[:, :read])]
    logits += [decoder.step(column) for column in given[:, read:].T]
    return torch.stack(logits, dim=1)


def test_buckets_are_a_quarter_too_large_at_most() -> None:
    sizes = [bucket_of(seen) for seen in range(1, 40_000)]
    assert sizes == sorted(sizes)
    assert all(seen <= size <= max(1.25 * seen, seen + BUCKET - 1) for seen, size in enumerate(sizes, 1))
    assert len(set(sizes)) <= 4 * (40_000 // BUCKET).bit_length()


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_it_gives_the_full_pass(position: PositionConfig) -> None:
    made, given = model(position), symbols()
    with torch.no_grad():
        full = made(given)
    for read in (1, 11):
        assert (decoded(BucketDecoder, made, given, read, LENGTH) - full[:, read - 1 :]).abs().max() < 1e-9, read


@pytest.mark.parametrize("normaliser", ["sparsemax", "entmax15", "entmax"])
def test_hidden_slots_have_no_weight_under_any_normaliser(normaliser: str) -> None:
    made, given = model(PositionConfig(name="goat"), normaliser), symbols()
    want, got = (decoded(kind, made, given, 3, LENGTH + 20) for kind in (Decoder, BucketDecoder))
    assert (got - want).abs().max() < 1e-9


@pytest.mark.parametrize("room", [2, 9, LENGTH - 1])
@pytest.mark.parametrize("name", ["rope", "goat", "fire"])
def test_a_window_slides_as_it_does_on_the_host(name: str, room: int) -> None:
    made, given = model(PositionConfig(name=name)), symbols(1)
    want, got = (decoded(kind, made, given, min(room, 4), room) for kind in (Decoder, BucketDecoder))
    assert (got - want).abs().max() < 1e-9


PROMPTS = [np.array(codes, np.uint8) for codes in ([], [0, 1, 2], [3, 3, 1, 0, 2, 2, 1], [2] * 12)]


def written(kind: type[Writing], made: DnaLM, batch: Batch, options: SamplingOptions, room: int) -> list[Any]:
    writing = kind(made, batch, PROMPTS, WRITTEN, options, room)
    while not writing.done:
        writing.advance()
    return list(writing.finished())


BATCHES = {
    "many": (Batch((0, 1, 2, 3), range(2)), 60),
    "one": (Batch((1,), range(1)), 60),
    "sliding": (Batch((2, 3), range(2)), 10),
}
CASES = [(name, "many") for name in POSITIONS] + [(name, how) for name in ("nope", "goat", "fire") for how in BATCHES]


@pytest.mark.parametrize(("name", "how"), dict.fromkeys(CASES))
def test_replayed_steps_write_what_the_host_writes(name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts of different lengths, one sequence and several, a window that slides: one recording a bucket."""
    made, (batch, room) = model(POSITIONS[name], dtype=torch.float32), BATCHES[how]
    options = SamplingOptions(seed=5, temperature=0.9, top_p=0.95, ban_motifs=("GATNNC",), gc_target=0.5)
    recorder = Taped()
    monkeypatch.setattr(on_device, "recorder_for", lambda device: recorder)
    got, want = (written(kind, made, batch, options, room) for kind in (DeviceWriting, Writing))
    assert [one.bases for one in got] == [one.bases for one in want]
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=1e-4)
        assert one.gc_tilt == pytest.approx(other.gc_tilt, abs=1e-4)
    begin = min(len(PROMPTS[prompt]) + 1 for prompt in batch.prompts)
    end = max(len(PROMPTS[prompt]) + 1 for prompt in batch.prompts) + WRITTEN - 1  # its base is drawn, and not read
    sizes = [min(bucket_of(seen + 1), room, end) for seen in range(min(begin, room), end)]
    alone = sum(sizes.count(size) == 1 for size in set(sizes))  # run, and nothing left to replay
    assert recorder.recorded == len(set(sizes)) - alone
    assert recorder.run_as_they_are == len(set(sizes))
    assert recorder.replayed == len(sizes) - len(set(sizes))


class Signature(Operations):
    """Each operation with the shapes of what it reads and writes."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = super().__torch_dispatch__(func, types, args, kwargs)
        shapes = [tuple(x.shape) for x in tree_leaves((args, kwargs, out)) if isinstance(x, Tensor)]
        numbers = [x for x in tree_leaves((args, kwargs)) if isinstance(x, int | float)]
        self.lines.append(f"{func} {shapes} {numbers}")
        return out


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_a_step_is_the_same_at_every_position_of_a_bucket(position: PositionConfig) -> None:
    """Operations, shapes and the host's numbers; and the host asks for none."""
    decoder = BucketDecoder(DnaLM(ModelConfig(width=64, heads=2, layers=2, mlp_width=32, position=position)), 3, 64)
    steps: dict[int, list[list[str]]] = {}
    with torch.inference_mode():
        decoder.read(symbols(3)[:, :3])
        while decoder.length < 26:
            bucket = decoder.bucket
            decoder.prepare()
            with Signature() as seen:
                decoder.go(bucket)
            assert seen.crossings == []
            steps.setdefault(bucket, []).append(seen.lines)
    assert [len(same) for same in steps.values()] == [5, 8, 8, 2]
    assert all(lines == same[0] for same in steps.values() for lines in same)
    assert len({len(same[0]) for same in steps.values()}) == 1


def test_memory_is_said_to_keep_steps_from_being_recorded() -> None:
    plain, remembering = (DnaLM(ModelConfig(width=32, heads=1, layers=1, memory=m)) for m in ((), ("words",)))
    gpu, cpu = torch.device("cuda"), torch.device("cpu")
    said = [len(list(_unrecorded(made, device))) for made in (plain, remembering) for device in (cpu, gpu)]
    assert said == [0, 0, 0, 1]


class Refusing:
    """A device that runs steps and records none."""

    def run(self, step: Callable[[], None]) -> None:
        step()

    def record(self, step: Callable[[], None]) -> Callable[[], None]:
        raise RuntimeError("operation not permitted when stream is capturing")


def test_where_nothing_can_be_recorded_steps_are_run_and_it_is_said_once() -> None:
    gone: list[int] = []
    step = Replay(gone.append, Refusing())
    with pytest.warns(RuntimeWarning, match="launched one by one: operation not permitted") as said:
        for size in (8, 8, 8, 16, 16):
            step(size)
    assert gone == [8, 8, 8, 16, 16] and len(said) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_cuda_graphs_write_what_steps_without_them_write(
    position: PositionConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    made, batch, options = model(position).cuda(), Batch((0, 1, 2, 3), range(3)), SamplingOptions(seed=5)
    recorded: list[CudaGraphs] = []

    class Counted(CudaGraphs):
        def record(self, step: Callable[[], None]) -> Callable[[], None]:
            recorded.append(self)
            return super().record(step)

    monkeypatch.setattr(on_device, "recorder_for", Counted)
    with_graphs = written(DeviceWriting, made, batch, options, 60)
    assert len(recorded) == len({bucket_of(seen) for seen in range(2, 13 + WRITTEN)})
    monkeypatch.setattr(on_device, "recorder_for", lambda device: None)
    without = written(DeviceWriting, made, batch, options, 60)
    assert [one.bases for one in with_graphs] == [one.bases for one in without]
    on_host = written(Writing, made.cpu(), batch, options, 60)
    assert [one.bases for one in with_graphs] == [one.bases for one in on_host]
