"""What the plan says is what a run takes: parameters, saved activations, arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from dnagoat.config import ModelConfig, RunConfig
from dnagoat.model.transformer import DnaLM
from dnagoat.reporting.sections.plan import plan_table
from dnagoat.training.engine import Engine
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.launch.processes import Processes
from dnagoat.training.plan import SECONDS, flops_per_token, plan, saved_in_training, with_speed
from dnagoat.training.presets import changed, configure

CPU = torch.device("cpu")


@pytest.mark.parametrize("how", [Execution(), Execution(checkpoint_activations=True)], ids=["kept", "recomputed"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("position", ["rope", "goat", "alibi", "nope", "goat+rope", "rope+bias", "t5"])
def test_activations_are_those_that_autograd_keeps(position: str, precision: str, how: Execution) -> None:
    options = {"model.position.name": position, "train.precision": precision, "train.batch_size": 3}
    config = configure("tiny", "data", "hash", 256, options)
    counted = saved_in_training(config, 3, how, fake=False)
    assert plan(config, CPU, how).activations == pytest.approx(counted, rel=0.1)


def test_parameters_and_state(config: RunConfig) -> None:
    planned = plan(changed(config, {"train.optimizer": "adamw"}), CPU)
    model = DnaLM(config.model)
    assert planned.parameters == sum(p.numel() for p in model.parameters())
    assert planned.position_parameters == sum(p.numel() for p in model.position_parameters().values()) > 0
    assert (planned.weights, planned.optimizer) == (4 * planned.parameters, 8 * planned.parameters)


def test_arithmetic_is_within_a_tenth_of_a_count() -> None:
    """torch counts the whole square of attention where the plan counts the causal half."""
    model = ModelConfig(width=128, heads=2, layers=2, mlp_width=512, context=256, kernel="dense")
    model = model.but(position=model.position.but(name="nope"))
    with FlopCounterMode(display=False) as counter:
        DnaLM(model)(torch.zeros(1, 256, dtype=torch.int64)).sum().backward()
    causal_half = 256 * 6 * model.context * model.width * model.layers
    assert flops_per_token(model) * 256 == pytest.approx(counter.get_total_flops() - causal_half, rel=0.1)


def test_the_largest_batch_fits_and_one_more_does_not(config: RunConfig) -> None:
    planned = plan(config, CPU)
    per_window, fixed = (
        planned.activations_per_window,
        planned.expected - planned.windows * planned.activations_per_window,
    )
    assert fixed + planned.largest * per_window <= 0.9 * planned.device_bytes
    assert fixed + (planned.largest + 1) * per_window > 0.9 * planned.device_bytes


def test_a_share_of_the_batch_is_planned(config: RunConfig) -> None:
    assert plan(changed(config, {"train.batch_size": 8}), CPU, processes=4).windows == 2
    assert plan(changed(config, {"train.micro_batch": 3}), CPU).windows == 3


def test_a_plan_leaves_nothing_behind_for_the_run_after_it(config: RunConfig) -> None:
    config = changed(config, {"model.context": 160, "train.batch_size": 2})  # long enough for strips of queries
    plan(config, CPU)
    model = DnaLM(config.model)
    codes = torch.randint(0, 4, (2, 160))
    for logits in (model(codes), model(codes).double()):
        assert torch.isfinite(logits).all() and logits.std() > 0


@pytest.mark.parametrize("window", [0.02, 30.0], ids=["fast", "slow"])
def test_the_update_is_paid_once_a_step(config: RunConfig, window: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine where a window takes so many seconds and an update as long as two windows."""
    clock, steps = [0.0], list[int]()

    def step(engine: Engine, number: int, passes: list[np.ndarray], features: object = None) -> tuple[float, float]:
        steps.append(sum(len(codes) for codes in passes))
        assert all(len(codes) <= 3 for codes in passes), "no more at once than is planned"
        clock[0] += window * (steps[-1] + 2)
        return 0.0, 0.0

    monkeypatch.setattr(Engine, "step", step)
    monkeypatch.setattr("dnagoat.training.plan.perf_counter", lambda: clock[0])
    asked = changed(config, {"train.batch_size": 16, "train.micro_batch": 3, "train.steps": 100})
    planned = with_speed(plan(asked, CPU), asked, CPU)
    assert planned.hours == pytest.approx(100 * 18 * window / 3600)
    assert planned.tokens_per_second == pytest.approx(16 * asked.model.context / (18 * window))
    assert planned.timed == max(steps) == (16 if window < SECONDS else 2)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_the_optimizers_state_is_what_a_step_leaves(config: RunConfig, optimizer: str) -> None:
    made = changed(config, {"train.optimizer": optimizer})
    engine = Engine(made, Processes(0, 1, CPU), Execution())
    engine.step(1, [np.zeros((1, made.model.context), dtype=np.uint8)])
    kept = [value for state in engine.optimizer.state.values() for name, value in state.items() if name != "step"]
    assert plan(made, CPU).optimizer == sum(value.nbytes for value in kept) > 0


@pytest.mark.gpu
def test_expected_memory_is_what_cuda_counts() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    config = configure("small", "data", "hash", 1024, {"train.batch_size": 32, "train.precision": "bf16"})
    device = torch.device("cuda", 0)
    engine = Engine(config, Processes(0, 1, device), Execution())
    torch.cuda.reset_peak_memory_stats()
    for step in (1, 2):
        engine.step(step, [np.zeros((32, 1024), dtype=np.uint8)])
    assert plan(config, device).expected == pytest.approx(torch.cuda.max_memory_allocated(), rel=0.25)


def test_a_plan_tells_how_far_the_rate_rises() -> None:
    def said(options: dict[str, object]) -> str:
        config = configure("tiny", "data", "hash", 256, options)
        rows = {row.head: row.cells for row in plan_table(config, plan(config, CPU), "cpu").rows}
        return " ".join(cell.text for cell in rows["learning rate"])

    assert said({}) == "0.008 Muon for matrices and AdamW, warm-up of 50 steps, cosine decay"
    assert said({"train.optimizer": "adamw"}) == "0.001 AdamW, warm-up of 50 steps, cosine decay"
    assert said({"train.recipe": "goat"}).startswith("0.006 ")
    assert "50 steps: 20 steps reach 40% of it" in said({"train.steps": 20})
