"""`dnagoat compare` from its arms to its verdict: ordinary runs, in fresh processes, made once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from dnagoat.errors import OptionError, RunError, Stopped
from dnagoat.evaluation.comparison.arms import read_arm, read_arms, run_folder
from dnagoat.evaluation.comparison.experiment import Comparison, compare
from dnagoat.evaluation.comparison.judgement import sentence
from dnagoat.genome.dataset import open_dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.reporting.sections.comparison import tuning
from dnagoat.training.kept.checkpoint import model_sha256
from dnagoat.training.kept.run import open_run
from dnagoat.training.presets import configure
from dnagoat_cli import app


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    dice = np.random.default_rng(3)
    bases = np.array(list("ACGTacgt"))
    records = [
        f">{name}\n{''.join(dice.choice(bases, length))}\n" for name, length in (("a", 9000), ("b", 4000), ("c", 4000))
    ]
    (folder / "genome.fa").write_text("".join(records))
    prepare(folder / "genome.fa", folder / "data", PrepareOptions(window=64, val=("b",), test=("c",)))
    return folder / "data"


ARMS = ("rope", "near, GOAT=goat:recency")


def command(dataset: Path, out: Path) -> list[str]:
    arms = [word for arm in ARMS for word in ("--arm", arm)]
    sizes = ["--preset", "tiny", "--steps", "4", "--batch-size", "2", "--eval-every", "2", "--eval-windows", "4"]
    more = ["--seeds", "1", "--windows", "20", "--jobs", "2", "--lr", "8e-3,1e-4", "--device", "cpu", "--json"]
    return [sys.executable, "-m", "dnagoat_cli", "compare", str(dataset), *arms, *sizes, *more, "--out", str(out)]


@pytest.mark.slow
def test_a_comparison_is_made_once(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "compare"
    first = subprocess.run(command(dataset, out), capture_output=True, text=True, check=False, timeout=600)
    assert first.returncode == 0, first.stderr
    result = json.loads(first.stdout)
    runs = {path.name: open_run(path) for path in out.glob("*-s0")}
    folders = {arm: run_folder(out, read_arm(arm), 0).name.removesuffix("-s0") for arm in ARMS}
    assert set(runs) == {f"{folder}-lr{lr}-s0" for folder in folders.values() for lr in ("0.008", "0.0001")}
    assert [(row["name"], row["setting"]) for row in result["arms"]] == [
        ("rope", "rope"),
        ("near, GOAT", "goat:recency"),
    ]
    assert "near, GOAT is without a verdict" in result["verdict"]
    for row, folder in zip(result["arms"], folders.values(), strict=True):  # the rate with the better validation
        tried = {lr: open_run(out / f"{folder}-lr{lr:g}-s0").metrics() for lr in (8e-3, 1e-4)}
        best = {lr: min(m["val_nll"] for m in rows if m["val_nll"] is not None) for lr, rows in tried.items()}
        assert row["lr"] == min(best, key=lambda lr: best[lr])
        assert {each["lr"]: each["val_nll"] for each in row["tried"]} == pytest.approx(best)
        assert row["splits"]["test"]["all"]["count"] == 20 * 64
        strata = row["splits"]["test"]
        assert strata["repeat"]["count"] + strata["unique"]["count"] == strata["all"]["count"]
    difference = result["arms"][1]["splits"]["test"]["all"]["difference"]
    assert difference["verdict"] == "too few seeds" and difference["over_seeds"] is None
    assert "too few seeds" in result["verdict"]
    assert json.loads((out / "comparison.json").read_text()) == result

    hashes = {name: model_sha256(run.checkpoint("last")) for name, run in runs.items()}
    again = subprocess.run(command(dataset, out), capture_output=True, text=True, check=False, timeout=600)
    assert again.returncode == 0 and json.loads(again.stdout) == result
    assert {name: model_sha256(run.checkpoint("last")) for name, run in runs.items()} == hashes

    other = [word.replace("goat:recency", "goat:sink") for word in command(dataset, out)[3:]]
    refused = CliRunner().invoke(app, other)  # another arm under the same name
    assert refused.exit_code == 2 and refused.stderr.count("\n") == 1
    assert "holds goat:recency, not goat:sink; give the arm another name" in refused.stderr


def asked(dataset: Path, *arms: str, rates: tuple[float, ...], **base: object) -> Comparison:
    data = open_dataset(dataset)
    config = configure("tiny", str(dataset), data.content_hash, data.window, base)
    return Comparison(data, config, read_arms(arms), dataset.parent / "sweep", 2, rates)


def test_each_arm_has_the_rates_that_are_its_own(dataset: Path) -> None:
    """All that were given, once each; an arm that says its own rate has that one, whatever all were given."""
    made = asked(dataset, "rope", "goat@lr=5e-3@optimizer=muon", rates=(1e-3, 1e-4, 1e-3))
    rope, goat = ([(run.config.train.lr, run.config.train.seed) for run in made.known_runs(arm)] for arm in made.arms)
    assert rope == [(1e-3, 0), (1e-4, 0)] and goat == [(5e-3, 0), (5e-3, 1)]
    assert [made.runs_of(arm) for arm in made.arms] == [3, 2] and made.tunes
    one = asked(dataset, "rope", "rope@lr=1e-3", rates=(1e-3,))
    with pytest.raises(OptionError, match=r"it is rope again; give each arm once"):
        one.refuse_mixture()


@pytest.mark.slow
def test_a_signal_while_scoring_ends_a_comparison_that_can_go_on(dataset: Path) -> None:
    sizes = {"train.steps": 2, "train.batch_size": 2, "train.eval_every": 2, "train.eval_windows": 4}
    made, came = asked(dataset, "rope", rates=(), **sizes), list[str]()

    def progress(what: str, done: int, total: int) -> None:
        if "scoring" in what:
            came.append("SIGTERM")

    with pytest.raises(Stopped) as end:
        compare(made, windows=20, progress=progress, stop=lambda: came[0] if came else None)
    assert end.value.signal is signal.SIGTERM and came
    assert not (made.out / "comparison.json").exists()
    assert compare(made, windows=20)["arms"][0]["name"] == "rope"


def test_the_report_tells_what_was_tried_and_where_more_should_be() -> None:
    tried = [{"lr": 1e-3, "val_nll": 1.31}, {"lr": 2e-3, "val_nll": 1.32}, {"lr": 4e-3, "val_nll": 1.33}]
    arms = [{"name": "rope", "lr": 2e-3, "tried": tried}, {"name": "goat (muon)", "lr": 1e-3, "tried": tried}]
    told, beyond = tuning({"arms": arms})
    assert "rope 0.001 (1.3100), 0.002 (1.3200), 0.004 (1.3300); goat (muon) 0.001" in told
    assert beyond.startswith("goat (muon): the best rate is the lowest or highest that was tried")
    assert tuning({"arms": [{"name": "rope", "lr": 1e-3, "tried": []}, {"name": "goat", "lr": 1e-3}]}) == []


def test_the_sentence_names_every_arm() -> None:
    def row(name: str, verdict: str | None) -> dict[str, object]:
        found = {"verdict": verdict, "value": -0.01, "over_seeds": [-0.02, -0.005], "by_seed": [1, 2, 3]}
        return {"name": name, "splits": {"test": {"all": {"difference": found if verdict else None}}}}

    said = sentence([row("rope", None), row("goat", "better"), row("nope", "not distinguishable")])
    assert said.startswith("On the test split: goat is better than rope (-0.0100 nats per base, 95 % over 3 seeds")
    assert "nope is not distinguishable from rope" in said


def test_a_plan_says_what_would_be_trained_and_writes_nothing(dataset: Path, tmp_path: Path) -> None:
    words = [word for word in command(dataset, tmp_path / "new")[3:] if word != "--json"]
    before = sorted(dataset.parent.rglob("*"))
    said = CliRunner().invoke(app, [*words, "--plan"], env={"COLUMNS": "120"})
    assert said.exit_code == 0, said.output
    assert sorted(dataset.parent.rglob("*")) == before and not (tmp_path / "new").exists()
    assert "4 runs of preset tiny: 4 steps of 2 windows, 1 seed" in said.stdout
    shown = " ".join(said.stdout.split())
    assert "near, GOAT" in shown and "goat:recency" in shown and "…" not in shown
    files = said.stdout.partition("training writes\n")[2].split()
    assert str(tmp_path / "new" / "comparison.json") in files
    assert {f"{tmp_path}/new/rope-lr{rate}-s0/" for rate in ("0.008", "0.0001")} <= set(files)
    numbers = json.loads(CliRunner().invoke(app, [*words, "--plan", "--json"]).stdout)
    assert [(arm["label"], arm["runs"], arm["done"], arm["steps_left"]) for arm in numbers["arms"]] == [
        ("rope", 2, 0, 8), ("near, GOAT", 2, 0, 8),
    ]  # fmt: skip
    assert numbers["hours"] == pytest.approx(sum(arm["hours"] for arm in numbers["arms"]) / 2) and numbers["hours"] > 0


@pytest.mark.parametrize(
    ("arms", "out", "said"),
    [
        (("rope", "rope"), "new", "--arm rope: it is rope again; give each arm once"),
        (("rope", "goat"), "file", "is a file"),
        (("rope", "goat"), "data", "is a folder with other things in it"),
    ],
)
def test_what_cannot_be_compared_there_is_refused_before_anything_is_written(
    dataset: Path, arms: tuple[str, ...], out: str, said: str
) -> None:
    (dataset.parent / "file").touch()
    before = sorted(dataset.parent.rglob("*"))
    words = [
        "compare",
        dataset,
        "--out",
        dataset.parent / out,
        "--preset",
        "tiny",
        *(w for a in arms for w in ("--arm", a)),
    ]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert (result.exit_code, said in result.stderr) == (2, True)
    assert sorted(dataset.parent.rglob("*")) == before


def test_a_verdict_is_not_replaced_by_one_that_knows_less(dataset: Path, tmp_path: Path) -> None:
    made = replace(asked(dataset, "rope", "alibi", rates=()), out=tmp_path / "verdict")
    made.out.mkdir()
    rows = [{"runs": [f"elsewhere/{arm}-s{seed}" for seed in (0, 1)]} for arm in ("rope", "alibi")]
    (made.out / "comparison.json").write_text(json.dumps({"arms": rows}))
    made.refuse_mixture()
    replace(made, arms=read_arms(("rope", "alibi", "nope")), seeds=3).refuse_mixture()
    with pytest.raises(RunError, match="judges alibi-s0, alibi-s1 too; name those arms"):
        replace(made, arms=read_arms(("rope", "nope"))).refuse_mixture()
    with pytest.raises(RunError, match="judges rope-s1, alibi-s1 too"):
        replace(made, seeds=1).refuse_mixture()
