"""How `evaluate` makes its options, shows its progress and hands over what it found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dnagoat_cli.terminal.bar import show_progress
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.evaluation.measure import MeasureOptions, Result
    from dnagoat.training.kept.run import Run

Measured = list[tuple["Result", Path]]


def options_from(*, device: str, trajectory: dict[str, Any], lengths: list[str] | None, **given: Any) -> MeasureOptions:
    """The options that were given; what was not keeps its default."""
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.written.trajectory import TrajectoryOptions
    from dnagoat.training.launch.processes import pick_device

    asked = {name: value for name, value in given.items() if value is not None}
    if lengths:
        asked["lengths"] = tuple(part for text in lengths for part in text.split(",") if part)
    of_trajectory = {name: value for name, value in trajectory.items() if value is not None}
    return MeasureOptions(**asked, device=str(pick_device(device)), trajectory=TrajectoryOptions(**of_trajectory))


def protocol_asked(name: str | None) -> bool:
    from dnagoat.errors import OptionError

    if name not in (None, "paper"):
        raise OptionError(f"--protocol {name}: there is one other protocol, paper")
    return name is not None


def evaluate_run(
    run: Run, wanted: Sequence[str], splits: Sequence[str] | None, options: MeasureOptions, force: bool
) -> Measured:
    """Each result, computed under a bar where it is missing, and its file; `nll` where nothing is named."""
    from dnagoat.errors import OptionError, WindowError
    from dnagoat.evaluation.results import ensure, find_measure
    from dnagoat.progress import relabelled

    measures = [find_measure(name) for name in wanted or ["nll"]]
    for measure in measures:
        if splits and len(splits) > 1 and "split" in measure.settings and not measure.per_split:
            raise OptionError(f"--what {measure.name} keeps the result of one split; give one --split")
    found: Measured = []
    for measure in measures:
        both = measure.name == "nll" and not splits
        for split in ("val", "test") if both else splits or ["test"]:
            here = options.but(split=split)
            try:
                with show_progress() as progress:
                    told = relabelled(progress, f"{measure.name} {split}")
                    result = ensure(run, measure.name, here, force=force, progress=told)
            except WindowError as none:  # a split that nobody asked for by name may be empty
                if not both or (split == "test" and not found):
                    raise
                sys.stderr.write(f"note: {none}\n")
                continue
            found.append((result, measure.path(run, here)))
            if not measure.per_split:
                break
    return found


def check_places(
    fasta: Path | None, strata: Sequence[Path], out: Path | None, tracks: Path | None, force: bool
) -> None:
    """Everything that can be said of files and folders before anything is computed."""
    from dnagoat.files import may_write
    from dnagoat.folders import may_fill
    from dnagoat.streams import refuse_two_readers

    refuse_two_readers(("--fasta", fasta), *(("--strata", path) for path in strata))
    if out is not None:
        may_write(out, "--out", force=force)
    if tracks is not None:
        may_fill(tracks, "--tracks")


def score_fasta(run: Run, fasta: Path, out: Path | None, options: MeasureOptions, *, as_json: bool) -> None:
    """A line a record, as `score sequences` has it: bases, scored bases, log-probabilities of both strands, means."""
    from dnagoat.evaluation.outputs.rows import write_rows
    from dnagoat.evaluation.outputs.sequences import COLUMNS, score_records
    from dnagoat.files import write_text
    from dnagoat.streams import STANDARD

    with show_progress("loading the model") as progress:
        model = run.model(options.which, options.device)
        bases = options.batch_size * model.config.context
        records = [
            record.row()
            for record in score_records(model, fasta, bases, options.context, options.stride, progress=progress)
        ]
    if as_json:
        write_text(out or STANDARD, json_text(records, "utf-8"))
    else:
        write_rows(out or STANDARD, COLUMNS, (tuple(record.values()) for record in records))


def write_tracks(run: Run, folder: Path, splits: Sequence[str], options: MeasureOptions, *, force: bool) -> None:
    """NLL of each base of the splits as bedGraph and bigWig; says which files were written."""
    from dnagoat.errors import OptionError
    from dnagoat.evaluation.outputs.tracks import refuse_shared_bases, write_tracks
    from dnagoat.evaluation.scoring.scored import scores_of

    dataset = options.dataset_of(run)
    names = {split: f"{run.name}-{split}" for split in splits}
    for name in names.values():
        if (folder / f"{name}.bedGraph").exists() and not force:
            raise OptionError(f"{folder / name}.bedGraph exists already; give another --tracks, or --force")
    for split, name in names.items():
        here = options.but(split=split, fresh=force)
        refuse_shared_bases(dataset, here.split)
        with show_progress() as progress:
            scores = scores_of(run, dataset, here, progress)
            progress("writing tracks", 0, 0)
            written = write_tracks(folder, name, dataset, scores)
        sys.stdout.write("".join(f"{path}\n" for path in written.paths))
        sys.stderr.write("".join(f"note: {note}\n" for note in written.notes))


def show_all(found: Measured, as_json: bool) -> None:
    """Results as JSON (one as it is, several as a list), or as tables for a person."""
    results = [result for result, _ in found]
    if as_json:
        whole = results[0] if len(results) == 1 else results
        sys.stdout.write(json_text(whole))
        return
    from dnagoat_cli.terminal.results import draw

    draw(found)
