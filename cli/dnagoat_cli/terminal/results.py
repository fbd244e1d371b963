"""What a result of `evaluate` looks like in a terminal: the number first, its interval beside it, then the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console

from dnagoat.reporting.copying import COPY, OTHER, REVERSE
from dnagoat.wording import counted
from dnagoat_cli.terminal.table import Table

if TYPE_CHECKING:
    from dnagoat.evaluation.measure import Result

QUIET = {
    "format",
    "measure",
    "settings",
    "checkpoint",
    "made_from",
    "command",
    "warnings",
    "dinucleotides",
    "homopolymers",
}
LADDER = (
    "order-k: Markov chain of the training split, each order mixed with the next lower one; order-mix: all orders, "
    "trusted by how each has done in the window so far; repeats: also copies what followed the last 20 bases before."
)


def draw(found: list[tuple[Result, Path]]) -> None:
    """All results, those of likelihood in one table, then warnings and files."""
    console, stderr = Console(highlight=False), Console(stderr=True, highlight=False)
    likelihoods = [result for result, _ in found if result["measure"] == "nll"]
    if likelihoods:
        for table in _likelihood(likelihoods):
            console.print(table)
        for result in likelihoods:
            console.print(f"{result['split']}: {result['verdict']['sentence']}", soft_wrap=True)
            console.print(f"{result['split']}: {_context(result)}", soft_wrap=True, style="dim")
        if any(result["baselines"] for result in likelihoods):
            console.print(LADDER, soft_wrap=True, style="dim")
    for result, _ in found:
        if result["measure"] != "nll":
            for table in TABLES.get(result["measure"], _anything)(result):
                console.print(table)
    for result, _ in found:
        for warning in result.get("warnings", []):
            stderr.print(f"warning: {result['measure']} {result['split']}: {warning}", soft_wrap=True)
    for _, path in found:
        console.print(str(path), soft_wrap=True)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _likelihood(results: list[Result]) -> Iterator[Table]:
    table = _table(
        "Negative log-likelihood", "split", "nats a base", "95 % interval", "bits", "accuracy", "bases", "blocks"
    )
    for result in results:
        cells = (_number(result["bits"]), f"{result['accuracy']:.1%}", f"{result['count']:,}", str(result["blocks"]))
        table.add_row(result["split"], _number(result["value"]), _interval(result["interval"]), *cells)
    yield table
    for result in results:
        rungs = _table(
            f"The same bases of {result['split']} under tables of counts",
            "baseline",
            "nats a base",
            "gain",
            "95 % interval",
        )
        for row in result["baselines"]:
            rungs.add_row(
                row["name"], _number(row["value"]), f"{row['gain']:+.4f}", _interval(row["gain_interval"], "+")
            )
        if result["baselines"]:
            yield rungs


def _context(result: Result) -> str:
    how = f"read {result['context']:,} at a time, {result['stride']:,} of them scored"
    said = f"a base has {result['mean_context']:,.1f} bases before it on average ({how})"
    short, least = result.get("short_context", 0), result["context"] - result["stride"]
    return f"{said}; {short:,} bases ({short / result['count']:.2%}) have fewer than {least:,}" if short else said


def _strata(result: Result) -> Iterator[Table]:
    for group in result["groups"]:
        table = _table(group["question"], group["name"], "nats a base", "95 % interval", "bases", "share", "blocks")
        for row in group["strata"]:
            share = (f"{row['count']:,}", f"{row['share']:.1%}", _number(row.get("blocks")))
            table.add_row(row["name"], _number(row["value"]), _interval(row["interval"]), *share)
        yield table


def _lengths(result: Result) -> Iterator[Table]:
    title = f"The same {result['count']:,} bases with more context (trained with {result['training_length']:,})"
    table = _table(title, "context", "nats a base", "95 % interval", "gain", "95 % interval of the gain")
    for row in result["lengths"]:
        gain = (f"{row['gain']:+.4f}", _interval(row["gain_interval"], "+"))
        table.add_row(f"{row['length']:,}", _number(row["value"]), _interval(row["interval"]), *gain)
    yield table


def _copying(result: Result) -> Iterator[Table]:
    """A line a stretch; gains in nats a base over the same stretch after another one."""
    table = _table(
        f"{result['windows']:,} stretches: nats a base after another one, and nats saved after a copy of their own",
        *("bases", "nats", "a copy", "95 % interval", "rev. comp.", "95 % interval"),
    )
    after: dict[str, dict[str, Any]] = {}
    for row in result["rows"]:
        after.setdefault(f"{row['length']:,} {row['stretch']}", {})[row["before"]] = row
    for stretch, rows in after.items():
        gains = [rows[before] for before in (COPY, REVERSE)]
        cells = [cell for row in gains for cell in (f"{row['gain']:+.3f}", _interval(row["gain_interval"], places=3))]
        table.add_row(stretch, f"{rows[OTHER]['value']:.3f}", *cells)
    yield table


def _strands(result: Result) -> Iterator[Table]:
    average, signed = result["rc_average"], result["signed"]
    table = _table(f"Both strands of {counted(result['windows'], 'window')}", "", "nats a base", "95 % interval")
    table.add_row("mean |NLL(x) - NLL(rc x)| of a window", _number(result["value"]), _interval(result["interval"]))
    table.add_row("mean NLL(x) - NLL(rc x)", f"{signed['value']:+.4f}", _interval(signed["interval"], "+"))
    table.add_row("NLL, mean of both strands", _number(average["value"]), _interval(average["interval"]))
    yield table


def _protocol(result: Result) -> Iterator[Table]:
    table = _table("The GOAT authors' protocol (not comparable with the other tables)", "", "nats a symbol")
    batches = f"{counted(result['batches'], 'batch')} of {counted(result['batch_size'], 'validation window')}"
    table.add_row(batches, _number(result["value"]))
    windows = f", {counted(result['evaluation_windows'], 'window')} each" if "evaluation_windows" in result else ""
    table.add_row(f"best of the evaluations while training{windows}", _number(result["best_of_evaluations"]))
    for name, value in result["published"].items():
        table.add_row(f"published, {name}", _number(value))
    yield table


def _anything(result: Result) -> Iterator[Table]:
    """Short lines of any result; long lists stay in the file."""
    table = Table("", "", box=None, show_header=False, pad_edge=False)
    table.columns[0].no_wrap = True
    for name, value in _short(result):
        table.add_row(name, value)
    yield table


TABLES: dict[str, Callable[[Any], Iterator[Table]]] = {
    "strata": _strata,
    "lengths": _lengths,
    "rc": _strands,
    "copying": _copying,
    "protocol-paper": _protocol,
}


def _short(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Names and values of what fits a line, depth first."""
    if isinstance(value, dict):
        if "r" in value:
            yield name, _correlation(value)
            return
        for key, inner in value.items():
            if key not in QUIET:
                yield from _short(inner, f"{name} {key}".strip())
    elif isinstance(value, list):
        for row in value:
            if isinstance(row, dict) and all(not isinstance(cell, (dict, list)) for cell in row.values()):
                cells = [f"{key} {_number(cell)}" for key, cell in row.items()]
                yield f"{name} {cells[0]}", ", ".join(cells[1:])
    else:
        yield name, _number(value)


def _correlation(value: dict[str, Any]) -> str:
    return f"{_number(value['r'])}  {_interval(value.get('interval'), '+') if value.get('interval') else ''}".rstrip()


def _interval(interval: list[float] | None, sign: str = "", places: int = 4) -> str:
    return " to ".join(f"{bound:{sign}.{places}f}" for bound in interval) if interval else "n/a"


def _number(value: Any) -> str:
    if value is None:
        return "n/a"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
