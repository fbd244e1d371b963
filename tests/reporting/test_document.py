"""The report as a whole: self-contained, complete, the same for the same results, never overwritten by surprise."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dnagoat.errors import RunError
from dnagoat.reporting.document import Report, report
from dnagoat.reporting.section import Question
from dnagoat.reporting.sources import Results, read
from tests.reporting import crowd, example


class Outline(HTMLParser):
    """What a page is made of: tags with attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(text: str) -> Outline:
    return Outline(text)


def test_everything_is_written(page: Path) -> None:
    folder = page.parent
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"report.html", "report.md", "results.json", "tables/results.csv", "tables/cost.csv"} <= names
    assert {f"figures/nll-test.{kind}" for kind in ("svg", "pdf", "png")} <= names
    assert page.stat().st_size < 1_000_000
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")], "nothing half-written stays"


@pytest.mark.slow
def test_the_page_of_eight_arms_can_be_mailed(tmp_path: Path) -> None:
    folder, bench = crowd.crowd(tmp_path / "compared", 8, steps=2000, inspected=8)
    assert len(report(read([folder], bench=[bench]), "dnagoat report compared").html()) < 2_000_000


def test_numbers_in_drawings_are_no_finer_than_can_be_seen(text: str) -> None:
    drawn = re.findall(r' (?:d|x|y)="[^"]*"', text)
    assert drawn and not [path for path in drawn if re.search(r"\d\.\d{3}", path)]


def test_the_benchmark_is_a_table_with_every_row(crowded: Report, tmp_path: Path) -> None:
    """Kernel, spread, reserved memory and outcome; what ended without a number is there; published figures beside."""
    table = next(table for table in crowded.tables if table.name == "bench")
    lines = list(csv.DictReader(io.StringIO(table.csv())))
    assert len(lines) == 4 + 3 + 2
    assert lines[0]["arm"] == "rope" and lines[0]["kernel_ran"] == "sdpa, flash on CUDA"
    assert (lines[0]["tokens_per_second_low"], lines[0]["tokens_per_second_high"]) == ("137500.0", "138400.0")
    assert lines[0]["cuda_reserved_peak"] == "3000000000"
    assert [line["outcome"] for line in lines[3:]] == [
        "out of memory in round 2", "ok", "out of memory", "refused", "published", "published",
    ]  # fmt: skip
    assert [line["setting"].endswith("kernel dense") for line in lines[:7]] == [False] * 4 + [True] * 3
    assert lines[5]["tokens_per_second"] == "", "unknown is not 0"
    assert "no dense kernel" in table.rows[6].cells[-1].under
    assert lines[7]["tokens_per_second"] == "138171" and "2.86 GB as published" in table.markdown()
    assert "quadratic kernel" in table.notes[-1]


def test_a_benchmark_without_published_figures_has_no_word_of_them(whole: Report) -> None:
    table = next(table for table in whole.tables if table.name == "bench")
    assert [row.head for row in table.rows] == ["rope", "goat"] and "Published" not in table.markdown()
    assert table.rows[0].cells[0].under == "2 threads"


def test_perplexity_and_accuracy_are_told(whole: Report) -> None:
    table = next(table for table in whole.details if table.name == "likelihood")
    written: dict[str, Any] = table.as_dict()
    row = written["rows"][0]
    assert row["test_perplexity"]["value"] == pytest.approx(math.exp(1.312), rel=1e-3)
    assert [cell.text for cell in table.rows[0].cells][1] == "39.0 %"


def test_every_table_is_folded_and_found(text: str, outline: Outline, whole: Report) -> None:
    """Each once, in a `details` with its name, which opens without a script."""
    tables = {table.name for table in (*whole.tables, *whole.details, whole.methods.settings)}
    assert {str(table["id"]) for table in outline.all("table")} == {f"table-{name}" for name in tables}
    outside = re.sub(r"<details.*?</details>", "", re.sub(r"<details><summary>What.*?</details>", "", text), flags=re.S)
    assert "<table" not in outside


def test_notes_are_numbered_once_and_every_number_leads_to_one(crowded: Report) -> None:
    text = crowded.html()
    numbers = [int(number) for number in re.findall(r'<li id="note-(\d+)">', text)]
    assert numbers == list(range(1, len(numbers) + 1)) and numbers
    assert {int(number) for number in re.findall(r'href="#note-(\d+)"', text)} <= set(numbers)
    said = re.findall(r'<li id="note-\d+">(.*?)</li>', text)
    assert len(said) == len(set(said))
    assert "\N{WARNING SIGN}" not in text and "\N{WARNING SIGN}" not in crowded.markdown()


def test_nothing_is_fetched_and_no_script_runs(text: str, outline: Outline) -> None:
    assert not outline.all("script") and not outline.all("iframe") and not outline.all("img")
    references = [
        value for _, attributes in outline.tags for name, value in attributes.items() if name in ("src", "href")
    ]
    assert all(value and value.startswith(("#", "data:")) for value in references)
    assert not re.search(r"url\((?!#)|@import|@font-face", text)
    assert not [attributes for _, attributes in outline.tags if any(name.startswith("on") for name in attributes)]


def test_headings_go_down_one_level_at_a_time(outline: Outline) -> None:
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_figures_and_tables_speak_to_a_screen_reader(outline: Outline) -> None:
    ids = [attributes["id"] for _, attributes in outline.tags if attributes.get("id")]
    assert len(ids) == len(set(ids)), "an id twice"
    for attributes in outline.all("svg"):
        assert attributes["role"] == "img" and attributes["aria-labelledby"] in ids
    for _, attributes in outline.tags:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name) is None or attributes[name] in ids
    assert len(outline.all("table")) == len(outline.all("caption"))
    assert all(attributes.get("scope") in ("col", "row") for attributes in outline.all("th"))
    assert outline.all("html")[0]["lang"] == "en" and outline.all("main") and outline.all("nav")


def test_links_of_the_page_lead_somewhere(outline: Outline) -> None:
    ids = {attributes.get("id") for _, attributes in outline.tags}
    assert all(str(link["href"]).removeprefix("#") in ids for link in outline.all("a"))


def test_the_verdict_comes_first_then_each_question_in_order(text: str) -> None:
    marks = [
        'id="verdict"',
        'id="figure-comparison"',
        'class="cards"',
        *(f'id="{question.name.lower()}"' for question in Question),
    ]
    places = [text.index(mark) for mark in [*marks, 'id="methods"']]
    assert places == sorted(places)


def test_memory_is_labelled_and_unknown_is_not_zero(page: Path) -> None:
    said = json.loads((page.parent / "results.json").read_text())["tables"]["cost"]
    row = said["rows"][0]
    assert row["cuda_allocated"]["value"] is None and row["resident"]["value"] > 0
    heads = {column["key"]: column["head"] for column in said["columns"]}
    assert heads["cuda_allocated"] == "Peak CUDA memory, allocated"
    assert heads["resident"] == "Peak resident memory of the process"


def test_methods_name_versions_seeds_hashes_and_commands(whole: Report, results: Results) -> None:
    said = " ".join(
        [*whole.methods.paragraphs, *(cell.text for row in whole.methods.settings.rows for cell in row.cells)]
    )
    assert all(word in said for word in ("torch", "numpy", "dnagoat", "resamples"))
    assert results.runs[0].config.dataset_hash[:12] in said
    assert all(run.measures["nll-test"]["checkpoint"]["sha256"][:12] in said for run in results.runs)
    assert "dnagoat report runs/rope runs/goat --out reports/example" in whole.methods.commands
    assert any(command.startswith("dnagoat train") and "--seed 0" in command for command in whole.methods.commands)
    assert "dnagoat bench --out bench.json" in whole.methods.commands


def test_markdown_tells_the_same(page: Path, whole: Report) -> None:
    text = (page.parent / "report.md").read_text(encoding="utf-8")
    assert whole.verdict.headline in text and whole.verdict.sentence in text
    for figure in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (page.parent / figure).is_file()


@pytest.fixture
def bare(tmp_path: Path) -> Report:
    """The report of a run that nothing was measured of."""
    run = example.run(tmp_path / "<b>bare&", example.config("goat"), 1.3, missing=example.MEASURES)
    return report(read([run]), "dnagoat report '<script>'")


def test_an_existing_report_is_kept_unless_forced(bare: Report, whole: Report, tmp_path: Path) -> None:
    out = tmp_path / "report"
    first = bare.write(out).read_bytes()
    drawn = {path: path.read_bytes() for path in (out / "figures").iterdir()}
    (out / "mine.txt").write_text("a note of the user's")
    with pytest.raises(RunError, match="already holds a report; give another --out, or --force"):
        bare.write(out)
    assert (out / "mine.txt").exists()
    assert bare.write(out, force=True).read_bytes() == first, "the same results make the same page"
    assert {path: path.read_bytes() for path in drawn} == drawn and len(drawn) == 6
    assert bare.of_same_runs(out) and not whole.of_same_runs(out)
    (out / "results.json").write_text("half")
    assert not bare.of_same_runs(out)


def test_a_folder_with_other_things_is_refused(whole: Report, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match="is there already and is no report"):
        whole.write(tmp_path, force=True)
    assert (tmp_path / "thesis.tex").exists()


def test_a_run_without_measures_makes_a_report_of_unknowns(bare: Report) -> None:
    assert {cell.text for cell in bare.tables[0].rows[0].cells} == {"n/a"}
    assert [figure.name for figure in bare.figures] == ["training-curves", "cost"]


def test_damaged_results_are_named(tmp_path: Path) -> None:
    run = example.run(tmp_path / "rope", example.config("rope"), 1.3)
    (run / "evaluation" / "nll-test.json").write_text('{"value": 1.')
    with pytest.raises(RunError, match=r"nll-test\.json is damaged"):
        read([run])


def test_names_that_look_like_markup_stay_text(bare: Report) -> None:
    assert "<script>" not in bare.html() and "<b>bare" not in bare.html()


def test_the_room_needs_no_torch(tmp_path: Path) -> None:
    example.run(tmp_path / "goat", example.config("goat"), 1.3)
    code = (
        "import sys; from pathlib import Path; from dnagoat.reporting.document import report;"
        "from dnagoat.reporting.sources import read;"
        f"report(read([Path({str(tmp_path / 'goat')!r})]), 'x').html();"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_copying_is_told_for_the_shortest_and_the_longest_stretch(whole: Report, results: Results) -> None:
    table = next(table for table in whole.details if table.name == "copying")
    assert [column.key for column in table.columns] == [
        "real_32_copy",
        "random_32_copy",
        "real_256_copy",
        "random_256_copy",
        "real_256_complement",
    ]
    asked = [(size, stretch, "its copy") for size in (32, 256) for stretch in ("real", "random")]
    for row, run in zip(table.rows, results.runs, strict=True):
        measured = {(one["length"], one["stretch"], one["before"]): one for one in run.measures["copying-test"]["rows"]}
        found = [measured[key] for key in [*asked, (256, "real", "its reverse complement")]]
        assert [cell.value for cell in row.cells] == [one["gain"] for one in found]
        low, high = found[2]["gain_interval"]
        assert row.cells[2].under == f"{low:.3f} to {high:.3f}".replace("-", "\N{MINUS SIGN}")
