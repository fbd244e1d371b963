"""How a report is put together and written: HTML, Markdown, JSON, CSV tables, and figures as SVG, PDF and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dnagoat
from dnagoat.errors import RunError
from dnagoat.files import read_json, write_json, write_text
from dnagoat.folders import new_folder
from dnagoat.reporting.contents import SECTIONS, compare_runs
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.methods import Methods, methods, versions
from dnagoat.reporting.numbers import listed
from dnagoat.reporting.page import page
from dnagoat.reporting.sources import Results
from dnagoat.reporting.style import looks
from dnagoat.reporting.table import Table
from dnagoat.reporting.verdict import Verdict, verdict
from dnagoat.wording import counted


@dataclass(frozen=True)
class Report:
    """A report before it is written; `tables` come first on the page, `details` after the figures."""

    title: str
    subtitle: str
    verdict: Verdict
    tables: list[Table]
    figures: list[Figure]
    details: list[Table]
    methods: Methods
    results: Results

    def html(self) -> str:
        return page(
            self.title,
            self.subtitle,
            self.verdict,
            self.tables,
            self.figures,
            self.details,
            self.methods,
            looks(self.results.arms),
        )

    def markdown(self) -> str:
        """The same story as text, with links to the figures beside it."""
        parts = [f"# {self.title}", self.subtitle, f"**{self.verdict.sentence}**"]
        parts += ["\n".join(f"- {remark}" for remark in self.verdict.remarks)]
        parts += [f"## {table.title}\n\n{table.markdown()}" for table in self.tables]
        parts += [
            f"## {figure.title}\n\n![{figure.alt}](figures/{figure.name}.svg)\n\n"
            f"How to read it: {figure.reading}\n\nWhat it cannot show: {figure.limits}"
            for figure in self.figures
        ]
        parts += [f"## {table.title}\n\n{table.markdown()}" for table in self.details]
        parts += ["## Methods", *self.methods.paragraphs, self.methods.settings.markdown()]
        parts += ["Commands that repeat this:", "```sh\n" + "\n".join(self.methods.commands) + "\n```"]
        return "\n\n".join(part for part in parts if part) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """The content of results.json: the verdict, every table's numbers, and where they came from."""
        return {
            "format": 1,
            "tool_version": dnagoat.__version__,
            "title": self.title,
            "verdict": {"sentence": self.verdict.sentence, "remarks": self.verdict.remarks},
            "versions": versions(),
            "runs": [
                {
                    "name": run.run.name,
                    "arm": run.arm,
                    "seed": run.seed,
                    "dataset_hash": run.config.dataset_hash,
                    "config": run.config.model_dump(mode="json"),
                    "measures": sorted(run.measures),
                }
                for run in self.results.runs
            ],
            "tables": {table.name: table.as_dict() for table in self._all_tables()},
            "figures": {figure.name: {"title": figure.title, "alt": figure.alt} for figure in self.figures},
            "commands": self.methods.commands,
        }

    def of_same_runs(self, out: Path) -> bool:
        """Whether the report in this folder is of the same runs, whatever version wrote it."""
        try:
            stored = read_json(out / "results.json")["runs"]
            return [run["config"] for run in stored] == [run["config"] for run in self.as_dict()["runs"]]
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _all_tables(self) -> list[Table]:
        return [*self.tables, *self.details, self.methods.settings]

    def write(self, out: Path, *, force: bool = False) -> Path:
        """Writes the report's folder and returns the page; an existing report is a `RunError` without `force`."""
        with new_report(out, force=force) as folder:
            self.fill(folder)
        return out / "report.html"

    def fill(self, folder: Path) -> None:
        """Writes everything into a folder of `new_report`."""
        for figure in self.figures:
            figure.save(folder / "figures")
        for table in self._all_tables():
            write_text(folder / "tables" / f"{table.name}.csv", table.csv())
        write_json(folder / "results.json", self.as_dict())
        write_text(folder / "report.md", self.markdown())
        write_text(folder / "report.html", self.html())


def new_report(out: Path, *, force: bool = False) -> AbstractContextManager[Path]:
    """A private folder that becomes the report `out`; one report at a time is made for one folder."""
    return new_folder(out, "--out", "report", lambda: free(out, force=force))


def free(out: Path, *, force: bool = False) -> None:
    """Refuses (`RunError`) a folder that holds a report, or that holds anything else than one, before work is done."""
    if (out / "report.html").exists():
        if not force:
            raise RunError(f"{out} already holds a report; give another --out, or --force to replace it")
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} is there already and is no report; give another --out")


def report(results: Results, command: str, *, title: str | None = None, remarks: Sequence[str] = ()) -> Report:
    """Puts a report together; `command` is the one that asked for it, `remarks` go below the verdict, first."""
    warnings = compare_runs(results)
    judged = verdict(results, warnings)
    return Report(
        title or _title(results),
        _subtitle(results),
        Verdict(judged.sentence, [*remarks, *judged.remarks]),
        [table for section in SECTIONS for table in section.tables(results, warnings) if table is not None],
        [figure for section in SECTIONS for figure in section.figures(results, warnings) if figure is not None],
        [table for section in SECTIONS for table in section.details(results, warnings) if table is not None],
        methods(results, command),
        results,
    )


def _title(results: Results) -> str:
    arms = list(results.arms) or list(dict.fromkeys(str(probe["probe"]) for probe in results.probes))
    return f"{listed(arms)} on DNA" if len(arms) < 5 else f"{len(arms)} position schemes on DNA"


def _subtitle(results: Results) -> str:
    if not results.runs:
        return "Probes: small models trained for one task"
    names = sorted({Path(run.config.dataset).name for run in results.runs})
    presets = sorted({run.config.preset for run in results.runs})
    counts = [counted(len(results.runs), "run"), counted(len({run.seed for run in results.runs}), "seed")]
    return f"{', '.join(counts)}, dataset {listed(names)}, preset {listed(presets)}"
