"""How a benchmark reports: rows with a bar each, as a table and as JSON, and exit code 1 when a bar is missed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Literal


@dataclass(frozen=True)
class Row:
    """One measured value; `value` is None where it could not be measured here, and `detail` says why."""

    name: str
    value: float | None
    unit: str
    bar: float
    sense: Literal["<=", ">="]
    rounds: int
    detail: str = ""

    @property
    def held(self) -> bool | None:
        if self.value is None:
            return None
        return self.value <= self.bar if self.sense == "<=" else self.value >= self.bar


def interleaved(arms: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least process time of each arm in seconds; arms take turns, so that a noisy neighbour disturbs all alike."""
    least = dict.fromkeys(arms, float("inf"))
    for turn in range(rounds + 1):
        for name, work in arms.items():
            start = process_time()
            work()
            if turn:  # the first turn warms up
                least[name] = min(least[name], process_time() - start)
    return least


def finish(rows: Iterable[Row], json_file: Path | None) -> None:
    """Prints the table as rows come, writes the JSON, and ends the process: 1 when a bar is missed."""
    done = []
    print(f"{'row':<42} {'value':>10} {'unit':<8} {'bar':>10}  verdict")
    for row in rows:
        done.append(row)
        verdict = {None: "not measured", True: "held", False: "MISSED"}[row.held]
        value = "n/a" if row.value is None else f"{row.value:.4g}"
        print(f"{row.name:<42} {value:>10} {row.unit:<8} {row.sense} {row.bar:<8g} {verdict}", flush=True)
        if row.detail:
            print(f"    {row.detail}", flush=True)
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(row) for row in done], indent=2) + "\n", encoding="utf-8")
    sys.exit(1 if any(row.held is False for row in done) else 0)


def options(description: str, rounds: int, switches: Mapping[str, str] | None = None) -> argparse.Namespace:
    """--json FILE and --rounds N, as every benchmark has them, and switches of one's own with their help."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--rounds", type=int, default=rounds, help="interleaved rounds of what is timed")
    for name, what in (switches or {}).items():
        parser.add_argument(f"--{name}", action="store_true", help=what)
    return parser.parse_args()
