"""What the methods say is what the results say: nothing is claimed that another setting would make untrue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import PositionConfig, RunConfig
from dnagoat.files import read_json, write_json, write_text
from dnagoat.reporting.methods import methods
from dnagoat.reporting.sources import Results, read, read_runs
from tests.reporting import example


def run(folder: Path, config: RunConfig | None = None, **nll: Any) -> Path:
    made = example.run(folder, config or example.config("goat"), 1.3)
    file = made / "evaluation" / "nll-test.json"
    write_json(file, {**read_json(file), **nll})
    return made


def told(*runs: Path) -> str:
    return "\n".join(methods(Results(read_runs(runs)), "dnagoat report").paragraphs)


def test_tiles_of_the_best_checkpoint(tmp_path: Path) -> None:
    said = told(run(tmp_path / "goat", torch="2.13.0"))
    assert (
        f"192 pieces of at most {example.PIECE} bases, which cover the test windows. A start symbol comes first" in said
    )
    assert "A scored base has 255.5 bases of context on average." in said
    assert "The checkpoint with the lowest NLL of the validations in training was scored" in said
    assert "Scored by dnagoat 0.1.0 with torch 2.13.0." in said


def test_a_sliding_context_some_windows_and_the_last_checkpoint(tmp_path: Path) -> None:
    last = {"which": "last", "step": 300, "sha256": "c" * 64}
    said = told(run(tmp_path / "goat", stride=100, mean_context=430.0, settings={"windows": 192}, checkpoint=last))
    assert "evenly spread over the test windows; they move on by 100 bases, and each scores what none before" in said
    assert "has 430.0 bases of context" in said
    assert "The last checkpoint was scored" in said and "lowest" not in said


def test_a_model_of_five_classes_scores_no_base_without_context(tmp_path: Path) -> None:
    config = example.config("goat")
    five = config.but(model=config.model.but(classes=5), train=config.train.but(score_n=True))
    said = told(run(tmp_path / "goat", five))
    assert "a base without context is not scored, and the class N is left out" in said
    assert "start symbol comes first" not in said


def test_the_authors_form_is_named_with_what_is_not_theirs(tmp_path: Path) -> None:
    config = example.config("goat")
    goat = GoatConfig(form="authors")
    theirs = config.but(model=config.model.but(position=PositionConfig(settings=goat)))
    content = theirs.model.head_width - 12
    said = told(run(tmp_path / "theirs", theirs), run(tmp_path / "ours"))
    assert "those of the authors' module (goat-attention 0.1.1)" in said
    assert f"content has {content} dimensions of a head, the authors' {content + 7}" in said
    same = theirs.but(model=theirs.model.but(content=content + 7))
    said = told(run(tmp_path / "same", same))
    assert "hold positions exactly." in said and "dimensions of a head" not in said
    assert "goat-attention" not in told(run(tmp_path / "own"))


def test_runs_that_were_scored_differently_are_described_apart(tmp_path: Path) -> None:
    said = told(run(tmp_path / "rope", example.config("rope")), run(tmp_path / "goat", stride=100))
    assert "\nrope: The model read 192 pieces" in said and "\ngoat: The model read 192 pieces" in said


def test_what_a_result_does_not_say_is_not_claimed(tmp_path: Path) -> None:
    said = told(run(tmp_path / "goat", context=None, mean_context=None, torch=None))
    assert "The model read" not in said and "of context" not in said and "with torch" not in said


def test_the_version_of_torch_that_trained_is_named_where_it_is_known(tmp_path: Path) -> None:
    runs = [run(tmp_path / name) for name in ("known", "unknown")]
    write_json(runs[0] / "summary.json", {**read_json(runs[0] / "summary.json"), "torch": "2.13.0"})
    rows = methods(Results(read_runs(runs)), "dnagoat report").settings.rows
    assert [row.cells[-1].text for row in rows] == ["0.1.0, torch 2.13.0", "0.1.0"]


def test_every_seed_of_a_comparison_names_its_checkpoint(tmp_path: Path) -> None:
    folder = example.comparison(tmp_path / "compare")
    for number, trained in enumerate(sorted(folder.glob("*-s*"))):
        write_text(trained / "best", "step-000200\n")
        state = {"step": 200, "model_sha256": f"{number:x}" * 64}
        write_json(trained / "checkpoints" / "step-000200" / "state.json", state)
    (folder / "rope-s2" / "best").unlink()
    table = methods(read([folder]), "dnagoat report").settings
    place = [column.key for column in table.columns].index("checkpoint")
    said = {row.cells[0].text: row.cells[place].text for row in table.rows}
    assert said["goat-s1"] == f"best, step 200, {'1' * 12}" and said["goat-s2"] == f"best, step 200, {'2' * 12}"
    own = read_json(folder / "goat-s0" / "evaluation" / "nll-test.json")["checkpoint"]
    assert said["goat-s0"] == f"best, step {own['step']}, {own['sha256'][:12]}", "what was measured says whose it is"
    assert said["rope-s2"] == "n/a"


@pytest.mark.parametrize("where", ["data", "moved"])
def test_the_commands_begin_with_what_made_the_dataset(where: str, tmp_path: Path) -> None:
    data = example.dataset(tmp_path / "data")
    config = example.config("goat", dataset=str(tmp_path / where), dataset_hash=data.content_hash)
    said = methods(read([run(tmp_path / "goat", config)]), "dnagoat report").commands
    begins = ["dnagoat prepare", "dnagoat train"] if where == "data" else ["dnagoat train"]
    assert [command[: len(begin)] for command, begin in zip(said, begins, strict=False)] == begins


def test_a_dataset_of_before_copies_were_dropped_is_told(tmp_path: Path) -> None:
    data = example.dataset(tmp_path / "data")
    manifest = data.manifest.model_dump(mode="json")
    del manifest["tally"]["windows_copies"]
    config = example.config("goat", dataset=str(tmp_path / "data"), dataset_hash=data.content_hash)
    results = Results(read_runs([run(tmp_path / "goat", config)]), manifests=[manifest])
    said = "\n".join(methods(results, "dnagoat report").paragraphs)
    assert "Dataset: " in said and "near-copies" not in said
