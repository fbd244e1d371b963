"""`dnagoat probe` and `dnagoat inspect RUN` as a user types them: results, figures, tables, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dnagoat.evaluation.microscope.close_windows import random_windows
from dnagoat.evaluation.probes.sinks import first_key
from dnagoat.genome.alphabet import START
from dnagoat.genome.dataset import Dataset
from dnagoat.reporting.sections.probes.kinds import read_probes, sentence, tables
from dnagoat.training.kept.run import open_run
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun

QUICK = ["--steps", "2", "--batch-size", "2", "--device", "cpu"]


def run_it(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("task", ["passkey", "needle"])
def test_recall_leaves_a_result_a_figure_and_a_table(task: str, tmp_path: Path) -> None:
    out = tmp_path / task
    words = ["probe", task, "--arm", "rope", "--arm", "goat@init=uniform", "--times", "1,2", "--trials", 3, *QUICK]
    code, said, _ = run_it(*words, "--depths", 2, "--out", out)
    assert code == 0
    (result,) = read_probes([out])
    assert result["probe"] == task
    assert [arm["arm"] for arm in result["arms"]] == ["rope", "goat uniform"]
    assert " ".join(sentence(result).split()) in " ".join(said.split())
    assert {file.suffix for file in (out / "figures").iterdir()} == {".svg", ".pdf", ".png"}
    assert (out / "tables" / f"probe-{task}.csv").read_text().count("\n") == 3
    code, _, err = run_it(*words, "--out", out)
    assert code == 2 and "--force" in err


def test_an_interrupted_probe_goes_on_and_never_with_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "induction"
    words = ["probe", "induction", "--strengths", "0,1", "--trials", 3, "--out", out, "--device", "cpu"]
    assert run_it(*words, *QUICK)[0] == 0
    rows, before = out / "rows.jsonl", json.loads((out / "probe.json").read_text())
    (out / "probe.json").unlink()  # as if killed before its end
    code, _, err = run_it(*words, *QUICK, "--steps", 3)
    assert code == 2 and "--steps 2, not 3" in err and err.count("\n") == 1
    with monkeypatch.context() as patched:
        patched.setattr("dnagoat.evaluation.probes.induction.learn", None)  # nothing is trained again
        assert run_it(*words, *QUICK)[0] == 0
    assert {**before, "command": ""} == {**json.loads((out / "probe.json").read_text()), "command": ""}
    assert run_it(*words, *QUICK, "--steps", 3, "--force")[0] == 0
    assert '"steps": 3' in rows.read_text()


def test_induction_tells_placements_depths_and_recipes_apart(tmp_path: Path) -> None:
    out = tmp_path / "induction"
    words = ["--depth", "1,2,3", "--strengths", "0,0.5,1", "--recipe", "none,momentum", "--trials", 3, *QUICK]
    code, said, _ = run_it("probe", "induction", *words, "--out", out, "--json")
    assert code == 0
    result = json.loads(said)
    # per recipe and depth: three strengths after the rotation, two before it
    assert len(result["rows"]) == 2 * 3 * 5
    assert [law["recipe"] for law in result["laws"]] == ["none", "momentum"]
    assert [table.name for table in tables(result)] == [
        "probe-induction",
        "probe-induction-law-none",
        "probe-induction-law-momentum",
    ]
    assert read_probes([out / "probe.json"]) == [result]


def test_extrapolate_leaves_ordinary_runs_and_goes_on_with_them(dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "far"
    words = ["probe", "extrapolate", dataset.path, "--arm", "nope", "--arm", "alibi", *QUICK]
    words += ["--lengths", "1x,2x,100000x", "--windows", 4, "--precision", "bf16", "--out", out]
    code, said, _ = run_it(*words)
    assert code == 0 and "alibi goes from" in " ".join(said.split())
    assert "6,400,000 bases are left out" in " ".join(said.split())
    (result,) = read_probes([out])
    lengths = [row["length"] for arm in result["arms"] for seed in arm["seeds"] for row in seed["lengths"]]
    assert lengths == [64, 128, 64, 128]
    assert {arm["arm"] for arm in result["arms"]} == {"nope", "alibi"}
    assert open_run(out / "nope-s0").config.train.precision == "bf16"
    stamps = {file: file.stat().st_mtime_ns for file in out.glob("*-s0/checkpoints/*/weights.safetensors")}
    assert len(stamps) >= 2
    assert run_it(*words, "--force")[0] == 0
    assert stamps == {file: file.stat().st_mtime_ns for file in stamps}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--arm", "goat@heads=64"], "heads"),
        (["--arm", "rope:sink"], "rope has no parts"),
        (["--lengths", "3y"], "--lengths 3y"),
        (["--lengths", "infx"], "--lengths infx"),
        (["--lengths", "-1x"], "--lengths -1x"),
        (["--lengths", "1e9x"], "no stretch of the test split has"),
        (["--arm", "nope"], "nope is named twice"),
        (["--seeds", "99999999999"], "less than or equal to 1000"),
        (["--split", "rest"], "split"),
        (["--precision", "half"], "precision"),
    ],
)
def test_extrapolate_refuses_before_it_trains(words: list[str], told: str, dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "far"
    code, _, err = run_it("probe", "extrapolate", dataset.path, "--arm", "nope", *words, *QUICK, "--out", out)
    assert code == 2 and told in err and err.count("\n") == 1
    assert not out.exists()


def test_sink_compares_runs(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("rope").path, make_run("goat").path]
    out = tmp_path / "sink"
    code, said, _ = run_it("probe", "sink", *runs, "--windows", 3, "--out", out, "--device", "cpu")
    assert code == 0 and "of its attention" in " ".join(said.split())
    (result,) = read_probes([out])
    assert [run["arm"] for run in result["runs"]] == ["rope", "goat"]
    assert [len(table.rows) for table in tables(result)] == [4, 4]


def test_sink_says_when_blocks_are_few_and_replaces_no_symbol_that_was_never_seen(
    make_run: MakeRun, tmp_path: Path
) -> None:
    runs = [make_run("rope").path, make_run("rope", classes=5).path]
    out = tmp_path / "sink"
    assert run_it("probe", "sink", *runs, "--windows", 3, "--out", out, "--device", "cpu")[0] == 0
    (result,) = read_probes([out])
    four, five = result["runs"]
    assert [row["blocks"] for row in four["replaced"]] == [1, 3]
    assert five["replaced"] == [] and len(five["rows"]) == len(four["rows"])
    for table in tables(result):
        assert "too narrow below 30" in table.notes[0]
        assert "without a start symbol (`dnagoat train --score-n`)" in table.notes[1]


def test_a_run_of_five_classes_is_fed_no_start_symbol(make_run: MakeRun) -> None:
    fed: list[int] = []
    for classes in (4, 5):
        model = make_run("rope", classes=classes).model("best", "cpu")
        model.embedding.register_forward_pre_hook(lambda _, given: fed.append(int(given[0].max())))
        first_key(model, random_windows(1, 32, seed=0))
    assert fed == [START, 3]


def test_inspect_shows_a_run_and_writes_figures_where_asked(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("goat")
    code, said, _ = run_it("inspect", run.path, "--windows", 3, "--device", "cpu", "--out", tmp_path / "look")
    assert code == 0
    assert "without recency" in said and "10.5 bases" in said
    assert (tmp_path / "look" / "figures" / "inspect-training.svg").exists()
    assert len(list((tmp_path / "look" / "tables").iterdir())) == 5
    code, said, _ = run_it("inspect", run.path, "--windows", 3, "--device", "cpu", "--json")
    assert json.loads(said) == json.loads((run.path / "evaluation" / "inspect.json").read_text())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["passkey", "--length", "10"], "at least --length 20"),
        (["passkey", "--preset", "huge"], "tiny and paper"),
        (["needle", "--arm", "rope@speed=3"], "@speed=3 is none of"),
        (["needle", "--times", "1,x"], "--times 1,x"),
        (["induction", "--stretch", "40"], "does not come twice in 64"),
        (["induction", "--strengths", "a"], "give numbers with commas"),
        (["induction", "--strengths", "-1"], "--strengths -1.0: it should be greater than or equal to 0"),
        (["induction", "--strengths", "1,-0.5"], "--strengths -0.5: it should"),
        (["induction", "--strengths", "1e300"], "--strengths 1e+300: it should be less than or equal to 1000"),
        (["induction", "--strengths", "nan"], "finite"),
        (["induction", "--strengths", "0,1,1.0"], "1.0 is named twice"),
        (["induction", "--strengths", ""], "--strengths : give numbers"),
        (["induction", "--depth", "1,x"], "--depth 1,x: give numbers"),
        (["induction", "--depth", "1,0"], "--depth 0: it should"),
        (["induction", "--depth", "2,2"], "2 is named twice"),
        (["induction", "--depth", "99999999999"], "less than or equal to 1024"),
        (["induction", "--placement", "after,after"], "after is named twice"),
        (["induction", "--recipe", "none,none"], "none is named twice"),
        (["induction", "--vocabulary", "99999999999"], "symbols at once"),
        (["induction", "--trials", "99999999999"], "symbols at once"),
        (["induction", "--seeds", "99999999999"], "less than or equal to 1000"),
        (["induction", "--position", "nope@rope-base=10"], "rope-base belongs to rope"),
        (["passkey", "--times", "0"], "--times 0: it should be greater than or equal to 1"),
        (["needle", "--times", "1,-2"], "--times -2: it should"),
        (["passkey", "--times", "1,2,1"], "1 is named twice"),
        (["passkey", "--times", "99999999999"], "symbols at once"),
        (["needle", "--batch-size", "1000000", "--length", "1000"], "symbols at once"),
        (["passkey", "--seeds", "99999999999"], "less than or equal to 1000"),
        (["passkey", "--depths", "1"], "greater than or equal to 2"),
        (["passkey", "--layers", "99999999999"], "less than or equal to 1024"),
        (["passkey", "--arm", "rope", "--arm", "rope"], "rope is named twice"),
        (["passkey", "--arm", "goat@memory"], "--arm goat@memory: memory looks words of a dataset up"),
        (["passkey", "--lr", "1e99"], "less than or equal to 100"),
    ],
)
def test_a_wrong_option_gets_one_sentence(words: list[str], told: str, tmp_path: Path) -> None:
    code, _, err = run_it("probe", *words, "--out", tmp_path / "none", "--device", "cpu")
    assert code == 2
    assert told in err and err.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    from dnagoat.errors import RunError

    with pytest.raises(RunError, match="not the result of a probe"):
        read_probes([tmp_path])
