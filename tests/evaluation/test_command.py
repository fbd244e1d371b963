"""`dnagoat evaluate` as a user types it: what is computed by default, what is refused, what reaches standard output."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dnagoat.evaluation.results import MEASURES
from dnagoat.files import write_json
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun
from tests.genome.small import twobit

ON_CPU = ["--device", "cpu", "--block", "100", "--resamples", "1000"]


def run_it(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in ("evaluate", *words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_both_splits_by_default_and_once(make_run: MakeRun) -> None:
    run = make_run("goat")
    code, out, err = run_it(run.path, *ON_CPU)
    assert code == 0
    assert "order-12, backing off" not in out and "order-12, backing off" in run_it(run.path, "--all", *ON_CPU)[1]
    assert "chosen on this split" in err
    stamps = {file: file.stat().st_mtime_ns for file in (run.path / "evaluation").iterdir()}
    assert {file.name for file in stamps} >= {"nll-val.json", "nll-test.json"}
    assert run_it(run.path, *ON_CPU)[:2] == (0, out)
    assert {file: file.stat().st_mtime_ns for file in stamps} == stamps


def test_json_is_the_stored_result_and_its_command_repeats_it(make_run: MakeRun) -> None:
    run = make_run()
    code, out, _ = run_it(run.path, "--lengths", "1x,2x", "--windows", 5, *ON_CPU, "--json")
    assert code == 0
    result = json.loads(out)
    assert result == json.loads((run.path / "evaluation" / "lengths-test.json").read_text())
    words = result["command"].split()
    assert words[:3] == ["dnagoat", "evaluate", str(run.path)]
    assert run_it(*words[2:], "--device", "cpu", "--json")[:2] == (0, out)


def test_other_settings_lie_beside_until_they_are_forced(make_run: MakeRun) -> None:
    run = make_run()
    shown = run.path / "evaluation" / "rc-test.json"
    assert run_it(run.path, "--rc-average", "--windows", 8, *ON_CPU)[0] == 0
    code, _, err = run_it(run.path, "--rc-average", "--windows", 9, *ON_CPU)
    assert code == 0 and "--windows 8, not 9" in err and "--force puts this one in its place" in err
    assert json.loads(shown.read_text())["settings"]["windows"] == 8
    assert run_it(run.path, "--rc-average", "--windows", 9, *ON_CPU, "--force")[0] == 0
    assert json.loads(shown.read_text())["settings"]["windows"] == 9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--what", "nonsense"], "choose from"),
        (["--protocol", "mine"], "paper"),
        (["--stride", "100", "--context", "50"], "--stride 100"),
        (["--split", "nowhere"], "--split nowhere: there are"),
        (["--what", "generation", "--split", "val", "--split", "test"], "one split"),
        (["--fasta", "absent.fa"], "absent.fa"),
        (["--windows", "0"], "--windows 0: it should be greater than or equal to 1"),
    ],
)
def test_faults_are_one_sentence(make_run: MakeRun, words: list[str], said: str) -> None:
    code, out, err = run_it(make_run().path, *words, "--device", "cpu")
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_help_names_every_measure() -> None:
    said = CliRunner().invoke(app, ["evaluate", "--help"], env={"COLUMNS": "200"}).stdout
    assert any(all(name in line for name in MEASURES) for line in said.splitlines())


def test_an_empty_split_is_a_note(make_run: MakeRun, dataset: Dataset, tmp_path: Path) -> None:
    """A dataset without validation windows is scored on its test split."""
    (tmp_path / "two.fa").write_text(f">a\n{'ACGTTGCA' * 400}\n>b\n{'GATTACAA' * 400}\n")
    two = prepare(tmp_path / "two.fa", tmp_path / "two", PrepareOptions(window=64, test=("b",)))
    run = make_run()
    config = run.config.but(dataset=str(two.path), dataset_hash=two.content_hash)
    write_json(run.path / "config.json", config.model_dump(mode="json"))
    code, _, err = run_it(run.path, *ON_CPU)
    assert code == 0
    assert "no window in the split val" in err
    assert not (run.path / "evaluation" / "nll-val.json").exists()
    assert (run.path / "evaluation" / "nll-test.json").exists()
    assert run_it(run.path, "--split", "val", *ON_CPU)[0] == 2


def test_records_of_a_file(make_run: MakeRun, tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">x\nACGTACGT\n>y\nNNN\n")
    run = make_run()
    code, out, _ = run_it(run.path, "--fasta", tmp_path / "a.fa", "--device", "cpu")
    header, first, second = out.splitlines()
    assert code == 0
    assert header.split("\t")[:3] == ["name", "length", "scored"]
    assert first.split("\t")[:3] == ["x", "8", "8"]
    assert second.split("\t")[-1] == "NA"
    target = tmp_path / "scores.json"
    words = (run.path, "--fasta", tmp_path / "a.fa", "--out", target, "--json", "--device", "cpu")
    assert run_it(*words)[:2] == (0, "")
    assert json.loads(target.read_text())[0]["name"] == "x"
    assert run_it(*words)[0] == 2


def test_records_come_from_standard_input_and_from_2bit(make_run: MakeRun, tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">x\nACGTACGT\n>y\nNNN\n")
    (tmp_path / "a.2bit").write_bytes(twobit({"x": "ACGTACGT", "y": "NNN"}))
    run = make_run()
    words = ["evaluate", str(run.path), "--device", "cpu", "--out", "-", "--fasta"]
    text = (tmp_path / "a.fa").read_text()
    made = [
        CliRunner().invoke(app, [*words, name], input=text) for name in ("-", f"{tmp_path}/a.fa", f"{tmp_path}/a.2bit")
    ]
    assert [one.exit_code for one in made] == [0, 0, 0], made[0].stderr
    assert made[0].stdout == made[1].stdout == made[2].stdout and made[0].stdout.startswith("name\tlength\t")
    both = CliRunner().invoke(app, [*words, "-", "--strata", "-"], input=text)
    assert both.exit_code == 2 and "standard input is read by --fasta and by --strata" in both.stderr


def test_places_are_looked_at_before_anything_is_scored(make_run: MakeRun, tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">x\nACGTACGT\n")
    run = make_run()
    for words, said in (
        (("--out", tmp_path / "a.fa" / "below"), "cannot be written"),
        (("--tracks", tmp_path / "a.fa"), "is a file; give the name of a folder"),
        (("--tracks", "-"), "--tracks - is standard output, and a folder is written"),
    ):
        code, out, err = run_it(run.path, "--fasta", tmp_path / "a.fa", "--what", "rc", *words, "--device", "cpu")
        assert (code, out) == (2, "") and said in err and len(err.splitlines()) == 1
    assert not (run.path / "evaluation").exists()


def test_tracks(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    words = (run.path, "--tracks", tmp_path / "tracks", "--device", "cpu")
    code, out, _ = run_it(*words)
    assert code == 0
    assert Path(out.splitlines()[0]).name == f"{run.name}-test.bedGraph"
    assert run_it(*words)[0] == 2
    assert run_it(*words, "--force")[0] == 0
