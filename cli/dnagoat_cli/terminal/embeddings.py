"""How `embed` opens what it is given, and says what it wrote."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dnagoat.errors import OptionError
from dnagoat.streams import is_passage
from dnagoat_cli.terminal.bar import say, show_progress

if TYPE_CHECKING:
    from dnagoat.evaluation.outputs.embeddings.principal_components import Kept
    from dnagoat.evaluation.outputs.embeddings.texts import Source
    from dnagoat.genome.windows import Split
    from dnagoat.training.kept.run import Run
    from dnagoat_cli.options.weights import Weights


@dataclass(frozen=True)
class Asked:
    """What is embedded: one of these sources."""

    regions: Path | None
    genome: Path | None
    split: str | None
    windows: int | None
    fasta: Path | None

    def source(self, run: Run, dataset: Path | None) -> Source:
        """What it names; an `OptionError` where it names none, or two."""
        from dnagoat.evaluation.outputs.embeddings.texts import source_of

        return source_of(
            run,
            regions=self.regions,
            genome=self.genome,
            split=cast("Split", self.split),
            windows=self.windows,
            sequences=self.fasta,
            dataset=dataset,
        )


@dataclass(frozen=True)
class Drawn:
    """A figure of the vectors, coloured by a column of the BED file."""

    figure: Path | None
    column: int | None

    def check(self, asked: Asked, out: Path, *, force: bool) -> None:
        from dnagoat.files import may_write
        from dnagoat.reporting.drawing.figure import kind_of
        from dnagoat.streams import refuse_two_writers

        if self.column is not None and (self.figure is None or asked.regions is None):
            raise OptionError("--column is a column of --regions that colours --figure; give all three")
        if self.figure is not None:
            kind_of(self.figure, "--figure")
            may_write(self.figure, "--figure", force=force)
            refuse_two_writers(("--out", out), ("--figure", self.figure))

    def labels(self, asked: Asked) -> list[str] | None:
        """What the column says of each region; None where there is no column."""
        from dnagoat.genome.read.bed import read_bed

        if self.column is None or asked.regions is None:
            return None
        return read_bed(asked.regions).column(self.column)

    def keep(self, stack: ExitStack, width: int) -> Kept | None:
        """A file that keeps the vectors until they are drawn; None where no figure is."""
        from dnagoat.evaluation.outputs.embeddings.principal_components import Kept

        if self.figure is None:
            return None
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dnagoat-"))
        return Kept(Path(folder) / "vectors", width)

    def draw(self, kept: Kept, labels: list[str] | None) -> list[Path]:
        from dnagoat.reporting.drawing.components import draw_components

        assert self.figure is not None
        draw_components(kept, labels, f"column {self.column}").write(self.figure)
        return [self.figure]


def embed(
    run: Path, asked: Asked, model: Weights, drawn: Drawn, out: Path, *, force: bool, options: Mapping[str, Any]
) -> None:
    from dnagoat.evaluation.outputs.embeddings.formats import files_of, write_embeddings
    from dnagoat.evaluation.outputs.embeddings.vectors import EmbedOptions, Reader, about
    from dnagoat.files import may_write
    from dnagoat.training.kept.run import open_run

    how = EmbedOptions(**options)
    for file in files_of(out):
        may_write(file, "--out", force=force)
    drawn.check(asked, out, force=force)
    source = asked.source(open_run(run), model.dataset)
    labels = drawn.labels(asked)
    opened, weights = model.load(run)
    reader = Reader(weights, how, model.batch_size * weights.config.context)
    with ExitStack() as stack:
        progress = stack.enter_context(show_progress())
        texts, total = stack.enter_context(source.open(say, progress))
        found = reader.embed(texts, total, progress)
        kept = drawn.keep(stack, reader.width)
        paths = write_embeddings(
            out, found if kept is None else kept.passing(found), reader.width, about(opened, model.checkpoint, reader)
        )
        if kept is not None:
            paths += drawn.draw(kept, labels)
    sys.stdout.write("".join(f"{path}\n" for path in paths if not is_passage(path)))
