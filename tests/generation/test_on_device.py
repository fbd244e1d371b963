"""The draw on a device: the numbers of NumPy's generator, the bases of the draw on the host, and nobody waits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.errors import OptionError
from dnagoat.generation.continuation import Batch, Writing
from dnagoat.generation.decoding import Decoder
from dnagoat.generation.on_device import DeviceWriting, signed, uniform
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.model.transformer import DnaLM

PROMPTS = [np.array(codes, np.uint8) for codes in ([], [0, 1, 2], [3, 3, 1, 0, 2, 2, 1], [2] * 12)]
OPTIONS = {
    "plain": {},
    "cold": {"temperature": 0.0},
    "warm": {"temperature": 0.7, "top_k": 3},
    "nucleus": {"top_p": 0.8},
    "bans": {"ban_motifs": ("GATNNC", "A", "CG")},
    "tilt": {"gc_target": 0.7, "temperature": 1.3},
}


def test_the_numbers_are_numpys() -> None:
    keys = [0, 1, 2**128 - 1, 0x1234_5678_9ABC_DEF0_0FED_CBA9_8765_4321]
    want = [(np.random.Philox(key=key).random_raw(600) >> np.uint64(11)) * 2.0**-53 for key in keys]
    halves = torch.tensor([(signed(key), signed(key >> 64)) for key in keys])
    assert torch.equal(uniform(halves, torch.arange(600).expand(4, -1)), torch.from_numpy(np.array(want)))


@pytest.fixture(scope="module")
def model() -> DnaLM:
    made = DnaLM(ModelConfig(width=32, heads=2, layers=2, mlp_width=32, position=PositionConfig(name="rope")), 3)
    with torch.no_grad():
        made.embedding.weight.mul_(30)  # far from uniform
    return made.eval()


def written(kind: type[Writing], model: DnaLM, options: SamplingOptions) -> list[Any]:
    writing = kind(model, Batch((0, 1, 2, 3), range(3)), PROMPTS, 300, options, 400)
    while not writing.done:
        writing.advance()
    return list(writing.finished())


@pytest.mark.parametrize("given", OPTIONS.values(), ids=OPTIONS)
def test_the_bases_are_those_of_the_host(model: DnaLM, given: dict[str, Any]) -> None:
    options = SamplingOptions(seed=5, **given)
    for got, want in zip(*(written(kind, model, options) for kind in (DeviceWriting, Writing)), strict=True):
        assert (got.prompt, got.sample, got.bases) == (want.prompt, want.sample, want.bases)
        np.testing.assert_allclose(got.log_probabilities, want.log_probabilities, atol=1e-5)
        assert got.gc_tilt == pytest.approx(want.gc_tilt, abs=1e-6)


class Unrecorded(DeviceWriting):
    """With the decoder of a model with memory, whose steps are not recorded."""

    def _decoder_of(self, model: DnaLM, room: int, strength: float) -> Decoder:
        return Decoder(model, len(self.labels), room, strength)


@pytest.mark.parametrize("given", OPTIONS.values(), ids=OPTIONS)
def test_after_the_steps_of_the_host_the_draw_is_the_hosts(model: DnaLM, given: dict[str, Any]) -> None:
    """To the last digit: only the draw differs, while the recorded decoder adds up in another order."""
    options = SamplingOptions(seed=5, **given)
    for got, want in zip(*(written(kind, model, options) for kind in (Unrecorded, Writing)), strict=True):
        assert (got.prompt, got.sample, got.bases) == (want.prompt, want.sample, want.bases)
        np.testing.assert_array_equal(got.log_probabilities, want.log_probabilities)
        assert got.gc_tilt == pytest.approx(want.gc_tilt, abs=1e-12)


def test_bans_that_leave_nothing_are_refused_at_the_end(model: DnaLM) -> None:
    with pytest.raises(OptionError, match="leave no base to write for 12 sequences"):
        written(DeviceWriting, model, SamplingOptions(ban_motifs=("A", "C", "G", "T")))


class Reads(TorchDispatchMode):
    """How many numbers are asked of a device: each is a wait for all that it has been given to do."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += "_local_scalar" in str(func)
        return func(*args, **(kwargs or {}))


def test_no_step_reads_a_number_from_the_device(model: DnaLM) -> None:
    writing = DeviceWriting(model, Batch((1,), range(4)), PROMPTS, 40, SamplingOptions(top_p=0.9, gc_target=0.4), 60)
    with Reads() as reads:
        while not writing.done:
            writing.advance()
    assert reads.count == 0
