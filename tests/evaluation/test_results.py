"""Where results lie and what makes one another: checkpoints share no file, a BED file counts by its content."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dnagoat.errors import RunError, SourceError
from dnagoat.evaluation import measures
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.results import MEASURES, OTHERS, ensure, find_kept, in_the_way, read_result
from dnagoat.files import read_json, write_json
from dnagoat.model.transformer import DnaLM
from dnagoat.reporting.missing import measure_missing
from dnagoat.reporting.sources import read_runs
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat.training.kept.run import Run, open_run
from tests.evaluation.conftest import MakeRun

QUICK = MeasureOptions(block=100, resamples=1000)
LAST = QUICK.but(which="last")


def test_the_last_checkpoint_never_replaces_the_best(make_run: MakeRun) -> None:
    run = make_run()
    progress = TrainingState(step=2, best_step=1, best_val_nll=1.4)
    save(run.path, Checkpoint(progress, weights_of(DnaLM(run.config.model, 7))), keep=2)
    best, last = ensure(run, "strata", QUICK), ensure(run, "strata", LAST)
    files = {file.name for file in (run.path / "evaluation").glob("*.json")}
    assert files == {"strata-test.json", "strata-test-last.json"}
    assert (best["checkpoint"]["step"], last["checkpoint"]["step"]) == (1, 2)
    assert ensure(run, "strata", QUICK) == read_json(run.path / "evaluation" / "strata-test.json") == best
    assert ensure(run, "strata", LAST) == last


def test_other_settings_are_measured_beside_the_first(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run, fewer = make_run(), QUICK.but(windows=4)
    first, second = ensure(run, "nll", QUICK), ensure(run, "nll", fewer)
    folder = run.path / "evaluation"
    assert first["windows"] > second["windows"] == 4
    assert read_json(folder / "nll-test.json") == first == read_result(run, "nll", fewer)
    (file,) = (folder / OTHERS).glob("*.json")
    assert find_kept(run, "nll", fewer) == (file, second) and find_kept(run, "nll", QUICK.but(windows=5)) is None
    assert "--windows not given, not 4" in in_the_way(run, "nll", fewer) and in_the_way(run, "nll", QUICK) == ""
    assert [one.measures["nll-test"] for one in read_runs([run.path])] == [first]  # what reports show
    with monkeypatch.context() as patched:  # neither is computed again
        patched.setattr(Run, "require_room", lambda run: pytest.fail("computed again"))
        assert (ensure(run, "nll", QUICK), ensure(run, "nll", fewer)) == (first, second)
    assert ensure(run, "nll", fewer, force=True)["windows"] == 4 == read_json(folder / "nll-test.json")["windows"]


def test_a_report_measures_again_what_was_asked_for_of_an_earlier_checkpoint(make_run: MakeRun) -> None:
    """As it was measured; and it measures nothing that nobody has asked for."""
    run = make_run()
    ensure(run, "rc", QUICK.but(windows=5))
    progress = TrainingState(step=2, best_step=2, best_val_nll=1.3)
    save(run.path, Checkpoint(progress, weights_of(DnaLM(run.config.model, 7))), keep=2)
    before = read_json(run.path / "evaluation" / "rc-test.json")
    measure_missing(
        [open_run(run.path)], MeasureOptions(), skip=["nll", "strata", "lengths", "prior", "generation", "leakage"]
    )
    (file,) = (run.path / "evaluation").glob("*.json")
    now = read_json(file)
    assert file.name == "rc-test.json" and now["settings"] == before["settings"]
    assert (before["checkpoint"]["step"], now["checkpoint"]["step"]) == (1, 2)


@pytest.fixture
def marked(make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, dict[str, Any]]:
    """A run with strata of a BED file that was named relative to the current folder."""
    (tmp_path / "beds").mkdir()
    monkeypatch.chdir(tmp_path / "beds")
    Path("exons.bed").write_text("chr7\t1000\t1100\n")
    run = make_run()
    return run, ensure(run, "strata", QUICK.but(strata=(Path("exons.bed"),)))


def test_a_moved_bed_file_is_the_same_and_an_edited_one_is_not(
    marked: tuple[Run, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, result = marked
    assert [sorted(bed) for bed in result["settings"]["strata"]] == [["name", "sha256"]]
    monkeypatch.chdir(tmp_path)
    same = QUICK.but(strata=(Path("beds/exons.bed"),))
    assert ensure(run, "strata", same) == result
    Path("beds/exons.bed").write_text("chr7\t1000\t1200\n")
    said = in_the_way(run, "strata", same)
    assert re.search(r"\(--strata exons.bed \(\w{8}\), not exons.bed \(\w{8}\)\); this result lies beside it", said)
    with pytest.raises(SourceError, match=r"gone\.bed does not exist"):
        ensure(run, "strata", QUICK.but(strata=(Path("gone.bed"),)))


def test_a_report_from_another_folder_measures_the_other_runs(
    marked: tuple[Run, dict[str, Any]], make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their strata are those of the first run, but for the BED file, which is not there."""
    run, result = marked
    other = make_run("nope")
    monkeypatch.chdir(tmp_path)
    measure_missing([run, other], MeasureOptions(), skip=["nll", "lengths", "prior", "generation", "leakage"])
    kept = [read_json(each.path / "evaluation" / "strata-test.json") for each in (run, other)]
    assert kept[0] == result
    assert kept[1]["settings"] == result["settings"] | {"strata": []}
    assert [group["name"] for group in kept[1]["groups"]] == ["repeats", "seen", "gc", "cpg", "distance"]


def test_measures_are_named_as_their_modules() -> None:
    """No module is left out, and each declares the measure of its name."""
    stems = sorted(file.stem for file in Path(measures.__path__[0]).glob("*.py") if file.stem != "__init__")
    assert [stem.replace("_", "-") for stem in stems] == sorted(MEASURES)
    for name, measure in MEASURES.items():
        assert measure.compute.__module__ == f"dnagoat.evaluation.measures.{name.replace('-', '_')}"


@pytest.mark.parametrize("measure", ["rc", "nll"])
def test_a_result_of_an_earlier_format_is_measured_again(make_run: MakeRun, measure: str) -> None:
    run = make_run()
    now = ensure(run, measure, QUICK)
    file = run.path / "evaluation" / f"{measure}-test.json"
    write_json(file, now | {"format": now["format"] - 1, "value": -1.0, "settings": {}})
    assert read_result(run, measure, QUICK) is None
    with pytest.raises(RunError, match="format"):
        read_runs([run.path])
    assert ensure(run, measure, QUICK) == now == read_json(file)
    assert [one.measures[f"{measure}-test"] for one in read_runs([run.path])] == [now]
