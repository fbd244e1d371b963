"""A damaged run folder is named in one sentence; what a kill leaves behind is no damage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dnagoat.config import PositionConfig, RunConfig
from dnagoat.errors import DatasetError, OptionError, RunError
from dnagoat.files import read_json, write_json
from dnagoat.genome.dataset import Dataset, open_dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.kept.run_folder import begin
from tests.training.conftest import WINDOW, write_genome


@pytest.fixture
def run(tmp_path: Path) -> Run:
    config = RunConfig(dataset="nowhere/data", dataset_hash="0" * 64, tool_version="0")
    write_json(tmp_path / "config.json", config.model_dump(mode="json"))
    return open_run(tmp_path)


def test_a_row_that_a_kill_cut_short_is_not_read(run: Run) -> None:
    (run.path / "metrics.jsonl").write_text('{"step": 1}\n{"step": 2}\n{"st')
    assert run.metrics() == [{"step": 1}, {"step": 2}]


@pytest.mark.parametrize("rows", [b"{\n", b"[1]\n", b"\x9b\xff\n"])
def test_damaged_metrics_are_named(run: Run, rows: bytes) -> None:
    (run.path / "metrics.jsonl").write_bytes(rows)
    with pytest.raises(RunError, match=r"metrics\.jsonl is damaged"):
        run.metrics()


def test_a_pointer_leads_nowhere_but_to_checkpoints(run: Run) -> None:
    for content in (b"../../etc", b"\x9b\xff"):
        (run.path / "best").write_bytes(content)
        assert run.checkpoint().parent == run.path / "checkpoints"


def test_a_run_that_was_never_validated_says_which_checkpoint_it_has(run: Run) -> None:
    with pytest.raises(RunError, match="no best checkpoint yet; continue it"):
        run.checkpoint()
    (run.path / "last").write_text("step-2")
    with pytest.raises(RunError, match=r"never validated .* `dnagoat evaluate --checkpoint last`"):
        run.checkpoint()
    assert run.checkpoint("last").name == "step-2"


def test_a_wrong_name_is_met_with_those_there_are() -> None:
    with pytest.raises(OptionError, match=r"position = 'RoPE': there are 'nope', .*; did you mean rope\?"):
        PositionConfig(name="RoPE")
    with pytest.raises(OptionError, match=r"^position = 'xyz': there are 'nope'[^;]*$"):
        PositionConfig(name="xyz")


def test_a_dataset_that_moved_is_asked_for(run: Run) -> None:
    with pytest.raises(DatasetError, match="data, which is not there; say where"):
        run.dataset()


@pytest.mark.parametrize("change", [{"format": 1}, {"elephant": 1}, {"model": {"width": -1}}])
def test_a_configuration_that_is_not_ours_is_named_with_its_file(run: Run, change: dict[str, object]) -> None:
    write_json(run.path / "config.json", run.config.model_dump(mode="json") | change)
    with pytest.raises(RunError, match=r"config\.json cannot be read"):
        open_run(run.path)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_json_holds_no_unknown_number(tmp_path: Path, constant: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"value": 1}).replace("1", constant))
    with pytest.raises(ValueError, match=constant):
        read_json(tmp_path / "a.json")


def test_a_fault_of_writing_names_the_file_that_was_to_be(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as fault:
        write_json(tmp_path / "folder", {})
    assert fault.value.filename == str(tmp_path / "folder")


def begun(dataset: Dataset, out: Path) -> Run:
    out.mkdir(parents=True)
    config = RunConfig(dataset=str(dataset.path), dataset_hash=dataset.content_hash, tool_version="0")
    assert begin(out, config, resume=False, force=False) is None
    return open_run(out)


def test_a_dataset_given_by_a_relative_path_is_found_from_anywhere(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(dataset.path, tmp_path / "work" / "data")
    monkeypatch.chdir(tmp_path / "work")
    begun(open_dataset(Path("data")), Path("runs/one"))
    monkeypatch.chdir(tmp_path)
    assert open_run(Path("work/runs/one")).dataset().content_hash == dataset.content_hash
    (tmp_path / "work").rename(tmp_path / "moved")  # the run and its dataset together
    assert open_run(Path("moved/runs/one")).dataset().content_hash == dataset.content_hash
    (tmp_path / "moved" / "data").rename(tmp_path / "work-data")  # the dataset alone
    run = open_run(Path("moved/runs/one"))
    with pytest.raises(DatasetError, match="was trained on data, which is not there"):
        run.dataset()
    assert run.dataset(Path("work-data")).content_hash == dataset.content_hash
    # Training that goes on with the dataset's new place keeps it.
    assert begin(run.path, run.config.but(dataset="work-data"), resume=True, force=False) is None
    assert open_run(run.path).dataset().path == Path("work-data")


def test_another_dataset_in_its_place_is_passed_over(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`data` is a folder here too, but with other content than that of the run."""
    shutil.copytree(dataset.path, tmp_path / "work" / "data")
    monkeypatch.chdir(tmp_path / "work")
    begun(open_dataset(Path("data")), Path("run"))
    prepare(write_genome(tmp_path / "other.fa", (3000, 900, 900)), tmp_path / "data", PrepareOptions(window=WINDOW))
    monkeypatch.chdir(tmp_path)
    assert open_run(Path("work/run")).dataset().content_hash == dataset.content_hash
