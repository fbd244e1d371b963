"""A step on an accelerator, on any machine: nothing crosses over, few launches, one graph, one wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import _foreach_utils

from dnagoat.attention import biased
from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.generation.bucketed import BucketDecoder
from dnagoat.model.transformer import DnaLM
from dnagoat.training.engine import Engine, NonFinite
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.launch.processes import Processes
from dnagoat.training.presets import configure
from dnagoat.training.step.loss import summed_loss
from dnagoat.training.step.optimizer import make_optimizer
from tests.accelerator import NAME, Operations, moved

KERNELS = ("nope", "sinusoidal", "alibi", "rope", "rope+bias", "goat", "goat+rope")  # whose attention is the device's
EXTRAS = {
    "momentum": PositionConfig(name="rope", momentum=MomentumConfig(strength=0.3)),
    "convolution": PositionConfig(name="goat", convolution=3),
    "gate": PositionConfig(name="goat", gate=True),
    "authors": PositionConfig(name="goat", settings={"form": "authors"}),
    "learned periods": PositionConfig(name="goat", settings={"learn_periods": True}),
}
POSITIONS = {name: PositionConfig(name=name) for name in KERNELS} | EXTRAS


@contextmanager
def on_the_device(model: ModelConfig) -> Iterator[tuple[DnaLM, Tensor]]:
    with FakeTensorMode(allow_non_fake_inputs=True):
        made = moved(DnaLM(model, seed=None))
        assert isinstance(made, DnaLM)
        yield made, torch.empty(2, model.context, dtype=torch.int64, device=NAME)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_a_step_stays_on_the_device(position: PositionConfig, precision: str) -> None:
    with on_the_device(ModelConfig(layers=2, context=256, position=position)) as (model, codes):
        optimizer = make_optimizer(model, TrainConfig())
        optimizer.found_inf = torch.zeros((), device=NAME)  # type: ignore[attr-defined]
        with Operations() as seen:
            with torch.autocast(NAME, torch.bfloat16, enabled=precision == "bf16"):
                loss = summed_loss(model(codes), codes)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            model.constrain()
        assert {p.grad.device.type for p in model.parameters() if p.grad is not None} == {NAME}
        assert seen.crossings == []
        assert seen.on_host == []  # as a graph they would be host nodes, for which Inductor wants a compiler


@pytest.mark.parametrize("name", SCHEMES)
def test_a_decoding_step_stays_on_the_device(name: str) -> None:
    with on_the_device(ModelConfig(layers=1, context=64, position=PositionConfig(name=name))) as (model, codes):
        decoder = BucketDecoder(model, 2, 64)
        with torch.inference_mode():
            decoder.read(codes[:, :5])
            decoder.prepare()
            with Operations() as seen:
                decoder.go(decoder.bucket)
        assert seen.crossings == []
        assert seen.on_host == []


def launches(name: str, precision: str = "fp32") -> int:
    """Of the second forward and backward of the authors' preset, 8 layers."""
    config = configure("paper", "", "", 1024, {"model.position.name": name})
    with on_the_device(config.model) as (model, codes):

        def pass_through() -> None:
            with torch.autocast(NAME, torch.bfloat16, enabled=precision == "bf16"):
                loss = summed_loss(model(codes), codes)
            loss.backward()

        pass_through()
        model.zero_grad(set_to_none=True)
        with Operations() as seen:
            pass_through()
    return sum(seen.launches.values())


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_positions_cost_few_launches(precision: str) -> None:
    """Launches decide the speed of a small model; the mathematics of a prior are small."""
    plain, rope, goat = (launches(name, precision) for name in ("nope", "rope", "goat"))
    assert goat <= 1.15 * plain, (plain, rope, goat)
    assert rope <= 1.3 * plain, (plain, rope, goat)


@pytest.mark.parametrize("name", ["nope", "goat", "learned periods"])
def test_an_update_costs_few_launches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clipping and the fused AdamW: a handful, however many weights there are; a bound that a scheme keeps is one a
    layer and parameter. Dynamo leaves the update alone, and there is nothing to gain."""
    known = _foreach_utils._foreach_supported_types
    monkeypatch.setattr(_foreach_utils, "_foreach_supported_types", [*known, FakeTensor])
    for layers in (2, 8):
        with on_the_device(ModelConfig(layers=layers, context=64, position=POSITIONS[name])) as (model, codes):
            optimizer = make_optimizer(model, TrainConfig())
            optimizer.found_inf = torch.zeros((), device=NAME)  # type: ignore[attr-defined]
            for _ in range(2):  # the first makes the moments
                summed_loss(model(codes), codes).backward()
                with Operations() as seen:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    model.constrain()
        launches, groups = seen.launches, len(optimizer.param_groups)
        assert launches.pop("clamp_", 0) <= 2 * layers
        assert launches["_fused_adamw_"] == groups
        assert sum(launches.values()) <= 8 + 3 * groups, launches


GRAPHS = POSITIONS | {name: PositionConfig(name=name) for name in ("t5", "fire")}
TRACED = [*((name, "auto") for name in GRAPHS), ("t5", "flex"), ("fire", "flex")]


@pytest.mark.parametrize("grad", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize(("name", "kernel"), TRACED)
# PyTorch's tracer itself instantiates the class that it warns about.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_one_graph_and_none_again(name: str, kernel: str, grad: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps, and lengths that come back, need no other graph than the first of their length. `flex` is what attends
    with a bias on CUDA; a CPU traces it, and has no backward for it."""
    model = DnaLM(ModelConfig(width=64, heads=1, layers=2, mlp_width=32, position=GRAPHS[name]))
    if kernel == "flex":
        monkeypatch.setattr("torch.nn.attention.flex_attention._validate_device", lambda *_: None)
        for attention in model.attentions():
            monkeypatch.setattr(attention, "kernel", biased.flex)
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _: list[Tensor]) -> object:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend, fullgraph=True, dynamic=False)
    with torch.set_grad_enabled(grad):
        for step, length in enumerate((24, 24, 40, 24, 40), 1):
            model.set_step(step)
            codes = torch.arange(2 * length).view(2, length) % 4
            logits = compiled(codes)
            if grad and kernel == "auto":
                logits.sum().backward()
            assert len(graphs) == (1 if step < 3 else 2)


def engine(**train: object) -> Engine:
    model = ModelConfig(width=32, heads=2, layers=1, mlp_width=32, context=16, position=PositionConfig(name="rope"))
    config = RunConfig(model=model, train=TrainConfig(**train), dataset="", dataset_hash="", tool_version="")
    return Engine(config, Processes(0, 1, torch.device("cpu")), Execution())


CODES = np.random.default_rng(0).integers(0, 4, (4, 16)).astype(np.uint8)


def test_a_step_waits_once() -> None:
    """Nothing asks a tensor for its number but the one read of loss and norm, which asks for a list of two."""
    made = engine()
    made.step(1, [CODES])
    with Operations() as seen:
        loss, norm = made.step(2, [CODES, CODES])
    assert seen.crossings == []
    assert np.isfinite([loss, norm]).all()


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_weights_and_moments_stay_where_a_gradient_is_not_finite(optimizer: str) -> None:
    made = engine(optimizer=optimizer)
    made.step(1, [CODES])
    held = {name: value.clone() for name, value in made.model.named_parameters()}
    moments = [value.clone() for state in made.optimizer.state.values() for value in state.values()]
    hook = made.model.norm.weight.register_hook(lambda grad: grad * torch.nan)
    with pytest.raises(NonFinite, match="norm is nan"):
        made.step(2, [CODES])
    hook.remove()
    assert all(torch.equal(value, held[name]) for name, value in made.model.named_parameters())
    after = [value for state in made.optimizer.state.values() for value in state.values()]
    assert all(torch.equal(a, b) for a, b in zip(after, moments, strict=True))
