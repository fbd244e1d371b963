"""What `evaluate` may be asked: options by the field of the library's measure options that each one sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated

import typer

from dnagoat.evaluation import measures
from dnagoat_cli.options.unfold import given
from dnagoat_cli.options.weights import Checkpoint

if TYPE_CHECKING:
    from dnagoat.evaluation.measure import MeasureOptions

SCORING = "What is scored, and its intervals"
MORE = "More measures"
OUTPUTS = "Other sequences, other outputs"
GENERATION = "--what generation"


# A module is named as its measure, so that the help page needs to load none.
NAMES = ", ".join(module.name.replace("_", "-") for module in iter_modules(measures.__path__))


@dataclass(frozen=True)
class Wanted:
    """Which measures, of which splits."""

    what: Annotated[list[str] | None, typer.Option(help=f"{NAMES}; repeatable.")] = None
    split: Annotated[list[str] | None, typer.Option(help="train, val or test; repeatable.")] = None


@dataclass(frozen=True)
class Reading:
    """Which weights read which dataset, and where."""

    checkpoint: Checkpoint = "best"
    seed: Annotated[int, typer.Option(help="Of random loci, draws and resamples.")] = 0
    dataset: Annotated[Path | None, typer.Option(help="The run's dataset, where it has moved.")] = None
    other_dataset: Annotated[
        Path | None, typer.Option(help="Another dataset than it was trained on; results lie apart.")
    ] = None
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto"
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Windows or sequences at once; changes no result. Default: what fits.")
    ] = None


@dataclass(frozen=True)
class Scoring:
    """Which bases are scored and how their intervals are drawn."""

    windows: Annotated[
        int | None, typer.Option(help="Windows, spread over the split; default all.", rich_help_panel=SCORING)
    ] = None
    context: Annotated[
        int | None, typer.Option(help="Bases read at once; default the dataset's window.", rich_help_panel=SCORING)
    ] = None
    stride: Annotated[
        int | None,
        typer.Option(
            help="Bases scored of each: context - stride or more come before, fewer at the start of a contig or split.",
            rich_help_panel=SCORING,
        ),
    ] = None
    precision: Annotated[
        str | None,
        typer.Option(
            help="tf32 or bf16; float32 by default, and the NLL tells the difference to it.",
            rich_help_panel=SCORING,
        ),
    ] = None
    block: Annotated[
        int | None, typer.Option(help="Bases of a bootstrap block; default 20,000.", rich_help_panel=SCORING)
    ] = None
    resamples: Annotated[int | None, typer.Option(help="Of the bootstrap; default 2,000.", rich_help_panel=SCORING)] = (
        None
    )


@dataclass(frozen=True)
class More:
    """Options that ask for a measure by themselves."""

    strata: Annotated[
        list[Path] | None, typer.Option(help="BED file: NLL in and outside it; repeatable.", rich_help_panel=MORE)
    ] = None
    lengths: Annotated[
        list[str] | None, typer.Option(help="Same bases, more context: 1x,4x,16x or bases.", rich_help_panel=MORE)
    ] = None
    rc_average: Annotated[
        bool, typer.Option("--rc-average", help="Both strands: their gap and their mean.", rich_help_panel=MORE)
    ] = False
    protocol: Annotated[
        str | None, typer.Option(help="paper: the GOAT authors', in its own table.", rich_help_panel=MORE)
    ] = None

    def measures(self, what: list[str] | None) -> list[str]:
        """The measures that were named, then those that an option asks for."""
        from dnagoat.errors import OptionError

        if self.protocol not in (None, "paper"):
            raise OptionError(f"--protocol {self.protocol}: there is one other protocol, paper")
        asked = {"strata": self.strata, "lengths": self.lengths, "rc": self.rc_average, "protocol-paper": self.protocol}
        return list(dict.fromkeys([*(what or []), *(name for name, option in asked.items() if option)]))


@dataclass(frozen=True)
class Outputs:
    """What else than a measure may be wanted of a run."""

    fasta: Annotated[
        Path | None,
        typer.Option(
            help="FASTA or 2bit file, - for standard input: score both strands, as TSV.", rich_help_panel=OUTPUTS
        ),
    ] = None
    out: Annotated[
        Path | None, typer.Option(help="File for --fasta; default standard output.", rich_help_panel=OUTPUTS)
    ] = None
    tracks: Annotated[
        Path | None, typer.Option(help="Folder for NLL a base: bedGraph, bigWig.", rich_help_panel=OUTPUTS)
    ] = None
    chrom_sizes: Annotated[
        Path | None,
        typer.Option(help="Lengths of chromosomes for --tracks: chrom.sizes or .fai.", rich_help_panel=OUTPUTS),
    ] = None

    def check(self, strata: list[Path] | None, *, force: bool) -> None:
        """Everything that can be said of files and folders before anything is computed."""
        from dnagoat.errors import OptionError
        from dnagoat.files import may_write
        from dnagoat.folders import may_fill
        from dnagoat.streams import refuse_two_readers

        beds = [("--strata", path) for path in strata or []]
        refuse_two_readers(("--fasta", self.fasta), ("--chrom-sizes", self.chrom_sizes), *beds)
        if self.out is not None:
            may_write(self.out, "--out", force=force)
        if self.tracks is not None:
            may_fill(self.tracks, "--tracks")
        elif self.chrom_sizes is not None:
            raise OptionError("--chrom-sizes is about tracks; give --tracks too")


@dataclass(frozen=True)
class Trajectories:
    """What the model writes to be judged by it."""

    prompts: Annotated[int | None, typer.Option(help="Loci that are continued.", rich_help_panel=GENERATION)] = None
    prompt_length: Annotated[int | None, typer.Option(help="Bases of each.", rich_help_panel=GENERATION)] = None
    length: Annotated[int | None, typer.Option(help="Bases written after it.", rich_help_panel=GENERATION)] = None
    samples: Annotated[int | None, typer.Option(help="Continuations of each prompt.", rich_help_panel=GENERATION)] = (
        None
    )
    gc_window: Annotated[int | None, typer.Option(help="Bases of a GC window.", rich_help_panel=GENERATION)] = None
    gc_stride: Annotated[int | None, typer.Option(help="Bases between them.", rich_help_panel=GENERATION)] = None
    temperature: Annotated[float | None, typer.Option(help="Of sampling.", rich_help_panel=GENERATION)] = None
    memory_strength: Annotated[
        float | None, typer.Option(help="What memory adds, times this: 0 to 1.", rich_help_panel=GENERATION)
    ] = None


def measure_options(reading: Reading, scoring: Scoring, more: More, trajectories: Trajectories) -> MeasureOptions:
    """The options that were given; what was not keeps its default."""
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.written.trajectory import TrajectoryOptions
    from dnagoat.training.launch.processes import pick_device

    asked = given(reading) | given(scoring)
    asked |= {"which": asked.pop("checkpoint"), "device": str(pick_device(reading.device))}
    if more.strata:
        asked["strata"] = more.strata
    if more.lengths:
        asked["lengths"] = tuple(part for text in more.lengths for part in text.split(",") if part)
    return MeasureOptions(**asked, trajectory=TrajectoryOptions(**given(trajectories)))
