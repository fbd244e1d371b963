"""What a sweep has finished: OUT/rows.jsonl, a line a trained model, from which the same command goes on after a kill.

The first line holds the settings of the sweep, every other one the unit (which model of the sweep) and what was found.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

from dnagoat.errors import RunError
from dnagoat.files import BYTES, write_text
from dnagoat.wording import was_given

FILE = "rows.jsonl"
# What options set of a model and its training, beside the rest that is of presets; recall has two more.
TAKEN = {"model.width", "train.steps", "train.batch_size", "train.lr", "train.warmup"}
RECALL_TAKES = {"model.layers", "train.prior_lr_scale"}
RENAMED = {"arms": "arm", "placements": "placement", "recipes": "recipe", "layers": "depth"}
Row = dict[str, Any]
Unit = tuple[Any, ...]  # words and numbers that tell one model of a sweep from the others


def begin(out: Path, settings: Row, units: Sequence[Unit], *, force: bool) -> dict[str, Row]:
    """The finished rows of these settings by `key`, of an unfinished sweep; those of others are a `RunError`.

    `force` replaces rows of other settings, and a sweep that is finished.
    """
    file, head = out / FILE, _line(settings)
    first, *lines = _whole_lines(file) or [head]
    different = _different(_read(file, first), settings)
    if different and not force:
        raise RunError(f"{file} was begun with {different}; give another --out, or --force to replace it")
    kept = {} if different else _kept(file, lines)
    if force and all(key(unit) in kept for unit in units):
        kept = {}
    # Written anew, so that a line that a kill has cut short is gone before the next is added to it.
    write_text(file, "\n".join([head, *(lines if kept else []), ""]))
    return kept


def add(out: Path, unit: Unit, found: Row) -> None:
    """Appends a finished row, on the disk before the next model is begun."""
    with (out / FILE).open("a", encoding="utf-8", errors=BYTES) as handle:
        handle.write(_line({"unit": unit, "found": found}) + "\n")
        handle.flush()
        os.fsync(handle.fileno())


def key(unit: Sequence[Any]) -> str:
    """The unit as its row names it."""
    return json.dumps(unit)


def _whole_lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8", errors=BYTES).split("\n")[:-1] if file.exists() else []


def _line(row: Row) -> str:
    return json.dumps(row, allow_nan=False, ensure_ascii=False)


def _kept(file: Path, lines: Sequence[str]) -> dict[str, Row]:
    rows = [_read(file, line) for line in lines]
    return {key(row["unit"]): row["found"] for row in rows}


def _read(file: Path, line: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise RunError(f"{file} is damaged: a line is no JSON object; remove the line, and its model is trained again")
    return row


def _different(kept: Row, asked: Row) -> str:
    """What was asked otherwise; two kinds of probe have no settings to compare."""
    if kept.get("probe") != asked.get("probe"):
        return f"probe {kept.get('probe')}, not {asked.get('probe')}"
    taken = TAKEN if asked.get("probe") == "induction" else TAKEN | RECALL_TAKES
    return "; ".join(_differences(kept, asked, taken))


def _differences(kept: Row, asked: Row, taken: Set[str], within: str = "") -> Iterator[str]:
    """`--steps 20, not 40` for every setting that differs."""
    for name in {**kept, **asked}:
        before, value = kept.get(name), asked.get(name)
        if before == value:
            continue
        if within + name == "position":
            yield f"another {option_of(name, taken)}"  # its settings have no options of their own
        elif isinstance(value, dict) and isinstance(before, dict):
            yield from _differences(before, value, taken, f"{within}{name}.")
        else:
            yield was_given(option_of(within + name, taken), before, value)


def option_of(path: str, taken: Set[str]) -> str:
    """The option of a probe that sets what lies at `path` of its settings; the path where only presets do."""
    if path.startswith(("model.", "train.")) and path not in taken:
        return path
    return "--" + RENAMED.get(path, path.rpartition(".")[2]).replace("_", "-")
