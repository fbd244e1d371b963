"""How a dataset looks in a terminal: its table and warnings, and for `inspect` its map, histograms, checks, leaks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dnagoat.wording import counted
from dnagoat_cli.terminal.bar import say, show_stages
from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.prose import print_prose

if TYPE_CHECKING:
    from rich.console import Console

    from dnagoat.genome.dataset import Dataset
    from dnagoat.genome.fetch.assemblies import Assembly
    from dnagoat.genome.store.verify import Check
    from dnagoat_cli.commands.inspect import Request

MOST_CONTIGS = 30
NAME, FEWEST_CELLS = 24, 20  # characters of a name, and cells of a bar, in one line
GLYPHS = {"train": ("█", "blue"), "val": ("▓", "yellow"), "test": ("▒", "magenta"), None: ("·", "dim")}
LEVELS = " ▁▂▃▄▅▆▇█"


def count_training(dataset: Dataset, budget: float) -> None:
    """Builds the memory of a dataset within `budget` GB, under a bar; says what that takes and leaves out."""
    from dnagoat.counts.memory.budget import plan_memory
    from dnagoat.counts.memory.tables import MOST_BASES, open_memory
    from dnagoat.progress import Stage

    bases = sum(int(end - start) for start, end in dataset.spans("train"))
    cost = plan_memory(dataset, budget)
    if not cost.built:
        say(f"memory takes {cost.bytes / 1e9:.2f} GB and about {cost.seconds / 60:.1f} minutes of one core")
    with show_stages() as report:
        memory = open_memory(dataset, budget, lambda share: report(Stage("memory", int(share * bases), share)))
    if memory.left_out:
        most = f"memory holds {MOST_BASES:,} bases at most and" if cost.held > 0.99 * MOST_BASES else ""
        why = most or f"--memory-budget {budget:g} GB"
        say(f"{why} leaves out {memory.left_out:,} of {counted(bases, 'base')} of the training split")


def show_catalogue(known: dict[str, Assembly], as_json: bool) -> None:
    """The genomes that have a name, with their sizes and default splits."""
    from rich.console import Console

    from dnagoat.reporting.sections.dataset import catalogue
    from dnagoat_cli.terminal.grid import draw_table

    if as_json:
        rows = [assembly.model_dump(mode="json") for assembly in known.values()]
        sys.stdout.write(json_text(rows))
        return
    draw_table(catalogue(known.values()), Console(highlight=False))


def summary(dataset: Dataset) -> dict[str, Any]:
    """What a script wants to know: the manifest without its contigs."""
    manifest = dataset.manifest.model_dump(mode="json")
    return {"path": str(dataset.path), "contigs": len(manifest.pop("contigs")), **manifest}


def show_dataset(dataset: Dataset, as_json: bool = False) -> None:
    """The dataset's table on stdout, what deserves attention on stderr."""
    from rich.console import Console

    from dnagoat.genome.passport import remarks
    from dnagoat.reporting.sections.dataset import passport
    from dnagoat.reporting.sections.leaks import before_after
    from dnagoat_cli.terminal.grid import draw_table

    if as_json:
        sys.stdout.write(json_text(summary(dataset)))
    else:
        console = Console(highlight=False)
        draw_table(passport(dataset), console)
        before, after = dataset.manifest.leaks_before, dataset.manifest.leaks_after
        if before is not None and after is not None:
            draw_table(before_after(before, after, dataset.manifest.tally.windows_copies), console)
    error = Console(stderr=True)
    for remark in remarks(dataset.manifest):
        print_prose(f"note: {remark}", error, markup=False)


def inspect_dataset(path: Path, request: Request) -> None:
    """Draws the dataset in `path`; a failed check is an error."""
    from dnagoat.errors import DatasetError
    from dnagoat.genome.dataset import open_dataset
    from dnagoat.genome.leaks.leakage import leakage
    from dnagoat.genome.passport import histograms
    from dnagoat.genome.store.verify import verify

    dataset = open_dataset(path)
    with show_stages() as progress:
        checks = verify(dataset, request.source, progress) if request.verify else []
        report = leakage(dataset, results=request.results, progress=progress) if request.leakage else None
    if request.as_json:
        found = [{"name": one.name, "holds": one.holds} for one in checks] if request.verify else None
        whole = {**summary(dataset), "histograms": histograms(dataset), "verified": found, "leakage": report}
        sys.stdout.write(json_text(whole))
    else:
        _draw(dataset, checks, report)
    failed = [check for check in checks if not check.holds]
    if failed:
        first = failed[0]
        raise DatasetError(f"{path} is damaged: {first.name} is {first.found}, not {first.expected}; prepare it again")


def write_splits(path: Path, out: Path, *, force: bool) -> None:
    """BED of the splits of the dataset in `path`."""
    from dnagoat.files import may_write, write_text
    from dnagoat.genome.dataset import open_dataset
    from dnagoat.genome.passport import split_lines
    from dnagoat.streams import is_passage

    may_write(out, "--splits", force=force)
    write_text(out, "".join(split_lines(open_dataset(path))))
    if not is_passage(out):
        sys.stdout.write(f"{out}\n")


def _draw(dataset: Dataset, checks: list[Check], report: dict[str, Any] | None) -> None:
    from rich.console import Console

    from dnagoat.reporting.sections.leaks import tables
    from dnagoat_cli.terminal.grid import draw_tables

    console = Console(highlight=False)
    show_dataset(dataset)
    _rules(console, dataset)
    _map(console, dataset)
    _histograms(console, dataset)
    for check in checks:
        mark = "[green]ok[/green]     " if check.holds else "[red]differs[/red]"
        console.print(f"  {mark} {check.name}")
    if report is not None:
        draw_tables(tables(report), console)


def _rules(console: Console, dataset: Dataset) -> None:
    manifest = dataset.manifest
    rules = manifest.rules
    split = f"by blocks, {rules.guard:,} bases apart" if rules.split == "blocks" else "by contig"
    for source in manifest.sources:
        origin = f" ({source.assembly}, {source.address})" if source.address else ""
        called = f"{source.genome}: " if source.genome else ""
        console.print(f"  source  {called}{source.name}, {source.kind}, {source.bytes:,} bytes{origin}", markup=False)
        console.print(f"          sha256 {source.sha256}", soft_wrap=True)
    console.print(
        f"  rules   window {rules.window:,}, stride {rules.stride:,}, at most {rules.max_n:.0%} N, split {split}, "
        f"gaps {rules.gaps}d" + (f", regions {rules.regions}" if rules.regions else ""),
        markup=False,
    )
    console.print(f"  made by dnagoat {manifest.tool_version}; content {dataset.content_hash}\n", soft_wrap=True)


def _map(console: Console, dataset: Dataset) -> None:
    """Contigs as bars, each cell in the colour of the split that has most of it."""
    from rich.markup import escape

    from dnagoat.genome.passport import map_cells

    largest = sorted(dataset.contigs, key=lambda contig: -contig.length)[:MOST_CONTIGS]
    shown = [contig for contig in dataset.contigs if contig in largest]
    longest = max((contig.length for contig in shown), default=0)
    names = min(max((len(contig.name) for contig in shown), default=0), NAME)
    beside = 2 + names + 1 + 1 + len(f"{longest:,}")  # what stands in a line with a bar
    cells = console.width - beside if console.width - beside >= FEWEST_CELLS else console.width - 3
    legend = "  ".join(f"[{colour}]{glyph}[/{colour}] {split or 'gap'}" for split, (glyph, colour) in GLYPHS.items())
    console.print(f"  splits  {legend}")
    for contig in shown:
        bar = "".join(
            f"[{GLYPHS[split][1]}]{GLYPHS[split][0]}[/{GLYPHS[split][1]}]"
            for split in map_cells(contig, cells, longest)
        )
        name, length = escape(contig.name.ljust(names)), f"[dim]{contig.length:,}[/dim]"
        if len(contig.name) > names or cells + beside > console.width:
            console.print(f"  {escape(contig.name)} {length}\n  {bar}")
        else:
            console.print(f"  {name} {bar} {length}")
    if len(dataset.contigs) > len(shown):
        console.print(f"  … and {counted(len(dataset.contigs) - len(shown), 'shorter contig')}")
    console.print()


def _histograms(console: Console, dataset: Dataset) -> None:
    from dnagoat.genome.passport import MEASURES, histograms

    console.print("  share of a window's bases, from 0 % to 100 %, and the mean over windows")
    for measure, splits in histograms(dataset).items():
        for split, one in splits.items():
            if one["mean"] is None:
                continue
            most = max(one["counts"])
            # A bin that holds anything at all is drawn, however little.
            bars = "".join(LEVELS[-(-count * (len(LEVELS) - 1) // most)] for count in one["counts"])
            colour = GLYPHS[split][1]
            name = f"{MEASURES[measure]:<12}{split:<6}"
            console.print(f"  {name}[{colour}]{bars}[/{colour}] {one['mean']:.1%}")
    console.print()
