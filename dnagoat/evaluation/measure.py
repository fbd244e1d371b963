"""What a measure is and what it may be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from dnagoat.errors import OptionError
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.frozen import Frozen
from dnagoat.progress import Progress
from dnagoat.training.kept.run import Run, Which

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset

Result = dict[str, Any]

FORMAT = 2  # of the results: 1 had strata whose bounds stood in their names alone
FORMATS = {"nll": 3}  # where a measure's own is later: 2 had baselines whose order stood in their names alone


def format_of(measure: str) -> int:
    """The format of a measure's results; those of another are measured again."""
    return FORMATS.get(measure, FORMAT)


# What decides which bases are scored and how their intervals are drawn.
SCORED = ("split", "seed", "windows", "context", "stride", "block", "resamples", "precision")


class MeasureOptions(Frozen):
    """What a measure may be asked; each measure reads the fields that concern it."""

    split: Literal["train", "val", "test"] = "test"
    which: Which = "best"
    seed: int = Field(0, ge=0, lt=2**64)
    device: str = "cpu"
    batch_size: int | None = Field(
        None, ge=1, description="windows read at once; None = as many as are quick and fit; changes no result"
    )
    dataset: Path | None = Field(None, description="the run's dataset, where it has moved")
    other_dataset: Path | None = Field(None, description="one that the run was not trained on; its results lie apart")
    fresh: bool = Field(False, description="score each base again though its score is kept; changes no result")
    windows: int | None = Field(None, ge=1, description="scored windows, spread over the split; None = all")
    context: int | None = Field(None, ge=1, description="bases that the model reads at once; None = the window")
    stride: int | None = Field(None, ge=1, description="bases that are scored of each; None = all of them")
    precision: Literal["tf32", "bf16"] | None = Field(None, description="of matrix products; None = float32")
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

    def batch_bases(self, window: int) -> int | None:
        """Bases that are read at once at most, in windows of so many."""
        return None if self.batch_size is None else self.batch_size * window

    def hash_for(self, run: Run) -> str:
        return self.dataset_of(run).content_hash if self.other_dataset else run.config.dataset_hash


@dataclass(frozen=True)
class Measure:
    """What a run can be asked.

    A measure's module declares it, `_EVERY` in evaluation/results.py lists it, and its Section in reporting/contents.py
    shows it; a test refuses a measure that is not listed, and one without a Section.

    With `per_split` the file's name ends in the split. `settings` names the options that change its result. `made_from`
    says what else of a run the result is made from: it is out of date once that has changed. A report asks it of those
    runs alone that it `applies` to.
    The plain names are those of the best checkpoint; what the last one gives lies beside them, and replaces nothing.
    """

    name: str
    question: str
    unit: str
    compute: Callable[[Run, MeasureOptions, Progress], Result]
    settings: tuple[str, ...] = ()
    per_split: bool = False
    made_from: Callable[[Run], Any] | None = None
    applies: Callable[[Run], bool] = lambda run: True

    def path(self, run: Run, options: MeasureOptions) -> Path:
        """The file of the result, or where it would be kept."""
        return run.result_file(self.file_name(run, options))

    def file_name(self, run: Run, options: MeasureOptions) -> str:
        stem = f"{self.name}-{options.split}" if self.per_split else self.name
        if options.other_dataset:
            stem += f"-{options.hash_for(run)[:8]}"
        if options.which == "last":
            stem += "-last"
        return f"{stem}.json"

    def __call__(self, run: Run, options: MeasureOptions, progress: Progress) -> Result:
        from dnagoat.attention.fast.subnormals import flush_subnormals

        with flush_subnormals():
            return self.compute(run, options, progress)

    def sources(self, run: Run) -> Result:
        return {} if self.made_from is None else {"made_from": self.made_from(run)}
