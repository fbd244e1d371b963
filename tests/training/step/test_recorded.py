"""The whole training step recorded once and replayed, without a GPU: the same numbers, resumed bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.genome.alphabet import Codes
from dnagoat.model.replay import CudaGraphs, Replay
from dnagoat.model.transformer import DnaLM
from dnagoat.training.engine import Engine, NonFinite
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.launch.processes import Processes
from dnagoat.training.step.optimizer import hold_rates
from tests.tape import Taped

POSITIONS = {
    "goat": PositionConfig(name="goat"),
    "fire": PositionConfig(name="fire"),
    "momentum": PositionConfig(name="rope", momentum=MomentumConfig(strength=0.3, ramp_steps=5)),
    "learned periods": PositionConfig(name="goat", settings={"learn_periods": True}),
}
STEPS = 6


def engine(
    position: PositionConfig, start: Checkpoint | None = None, device: str = "cpu", how: Execution = Execution()
) -> Engine:
    model = ModelConfig(width=64, heads=2, layers=2, mlp_width=32, context=16, position=position)
    train = TrainConfig(lr=1e-2, warmup=3, steps=STEPS, clip=0.5)
    config = RunConfig(model=model, train=train, dataset="", dataset_hash="", tool_version="")
    return Engine(config, Processes(0, 1, torch.device(device)), how, start)


def windows(number: int) -> list[Codes]:
    """Of a step: two micro-batches, the second smaller, and another number of N each time."""
    drawn = np.random.default_rng(number).integers(0, 5, (5, 16)).astype(np.uint8)
    return [drawn[:3], drawn[3:]]


def trained(made: Engine, first: int = 1, last: int = STEPS) -> list[tuple[float, float]]:
    return [made.step(number, windows(number)) for number in range(first, last + 1)]


def weights(made: Engine) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in made.model.state_dict().items()}


CASES = [*((name, Execution()) for name in POSITIONS), ("goat", Execution(checkpoint_activations=True))]


@pytest.mark.parametrize(("name", "how"), CASES)
def test_a_replayed_step_is_the_step(name: str, how: Execution) -> None:
    """Rates, strengths and numbers of scored bases change from step to step; nothing of them is in the recording."""
    recorder, plain, replayed = Taped(), engine(POSITIONS[name]), engine(POSITIONS[name], how=how)
    replayed.record(recorder)
    assert np.allclose(trained(replayed), trained(plain), rtol=1e-5)
    assert (recorder.run_as_they_are, recorder.recorded, recorder.replayed) == (1, 1, STEPS - 1)
    for key, value in weights(plain).items():
        assert torch.allclose(weights(replayed)[key], value, atol=1e-5), key


def test_a_recorded_run_goes_on_bit_for_bit() -> None:
    whole, half = engine(POSITIONS["goat"]), engine(POSITIONS["goat"])
    whole.record(Taped())
    half.record(Taped())
    curve = trained(whole)
    assert trained(half, last=3) == curve[:3]
    later = engine(POSITIONS["goat"], half.state(TrainingState(step=3)))
    later.record(Taped())
    assert trained(later, first=4) == curve[3:]
    assert all(torch.equal(value, weights(whole)[name]) for name, value in weights(later).items())


def test_a_replayed_step_that_is_not_finite_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = engine(POSITIONS["goat"])
    made.record(Taped())
    trained(made, last=2)
    monkeypatch.setattr("dnagoat.training.engine.learning_rate", lambda train, step: 1e30)
    trained(made, 3, 3)
    far = weights(made)
    with pytest.raises(NonFinite):
        trained(made, 4, 4)
    assert all(torch.equal(value, far[name]) for name, value in weights(made).items())


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_other_rates_compile_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, _: list[Tensor]) -> Callable[..., object]:
        graphs.append(graph)
        return graph.forward

    compiled = torch.nn.Module.compile
    monkeypatch.setattr(DnaLM, "compile", lambda self: compiled(self, backend=keep, fullgraph=True, dynamic=False))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    made = engine(PositionConfig(name="nope"), how=Execution(compile=True))
    hold_rates(made.optimizer, made.group.device)
    trained(made, last=4)
    assert len(graphs) == 2  # one for each size of micro-batch
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2
    assert not torch._dynamo.utils.counters["graph_break"]


def test_only_a_gpu_records() -> None:
    assert not isinstance(engine(POSITIONS["goat"])._go, Replay)


@pytest.mark.gpu
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_a_cuda_graph_of_the_step_gives_the_curve_without(
    position: PositionConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    plain, replayed = (engine(position, device="cuda") for _ in range(2))
    replayed.record(CudaGraphs(torch.device("cuda")))
    monkeypatch.setattr("warnings.warn", lambda *said, **_: pytest.fail(str(said)))
    assert np.allclose(trained(replayed), trained(plain), rtol=1e-4)
