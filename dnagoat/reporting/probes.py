"""What a probe's result says: one sentence, its tables and its figure, written beside the result itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dnagoat.errors import RunError
from dnagoat.files import read_json, write_json, write_text
from dnagoat.folders import fill_alone
from dnagoat.reporting.figures.probes import figure_of
from dnagoat.reporting.numbers import decimals, interval, listed, percent, whole
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

Result = dict[str, Any]
FILE = "probe.json"


def read_probes(paths: Sequence[Path]) -> list[Result]:
    """The results in these folders (or files); a `RunError` names the one that holds none."""
    return [_read(path / FILE if path.is_dir() else path) for path in paths]


def _read(file: Path) -> Result:
    try:
        result = read_json(file)
        known = result["format"] == 1 and result["probe"] in TOLD
    except (OSError, ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise RunError(f"{file} is not the result of a probe; give the folder that `dnagoat probe` wrote")
    return dict(result)


def write(result: Result, out: Path) -> None:
    """OUT/probe.json, its figure as SVG, PDF and PNG, and its tables as CSV."""
    write_json(out / FILE, result)
    figure_of(result).save(out / "figures")
    for table in tables(result):
        write_text(out / "tables" / f"{table.name}.csv", table.csv())


@contextmanager
def new_result(out: Path, *, force: bool) -> Iterator[None]:
    """Holds the folder of a probe until its result is written; refuses one that already holds a result."""
    if (out / FILE).exists() and not force:
        raise RunError(f"{out} already holds a probe's result; give another --out, or --force to replace it")
    with fill_alone(out, "probe"):
        yield


def sentence(result: Result, folder: str = "") -> str:
    """The finding, in one sentence with its numbers, after the folder where several probes are told."""
    said = TOLD[result["probe"]][0](result)
    return f"{folder}: {said}" if folder else said


def tables(result: Result) -> list[Table]:
    return TOLD[result["probe"]][1](result)


SEED_NOTE = (
    "The interval is of the test sequences alone: it does not cover the training seed, and another may fall outside."
)


def _share(row: Result) -> Cell:
    low, high = row["interval"] or (None, None)
    under = [] if low is None else [f"{percent(low)} to {percent(high)}"]
    seeds = row.get("seeds", ())
    if len(seeds) > 1:
        under.append(f"by seed {', '.join(f'{100 * seed:.0f}' for seed in seeds)} %")
    return Cell(percent(row["value"]), row["value"], low, high, under="\n".join(under))


def _recall_said(result: Result) -> str:
    told = []
    for arm in result["arms"]:
        first, end = (arm["lengths"][place] for place in (0, -1))
        near = f" ({percent(first['value'], 0)} at {first['times']}x)" if first != end else ""
        told.append(f"{arm['arm']} recalls {percent(end['value'], 0)} of the keys{near}")
    times = result["arms"][0]["lengths"][-1]["times"]
    return f"At {times}x the training length of {whole(result['length'])} bases, {listed(told)}."


def _recall_tables(result: Result) -> list[Table]:
    columns = [
        Column(f"x{row['times']}", f"{whole(row['length'])} ({row['times']}x)") for row in result["arms"][0]["lengths"]
    ]
    name, task = f"probe-{result['probe']}", result["probe"]
    note = f"{result['unit']}; 95 % Wilson intervals; a guess: {percent(result['chance'], 2)}"
    pooled = [Row(arm["arm"], [_share(row) for row in arm["lengths"]], arm=arm["arm"]) for arm in result["arms"]]
    by_depth = [
        Row(f"{arm['arm']}, depth {depth:g}", [_share(cell) for cell in cells], arm=arm["arm"])
        for arm in result["arms"]
        for depth, cells in _by_depth(arm)
    ]
    notes = [f"Over all depths: {note}", SEED_NOTE]
    return [
        Table(name, f"Recall by length: {task}", "arm", columns, pooled, notes),
        Table(
            f"{name}-depths", f"Recall by depth and length: {task}", "arm", columns, by_depth, [DEPTH_NOTE, SEED_NOTE]
        ),
    ]


DEPTH_NOTE = "Depth 0 puts the key at the start, farthest from the question; 1 next to it. The same shares, not pooled."


def _by_depth(arm: Result) -> list[tuple[float, list[Result]]]:
    """The cells of each depth, by length."""
    depths = dict.fromkeys(cell["depth"] for cell in arm["cells"])
    return [(depth, [cell for cell in arm["cells"] if cell["depth"] == depth]) for depth in depths]


def _induction_said(result: Result) -> str:
    first = min(result["rows"], key=lambda row: row["strength"])
    best = max(result["rows"], key=lambda row: row["value"])
    without = "Without momentum" if first["strength"] == 0 else f"At g = {first['strength']:g}"
    return (
        f"{without}, {counted(first['layers'], 'layer')} predicts {percent(first['value'])} of the repeated symbols; "
        f"the best, {_called(best)} the rotation, {percent(best['value'])}."
    )


def _induction_tables(result: Result) -> list[Table]:
    columns = [
        Column("accuracy", "predicted", "share"),
        *(Column(name, f"{name} signal", "sd") for name in ("q.k", "p.k", "q.p", "p.p")),
    ]
    rows = [Row(_called(row), [_share(row), *_signals(row)]) for row in result["rows"]]
    note = (
        "Signal: how far the answer's key stands above the others by that term alone, in their standard deviations; "
        "of the model of seed 0."
    )
    made = [Table("probe-induction", "Induction by strength of momentum", "model", columns, rows, [SEED_NOTE, note])]
    return made + [_law(law) for law in result["laws"]]


def _called(row: Result) -> str:
    recipe = "" if row["recipe"] == "none" else ", recipe momentum"
    return f"{counted(row['layers'], 'layer')}, g {row['strength']:g} {row['placement']}{recipe}"


def _signals(row: Result) -> list[Cell]:
    if row["terms"] is None:
        return [Cell("n/a")] * 4
    return [
        Cell(decimals(term["signal"], 2), term["signal"], under=f"rms {decimals(term['magnitude'], 2)}")
        for term in row["terms"]
    ]


def _law(law: Result) -> Table:
    rows = [
        Row(counted(layers, "layer"), [Cell(f"{best:g}", best)])
        for layers, best in zip(law["layers"], law["best"], strict=True)
    ]
    note = f"g* = {law['factor']:.2f} N^-{law['exponent']:.2f}; the literature has N^-0.74"
    return Table(
        f"probe-induction-law-{law['recipe']}", "Best strength by depth", "depth", [Column("g", "g*")], rows, [note]
    )


def _extrapolate_said(result: Result) -> str:
    told = []
    for arm in result["arms"]:
        first, last = ([seed["lengths"][place]["value"] for seed in arm["seeds"]] for place in (0, -1))
        told.append(f"{arm['arm']} goes from {decimals(_mean(first))} to {decimals(_mean(last))}")
    lengths = result["arms"][0]["seeds"][0]["lengths"]
    near, far = (lengths[place]["factor"] for place in (0, -1))
    return f"From {near:g}x to {far:g}x the training length, {listed(told)} nats per base."


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _extrapolate_tables(result: Result) -> list[Table]:
    lengths = result["arms"][0]["seeds"][0]["lengths"]
    columns = [Column(f"b{row['length']}", f"{whole(row['length'])} ({row['factor']:g}x)", "nats") for row in lengths]
    rows = [
        Row(f"{arm['arm']}, seed {seed['seed']}", [_nats(row) for row in seed["lengths"]], arm=arm["arm"])
        for arm in result["arms"]
        for seed in arm["seeds"]
    ]
    note = f"The same {whole(lengths[0]['count'])} bases of the {result['split']} split in every column."
    return [Table("probe-extrapolate", "NLL by length of context", "run", columns, rows, [note])]


def _nats(row: Result) -> Cell:
    low, high = row["interval"] or (None, None)
    return Cell(decimals(row["value"]), row["value"], low, high, under=interval(row["interval"]))


SINK_COLUMNS = {
    "weight": ("weight of the first key", ""),
    "strongest": ("queries it is strongest for", ""),
    "margin": ("its lead", "nats"),
    "content": ("of it content", "nats"),
    "prior": ("of it prior", "nats"),
    "key_length": ("its key's length over the others'", ""),
}


def _sink_said(result: Result) -> str:
    told = []
    for run in result["runs"]:
        real = [row for row in run["rows"] if row["windows"] == "real"]
        weight, length = (_mean([row[name] for row in real]) for name in ("weight", "key_length"))
        told.append(
            f"{run['arm']} gives the first key {percent(weight)} of its attention with a key {length:.2f}x as long"
        )
    return f"On real windows {listed(told)} as the others."


def _sink_tables(result: Result) -> list[Table]:
    columns = [Column(name, head, unit) for name, (head, unit) in SINK_COLUMNS.items()]
    made = []
    for kind in ("real", "random"):
        rows = [
            Row(f"{run['arm']}, layer {layer + 1}", _layer_means(run, kind, layer), arm=run["arm"])
            for run in result["runs"]
            for layer in sorted({row["layer"] for row in run["rows"]})
        ]
        notes = [_replaced(run, kind) for run in result["runs"]]
        made.append(Table(f"probe-sink-{kind}", f"The first key on {kind} windows", "layer", columns, rows, notes))
    return made


def _layer_means(run: Result, kind: str, layer: int) -> list[Cell]:
    """Means over the heads of a layer."""
    heads = [row for row in run["rows"] if row["windows"] == kind and row["layer"] == layer]
    means = [_mean([head[name] for head in heads]) for name in SINK_COLUMNS]
    return [Cell(decimals(mean, 3), mean) for mean in means]


def _replaced(run: Result, kind: str) -> str:
    row = next((row for row in run["replaced"] if row["windows"] == kind), None)
    if row is None:
        return (
            f"{run['arm']}: trained without a start symbol (`dnagoat train --score-n`), so the first key is a base's; "
            "none is replaced."
        )
    beside = "; ".join(text for text in (interval(row["interval"], 5, sign=True), *row.get("warnings", ())) if text)
    return (
        f"{run['arm']}: a random base in place of the start symbol costs {decimals(row['cost'], 5, sign=True)} nats "
        f"per base{f' ({beside})' if beside else ''} over {whole(row['count'])} bases."
    )


TOLD: dict[str, tuple[Callable[[Result], str], Callable[[Result], list[Table]]]] = {
    "passkey": (_recall_said, _recall_tables),
    "needle": (_recall_said, _recall_tables),
    "induction": (_induction_said, _induction_tables),
    "extrapolate": (_extrapolate_said, _extrapolate_tables),
    "sink": (_sink_said, _sink_tables),
}
