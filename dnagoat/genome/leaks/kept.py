"""Where a dataset's leak report is kept: in its folder, or, where that cannot be written, in a folder for results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dnagoat.errors import DatasetError
from dnagoat.files import read_json
from dnagoat.folders import why_not_writable


def report_files(path: Path, content_hash: str, results: Path | None = None) -> tuple[Path, ...]:
    """Where the leak report of the dataset in `path` may lie: first the file that a new one goes to."""
    own = path / "leakage.json"
    return (own,) if results is None else (results / f"leakage-{content_hash[:12]}.json", own)


def kept_leakage(path: Path, content_hash: str, results: Path | None = None) -> dict[str, Any] | None:
    """The report of the dataset in `path`, if it is of this very content, or None."""
    for file in report_files(path, content_hash, results):
        if file.exists():
            report: dict[str, Any] = read_json(file)
            if report.get("dataset_hash") == content_hash and report.get("format") == 1:
                return report
    return None


def require_room(path: Path, content_hash: str, results: Path | None = None) -> None:
    """A `DatasetError` where no leak report can be kept."""
    folder = report_files(path, content_hash, results)[0].parent
    if (why := why_not_writable(folder)) is not None:
        way = "another --results" if results is not None else "--results DIR to keep it elsewhere"
        raise DatasetError(f"{folder} cannot be written ({why}), and the leak report is kept there; give {way}")
