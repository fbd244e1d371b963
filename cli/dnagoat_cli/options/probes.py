"""What probes may be asked: options of their models and trials, and the library's options that these make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dnagoat_cli.options.weights import Checkpoint

if TYPE_CHECKING:
    from dnagoat.config import TrainConfig
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.probes.extrapolate import ExtrapolateOptions
    from dnagoat.evaluation.probes.induction import InductionOptions
    from dnagoat.evaluation.probes.linear.classes import Asked
    from dnagoat.evaluation.probes.linear.regression import LinearOptions
    from dnagoat.evaluation.probes.recall import RecallOptions
    from dnagoat.evaluation.probes.retrieval import TaskName

TRAINING = "How the small models learn"

Preset = Annotated[str, typer.Option(help="tiny (minutes on a CPU) or paper (a GPU).")]
Arms = Annotated[
    list[str] | None,
    typer.Option("--arm", help="As in compare: rope, goat:spectral+sink, alibi@momentum=0.5; repeatable."),
]
Seeds = Annotated[int | None, typer.Option(help="Models of each arm.")]
Jobs = Annotated[int, typer.Option(help="Models trained side by side, each on one CPU thread.", min=1)]
Split = Annotated[str, typer.Option(help="train, val or test.")]
Width = Annotated[int | None, typer.Option(help="Width of the model.", rich_help_panel=TRAINING)]
PriorLrScale = Annotated[
    float | None, typer.Option(help="Rate of position parameters over the others'.", rich_help_panel=TRAINING)
]


@dataclass(frozen=True)
class Result:
    """Where the result goes, and where it is computed."""

    out: Annotated[Path | None, typer.Option(help="Folder to write; probes/NAME by default.")] = None
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto"
    force: Annotated[bool, typer.Option("--force", help="Replace a result that is there.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False


@dataclass(frozen=True)
class Learning:
    """What every probe that trains takes."""

    steps: Annotated[int | None, typer.Option(help="Optimizer steps.", rich_help_panel=TRAINING)] = None
    batch_size: Annotated[int | None, typer.Option(help="Sequences in a batch.", rich_help_panel=TRAINING)] = None
    lr: Annotated[float | None, typer.Option(help="Peak learning rate.", rich_help_panel=TRAINING)] = None
    warmup: Annotated[int | None, typer.Option(help="Steps of linear warm-up.", rich_help_panel=TRAINING)] = None

    def given(self, *names: str) -> dict[str, Any]:
        """What was given of these options."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def trained(self, train: TrainConfig, *names: str) -> TrainConfig:
        """The same training with what was given of these fields."""
        from dnagoat.training.presets import refuse_long_warmup

        made = train.but(**self.given(*names))
        refuse_long_warmup(made, self.warmup)
        return made

    def several(self, name: str, kind: Callable[[str], Any], field: str = "") -> dict[str, tuple[Any, ...]]:
        """`--name 1,2,4` as a tuple of numbers or words of that field; nothing where it was not given."""
        from dnagoat.errors import OptionError

        if (text := getattr(self, name)) is None:
            return {}
        try:
            return {field or name: tuple(kind(part.strip()) for part in text.split(","))}
        except ValueError:
            raise OptionError(f"--{name} {text}: give numbers with commas between them") from None


@dataclass(frozen=True)
class Recall(Learning):
    preset: Preset = "tiny"
    arm: Arms = None
    seeds: Seeds = None
    length: Annotated[int | None, typer.Option(help="Bases of a training sequence.")] = None
    times: Annotated[str | None, typer.Option(help="Tested at these multiples of the length, as 1,2,4,8,16.")] = None
    depths: Annotated[int | None, typer.Option(help="Places of the key, from the start to the question.")] = None
    trials: Annotated[int | None, typer.Option(help="Test sequences for each cell and seed.")] = None
    key: Annotated[int | None, typer.Option(help="Bases of the key.")] = None
    marker: Annotated[int | None, typer.Option(help="Bases of the marker before it.")] = None
    layers: Annotated[int | None, typer.Option(help="Layers.", rich_help_panel=TRAINING)] = None
    width: Width = None
    prior_lr_scale: PriorLrScale = None

    def options(self, task: TaskName) -> RecallOptions:
        from dnagoat.evaluation.probes.sizes import recall_preset

        sized = recall_preset(self.preset, task)
        return sized.but(
            model=sized.model.but(**self.given("layers", "width")),
            train=self.trained(sized.train, "steps", "batch_size", "lr", "warmup", "prior_lr_scale"),
            **self.given("seeds", "length", "depths", "trials", "key", "marker"),
            **self.several("times", int),
            **({"arms": tuple(self.arm)} if self.arm else {}),
        )


@dataclass(frozen=True)
class Induction(Learning):
    preset: Preset = "tiny"
    position: Annotated[
        str, typer.Option(help="Scheme that carries the momentum, as an arm: rope, nope, rope@rope-base=500, ...")
    ] = "rope"
    strengths: Annotated[str | None, typer.Option(help="Strengths g, as 0,0.5,1,2.")] = None
    placement: Annotated[str | None, typer.Option(help="The shear after or before the rotation: after,before.")] = None
    depth: Annotated[str | None, typer.Option(help="Numbers of layers, as 1,2,4.")] = None
    recipe: Annotated[str | None, typer.Option(help="none, momentum or both, as none,momentum.")] = None
    vocabulary: Annotated[int | None, typer.Option(help="How many symbols there are.")] = None
    length: Annotated[int | None, typer.Option(help="Symbols of a sequence.")] = None
    stretch: Annotated[int | None, typer.Option(help="Symbols that come back.")] = None
    seeds: Seeds = None
    trials: Annotated[int | None, typer.Option(help="Test sequences of each model.")] = None
    width: Width = None

    def options(self) -> InductionOptions:
        from dnagoat.evaluation.comparison.arms import position_of
        from dnagoat.evaluation.probes.sizes import induction_preset

        sized = induction_preset(self.preset)
        return sized.but(
            position=position_of(self.position),
            model=sized.model.but(**self.given("width")),
            train=self.trained(sized.train, "steps", "batch_size", "lr", "warmup"),
            **self.given("seeds", "trials", "vocabulary", "length", "stretch"),
            **self.several("strengths", float),
            **self.several("depth", int, field="layers"),
            **self.several("placement", str, field="placements"),
            **self.several("recipe", str, field="recipes"),
        )


@dataclass(frozen=True)
class Extrapolate(Learning):
    preset: str = "tiny"
    arm: Arms = None
    seeds: Seeds = None
    lengths: Annotated[str | None, typer.Option(help="As 1x,4x,16x, or in bases.")] = None
    windows: Annotated[int | None, typer.Option(help="Stretches scored at each length.")] = None
    split: Split = "test"
    prior_lr_scale: PriorLrScale = None
    precision: Annotated[str | None, typer.Option(help="fp32, tf32, bf16 or fp16.", rich_help_panel=TRAINING)] = None
    micro_batch: Annotated[
        int | None, typer.Option(help="Windows at once; gradients add up.", rich_help_panel=TRAINING)
    ] = None

    def options(self) -> ExtrapolateOptions:
        from dnagoat.evaluation.probes.extrapolate import ExtrapolateOptions

        trained = ("steps", "batch_size", "lr", "warmup", "prior_lr_scale", "precision", "micro_batch")
        return ExtrapolateOptions(
            preset=self.preset,
            training={f"train.{name}": value for name, value in self.given(*trained).items()},
            **self.given("seeds", "windows", "split"),
            **self.several("lengths", str),
            **({"arms": tuple(self.arm)} if self.arm else {}),
        )


@dataclass(frozen=True)
class Sink:
    windows: Annotated[int | None, typer.Option(help="Windows looked at, real and random; 16 by default.")] = None
    split: Split = "test"
    seed: Annotated[int, typer.Option(help="Of random windows and resamples.")] = 0
    dataset: Annotated[Path | None, typer.Option(help="The runs' dataset, where it has moved.")] = None
    checkpoint: Checkpoint = "best"

    def options(self, device: str) -> MeasureOptions:
        from dnagoat.evaluation.measure import MeasureOptions

        asked = {"split": self.split, "seed": self.seed, "dataset": self.dataset, "which": self.checkpoint}
        return MeasureOptions.model_validate(asked | {"windows": self.windows, "device": device})


@dataclass(frozen=True)
class Linear:
    column: Annotated[int, typer.Option(min=1, help="Column of the BED file, counted from 1.")] = 4
    positive: Annotated[str | None, typer.Option(help="Class that is told from the rest; the rarer of two.")] = None
    length: Annotated[int | None, typer.Option(min=8, help="Bases of a tile of softmask; 256 by default.")] = None
    by: Annotated[str, typer.Option(help="split (fitted on validation, tested on test), or folds: contig, block.")] = (
        "split"
    )
    folds: Annotated[int, typer.Option(min=2, help="Of contigs or blocks.")] = 5
    most: Annotated[int, typer.Option(min=10, help="Examples of each split, evenly over it.")] = 2000
    layer: Annotated[str, typer.Option(help="As in embed: norm, embedding, or a block: 1, 2, ..., -1 the last.")] = (
        "norm"
    )
    pool: Annotated[str, typer.Option(help="mean or last.")] = "mean"
    strands: Annotated[str, typer.Option(help="own or both.")] = "own"
    block: Annotated[int, typer.Option(min=1, help="Bases of a block of the bootstrap, and of --by block.")] = 20_000
    resamples: Annotated[int, typer.Option(min=100, help="Of the bootstrap.")] = 2000
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 0
    dataset: Annotated[Path | None, typer.Option(help="The runs' dataset, where it has moved.")] = None
    checkpoint: Checkpoint = "best"
    batch_size: Annotated[int, typer.Option(min=1, help="Windows at once; changes no result.")] = 64

    def classes(self, regions: str) -> Asked:
        from dnagoat.evaluation.probes.linear.classes import Asked

        return Asked(regions, self.column, self.positive, self.length)

    def options(self) -> LinearOptions:
        from dnagoat.evaluation.probes.linear.regression import LinearOptions

        names = ("by", "folds", "most", "layer", "pool", "strands", "block", "resamples", "seed", "batch_size")
        return LinearOptions(**{name: getattr(self, name) for name in names}, which=self.checkpoint)
