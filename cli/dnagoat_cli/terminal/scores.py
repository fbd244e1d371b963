"""How `score` opens what it is given, shows its progress, and says what it wrote."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from dnagoat_cli.terminal.bar import Tell, say, show_progress
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.outputs.rows import Cell
    from dnagoat.evaluation.outputs.tracks import Segment
    from dnagoat.evaluation.outputs.variants.calls import Survey
    from dnagoat.genome.read.chrom_sizes import Sizes
    from dnagoat.model.transformer import DnaLM
    from dnagoat.progress import Progress
    from dnagoat.training.kept.run import Run
    from dnagoat_cli.options.weights import Weights


@dataclass(frozen=True)
class Places:
    """What is written of rows; without any of them a table on standard output."""

    out: Path | None
    bed: Path | None = None
    tracks: Path | None = None
    chrom_sizes: Path | None = None  # of the tracks
    as_json: bool = False

    def check(self, *, force: bool) -> None:
        """All that can be said before anything is computed."""
        from dnagoat.files import may_write
        from dnagoat.folders import may_fill
        from dnagoat.streams import refuse_two_writers

        refuse_two_writers(("--out", self.out), ("--bed", self.bed))
        for option, path in (("--out", self.out), ("--bed", self.bed)):
            if path is not None:
                may_write(path, option, force=force)
        if self.tracks is not None:
            may_fill(self.tracks, "--tracks")

    def sizes(self) -> Sizes:
        """The lengths of chromosomes that were given."""
        from dnagoat.genome.read.chrom_sizes import Sizes, read_sizes

        return Sizes() if self.chrom_sizes is None else read_sizes(self.chrom_sizes)

    def write_rows(self, columns: dict[str, type], rows: Sequence[dict[str, Cell]]) -> None:
        from dnagoat.evaluation.outputs.rows import write_rows
        from dnagoat.files import write_text
        from dnagoat.streams import STANDARD

        if self.out is None and (self.bed is not None or self.tracks is not None) and not self.as_json:
            return
        if self.as_json:
            write_text(self.out or STANDARD, json_text(rows, "utf-8"))
        else:
            write_rows(self.out or STANDARD, columns, (tuple(row.values()) for row in rows))


def score_variants(
    run: Path,
    calls: Path,
    genome: Path,
    out: Path | None,
    table: Path | None,
    *,
    name: str,
    context: int | None,
    after: int | None,
    skip_mismatches: bool,
    resume: bool,
    model: Weights,
    force: bool,
) -> None:
    from dnagoat.evaluation.outputs.variants import scored_file as variants
    from dnagoat.evaluation.outputs.variants.calls import load_pysam
    from dnagoat.evaluation.outputs.variants.write import mode_for
    from dnagoat.files import may_write
    from dnagoat.streams import refuse_two_readers, refuse_two_writers

    refuse_two_readers(("the variants", calls), ("--genome", genome))
    refuse_two_writers(("--out", out), ("--table", table))
    for option, path in (("--out", out), ("--table", table)):
        if path is not None:
            may_write(path, option, force=force)
    if out is not None:
        mode_for(out)
    load_pysam()
    opened, weights = model.load(run)
    places = variants.Places(out, table, resume)
    scorer = variants.scorer_of(opened, weights, model.checkpoint, model.batch_size)
    frame = variants.frame_of(weights, context, after)
    try:
        with show_progress() as progress:
            survey, paths = variants.score_variants(
                scorer,
                calls,
                genome,
                frame,
                places,
                prefix=name,
                skip_mismatches=skip_mismatches,
                progress=_with_rate(progress),
                say=say,
            )
    except (KeyboardInterrupt, OSError):  # a full disk is one of these
        if places.partial is not None and places.partial.exists():
            say(f"interrupted; what was scored is kept in {places.partial}; --resume goes on from there")
        raise
    say(_summary(survey))
    sys.stdout.write("".join(f"{path}\n" for path in paths))


def _with_rate(tell: Tell) -> Progress:
    """The same progress, with variants a second since scoring began."""
    began: tuple[float, int] | None = None

    def progress(what: str, done: int, total: int) -> None:
        nonlocal began
        if what != "variants":
            tell(what, done, total)
            return
        began = began or (monotonic(), done)
        spent, scored = monotonic() - began[0], done - began[1]
        tell(what, done, total, f"{scored / spent:,.1f} variants/s" if scored and spent else "")

    return progress


def _summary(survey: Survey) -> str:
    from dnagoat.wording import counted

    scored = f"{counted(survey.records, 'record')}, {survey.scored:,} of {counted(survey.alleles, 'allele')} scored"
    why = ", ".join(f"{count:,} {reason.word}" for reason, count in survey.skipped.most_common())
    return f"{scored}; not scored: {why}" if why else scored


def score_regions(
    run: Path,
    bed: Path,
    genome: Path,
    places: Places,
    *,
    context: int | None,
    stride: int | None,
    model: Weights,
    force: bool,
) -> None:
    from dnagoat.errors import OptionError
    from dnagoat.evaluation.outputs import regions
    from dnagoat.evaluation.outputs.tracks import Tracks, may_write_tracks, open_tracks
    from dnagoat.files import write_text
    from dnagoat.genome.read.bed import read_bed
    from dnagoat.genome.read.genome import open_genome
    from dnagoat.streams import refuse_two_readers

    refuse_two_readers(("the regions", bed), ("--genome", genome), ("--chrom-sizes", places.chrom_sizes))
    places.check(force=force)
    if places.tracks is None and places.chrom_sizes is not None:
        raise OptionError("--chrom-sizes is about tracks; give --tracks too")
    intervals = read_bed(bed)
    sizes = places.sizes()
    opened, weights = model.load(run)
    name = f"{opened.name}-{Path(intervals.title).stem}"
    if places.tracks is not None:
        may_write_tracks(places.tracks, name, force=force)
    bases = model.batch_size * weights.config.context
    with ExitStack() as stack:
        progress = stack.enter_context(show_progress())
        read = stack.enter_context(open_genome(genome, progress))
        track: Callable[[Segment], None] | None = None
        tracks = Tracks([], [])
        if places.tracks is not None:
            written = open_tracks(places.tracks, name, read.contigs(), str(read.source), sizes)
            track, tracks = stack.enter_context(written)
        found = regions.score_regions(
            weights, intervals, read, bases, context, stride, track=track, progress=progress, say=say
        )
    if places.bed is not None:
        write_text(places.bed, "".join(region.bed() for region in found))
    places.write_rows(regions.COLUMNS, [region.row() for region in found])
    sys.stdout.write("".join(f"{path}\n" for path in tracks.paths))
    for note in tracks.notes:
        say(note)


def score_bases(
    run: Path,
    fasta: Path,
    out: Path,
    places: Places,
    *,
    context: int | None,
    stride: int | None,
    model: Weights,
    force: bool,
) -> None:
    from dnagoat.errors import OptionError
    from dnagoat.evaluation.outputs.base_scores import refuse_format, write_bases
    from dnagoat.evaluation.outputs.base_scores import score_bases as score
    from dnagoat.files import may_write
    from dnagoat.streams import is_passage

    if places.out is not None or places.as_json:
        raise OptionError("--per-base writes a row a base instead of one a record; leave out --out and --json")
    refuse_format(out)
    may_write(out, "--per-base", force=force)
    opened, weights = model.load(run)
    bases = model.batch_size * weights.config.context
    with show_progress() as progress:
        write_bases(out, score(weights, fasta, bases, context, stride, progress), opened.name)
    if not is_passage(out):
        sys.stdout.write(f"{out}\n")


def score_sequences(
    run: Path, fasta: Path, places: Places, *, context: int | None, stride: int | None, model: Weights, force: bool
) -> None:
    places.check(force=force)
    _, weights = model.load(run)
    score_fasta(weights, fasta, places, model.batch_size, context, stride)


def score_fasta(
    model: DnaLM, fasta: Path, places: Places, batch_size: int, context: int | None, stride: int | None
) -> None:
    """A line a record: bases, scored bases, log-probabilities of both strands, means."""
    from dnagoat.evaluation.outputs.sequences import COLUMNS, score_records

    bases = batch_size * model.config.context
    with show_progress() as progress:
        rows = [record.row() for record in score_records(model, fasta, bases, context, stride, progress=progress)]
    places.write_rows(COLUMNS, rows)


def write_tracks(run: Run, places: Places, splits: Sequence[str], options: MeasureOptions, *, force: bool) -> None:
    """NLL of each base of the splits as bedGraph and bigWig; says which files were written."""
    from dnagoat.evaluation.outputs.tracks import may_write_tracks, refuse_shared_bases, write_tracks
    from dnagoat.evaluation.scoring.scored import scores_of

    assert places.tracks is not None
    dataset, sizes = options.dataset_of(run), places.sizes()
    sizes.of(dataset.contigs, "the dataset")  # what does not fit is refused before anything is scored
    names = {split: f"{run.name}-{split}" for split in splits}
    for name in names.values():
        may_write_tracks(places.tracks, name, force=force)
    for split, name in names.items():
        here = options.but(split=split, fresh=force)
        refuse_shared_bases(dataset, here.split)
        with show_progress() as progress:
            scores = scores_of(run, dataset, here, progress)
            progress("writing tracks", 0, 0)
            written = write_tracks(places.tracks, name, dataset, scores, sizes)
        sys.stdout.write("".join(f"{path}\n" for path in written.paths))
        for note in written.notes:
            say(note)
