"""What `gpu.py` finds, as rows with bars, and the page that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Fact = dict[str, Any]


def fact(name: str, value: float | str | None, unit: str = "", bar: float | None = None, sense: str = "<=") -> Fact:
    """A row; with a bar it is held or missed."""
    held = None
    if bar is not None and isinstance(value, float | int):
        held = value <= bar if sense == "<=" else value >= bar
    return {"name": name, "value": value, "unit": unit, "bar": bar, "sense": sense, "held": held}


def page(found: Sequence[Fact], machine: str) -> str:
    """The report, in Markdown: the machine, the verdict, what was found or failed, and at the end what was not done."""
    lines = ["# Day one on this machine", "", machine, "", _summary(found), ""]
    for part in found:
        if "failed" in part:
            lines += [f"## {part['question']}", "", f"**Failed**: {part['failed']}.", ""]
        elif "rows" in part:
            lines += [f"## {part['question']}", "", "| what | value | unit | bar | verdict |", "|---|---|---|---|---|"]
            lines += [*(_line(row) for row in part["rows"]), ""]
    left = [part for part in found if "skipped" in part]
    if left:
        lines += ["## Not done here", ""]
    for reason in dict.fromkeys(part["skipped"] for part in left):
        lines += [f"{reason[0].upper()}{reason[1:]}:", ""]
        lines += [*(f"- {part['question']}" for part in left if part["skipped"] == reason), ""]
    return "\n".join(lines)


def _summary(found: Sequence[Fact]) -> str:
    """How many parts were done, and how many bars were missed."""
    failed = sum("failed" in part for part in found)
    held = [row["held"] for part in found for row in part.get("rows", ()) if row["held"] is not None]
    said = f"{sum('rows' in part for part in found)} of {len(found)} parts were done here"
    if failed:
        said += f", {failed} failed"
    if held:
        said += f"; of {len(held)} bars {held.count(True)} were held and {held.count(False)} missed"
    return said + "."


def _line(row: Fact) -> str:
    value = row["value"]
    shown = "n/a" if value is None else value if isinstance(value, str) else f"{value:,.6g}"
    bar = "" if row["bar"] is None else f"{row['sense']} {row['bar']:g}"
    return f"| {row['name']} | {shown} | {row['unit']} | {bar} | {verdict(row)} |"


def verdict(row: Fact) -> str:
    if row["bar"] is None:
        return ""
    return {None: "not measured", True: "held", False: "**missed**"}[row["held"]]


def whole(found: Sequence[Fact]) -> bool:
    """Whether nothing failed and no bar was missed; what was not done is no fault."""
    rows = [row for part in found for row in part.get("rows", ())]
    return not any("failed" in part for part in found) and not any(row["held"] is False for row in rows)
