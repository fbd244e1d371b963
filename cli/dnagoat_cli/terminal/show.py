"""What a command shows when it is done: JSON where a script asked for it, else tables, a sentence and files."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from dnagoat_cli.terminal.grid import draw_table, draw_tables
from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.prose import print_prose

if TYPE_CHECKING:
    from dnagoat.attention.proof.parity import Parity
    from dnagoat.config import RunConfig
    from dnagoat.evaluation.comparison.experiment import Comparison
    from dnagoat.evaluation.comparison.forecast import Forecast
    from dnagoat.evaluation.measure import Result
    from dnagoat.reporting.document import Report
    from dnagoat.training.plan import RunCost


def print_json(content: Any) -> None:
    sys.stdout.write(json_text(content))


def show_results(found: Sequence[tuple[Result, Path]], as_json: bool, *, every: bool = False) -> None:
    """What results come to in a sentence each, then their tables, those of one measure together, then warnings and
    files; one alone is JSON as it is."""
    from dnagoat.reporting.contents import section_of

    results = [result for result, _ in found]
    if as_json:
        print_json(results[0] if len(results) == 1 else results)
        return
    console, stderr = Console(highlight=False), Console(stderr=True, highlight=False)
    for result in reversed(results):  # test before validation
        if "verdict" in result:
            console.print(Text(f"{result['split']}: {result['verdict']['sentence']}", style="bold"), overflow="fold")
            console.print()
    for measure in dict.fromkeys(result["measure"] for result in results):
        tables = section_of(measure).of_results([result for result in results if result["measure"] == measure])
        draw_tables(tables if every else (table.shortened("with --all") for table in tables), console)
    for result in results:
        for warning in result.get("warnings", []):
            said = f"warning: {result['measure']} {result['split']}: {warning}"
            print_prose(said, stderr, markup=False)
    for _, path in found:
        console.print(str(path), markup=False, soft_wrap=True)


def show_comparison(result: dict[str, Any], out: Path, as_json: bool, *, every: bool = False) -> None:
    """The verdict, and each arm's numbers on one screen; every table instead where `every` is asked for."""
    from dnagoat.evaluation.comparison.arms import COMPARISON
    from dnagoat.reporting.headline import of_comparison
    from dnagoat.reporting.sections.comparison import every_table
    from dnagoat.reporting.sections.glance import glance
    from dnagoat.reporting.sections.pairs import pairs_of_comparison, sentence
    from dnagoat.reporting.sources import read

    if as_json:
        print_json(result)
        return
    console = Console(highlight=False)
    _print_verdict(of_comparison(result), result["verdict"], console)
    draw_tables(every_table(result) if every else [glance(read([out]))], console)
    if not every:
        if pairs := pairs_of_comparison(result):
            console.print(Text(sentence(pairs)), overflow="fold")
        console.print("--all shows where and how soon arms differ", style="dim")
    console.print(f"`dnagoat report {shlex.quote(str(out))}` makes a page", style="dim", markup=False, soft_wrap=True)
    console.print(str(out / COMPARISON), style="dim", markup=False, soft_wrap=True)


def show_report(made: Report, page: Path, as_json: bool = False) -> None:
    """The page's first screen in text: the verdict, each model's numbers, what limits it under the page's numbers; the
    page's path last."""
    from dnagoat.reporting.sections.glance import glance
    from dnagoat.reporting.sections.pairs import sentence
    from dnagoat.reporting.table import marked

    if as_json:
        print_json(made.as_dict())
        return
    console = Console(highlight=False)
    notes = made.notes()
    shown = [glance(made.results, made.warnings)] if made.results.runs else made.tables
    tables = [notes.numbered(table) for table in shown]
    _print_verdict(marked(made.verdict.headline, notes.remarks), made.verdict.sentence, console)
    draw_tables(tables, console)
    if made.pairs:
        console.print(Text(sentence(made.pairs)), overflow="fold")
    for number in sorted({*notes.remarks, *(number for table in tables for number in table.refers_to())}):
        console.print(Text(f"  {number}. {notes.said[number - 1]}"), overflow="fold")
    console.print()
    console.print(f"report: {page}; every table is text in report.md beside it", markup=False, soft_wrap=True)


def _print_verdict(headline: str, sentence: str, console: Console) -> None:
    console.print(Text(headline, style="bold"), overflow="fold")
    if sentence != headline:
        console.print(Text(sentence), overflow="fold")
    console.print()


def show_probe(result: dict[str, Any], out: Path, as_json: bool) -> None:
    from dnagoat.reporting.sections.probes import kinds as probes

    if as_json:
        print_json(result)
        return
    console = Console(highlight=False)
    draw_tables(probes.tables(result), console)
    console.print(f"[bold]{probes.sentence(result)}[/bold]")
    console.print(f"result: {out / probes.FILE}", markup=False, soft_wrap=True)


def show_benchmark(result: dict[str, Any], out: Path | None, as_json: bool) -> None:
    from dnagoat.reporting.sections.cost import benchmark

    if as_json:
        print_json(result)
        return
    if (table := benchmark([result])) is not None:
        draw_table(table, Console(highlight=False))
    if out is not None:
        sys.stdout.write(f"{out}\n")


def show_plan(config: RunConfig, planned: RunCost, device: str, as_json: bool) -> None:
    from dnagoat.reporting.sections.plan import plan_table

    if as_json:
        more = {"activations": planned.activations, "expected": planned.expected, "largest": planned.largest}
        print_json(asdict(planned) | more | {"device": device})
    else:
        draw_table(plan_table(config, planned, device), Console(highlight=False))


def show_forecast(comparison: Comparison, forecast: Forecast, as_json: bool) -> None:
    """The plan of a comparison, then each folder and file that it would write, a line each."""
    from dnagoat.reporting.sections.plan import comparison_plan

    if as_json:
        print_json(asdict(forecast) | {"hours": forecast.hours})
        return
    draw_table(comparison_plan(comparison, forecast), Console(highlight=False))
    sys.stdout.write("nothing is written now; training writes\n" + "".join(f"  {file}\n" for file in forecast.files))
    if comparison.tunes:
        sys.stdout.write("  and a folder for each further seed, at the rate that is best for the first\n")


def show_summary(out: Path, as_json: bool) -> None:
    """What a run came to, from its summary.json; nothing where it was stopped before its end."""
    from dnagoat.training.kept.run import SUMMARY
    from dnagoat.wording import counted

    file = out / SUMMARY
    if not file.exists():
        return
    summary = json.loads(file.read_text(encoding="utf-8"))
    if as_json:
        print_json(summary)
        return
    best = "never validated"
    if summary["best_val_nll"] is not None:
        best = (
            f"best validation {summary['best_val_nll']:.4f} nats/base at step {summary['best_step']}; training loss "
            f"{summary['train_nll']:.4f}, {summary['train_nll'] - summary['val_nll']:+.4f} to validation"
        )
    print_prose(
        f"[bold]{out}[/bold]  {counted(summary['steps'], 'step')}, {counted(summary['bases'], 'base')} in "
        f"{summary['seconds']:.0f} s, {summary['tokens_per_second']:,.0f} bases/s; {best}",
        Console(),
    )


def show_environment(facts: dict[str, Any]) -> None:
    from dnagoat.reporting.sections.machine import devices, kernels

    console = Console(highlight=False)
    packages = "   ".join(f"{name} {version}" for name, version in facts["packages"].items() if version)
    console.print(f"[bold]dnagoat {facts['dnagoat']}[/bold]   python {facts['python']}   {facts['system']}")
    console.print(packages, style="dim")
    console.print(f"NVIDIA driver {facts['driver'] or 'none'}   torch is built for CUDA {facts['cuda'] or 'none'}")
    if facts["idle_gpu"]:
        console.print(facts["idle_gpu"], style="yellow")
    draw_tables([devices(facts), kernels(facts)], console)
    console.print(f"Subnormal numbers on the CPU: {facts['subnormals']}")


def show_parities(rows: Sequence[Parity]) -> None:
    from dnagoat.reporting.sections.machine import parities

    draw_table(parities(rows), Console(highlight=False))
