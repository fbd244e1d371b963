"""`dnagoat evaluate`: how good a run is, each measure computed once and kept in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options import measures as o
from dnagoat_cli.options.unfold import unfold

if TYPE_CHECKING:
    from dnagoat.evaluation.measure import MeasureOptions, Result
    from dnagoat.training.kept.run import Run

EXAMPLES = """
Measure a trained model; each result is kept in RUN/evaluation and read from there the next time. Other settings are
measured beside it.

Without further options: NLL of the validation and the test split, with intervals, beside tables of counts (Markov
chains and better) on the same bases. Figures come with `dnagoat report RUN`.

[bold]Examples[/bold]

  dnagoat evaluate runs/goat

  dnagoat evaluate runs/goat --context 2048 --stride 512     [dim]1,536 bases before each, where there are[/dim]

  dnagoat evaluate runs/goat --what strata --strata exons.bed

  dnagoat evaluate runs/goat --lengths 1x,4x,16x             [dim]does context past training help?[/dim]

  dnagoat evaluate runs/goat --what copying                  [dim]does it look earlier occurrences up?[/dim]

  dnagoat evaluate runs/goat --fasta mine.fa --out scores.tsv

  zcat mine.fa.gz | dnagoat evaluate runs/goat --fasta - | sort -k 2n

  dnagoat evaluate runs/goat --tracks tracks/                [dim]for IGV and the UCSC browser[/dim]

  dnagoat evaluate runs/goat --what generation --prompts 32 --samples 4
"""


@app.command(help=EXAMPLES)
@unfold
def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    wanted: o.Wanted,
    reading: o.Reading,
    scoring: o.Scoring,
    more: o.More,
    outputs: o.Outputs,
    trajectories: o.Trajectories,
    results: Annotated[
        Path | None, typer.Option(help="Folder for the results of a run that cannot be written.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every baseline, not the best five.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Compute again, and replace what reports show.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print whole results.")] = False,
) -> None:
    from dnagoat.training.kept.run import open_run
    from dnagoat_cli.terminal.bar import show_progress
    from dnagoat_cli.terminal.scores import Places, score_fasta, write_tracks
    from dnagoat_cli.terminal.show import show_results

    outputs.check(more.strata, force=force)
    options = o.measure_options(reading, scoring, more, trajectories)
    measures = more.measures(wanted.what)
    opened = open_run(run, results)
    if outputs.fasta is not None:
        with show_progress("loading the model"):
            model = opened.model(options.which, options.device)
        places = Places(outputs.out, as_json=as_json)
        score_fasta(model, outputs.fasta, places, options.batch_size or 64, options.context, options.stride)
    if outputs.tracks is not None:
        places = Places(None, tracks=outputs.tracks, chrom_sizes=outputs.chrom_sizes)
        write_tracks(opened, places, wanted.split or ["test"], options, force=force)
    if measures or (outputs.fasta is None and outputs.tracks is None):
        show_results(_ensure_all(opened, measures, wanted.split, options, force), as_json, every=every)


def _ensure_all(
    run: Run, names: Sequence[str], splits: Sequence[str] | None, options: MeasureOptions, force: bool
) -> list[tuple[Result, Path]]:
    """Each result, computed under a bar where it is missing, and its file; `nll` where nothing is named."""
    from dnagoat.errors import OptionError, WindowError
    from dnagoat.evaluation.results import ensure, find_kept, find_measure, in_the_way
    from dnagoat.progress import relabelled
    from dnagoat_cli.terminal.bar import say, show_progress

    measures = [find_measure(name) for name in names or ["nll"]]
    for measure in measures:
        if splits and len(splits) > 1 and "split" in measure.settings and not measure.per_split:
            raise OptionError(f"--what {measure.name} keeps the result of one split; give one --split")
    found: list[tuple[Result, Path]] = []
    for measure in measures:
        both = measure.name == "nll" and not splits
        for split in ("val", "test") if both else splits or ["test"]:
            here = options.but(split=split)
            try:
                with show_progress() as bar:
                    progress = relabelled(bar, f"{measure.name} {split}")
                    result = ensure(run, measure.name, here, force=force, progress=progress)
            except WindowError as none:  # a split that nobody asked for by name may be empty
                if not both or (split == "test" and not found):
                    raise
                say(str(none))
                continue
            kept = find_kept(run, measure.name, here)
            found.append((result, kept[0] if kept else measure.path(run, here)))
            if aside := in_the_way(run, measure.name, here):
                say(aside)
            if not measure.per_split:
                break
    return found
