"""Which measures a run can be given, and where each result is kept: RUN/evaluation/NAME.json, computed once."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

import dnagoat
from dnagoat.config import Frozen
from dnagoat.errors import OptionError, RunError
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.files import read_json, write_json
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run, Which

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset

Result = dict[str, Any]


class MeasureOptions(Frozen):
    """What a measure may be asked; each measure reads the fields that concern it."""

    split: Literal["train", "val", "test"] = "test"
    which: Which = "best"
    seed: int = Field(0, ge=0, lt=2**64)
    device: str = "cpu"
    batch_size: int = Field(64, ge=1, description="windows read at once; changes no result")
    dataset: Path | None = Field(None, description="the run's dataset, where it has moved")
    other_dataset: Path | None = Field(None, description="one that the run was not trained on; its results lie apart")
    fresh: bool = Field(False, description="score each base again though its score is kept; changes no result")
    windows: int | None = Field(None, ge=1, description="scored windows, spread over the split; None = all")
    context: int | None = Field(None, ge=1, description="bases that the model reads at once; None = the window")
    stride: int | None = Field(None, ge=1, description="bases that are scored of each; None = all of them")
    block: int = Field(20_000, ge=1, description="bases of a block of the bootstrap")
    resamples: int = Field(2000, ge=1000)
    strata: tuple[Path, ...] = Field((), description="BED files whose regions are strata of their own")
    lengths: tuple[str, ...] = Field(("1x", "2x", "4x", "8x", "16x"), description="of the training length, or in bases")
    trajectory: TrajectoryOptions = TrajectoryOptions()

    @model_validator(mode="after")
    def _strata_have_names(self) -> Self:
        named: dict[str, Path] = {}
        for path in self.strata:
            if path.name in named:
                raise OptionError(
                    f"--strata: {named[path.name]} and {path} have the same name, and strata go by the names of their "
                    "files; rename one"
                )
            named[path.name] = path
        return self

    def dataset_of(self, run: Run) -> Dataset:
        """What is scored: the run's own dataset, refused where its content has changed, or the other one."""
        return run.dataset(self.other_dataset or self.dataset, other=self.other_dataset is not None)

    def hash_for(self, run: Run) -> str:
        return self.dataset_of(run).content_hash if self.other_dataset else run.config.dataset_hash


@dataclass(frozen=True)
class Measure:
    """One entry of the table.

    `compute` names a function (Run, MeasureOptions, Progress) -> Result as `module:function`, imported when it is
    needed. With `per_split` the file's name ends in the split. `settings` names the options that change its result.
    `made_from` names a function (Run) -> what else of a run the result is made from: it is out of date once that has
    changed.
    The plain names are those of the best checkpoint; what the last one gives lies beside them, and replaces nothing.
    """

    name: str
    question: str
    unit: str
    compute: str
    settings: tuple[str, ...] = ()
    per_split: bool = False
    made_from: str = ""

    def path(self, run: Run, options: MeasureOptions) -> Path:
        stem = f"{self.name}-{options.split}" if self.per_split else self.name
        if options.other_dataset:
            stem += f"-{options.hash_for(run)[:8]}"
        if options.which == "last":
            stem += "-last"
        return run.path / "evaluation" / f"{stem}.json"

    def __call__(self, run: Run, options: MeasureOptions, progress: Progress) -> Result:
        result: Result = _named(self.compute)(run, options, progress)
        return result

    def sources(self, run: Run) -> Result:
        return {"made_from": _named(self.made_from)(run)} if self.made_from else {}


def _named(place: str) -> Callable[..., Any]:
    module, function = place.split(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


# What decides which bases are scored and how their intervals are drawn.
SCORED = ("split", "seed", "windows", "context", "stride", "block", "resamples")

MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            "generation",
            "Does generated DNA look like the true continuation? GC% trajectory against three nulls, k-mers and more",
            unit="Pearson r",
            compute="dnagoat.evaluation.measures.generation:measure",
            settings=("split", "seed", "trajectory"),
        ),
        Measure(
            "nll",
            "How many nats a base, and how many fewer than tables of counts on the same bases?",
            unit="nats per base",
            compute="dnagoat.evaluation.measures.nll:measure",
            settings=SCORED,
            per_split=True,
        ),
        Measure(
            "strata",
            "Where is it good: repeats, GC deciles, CpG, little or much context, regions of BED files?",
            unit="nats per base",
            compute="dnagoat.evaluation.measures.strata:measure",
            settings=(*SCORED, "strata"),
            per_split=True,
        ),
        Measure(
            "lengths",
            "Does more context than in training help: the same bases with 1 to 16 times the training length?",
            unit="nats per base",
            compute="dnagoat.evaluation.measures.lengths:measure",
            settings=("split", "seed", "windows", "block", "resamples", "lengths"),
            per_split=True,
        ),
        Measure(
            "rc",
            "Does the other strand of the same bases cost the same?",
            unit="nats per base",
            compute="dnagoat.evaluation.measures.rc:measure",
            settings=("split", "seed", "windows", "block", "resamples"),
            per_split=True,
        ),
        Measure(
            "copying",
            "Does it copy from its context: a stretch after itself, after its reverse complement, after another one?",
            unit="nats per base, gained by reading the stretch a second time",
            compute="dnagoat.evaluation.measures.copying:measure",
            settings=("split", "seed", "windows", "block", "resamples"),
            per_split=True,
        ),
        Measure(
            "protocol-paper",
            "The GOAT authors' own protocol: N scored, 50 batches of the validation split, best of the evaluations",
            unit="nats per symbol, N among them",
            compute="dnagoat.evaluation.measures.protocol_paper:measure",
            made_from="dnagoat.evaluation.measures.protocol_paper:best_of_evaluations",
        ),
        Measure(
            "prior",
            "Where does each head look before it has seen a base: the learned log-prior, sink and slope",
            unit="nats",
            compute="dnagoat.evaluation.measures.prior:measure",
        ),
        Measure(
            "inspect",
            "What does attention do with its prior: reach, content against prior, and what each part is worth?",
            unit="nats",
            compute="dnagoat.evaluation.measures.inspect:measure",
            settings=("split", "seed", "windows", "block", "resamples"),
            made_from="dnagoat.evaluation.microscope.shape:kept",
        ),
    )
}


def chosen(name: str) -> Measure:
    """The measure of that name; an `OptionError` lists those there are."""
    if name not in MEASURES:
        raise OptionError(f"--what {name}: there is no such measure; choose from {', '.join(MEASURES)}")
    return MEASURES[name]


def stored(run: Run, name: str, options: MeasureOptions) -> Result | None:
    """The result in the run folder, or None where there is none or what it was made from has changed since."""
    measure = chosen(name)
    path = measure.path(run, options)
    if not path.exists():
        return None
    try:
        result: Result = read_json(path)
        current = result["checkpoint"] == _checkpoint(run, options.which)
        current = current and all(result.get(name) == now for name, now in measure.sources(run).items())
    except (ValueError, KeyError, TypeError):
        raise RunError(f"{path} is damaged; remove it, and it will be computed again") from None
    return result if current else None


def ensure(
    run: Run,
    name: str,
    options: MeasureOptions | None = None,
    *,
    force: bool = False,
    progress: Progress = silent,
) -> Result:
    """The stored result of a measure, computed and stored first where it is missing.

    A result with other settings than those asked for stays as it is (`OptionError`), unless `force`; one of an earlier
    checkpoint of the same run, or of others than it keeps now, is out of date and is computed again.
    """
    options = options or MeasureOptions()
    measure = chosen(name)
    settings = _settings(measure, options)
    kept = None if force else stored(run, name, options)
    if kept is not None:
        if kept["settings"] != settings:
            raise OptionError(
                f"{measure.path(run, options)} holds this measure with other settings "
                f"({_differences(kept['settings'], settings)}); give --force to replace it"
            )
        return kept
    result = _signed(run, measure, options, settings) | measure(run, options.but(fresh=force), progress)
    write_json(measure.path(run, options), result)
    return result


def _settings(measure: Measure, options: MeasureOptions) -> Result:
    """The options that decide the result; a BED file by its name and content, wherever it lies."""
    settings = options.model_dump(mode="json", include=set(measure.settings))
    if "strata" in settings:
        from dnagoat.genome.read.bed import bed_sha256

        settings["strata"] = [{"name": path.name, "sha256": bed_sha256(path)} for path in options.strata]
    return settings


def _signed(run: Run, measure: Measure, options: MeasureOptions, settings: Result) -> Result:
    """What every result says about itself, so that no number travels alone."""
    return {
        "format": 1,
        "measure": measure.name,
        "unit": measure.unit,
        "split": options.split,
        "seed": options.seed,
        "checkpoint": _checkpoint(run, options.which),
        **measure.sources(run),
        "dataset_hash": options.hash_for(run),
        "tool_version": dnagoat.__version__,
        "torch": version("torch"),
        "command": shlex.join(["dnagoat", "evaluate", str(run.path), *_flags(measure, options)]),
        "settings": settings,
    }


def _flags(measure: Measure, options: MeasureOptions) -> list[str]:
    """The command line's options that give this measure these settings; defaults are left out."""
    changed = options.model_dump(
        mode="json", exclude_defaults=True, include={*measure.settings, "which", "other_dataset"}
    )
    changed |= changed.pop("trajectory", {})
    asked = {"what": measure.name, "split": options.split, "seed": options.seed}
    asked |= {"checkpoint" if name == "which" else name: value for name, value in changed.items()}
    values = [(name, each) for name, value in asked.items() for each in (value if isinstance(value, list) else [value])]
    return [word for name, value in values for word in (f"--{name.replace('_', '-')}", str(value))]


def _checkpoint(run: Run, which: Which) -> Result:
    from dnagoat.training.kept.checkpoint import model_sha256, step_of

    folder = run.checkpoint(which)
    return {"which": which, "step": step_of(folder), "sha256": model_sha256(folder)}


def _differences(kept: Result, asked: Result) -> str:
    names = [name for name in asked if kept.get(name) != asked[name]]
    return ", ".join(names) or "an older format"
