"""How a report is put together and written: HTML, Markdown, JSON, CSV tables, and figures as SVG, PDF and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import dnagoat
from dnagoat.errors import RunError
from dnagoat.files import read_json, write_json, write_text
from dnagoat.folders import new_folder
from dnagoat.reporting.cards import Card, cards
from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.contents import SECTIONS, compare_runs
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.markdown import in_markdown
from dnagoat.reporting.methods import Methods, methods, versions
from dnagoat.reporting.notes import Notes
from dnagoat.reporting.numbers import listed
from dnagoat.reporting.page import page
from dnagoat.reporting.section import Part, Question
from dnagoat.reporting.sections.differences import draw_verdict
from dnagoat.reporting.sections.pairs import Pairs, find_pairs, tabulate
from dnagoat.reporting.sources import Results
from dnagoat.reporting.table import Table
from dnagoat.reporting.verdict import Verdict, verdict
from dnagoat.wording import counted

PAGE = "report.html"


@dataclass(frozen=True)
class Report:
    """A report before it is written; `hero` is the figure beside the verdict, `pairs` what the table below it shows;
    `parts` are in the order of questions."""

    title: str
    subtitle: str
    verdict: Verdict
    hero: Figure | None
    pairs: Pairs | None
    cards: list[Card]
    parts: list[Part]
    methods: Methods
    results: Results
    warnings: Warnings

    @property
    def tables(self) -> list[Table]:
        """What a terminal shows."""
        return [table for part in self.parts for table in part.tables]

    @property
    def matrix(self) -> Table | None:
        return tabulate(self.pairs) if self.pairs else None

    @property
    def details(self) -> list[Table]:
        return [table for part in self.parts for table in part.details]

    @property
    def figures(self) -> list[Figure]:
        return [*filter(None, [self.hero]), *(figure for part in self.parts for figure in part.figures)]

    def notes(self) -> Notes:
        """What hinders the comparison, numbered as the page is read; what limits the verdict comes first."""
        notes = Notes(self.warnings.sentences)
        notes.remarks = tuple(map(notes.add, self.verdict.remarks))
        for warnings in ([self.hero.warnings] if self.hero else []) + [card.warnings for card in self.cards]:
            notes.number(warnings)
        if self.matrix:
            notes.numbered(self.matrix)
        notes.early = len(notes.said)
        for part in self.parts:
            for figure in part.figures:
                notes.number(figure.warnings)
            for table in (*part.tables, *part.details):
                notes.numbered(table)
        notes.numbered(self.methods.settings)
        return notes

    def html(self) -> str:
        return page(self)

    def markdown(self) -> str:
        return in_markdown(self)

    def as_dict(self) -> dict[str, Any]:
        """The content of results.json: the verdict, every table's numbers, and where they came from."""
        return {
            "format": 3,
            "tool_version": dnagoat.__version__,
            "title": self.title,
            "verdict": asdict(self.verdict),
            "cards": [asdict(card) for card in self.cards],
            "versions": versions(),
            "runs": [
                {
                    "name": run.run.name,
                    "arm": run.arm,
                    "seed": run.seed,
                    "dataset_hash": run.config.dataset_hash,
                    # Without the places on this machine: results are given away.
                    "config": run.config.but(dataset_places=()).model_dump(mode="json"),
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
        return [*filter(None, [self.matrix]), *self.tables, *self.details, self.methods.settings]

    def write(self, out: Path, *, force: bool = False) -> Path:
        """Writes the report's folder and returns the page; an existing report is a `RunError` without `force`."""
        with new_report(out, force=force) as folder:
            self.fill(folder)
        return out / PAGE

    def fill(self, folder: Path) -> None:
        """Writes everything into a folder of `new_report`."""
        for figure in self.figures:
            figure.save(folder / "figures")
        for table in self._all_tables():
            write_text(folder / "tables" / f"{table.name}.csv", table.csv())
        write_json(folder / "results.json", self.as_dict())
        write_text(folder / "report.md", self.markdown())
        write_text(folder / PAGE, self.html())


def new_report(out: Path, *, force: bool = False) -> AbstractContextManager[Path]:
    """A private folder that becomes the report `out`; one report at a time is made for one folder."""
    return new_folder(out, "--out", "report", lambda: free(out, force=force))


def free(out: Path, *, force: bool = False) -> None:
    """Refuses (`RunError`) a folder that holds a report, or that holds anything else than one, before work is done."""
    if (out / PAGE).exists():
        if not force:
            raise RunError(f"{out} already holds a report; give another --out, or --force to replace it")
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} is there already and is no report; give another --out")


def report(results: Results, command: str, *, title: str | None = None, remarks: Sequence[str] = ()) -> Report:
    """Puts a report together; `command` is the one that asked for it, `remarks` go below the verdict, first."""
    warnings = compare_runs(results)
    judged = verdict(results, warnings)
    parts = [part for question in Question if (part := _part(question, results, warnings)) is not None]
    hero, pairs = draw_verdict(results), find_pairs(results)
    if hero is None:  # nothing to compare: what is drawn first stands beside the verdict
        holder = next((part for part in parts if part.figures), None)
        hero = holder.figures.pop(0) if holder else None
    return Report(
        title or _title(results),
        _subtitle(results),
        replace(judged, remarks=[*remarks, *judged.remarks]),
        hero,
        pairs,
        cards(results, warnings),
        parts,
        methods(results, command),
        results,
        warnings,
    )


def _part(question: Question, results: Results, warnings: Warnings) -> Part | None:
    """What there is to show of a question; None where there is nothing, not even methods."""
    sections = [section for section in SECTIONS if section.question is question]
    part = Part(
        question,
        [figure for section in sections for figure in section.figures(results, warnings) if figure is not None],
        [table for section in sections for table in section.tables(results, warnings) if table is not None],
        [table for section in sections for table in section.details(results, warnings) if table is not None],
    )
    methods_belong = question is Question.TRUST
    return part if methods_belong or part.figures or part.tables or part.details else None


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
