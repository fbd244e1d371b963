"""What hinders a comparison is a note, once, whose number stands beside the numbers and figures that it concerns."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from dnagoat.config import RunConfig
from dnagoat.files import read_json, write_json
from dnagoat.reporting.comparability import CONCERNS, find_warnings
from dnagoat.reporting.contents import compare_runs
from dnagoat.reporting.document import Report, report
from dnagoat.reporting.sections.baselines import BEST, ladder
from dnagoat.reporting.sections.lengths import by_length
from dnagoat.reporting.sections.strata import by_stratum
from dnagoat.reporting.sections.training import curves
from dnagoat.reporting.sources import Results, read_runs
from dnagoat.reporting.table import Table
from tests.reporting import example

ARMS = ("rope", "alibi", "goat")


def made(folder: Path, odd: RunConfig | None = None, **changes: dict[str, Any]) -> Results:
    """Three runs, the last of which has another configuration or results that say other things of themselves."""
    settings = [example.config(arm) for arm in ARMS[:2]] + [odd or example.config(ARMS[2])]
    paths = [example.run(folder / arm, setting, 1.31) for arm, setting in zip(ARMS, settings, strict=True)]
    for name, values in changes.items():
        file = paths[2] / "evaluation" / f"{name.replace('_', '-')}.json"
        write_json(file, read_json(file) | values)
    return Results(read_runs(paths))


def shown(results: Results) -> Report:
    return report(results, "dnagoat report rope alibi goat")


def of(page: Report, name: str) -> Table:
    return next(table for table in page.details if table.name == name)


def noted(page: Report, sentence: str) -> int:
    """The number of a note, which both forms of the report say once."""
    text, markdown = unescape(page.html()), page.markdown()
    assert text.count(sentence) == markdown.count(sentence) == 1
    return int(re.findall(rf'<li id="note-(\d+)">{re.escape(sentence)}', text)[0])


def lines(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.csv())))


def test_another_optimizer_is_marked_beside_every_likelihood(tmp_path: Path) -> None:
    goat = example.config("goat")
    page = shown(made(tmp_path, goat.but(train=goat.train.but(optimizer="muon"))))
    said = (
        "Runs were trained with different optimizers (AdamW, Muon), so that their arms differ in more than the model; "
    )
    assert noted(page, said + "compare goat with care.")
    assert "Muon for matrices and AdamW 0.001" in page.markdown()


def test_a_recipe_is_told_as_what_it_makes_of_rate_and_schedule(tmp_path: Path) -> None:
    goat = example.config("goat")
    page = shown(made(tmp_path, goat.but(train=goat.train.but(recipe="goat", lr=1e-3, warmup=100))))
    assert noted(page, "The learning rate differs; compare goat (recipe goat) with care.")
    assert noted(page, "The schedule of the learning rate differs; compare goat (recipe goat) with care.")
    assert "AdamW 0.00075, linear decay, warm-up 115 (recipe goat)" in page.markdown()


@pytest.mark.parametrize("tried", [[1e-3, 2e-3], []])
def test_rates_that_were_tuned_are_no_concern(tmp_path: Path, tried: list[float]) -> None:
    goat = example.config("goat")
    found = made(tmp_path, goat.but(train=goat.train.but(lr=2e-3)))
    arms = [{"tried": [{"lr": rate, "val_nll": 1.3} for rate in tried]} for _ in ARMS]
    said = find_warnings(replace(found, comparison={"arms": arms}), CONCERNS, {}).sentences
    assert ("other learning rate" in said) is not bool(tried)


def test_strata_of_other_settings_are_marked_in_every_form(tmp_path: Path) -> None:
    page = shown(made(tmp_path, strata_test={"settings": {"windows": 7}}))
    table = of(page, "strata")
    assert {line["nll_goat_warning"] for line in lines(table) if line["nll_goat"]} == {"other settings"}
    assert "nll_rope_warning" not in lines(table)[0]
    assert [column.warnings for column in table.columns] == [(), (), (), (), ("other settings",)]
    number = noted(page, "NLL by stratum was measured with different settings; compare goat with care.")
    assert f"goat (nats per base) [{number}]" in page.markdown()
    head = page.html().split('id="table-strata"')[1].split("</thead>")[0]
    assert head.count(f'href="#note-{number}"') == 1
    warned = {figure.name for figure in page.figures if figure.warnings}
    assert warned == {"strata", "strata-along", "strata-seen"}


def test_lengths_of_other_settings_are_marked_in_every_form(tmp_path: Path) -> None:
    page = shown(made(tmp_path, lengths_test={"settings": {"lengths": ["1x"]}}))
    table = of(page, "context-length")
    rope, _, goat = lines(table)
    assert goat["b512_warning"] == goat["b8192_warning"] == "other settings" and rope["b512_warning"] == ""
    number = noted(page, "NLL by length was measured with different settings; compare goat with care.")
    inside = page.html().split('id="table-context-length"')[1].split("</table>")[0]
    assert inside.count(f'href="#note-{number}"') == 5
    assert {figure.name for figure in page.figures if figure.warnings} == {"context-length"}


def test_what_differs_between_models_stands_beside_all_of_their_likelihoods(tmp_path: Path) -> None:
    plain = example.config("goat")
    page = shown(made(tmp_path, plain.but(model=plain.model.but(width=256))))
    said = ("other size", "other number of weights")
    assert of(page, "strata").columns[-1].warnings == said
    for name in ("context-length", "likelihood"):
        cells = of(page, name).rows[2].cells
        assert cells[0].warnings == said, name
    assert next(figure.warnings for figure in page.figures if figure.name == "nll-test") == said


def test_strata_of_other_bases_share_no_row_but_where_they_share_the_name(tmp_path: Path) -> None:
    """Deciles of other windows have other edges: what stood in the same place of the list is not the same kind."""
    results = made(tmp_path)
    file = results.runs[2].run.path / "evaluation" / "strata-test.json"
    stored = read_json(file)
    gc = next(group["strata"] for group in stored["groups"] if group["name"] == "gc")
    own = gc[0]["name"]
    gc[0] |= {"name": "10.0% to 11.0%", "value": 0.5}
    write_json(file, stored | {"pieces": "0" * 64})
    results = Results(read_runs([run.run.path for run in results.runs]))
    table = by_stratum(results, compare_runs(results))
    assert table is not None
    assert [column.warnings for column in table.columns] == [("of the first model that has it",)] * 2 + [
        (), (), ("other scored bases",),
    ]  # fmt: skip
    rows = {row.head: [cell.text for cell in row.cells[2:]] for row in table.rows}
    assert rows["gc: 10.0% to 11.0%"] == ["n/a", "n/a", "0.5000"]
    assert rows[f"gc: {own}"][2] == "n/a" and rows[f"gc: {own}"][0] != "n/a"
    assert "n/a" not in rows["repeats: unique"]


def test_a_stratum_that_only_a_later_run_has_is_there(tmp_path: Path) -> None:
    results = made(tmp_path)
    file = results.runs[2].run.path / "evaluation" / "strata-test.json"
    stored = read_json(file)
    stored["groups"].append({"name": "exons.bed", "question": "?", "strata": stored["groups"][0]["strata"][:1]})
    write_json(file, stored)
    page = shown(Results(read_runs([run.run.path for run in results.runs])))
    row = next(row for row in of(page, "strata").rows if row.head == "exons.bed: unique")
    assert [cell.text for cell in row.cells[2:4]] == ["n/a", "n/a"] and row.cells[4].value is not None
    panels = next(figure for figure in page.figures if figure.name == "strata").drawing.axes
    assert len([panel for panel in panels if panel.get_visible()]) == 3


def test_results_say_what_they_warn_of_below_their_table(tmp_path: Path) -> None:
    page = shown(made(tmp_path, strata_test={"warnings": ["only 1 block of 20,000 bases"]}))
    assert "⚠ goat: only 1 block of 20,000 bases." in of(page, "strata").notes


def test_lengths_of_any_run_have_their_column(tmp_path: Path) -> None:
    results = made(tmp_path)
    file = results.runs[2].run.path / "evaluation" / "lengths-test.json"
    stored = read_json(file)
    stored["lengths"] = [stored["lengths"][0], {**stored["lengths"][1], "length": 3000, "factor": 3000 / 512}]
    write_json(file, stored | {"pieces": "0" * 64})
    results = Results(read_runs([run.run.path for run in results.runs]))
    table = by_length(results, compare_runs(results))
    assert table is not None
    assert [column.key for column in table.columns] == ["b512", "b1024", "b2048", "b3000", "b4096", "b8192"]
    assert [cell.text == "n/a" for cell in table.rows[2].cells] == [False, True, True, False, True, True]
    assert table.rows[2].cells[0].warning == "other scored bases" and table.rows[2].cells[1].warning == ""
    assert table.notes[0].startswith("The same bases of a model's own in every column")


def test_no_baselines_are_drawn_beside_models_of_other_bases(tmp_path: Path) -> None:
    same, other = made(tmp_path / "same"), made(tmp_path / "other", nll_test={"pieces": "0" * 64})
    bars = {}
    for name, results in (("same", same), ("other", other)):
        figure = ladder(results, compare_runs(results))
        assert figure is not None
        bars[name] = len(figure.drawing.axes[0].get_yticklabels()), figure
    assert bars["same"][0] == 3 + BEST and bars["other"][0] == 3
    drawn, bare = bars["same"][1], bars["other"][1]
    assert f"{len(example.MARKOV) - BEST} more counts" in drawn.reading and "The best baseline" in drawn.alt
    assert "no counts are drawn" in bare.reading and "baseline" not in bare.alt
    assert "does not say which model is better" in bare.limits
    assert bare.warnings == ("other scored bases",)


def test_baselines_of_a_later_run_are_drawn_where_the_first_has_none(tmp_path: Path) -> None:
    results = made(tmp_path)
    for run in results.runs[:2]:
        (run.nll("test") or {}).pop("baselines")
    figure = ladder(results, compare_runs(results))
    assert figure is not None and "The best baseline, order-10" in figure.alt


def test_base_composition_is_drawn_where_it_holds_for_all(tmp_path: Path) -> None:
    for results, held in ((made(tmp_path / "same"), 1), (made(tmp_path / "o", nll_val={"pieces": "0" * 64}), 0)):
        figure = curves(results)
        assert figure is not None
        assert len([line for line in figure.drawing.axes[0].lines if line.get_linestyle() == ":"]) == held


def test_what_every_model_warns_of_is_one_note(tmp_path: Path) -> None:
    """Once in all, with no model's name since it is true of all; each number that it concerns carries its number."""
    said = "the order-16 table holds one word in 40; its counts are of hashed words"
    paths = [example.run(tmp_path / arm, example.config(arm), 1.31) for arm in ARMS]
    for path in paths:
        file = path / "evaluation" / "nll-test.json"
        write_json(file, read_json(file) | {"warnings": [said]})
    page = shown(Results(read_runs(paths)))
    number = noted(page, f"{said}.")
    inside = page.html().split('id="table-results"')[1].split("</table>")[0]
    assert inside.count(f'href="#note-{number}"') == len(ARMS)
    assert page.html().split('class="cards"')[1].split("</dl>")[0].count(f'href="#note-{number}"') >= 1


def test_nulls_say_whose_prompts_they_had(tmp_path: Path) -> None:
    page = shown(made(tmp_path, generation={"settings": {"trajectory": {"prompts": 7}}}))
    for name in ("gc-trajectory", "composition"):
        table = of(page, name)
        assert table.rows[-1].head.endswith(", prompts of rope")
        assert next(row for row in table.rows if row.head == "goat").cells[0].warning == "other settings"
    alike = shown(made(tmp_path / "alike"))
    assert not any("prompts of" in row.head for row in of(alike, "composition").rows)


@pytest.mark.parametrize(("blocks", "warning"), [(48, ""), (1, "only 1 block of 2,048 bases: the interval is")])
def test_few_blocks_of_validation_are_said_beside_its_number(tmp_path: Path, blocks: int, warning: str) -> None:
    results = made(tmp_path, nll_val={"blocks": blocks})
    said = compare_runs(results).of(results.runs[2], "val")
    assert len(said) == bool(warning) and all(text.startswith(warning) for text in said)


def test_numbers_of_an_earlier_checkpoint_are_marked(tmp_path: Path) -> None:
    older = {"checkpoint": {"which": "best", "step": 100, "sha256": "a" * 64}}
    results = made(tmp_path, strata_test=older, generation=older)
    warnings = compare_runs(results)
    said = {
        number
        for (key, number), text in warnings.beside.items()
        if text == ("of another checkpoint than its test NLL",)
    }
    assert said == {"strata", "generation"} and {key for key, _ in warnings.beside} == {results.runs[2].key}


def test_speed_where_subnormal_numbers_were_kept_is_marked(tmp_path: Path) -> None:
    results = made(tmp_path)
    file = tmp_path / ARMS[2] / "summary.json"
    summary = read_json(file)
    assert summary.pop("subnormals") == "flushed"
    write_json(file, summary)  # as before they were flushed
    warnings = compare_runs(Results(read_runs([tmp_path / name for name in ARMS])))
    assert [warnings.of(run, "speed") for run in results.runs] == [(), (), ("subnormal numbers treated otherwise",)]
    assert [warnings.of(run, "test") for run in results.runs] == [(), (), ()]
