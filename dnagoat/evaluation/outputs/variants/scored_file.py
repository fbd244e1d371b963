"""From a VCF or BCF file to a scored one: survey, score, write; an interruption loses what is being scored alone."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import dnagoat
from dnagoat.evaluation.outputs.variants.alleles import AFTER, Change, Frame, Skipped
from dnagoat.evaluation.outputs.variants.calls import (
    Calls,
    Plan,
    Planner,
    Survey,
    load_pysam,
    open_calls,
    refuse_misfits,
    survey_calls,
)
from dnagoat.evaluation.outputs.variants.kept import ROW, Kept, Rows, keep_rows
from dnagoat.evaluation.outputs.variants.ratios import score_changes
from dnagoat.evaluation.outputs.variants.write import Labels, mode_for, refuse_taken_fields, write_calls, write_table
from dnagoat.files import hash_file
from dnagoat.genome.read.assembly import Assembly
from dnagoat.genome.read.genome import open_genome
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.streams import is_passage
from dnagoat.training.kept.checkpoint import model_sha256
from dnagoat.training.kept.run import Run

if TYPE_CHECKING:
    import pysam

AT_ONCE = 512  # records that are scored together, and kept once they are


@dataclass(frozen=True)
class Scorer:
    """A model, and what files say of it: its run's name and its checkpoint's hash. `bases` are read at once."""

    model: DnaLM
    run: str
    checkpoint: str
    bases: int


def scorer_of(run: Run, model: DnaLM, checkpoint: str, batch_size: int) -> Scorer:
    """A run's model, `batch_size` training windows at once."""
    folder = run.checkpoint("last" if checkpoint == "last" else "best")
    return Scorer(model, run.name, model_sha256(folder), batch_size * model.config.context)


def frame_of(model: DnaLM, context: int | None = None, after: int | None = None) -> Frame:
    """What was asked for; the training length, and 64 bases after an allele or an eighth of the context."""
    context = context or model.config.context
    return Frame(context, max(1, min(AFTER, context // 8)) if after is None else after)


@dataclass(frozen=True)
class Places:
    """What is written: variants, a table, either or both; `resume` continues what was interrupted."""

    out: Path | None
    table: Path | None = None
    resume: bool = False

    @property
    def partial(self) -> Path | None:
        """Where scores are kept until all are there; None where what is written is a stream."""
        kept = self.out or self.table
        return None if kept is None or is_passage(kept) else kept.with_name(f"{kept.name}.partial")


def score_variants(
    scorer: Scorer,
    variants: Path,
    genome: Path,
    frame: Frame,
    places: Places,
    *,
    prefix: str = "DNAGOAT",
    skip_mismatches: bool = False,
    progress: Progress = silent,
    say: Callable[[str], None],
) -> tuple[Survey, list[Path]]:
    """Scores each allele of a VCF or BCF file on a genome (FASTA or 2bit); says what was found and which files written.

    A `SourceError` where a record does not fit the genome, unless `skip_mismatches`; a `MissingError` without pysam.
    """
    load_pysam()
    if places.out is not None:
        mode_for(places.out)
    with ExitStack() as stack:
        calls = stack.enter_context(open_calls(variants))
        refuse_taken_fields(calls, prefix)
        opened = stack.enter_context(open_genome(genome, progress))
        planner = Planner(Assembly(opened), frame, calls.name)
        survey = survey_calls(calls, planner, progress)
        if not skip_mismatches:
            refuse_misfits(survey, calls.name, str(planner.assembly))
        for note in survey.notes:
            say(note)
        about = {
            "run": scorer.run,
            "checkpoint": scorer.checkpoint,
            "context": frame.context,
            "after": frame.after,
            "genome": opened.source.sha256,
            "tool": dnagoat.__version__,
        }
        key = about | {"variants": hash_file(calls.path)}
        unkept = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dnagoat-"))) / "scores"
        kept = stack.enter_context(keep_rows(places.partial or unkept, key, resume=places.resume))
        if kept.note:
            say(kept.note)
        _score(kept, calls, planner, survey, scorer, progress)
        words = ",".join(f"{name.capitalize()}={json.dumps(str(value))}" for name, value in about.items())
        written = _write(places, calls, survey, kept.rows(), Labels(prefix, f"dnagoat=<ID={prefix},{words}>"))
        if places.partial is not None:
            places.partial.unlink()
        if places.out is not None and mode_for(places.out) != "w" and not survey.in_order:
            say(f"{places.out} has no index: variants are not in the order of their places (`bcftools sort`)")
    return survey, written


def _score(kept: Kept, calls: Calls, planner: Planner, survey: Survey, scorer: Scorer, progress: Progress) -> None:
    """Appends a row for each allele that has none yet."""
    with calls.open() as file:
        done, records = _pass_over(kept, calls.records(file))
        plans = map(planner.plan, records)
        progress("variants", done, survey.records)
        while chunk := list(islice(plans, AT_ONCE)):
            kept.append(_rows(chunk, scorer, planner.frame))
            done += len(chunk)
            progress("variants", done, survey.records)


def _pass_over(kept: Kept, records: Iterator[pysam.VariantRecord]) -> tuple[int, Iterator[pysam.VariantRecord]]:
    """How many records have all their rows, and those that have not."""
    done = rows = 0
    for record in records:
        width = max(1, len(record.alts or ()))
        if rows + width > kept.count:
            kept.cut(rows)
            return done, chain([record], records)
        done, rows = done + 1, rows + width
    kept.cut(rows)
    return done, iter(())


def _rows(plans: list[Plan], scorer: Scorer, frame: Frame) -> Rows:
    """Scores of the alleles of some records."""
    entries = [entry for plan in plans for entry in plan]
    rows = np.zeros(len(entries), dtype=ROW)
    rows["skipped"] = [entry if isinstance(entry, Skipped) else 0 for entry in entries]
    changes = [entry for entry in entries if isinstance(entry, Change)]
    ratios = np.full((len(entries), 2), np.nan)
    if changes:
        ratios[rows["skipped"] == 0] = score_changes(scorer.model, changes, frame, scorer.bases)
    rows["forward"], rows["reverse"] = ratios.T
    return rows


def _write(places: Places, calls: Calls, survey: Survey, rows: Rows, labels: Labels) -> list[Path]:
    paths: list[Path] = []
    if places.out is not None:
        index = write_calls(places.out, calls, survey, rows, labels)
        paths += [places.out] if index is None else [places.out, index]
    if places.table is not None:
        write_table(places.table, calls, rows)
        paths.append(places.table)
    return [path for path in paths if not is_passage(path)]
