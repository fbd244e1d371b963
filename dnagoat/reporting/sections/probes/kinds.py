"""All kinds of probes: their results are read, told and written beside themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dnagoat.errors import RunError
from dnagoat.files import read_json, write_json, write_text
from dnagoat.folders import fill_alone
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.sections.probes.extrapolate import EXTRAPOLATE
from dnagoat.reporting.sections.probes.induction import INDUCTION
from dnagoat.reporting.sections.probes.kind import Kind, Result
from dnagoat.reporting.sections.probes.linear import LINEAR
from dnagoat.reporting.sections.probes.recall import RECALL
from dnagoat.reporting.sections.probes.sinks import SINK
from dnagoat.reporting.table import Table

FILE = "probe.json"
KINDS: dict[str, Kind] = {
    "passkey": RECALL,
    "needle": RECALL,
    "induction": INDUCTION,
    "extrapolate": EXTRAPOLATE,
    "sink": SINK,
    "linear": LINEAR,
}


def read_probes(paths: Sequence[Path]) -> list[Result]:
    """The results in these folders (or files); a `RunError` names the one that holds none."""
    return [_read(path / FILE if path.is_dir() else path) for path in paths]


def _read(file: Path) -> Result:
    try:
        result = read_json(file)
        known = result["format"] == 1 and result["probe"] in KINDS
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
    with fill_alone(out, "--out", "probe"):
        yield


def sentence(result: Result, folder: str = "") -> str:
    """The finding, in one sentence with its numbers, after the folder where several probes are told."""
    said = KINDS[result["probe"]].sentence(result)
    return f"{folder}: {said}" if folder else said


def headline(result: Result) -> str:
    """The finding in a few words."""
    return KINDS[result["probe"]].headline(result)


def tables(result: Result) -> list[Table]:
    return KINDS[result["probe"]].tables(result)


def figure_of(result: Result) -> Figure:
    return KINDS[result["probe"]].figure(result)
