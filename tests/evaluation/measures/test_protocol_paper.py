"""The authors' protocol: N scored, no first base, only of runs that have a class for N."""

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import PositionConfig, RunConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.measures.protocol_paper import other_content, other_start
from dnagoat.evaluation.results import ensure
from dnagoat.files import write_json
from dnagoat.genome.dataset import Dataset
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.presets import preset
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun

PAPER = preset("paper")[0].position.settings


def test_n_is_scored_and_the_first_base_is_not(make_run: MakeRun, dataset: Dataset) -> None:
    run = make_run(classes=5)
    (run.path / "metrics.jsonl").write_text('{"step": 1, "val_nll": 1.5}\n{"step": 2, "val_nll": 1.25}\n{"step": 3}\n')
    result = ensure(run, "protocol-paper")
    model = run.model()
    codes = np.stack([dataset.codes(int(s), int(s) + 64) for s in dataset.starts("val")]).astype(np.int64)
    with torch.no_grad():
        log_p = model(torch.from_numpy(codes[:, :-1])).log_softmax(-1)
    expected = -log_p.gather(-1, torch.from_numpy(codes[:, 1:, None])).mean()
    # Means of batches, the last of which is smaller: as in the authors' script, not weighted.
    assert result["value"] == pytest.approx(expected.item(), abs=0.01)
    assert result["batches"] == 8
    assert result["best_of_evaluations"] == 1.25
    assert result["count"] == 62 * 63
    assert result["split"] == "val"


def told(run: Run, **train: int) -> Run:
    """The run as if it had been trained so."""
    config = run.config.but(train=run.config.train.but(**train))
    write_json(run.path / "config.json", config.model_dump(mode="json"))
    return open_run(run.path)


def test_fifty_batches_whose_windows_are_those_of_the_evaluations(make_run: MakeRun) -> None:
    """Batches of one window: 50 of the split's 62, as `--preset paper` validates on 50 batches."""
    result = ensure(told(make_run(classes=5), batch_size=1, eval_windows=50), "protocol-paper")
    assert (result["batches"], result["count"], result["evaluation_windows"]) == (50, 50 * 63, 50)
    assert len(result["warnings"]) == 1


@pytest.mark.parametrize(
    ("train", "said"),
    [
        ({"batch_size": 1, "eval_windows": 256}, "read 62 windows, not the 50 of 50 batches"),
        ({"batch_size": 1, "eval_windows": 20}, "read 20 windows, not the 50 of 50 batches"),
        ({"batch_size": 8, "eval_windows": 256}, "windows for 8 batches, fewer than the authors' 50"),
    ],
)
def test_other_evaluations_are_said_in_the_result_and_in_the_terminal(
    make_run: MakeRun, train: dict[str, int], said: str
) -> None:
    run = told(make_run(classes=5), **train)
    result = ensure(run, "protocol-paper")
    assert said in result["warnings"][-1]
    assert len(result["warnings"]) == 2
    shown = CliRunner().invoke(app, ["evaluate", str(run.path), "--protocol", "paper", "--device", "cpu"])
    assert said in shown.stderr
    assert f"{result['evaluation_windows']} windows each" in shown.stdout


@pytest.mark.parametrize(
    ("goat", "said"),
    [
        (PAPER, None),
        (PAPER.but(init="uniform"), "is not set as the authors' (init uniform, not seeded): their 1.1294"),
        (GoatConfig(), "form own, not authors; "),
        (GoatConfig(), "init distances, not seeded"),
        (PAPER.but(rank=2, periods=(3.0, 10.5)), "(other periods)"),
    ],
)
def test_a_goat_of_another_start_says_that_the_published_number_is_not_its(
    make_run: MakeRun, goat: GoatConfig, said: str | None
) -> None:
    run = make_run("goat", classes=5)
    position = run.config.model.position.but(settings=goat)
    config = run.config.but(model=run.config.model.but(position=position))
    write_json(run.path / "config.json", config.model_dump(mode="json"))
    found = [text for text in other_start(open_run(run.path)) if "1.1294" in text]
    assert len(found) == (said is not None) and (said or "") in " ".join(found)


def test_a_narrower_content_than_theirs_is_told() -> None:
    model, train = preset("paper")
    config = RunConfig(model=model, train=train, dataset="", dataset_hash="", tool_version="")
    assert "content has 52 dimensions of a head, the authors' 59" in other_content(config)[0]
    assert other_content(config.but(model=model.but(content=59))) == []
    assert other_content(config.but(model=model.but(position=PositionConfig(name="rope")))) == []


def test_the_start_is_told_in_the_result(make_run: MakeRun) -> None:
    told = ensure(make_run("goat", classes=5), "protocol-paper")["warnings"]
    assert "1.1294" in told[-2] and "--content 27" in told[-1]
    assert not [text for text in ensure(make_run(classes=5), "protocol-paper")["warnings"] if "1.1294" in text]


def test_a_later_evaluation_makes_the_result_out_of_date(make_run: MakeRun) -> None:
    """The best checkpoint may be one that was kept before the best evaluation."""
    run = make_run(classes=5)
    (run.path / "metrics.jsonl").write_text('{"step": 1, "val_nll": 1.5}\n')
    assert ensure(run, "protocol-paper")["best_of_evaluations"] == 1.5
    (run.path / "metrics.jsonl").write_text('{"step": 1, "val_nll": 1.5}\n{"step": 2, "val_nll": 1.25}\n')
    assert ensure(run, "protocol-paper")["best_of_evaluations"] == 1.25


def test_four_classes_cannot(make_run: MakeRun) -> None:
    with pytest.raises(OptionError, match="--score-n"):
        ensure(make_run(), "protocol-paper")
