"""Whether a fault in a field is told by the option of the command that was typed."""

from __future__ import annotations

import typing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig, MomentumConfig, RunConfig, TrainConfig
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.outputs.embeddings.vectors import EmbedOptions
from dnagoat.evaluation.probes.extrapolate import ExtrapolateOptions
from dnagoat.evaluation.probes.finished import RECALL_TAKES, TAKEN
from dnagoat.evaluation.probes.finished import option_of as sweep_option
from dnagoat.evaluation.probes.induction import InductionOptions
from dnagoat.evaluation.probes.linear.regression import LinearOptions
from dnagoat.evaluation.probes.recall import RecallOptions
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.frozen import Frozen
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.genome.preparation import PrepareOptions
from dnagoat.measure.job import Job
from dnagoat.training.kept.run_folder import PRESET_ALONE, option_of
from dnagoat_cli import app
from dnagoat_cli.options.faults import command_in, option_for, options_of

ROOT = typer.main.get_command(app)


def options(words: str) -> dict[str, str]:
    command = command_in(ROOT, words.split())
    return options_of(command, typer.Context(command))


# What a command makes of its options, and the fields that no option of it sets.
MADE: list[tuple[str, type[Frozen], tuple[str, ...]]] = [
    ("generate", SamplingOptions, ()),
    ("evaluate", MeasureOptions, ("fresh", "trajectory")),
    ("evaluate", TrajectoryOptions, ()),
    ("embed", EmbedOptions, ()),
    ("prepare", PrepareOptions, ()),
    ("train", TrainConfig, ("betas", "memory_lr_scale")),
    ("train", ModelConfig, ("width", "layers", "mlp_width", "context")),
    ("train", GoatConfig, ("ladder_base", "sink_frequencies")),
    ("train", MomentumConfig, ()),
    ("bench", Job, ("model", "train", "seed")),
    ("probe passkey", RecallOptions, ("task", "model", "train")),
    ("probe needle", RecallOptions, ("task", "model", "train")),
    ("probe induction", InductionOptions, ("model", "train")),
    ("probe extrapolate", ExtrapolateOptions, ("training",)),
    ("probe linear", LinearOptions, ()),
]


@pytest.mark.parametrize(("words", "owner", "silent"), MADE, ids=lambda value: getattr(value, "__name__", value))
def test_every_field_that_a_command_sets_has_its_option(words: str, owner: type[Frozen], silent: Any) -> None:
    there = options(words)
    found = {field: option_for(owner, field, there) for field in owner.model_fields if field not in silent}
    assert {field for field, option in found.items() if option is None} == set()
    assert set(found.values()) <= set(there.values())


def test_every_leaf_of_a_run_has_its_option_or_none() -> None:
    """What a resumed run tells apart: nothing is called by a name that `train` does not take."""
    there = set(options("train").values())
    model = ModelConfig().but(position=ModelConfig().position.but(momentum=MomentumConfig(strength=1)))
    config = RunConfig(model=model, dataset="", dataset_hash="", tool_version="")
    said = {path: option_of(path, config) for path in config.leaves()}
    assert {option for option in said.values() if option.startswith("--")} <= there
    plain = {path.rpartition(".")[2] for path, option in said.items() if option == path and path.count(".")}
    assert plain <= {*PRESET_ALONE, "ladder_base", "sink_frequencies"}


@pytest.mark.parametrize(
    ("words", "settings", "taken"),
    [("probe needle", RecallOptions(), TAKEN | RECALL_TAKES), ("probe induction", InductionOptions(), TAKEN)],
)
def test_every_setting_of_a_sweep_has_its_option_or_none(words: str, settings: Frozen, taken: set[str]) -> None:
    named = {
        sweep_option(path, taken) for path in settings.leaves() if not path.startswith("position.") and path != "task"
    }
    assert {option for option in named if option.startswith("--")} <= set(options(words).values())
    assert all(option.startswith(("--", "model.", "train.")) for option in named)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("prepare {tmp}/a.fa --window 1 --out {tmp}/out", "--window 1: it should be greater than or equal to 2"),
        ("prepare {tmp}/a.fa --gaps keep --out {tmp}/out", "--gaps keep: there are 'refuse' or 'drop'"),
        ("train {data} --steps 0 --out {tmp}/out", "--steps 0: it should be"),
        ("train {data} --batch-size 0 --out {tmp}/out", "--batch-size 0: it should be"),
        ("train {data} --goat-rank 0 --out {tmp}/out", "--goat-rank 0: it should be"),
        ("train {data} --momentum -1 --out {tmp}/out", "--momentum -1.0: it should be"),
        ("train {data} --position RoPE --out {tmp}/out", "--position RoPE: there are"),
        ("train {data} --schedule cubic --out {tmp}/out", "--schedule cubic: there are"),
        ("compare {data} --arm goat@rank=0 --out {tmp}/out", "--arm goat@rank=0: rank = 0: it should be"),
        ("compare {data} --arm RoPE --out {tmp}/out", "--arm RoPE: position = 'RoPE': there are"),
        ("compare {data} --arm rope --warmup -1 --out {tmp}/out", "--warmup -1: it should be"),
        (
            "compare {data} --arm rope --warmup 9 --steps 8 --out {tmp}/out",
            "--warmup 9: the rate would rise for longer",
        ),
        ("train {data} --warmup 9 --steps 8 --out {tmp}/out", "longer than the 8 steps of training; give fewer"),
        ("probe passkey --warmup 9 --steps 8 --out {tmp}/out", "--warmup 9: the rate would rise"),
        ("probe passkey --trials 0 --out {tmp}/out", "--trials 0: it should be"),
        ("probe passkey --width 0 --out {tmp}/out", "--width 0: it should be"),
        ("probe induction --depth 0 --out {tmp}/out", "--depth 0"),
        ("bench --preset tiny --length 1", "--length 1: it should be"),
    ],
)
def test_a_fault_names_what_was_typed(data: Path, tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "a.fa").write_text(">a\n" + "ACGT" * 100 + "\n")
    done = CliRunner().invoke(app, words.format(data=data, tmp=tmp_path).split())
    assert done.exit_code == 2 and done.stderr.startswith("error: "), done.output
    assert said in done.stderr and done.stderr.count("\n") == 1 and not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dnagoat.genome.preparation import prepare

    folder = tmp_path_factory.mktemp("data")
    (folder / "a.fa").write_text(">a\n" + "ACGTTGCAAG" * 100 + "\n>b\n" + "ACGTTGCAAG" * 20 + "\n")
    return prepare(folder / "a.fa", folder / "a", PrepareOptions(window=20, val=("b",))).path


def test_all_classes_that_commands_make_are_looked_at() -> None:
    """A new class of options has to be listed above, or to be none that a command line sets."""
    # Read from files.
    kept = {"Contig", "SourceRecord", "Rules", "Tally", "Manifest", "Assembly", "RunConfig", "Origin"}
    whole = {"PositionConfig", "Execution"}  # tested by what they hold, or built of checked choices
    found = {kind.__name__ for kind in _below(Frozen) if kind.__module__.startswith("dnagoat")}
    from dnagoat.attention.schemes.settings import Settings

    kinds: list[type[Any]] = [Settings, *_below(Settings)]
    schemes = {kind.__name__ for kind in kinds}
    assert found - kept - whole - schemes - {owner.__name__ for _, owner, _ in MADE} == set()


def _below(kind: type[Any]) -> typing.Iterator[type[Any]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("command", ["score variants", "probe linear", "import", "export"])
def test_help_fills_the_terminal(command: str, width: int) -> None:
    """A paragraph breaks where a line is full, not where the line of the source ends."""
    shown = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": str(width)}).stdout
    text = shown.split("Examples")[0].split("Usage:")[1].splitlines()[1:]
    pairs = [(left.strip(), right.split()[0]) for left, right in pairwise(text) if left.strip() and right.strip()]
    assert pairs and all(len(left) + 1 + len(word) > width - 2 for left, word in pairs), pairs
