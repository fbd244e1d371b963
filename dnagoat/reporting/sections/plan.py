"""What a run will cost before it is begun: the tables of `dnagoat train --plan` and `compare --plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dnagoat.reporting.methods import OPTIMIZERS
from dnagoat.reporting.numbers import UNKNOWN
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.training.step.schedule import apply_recipe
from dnagoat.wording import counted

if TYPE_CHECKING:
    from dnagoat.config import RunConfig, TrainConfig
    from dnagoat.counts.memory.budget import MemoryCost
    from dnagoat.evaluation.comparison.experiment import Comparison
    from dnagoat.evaluation.comparison.forecast import Forecast
    from dnagoat.training.plan import RunCost

Line = tuple[str, float | None, str, str]  # what, its number, the number as a person reads it, of what
MIB, GIB = 2**20, 2**30
MOMENTS = {"adamw": "AdamW's two moments", "muon": "Muon's momentum of matrices, AdamW's two moments of the rest"}


def plan_table(config: RunConfig, planned: RunCost, device: str) -> Table:
    """Weights, arithmetic, memory part by part, and the speed that was measured."""
    train, position = config.train, config.model.position.name
    scheduled = apply_recipe(train)
    at_once = f"{counted(planned.windows, 'window')} at once, {train.precision}"
    lines: list[Line] = [
        (
            "parameters",
            planned.parameters,
            f"{planned.parameters:,}",
            f"{planned.position_parameters:,} of them position",
        ),
        (
            "arithmetic",
            planned.flops_per_token,
            f"{planned.flops_per_token / 1e6:,.1f} MFLOP",
            "a base, forward and backward",
        ),
        ("weights", planned.weights, _size(planned.weights), "float32"),
        ("gradients", planned.gradients, _size(planned.gradients), "float32"),
        ("optimizer", planned.optimizer, _size(planned.optimizer), MOMENTS[train.optimizer]),
        ("activations", planned.activations, _size(planned.activations), at_once),
        ("expected memory", planned.expected, _size(planned.expected), f"of {_size(planned.device_bytes)} on {device}"),
        (
            "largest batch",
            planned.largest,
            f"{planned.largest:,}",
            f"windows of {config.model.context:,} bases at once on {device}",
        ),
        (
            "speed",
            planned.tokens_per_second,
            _known(planned.tokens_per_second, ",.0f"),
            f"bases/s, measured here on steps of up to {counted(planned.timed, 'window')}"
            if planned.timed
            else "not one window fits",
        ),
        ("hours", planned.hours, _known(planned.hours, ",.2f"), "for all steps, without validation"),
        ("learning rate", scheduled.lr, f"{scheduled.lr:g}", _rise(scheduled)),
    ]
    lines += _memory(planned.memory)
    rows = [Row(name, [Cell(text, value), Cell(said, said)]) for name, value, text, said in lines]
    title = f"{config.preset} with {position}, {counted(train.steps, 'step')} of {counted(train.batch_size, 'window')}"
    columns = [Column("number", "Number"), Column("said", "Of what", numeric=False)]
    return Table("plan", title, "What", columns, rows)


def comparison_plan(comparison: Comparison, forecast: Forecast) -> Table:
    """What a comparison would train, an arm a row, and what its runs cost; the notes say the whole and the files."""
    columns = [
        Column("setting", "Setting", numeric=False),
        Column("runs", "Runs"),
        Column("parameters", "Weights"),
        Column("memory", "Memory of a run"),
        Column("tokens_per_second", "Speed", "bases/s, measured here"),
        Column("hours", "Hours", "one run after another"),
    ]
    rows = [
        Row(
            arm.label,
            [
                Cell(arm.setting, arm.setting),
                Cell(f"{arm.runs:,}", arm.runs, under=f"{arm.done:,} done" if arm.done else ""),
                Cell(f"{arm.cost.parameters:,}", arm.cost.parameters),
                Cell(_size(arm.cost.expected), arm.cost.expected),
                Cell(_known(arm.cost.tokens_per_second, ",.0f"), arm.cost.tokens_per_second),
                Cell(_known(arm.hours, ",.2f"), arm.hours),
            ],
            arm=arm.label,
        )
        for arm in forecast.arms
    ]
    train, runs = comparison.base.train, sum(arm.runs for arm in forecast.arms)
    title = (
        f"{counted(runs, 'run')} of preset {comparison.base.preset}: {counted(train.steps, 'step')} of "
        f"{counted(train.batch_size, 'window')}, {counted(comparison.seeds, 'seed')}"
    )
    whole = (
        f"About {_known(forecast.hours, ',.2f')} hours on {forecast.device}, {counted(forecast.jobs, 'run')} at once, "
        "without validation and scoring; runs on one machine slow each other down."
    )
    tables = next((arm.cost.memory for arm in forecast.arms if arm.cost.memory is not None), None)
    counting = [f"{name}: {said}, {of}." for name, _, said, of in _memory(tables)]
    return Table("comparison-plan", title, "Arm", columns, rows, [whole, *counting])


def _memory(cost: MemoryCost | None) -> list[Line]:
    """Tables of a model with memory: their size, how long counting takes, and what the budget leaves out."""
    if cost is None:
        return []
    size = f"{cost.bytes / 1e9:,.2f} GB"
    where = f"of {counted(cost.held, 'base')}, both strands; on disk and mapped, as much memory while they are built"
    took = "counted already" if cost.built else "of one core, once for all runs with this dataset"
    minutes = 0.0 if cost.built else cost.seconds / 60
    lines: list[Line] = [
        ("memory's tables", cost.bytes, size, where),
        ("counting", minutes, f"{minutes:,.1f} min", took),
    ]
    if cost.left_out:
        more = "bases of training, spread evenly; `dnagoat prepare --memory --memory-budget GB` holds more"
        lines.append(("left out of memory", cost.left_out, f"{cost.left_out:,}", more))
    return lines


def _rise(train: TrainConfig) -> str:
    """How the rate gets to its height and goes on; a preset's warm-up may be longer than a run that is cut short."""
    risen = f"{OPTIMIZERS[train.optimizer]}, warm-up of {counted(train.warmup, 'step')}"
    if train.warmup <= train.steps:
        return f"{risen}, {train.schedule} decay"
    reached = f"{counted(train.steps, 'step')} reach {train.steps / train.warmup:.0%} of it"
    return f"{risen}: {reached}; give a shorter --warmup"


def _size(count: int) -> str:
    return f"{count / GIB:,.2f} GiB" if count >= GIB else f"{count / MIB:,.1f} MiB"


def _known(value: float | None, form: str) -> str:
    return UNKNOWN if value is None else format(value, form)
