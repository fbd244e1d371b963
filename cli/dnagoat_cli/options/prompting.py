"""What `generate` continues, how it draws bases, and where it writes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dnagoat.generation.continuation import Generated
    from dnagoat.generation.prompts import Prompt
    from dnagoat.generation.sampling import SamplingOptions
    from dnagoat.training.kept.run import Run

WHAT = "What is continued (without any: from the start symbol)"
HOW = "How a base is drawn"
OUTPUT = "Output"
SIZE = "Memory and speed"


@dataclass(frozen=True)
class Source:
    """Where prompts are from."""

    prompt: Annotated[
        list[str] | None, typer.Option(help="Bases to continue; may be repeated.", rich_help_panel=WHAT)
    ] = None
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="FASTA (plain, gzip) or 2bit file, - for standard input: a prompt a record.", rich_help_panel=WHAT
        ),
    ] = None
    regions: Annotated[
        Path | None, typer.Option(help="BED file of regions of the dataset, strand in column 6.", rich_help_panel=WHAT)
    ] = None
    from_split: Annotated[
        str | None, typer.Option(help="Random windows without N: train, val or test.", rich_help_panel=WHAT)
    ] = None
    count: Annotated[int, typer.Option(min=1, help="Windows of --from-split.", rich_help_panel=WHAT)] = 8
    prompt_length: Annotated[
        int, typer.Option(min=1, help="Bases read of each window of --from-split.", rich_help_panel=WHAT)
    ] = 512
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Read every prompt on the other strand.", rich_help_panel=WHAT)
    ] = False
    dataset: Annotated[
        Path | None, typer.Option(help="The run's dataset, where it has moved.", rich_help_panel=WHAT)
    ] = None

    def read(self, run: Run, seed: int) -> list[Prompt]:
        """The prompts of all sources that were given, in the order of the help page."""
        from dnagoat.errors import OptionError
        from dnagoat.generation import prompts as read
        from dnagoat.genome.windows import SPLITS
        from dnagoat_cli.terminal.bar import say

        found = [read.from_text(text, say) for text in self.prompt or []]
        if self.prompts is not None:
            found += read.from_fasta(self.prompts, say)
        if self.regions is not None:
            found += read.from_regions(self.regions, run.dataset(self.dataset, other=self.dataset is not None), say)
        if self.from_split is not None:
            split = next((name for name in SPLITS if name == self.from_split), None)
            if split is None:
                raise OptionError(f"--from-split {self.from_split}: there are {', '.join(SPLITS)}")
            dataset = run.dataset(self.dataset, other=self.dataset is not None)
            found += read.from_split(dataset, split, self.count, self.prompt_length, seed)
        asked = any(source is not None for source in (self.prompt, self.prompts, self.regions, self.from_split))
        found = found if asked else [read.nothing()]
        return [prompt.turned() for prompt in found] if self.reverse else found


@dataclass(frozen=True)
class Drawing:
    """How the next base is drawn."""

    temperature: Annotated[float, typer.Option(help="0 takes the likeliest base.", rich_help_panel=HOW)] = 1.0
    top_k: Annotated[int | None, typer.Option(help="The k likeliest bases, 1 to 4.", rich_help_panel=HOW)] = None
    top_p: Annotated[
        float | None, typer.Option(help="The likeliest bases that make up this share.", rich_help_panel=HOW)
    ] = None
    ban_motif: Annotated[
        list[str] | None, typer.Option(help="Motif never written (IUPAC); may be repeated.", rich_help_panel=HOW)
    ] = None
    gc_target: Annotated[
        float | None, typer.Option(help="GC share to steer to, between 0 and 1.", rich_help_panel=HOW)
    ] = None
    memory_strength: Annotated[
        float | None,
        typer.Option(help="What memory adds, times this: 1 as trained, 0 nothing.", rich_help_panel=HOW),
    ] = None

    def options(self, seed: int) -> SamplingOptions:
        from dnagoat.generation.sampling import SamplingOptions

        return SamplingOptions(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            ban_motifs=tuple(self.ban_motif or ()),
            gc_target=self.gc_target,
            memory_strength=self.memory_strength,
            seed=seed,
        )


@dataclass(frozen=True)
class Files:
    """What is written of the sequences."""

    out: Annotated[
        Path | None, typer.Option(help="FASTA file; .gz is compressed, - is standard output.", rich_help_panel=OUTPUT)
    ] = None
    scores: Annotated[
        Path | None, typer.Option(help="Table (tsv) of each base's log-probability.", rich_help_panel=OUTPUT)
    ] = None
    table: Annotated[Path | None, typer.Option(help="Table (tsv), a line a sequence.", rich_help_panel=OUTPUT)] = None
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.", rich_help_panel=OUTPUT)] = (
        False
    )

    def check(self, source: Source) -> None:
        """Everything that can be said of the files before a base is written."""
        from dnagoat.files import may_write
        from dnagoat.streams import STANDARD, refuse_two_readers, refuse_two_writers

        outputs = {"--out": self.out or STANDARD, "--scores": self.scores, "--table": self.table}
        refuse_two_readers(("--prompts", source.prompts), ("--regions", source.regions))
        refuse_two_writers(*outputs.items())
        for option, path in outputs.items():
            if path is not None:
                may_write(path, option, force=self.force)

    def write(self, prompts: Sequence[Prompt], sequences: Sequence[Generated], options: SamplingOptions) -> None:
        """Writes what was asked for; nothing where no sequence is finished."""
        from dnagoat.generation.output import write_fasta, write_scores, write_table
        from dnagoat.streams import STANDARD

        if not sequences:
            return
        write_fasta(self.out or STANDARD, prompts, sequences, options)
        if self.scores is not None:
            write_scores(self.scores, sequences)
        if self.table is not None:
            write_table(self.table, prompts, sequences, options)
