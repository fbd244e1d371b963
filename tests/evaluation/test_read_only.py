"""Runs and datasets that cannot be written: said before anything is computed, and kept elsewhere on request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dnagoat.genome.dataset import Dataset
from dnagoat.training.kept.run import open_run
from dnagoat.training.kept.run_folder import open_folder
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun
from tests.read_only import read_only

QUICK = ("--device", "cpu", "--block", "100", "--resamples", "1000", "--windows", "4")


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def nothing_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(*_: object, **__: object) -> None:
        raise AssertionError("something was computed")

    for name in ("dnagoat.evaluation.scoring.scored.score", "dnagoat.genome.leaks.leakage.compare_splits"):
        monkeypatch.setattr(name, scored)


@pytest.mark.usefixtures("nothing_is_scored")
@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "{run}", *QUICK),
        ("evaluate", "{run}", "--what", "strata", "--split", "val", *QUICK),
        ("evaluate", "{run}", "--tracks", "{free}/tracks", *QUICK[:2]),
        ("inspect", "{run}", "--device", "cpu", "--windows", "2"),
        ("report", "{run}", "--out", "{free}/report", "--device", "cpu"),
    ],
)
def test_it_is_said_before_the_computing_with_the_way(
    make_run: MakeRun, tmp_path: Path, words: tuple[str, ...]
) -> None:
    run = make_run()
    with read_only(run.path):
        done = call(*(word.format(run=run.path, free=tmp_path / "free") for word in words))
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and not done.stdout, done.output
    assert f"error: {run.path} cannot be written (" in done.stderr
    assert "give --results DIR to keep them elsewhere" in done.stderr
    assert not list(tmp_path.glob("free/*")), "nothing half-written"


def test_results_lie_elsewhere_and_are_read_from_there(make_run: MakeRun, tmp_path: Path) -> None:
    """Two runs of one name keep their results apart, and a second call computes nothing."""
    first, second = tmp_path / "a" / "same", tmp_path / "b" / "same"
    shutil.copytree(make_run("goat").path, first)
    shutil.copytree(make_run("rope", seed=1).path, second)
    kept = tmp_path / "kept"
    words = ("--what", "nll", "--split", "test", *QUICK, "--results", kept, "--json")
    with read_only(first), read_only(second):
        made = [call("evaluate", run, *words) for run in (first, second)]
        assert [one.exit_code for one in made] == [0, 0], made[0].output
        values = [json.loads(one.stdout)["value"] for one in made]
        assert values[0] != values[1]
        stamps = {file: file.stat().st_mtime_ns for file in kept.rglob("*.*")}
        assert sorted(file.name for file in stamps if file.suffix == ".json") == ["nll-test.json"] * 2
        assert [json.loads(call("evaluate", run, *words).stdout)["value"] for run in (first, second)] == values
        assert {file: file.stat().st_mtime_ns for file in kept.rglob("*.*")} == stamps
        page = call(
            *("report", first, second, "--out", tmp_path / "report", "--results", kept, "--device", "cpu", "--json"),
            *(word for name in ("strata", "lengths", "prior", "generation") for word in ("--skip", name)),
        )
    assert page.exit_code == 0, page.output
    rows = json.loads(page.stdout)["tables"]["results"]["rows"]
    assert len(rows) == 2 and {file.name for file in kept.iterdir() if file.is_file()} == {
        f"leakage-{open_run(first).config.dataset_hash[:12]}.json"
    } - {file.name for file in [Path(open_run(first).config.dataset) / "leakage.json"] if file.exists()}
    repeated = json.loads(made[0].stdout)["command"].split()
    assert repeated[repeated.index("--results") + 1] == str(kept)


def test_what_a_run_has_itself_is_still_read(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    words = ("evaluate", run.path, "--what", "rc", *QUICK[:-1])
    assert call(*words, 4).exit_code == 0
    with read_only(run.path):
        assert call(*words, 4).exit_code == 0, "a stored result needs no room"
        assert call(*words, 4, "--results", tmp_path / "kept").exit_code == 0 and not list(tmp_path.glob("kept/*"))
        other = call(*words, 5, "--results", tmp_path / "kept")
        assert other.exit_code == 0, "the run's own result has other settings, and need not be replaced"
        assert "lies beside it" in call(*words, 6, "--results", tmp_path / "kept").stderr


@pytest.mark.usefixtures("nothing_is_scored")
def test_a_dataset_says_it_before_the_search(dataset: Dataset, tmp_path: Path) -> None:
    shutil.copytree(dataset.path, copy := tmp_path / "copy", ignore=shutil.ignore_patterns("leakage.json"))
    with read_only(copy):
        said = call("inspect", copy, "--leakage")
    assert said.exit_code == 2 and f"error: {copy} cannot be written (" in said.stderr
    assert "give --results DIR to keep it elsewhere" in said.stderr and said.stderr.count("\n") == 1


def test_a_leak_report_lies_elsewhere(dataset: Dataset, tmp_path: Path) -> None:
    shutil.copytree(dataset.path, copy := tmp_path / "copy", ignore=shutil.ignore_patterns("leakage.json"))
    words = ("inspect", copy, "--leakage", "--json", "--results", tmp_path / "kept")
    with read_only(copy):
        made = call(*words)
        assert made.exit_code == 0, made.output
        (report,) = (tmp_path / "kept").iterdir()
        assert json.loads(report.read_text()) == json.loads(made.stdout)["leakage"]
        stamp = report.stat().st_mtime_ns
        assert call(*words).exit_code == 0 and report.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("command", ["evaluate", "inspect"])
def test_a_folder_for_results_that_takes_none_is_named(make_run: MakeRun, tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("")
    for name, said in (("file", "is a file; give the name of a folder"), ("-", "and a folder is written")):
        done = call(command, make_run().path, "--results", tmp_path / "file" if name == "file" else "-")
        assert done.exit_code == 2 and said in done.stderr and "--results" in done.stderr


def test_folders_are_tried_before_anything_is_trained(dataset: Dataset, make_run: MakeRun, tmp_path: Path) -> None:
    """A stream is no folder, and a finished comparison is not scored again where its verdict could not be kept."""
    done = call("compare", dataset.path, "--arm", "rope", "--out", "-")
    assert done.exit_code == 2 and "--out - is standard output, and a folder is written" in done.stderr
    done = call("train", dataset.path, "--out", "/dev/null")
    assert done.exit_code == 2 and "--out /dev/null is no folder, and a folder is written" in done.stderr
    (out := tmp_path / "comparison").mkdir()
    with read_only(out):
        for words in (("compare", dataset.path, "--arm", "rope", "--seeds", 1), ("train", dataset.path)):
            done = call(*words, "--out", out / "below", "--preset", "tiny", "--steps", 1, "--device", "cpu")
            assert done.exit_code == 2 and f"{out}/below cannot be written (" in done.stderr
            assert done.stderr.count("\n") == 1 and "--results" not in done.stderr
    (tmp_path / "link").symlink_to("new/run")
    assert open_folder(tmp_path / "link") is None and (tmp_path / "new" / "run").is_dir()


def test_one_report_at_a_time_is_made_for_a_folder(make_run: MakeRun, tmp_path: Path) -> None:
    """The second is refused before it measures; the first is whole, and nothing is left beside it."""
    from dnagoat.reporting.document import new_report

    run, out = make_run(), tmp_path / "reports" / "mine"
    with new_report(out) as folder:
        second = call("report", run.path, "--out", out, "--device", "cpu")
        assert second.exit_code == 2 and "another report is writing" in second.stderr
        (folder / "report.html").write_text("first")
    assert not (run.path / "evaluation").exists()
    assert [entry.name for entry in out.parent.iterdir()] == ["mine"] and (out / "report.html").read_text() == "first"


def test_a_report_replaces_what_a_link_leads_to(tmp_path: Path) -> None:
    from dnagoat.reporting.document import new_report

    out, real = tmp_path / "latest", tmp_path / "disk" / "report"
    real.mkdir(parents=True)
    (real / "report.html").write_text("old")
    out.symlink_to("disk/report")
    with new_report(out, force=True) as folder:
        (folder / "report.html").write_text("new")
    assert out.is_symlink() and (real / "report.html").read_text() == "new" and len(list(real.parent.iterdir())) == 1
