"""Training with memory: what a resumed run and several processes agree on, and what known genomes must give."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from dnagoat.config import Family, RunConfig
from dnagoat.counts.memory.budget import plan_memory
from dnagoat.counts.memory.opening import open_reader
from dnagoat.counts.memory.reading import Reader
from dnagoat.counts.memory.tables import open_memory
from dnagoat.errors import DatasetError, RunError
from dnagoat.genome.dataset import Dataset
from dnagoat.reporting.sections.plan import plan_table
from dnagoat.training.feed import Feed
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.launch.side_by_side import PlannedRun, train_side_by_side
from dnagoat.training.loop import train
from dnagoat.training.memory_feed import look_up_ahead
from dnagoat.training.plan import plan
from dnagoat.training.presets import configure
from dnagoat.training.step.loss import window_losses
from tests.counts.memory.genome import dataset_of, repetitive
from tests.training.conftest import SMALL

FAMILIES: tuple[Family, ...] = ("words", "gaps", "copies")


@pytest.fixture
def config(remembering: Callable[[tuple[Family, ...]], RunConfig]) -> RunConfig:
    return remembering(FAMILIES)


def test_resume_equals_uninterrupted_bit_for_bit(config: RunConfig, tmp_path: Path) -> None:
    for _ in train(config, tmp_path / "whole"):
        pass
    stopped = train(config, tmp_path / "parts")
    for _ in range(7):
        next(stopped)
    stopped.close()
    for _ in train(config, tmp_path / "parts", resume=True):
        pass
    whole, parts = (open_run(tmp_path / name) for name in ("whole", "parts"))
    first, second = (load_file(run.checkpoint("last") / "weights.safetensors") for run in (whole, parts))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not any("table" in name or "places" in name for name in first)
    assert whole.config.memory_tables == open_reader(FAMILIES, whole.dataset()).memory.name


def test_a_run_names_its_tables(config: RunConfig, tmp_path: Path) -> None:
    """A model reads by itself, with the tables that it was trained with and no others."""
    for _ in train(config, tmp_path / "run"):
        pass
    run = open_run(tmp_path / "run")
    codes = run.dataset().codes(*map(int, run.dataset().spans("test")[0]))[None, :64]
    assert torch.isfinite(window_losses(run.model(), codes)).all()
    moved = shutil.copytree(run.dataset().path, tmp_path / "moved")
    elsewhere = Run(run.path, run.config.but(dataset=str(tmp_path / "gone")))
    elsewhere.dataset(moved)  # as --dataset says where it lies now
    assert torch.equal(window_losses(elsewhere.model(), codes), window_losses(run.model(), codes))
    kept = json.loads((run.path / "config.json").read_text())
    (run.path / "config.json").write_text(json.dumps({**kept, "memory_tables": "others"}))
    with pytest.raises(RunError, match="other tables than the run was trained with"):
        window_losses(open_run(tmp_path / "run").model(), codes)


@pytest.mark.parametrize("processes", [1, 2])
def test_features_are_those_of_the_windows(repetitive_data: Dataset, config: RunConfig, processes: int) -> None:
    """Every process gets those of its own windows, in micro-batches, whichever step is asked for."""
    reader = Reader(open_memory(repetitive_data), FAMILIES)
    settings = config.train.but(micro_batch=1)
    every = look_up_ahead(Feed.of(repetitive_data, config.train), reader)
    for step in (1, 2, 65):
        whole = every.of(step)[0]
        rows = []
        for rank in range(processes):
            mine = look_up_ahead(Feed.of(repetitive_data, settings, rank, processes), reader)
            rows += [part.says for part in mine.of(step)]
            mine.close()
        np.testing.assert_array_equal(np.concatenate(rows), whole.says)
    every.close()


def chain_of_both_strands(dice: np.random.Generator, bases: int) -> tuple[np.ndarray, float]:
    """Letters (bases,) of an order-2 chain that reads the same on both strands, and its entropy rate in nats a base.

    Let a sequence be as likely as the product of its words' weights: where a word weighs what its reverse complement
    does, so does the sequence. That is a Markov chain: with M the weights by the two bases before and the
    two after, its largest eigenvalue l and right eigenvector r, p(j | i) = M_ij r_j / (l r_i).
    """
    weights = dice.gamma(0.6, size=(4, 4, 4))
    weights = np.sqrt(weights * weights.transpose(2, 1, 0)[::-1, ::-1, ::-1])
    moves = (weights[:, :, None] * np.eye(4)[None, :, :, None]).reshape(16, 16)  # from (a, b) to (b, c)
    values, vectors = np.linalg.eig(moves)
    largest = values.real.argmax()
    right = np.abs(vectors[:, largest].real)
    chances = moves * right / (values.real[largest] * right[:, None])
    often = np.linalg.matrix_power(chances, 4096)[0]
    entropy = -float((often[:, None] * chances * np.log(np.where(chances > 0, chances, 1))).sum())
    sums, states = np.cumsum(chances, axis=1), [0]
    for uniform in dice.random(bases):
        states.append(int((sums[states[-1]] < uniform).sum().clip(max=15)))
    return np.array(list("ACGT"))[np.array(states[1:]) % 4], entropy


@pytest.mark.slow
def test_a_known_chain_gives_its_entropy_and_not_less(tmp_path: Path) -> None:
    """Held out, what was learned reaches the entropy rate; on training windows nothing lies below it.

    Without leaving out, a training window would find itself and cost next to nothing.
    """
    bases, entropy = chain_of_both_strands(np.random.default_rng(3), 160_000)
    contigs = {"a": bases[:120_000], "val": bases[120_000:130_000], "test": bases[130_000:]}
    data = dataset_of(tmp_path, contigs, window=64)
    options = {**SMALL, "model.memory": FAMILIES, "train.steps": 120, "train.batch_size": 8, "train.lr": 2e-3}
    config = configure("tiny", str(data.path), data.content_hash, data.window, {**options, "train.eval_every": 50})
    losses = [step.loss for step in train(config, tmp_path / "run")]
    model, reader = open_run(tmp_path / "run").model("last"), Reader(open_memory(data), FAMILIES)
    starts = data.starts("test")
    held_out = window_losses(model, np.stack([data.codes(s, s + 64) for s in starts]))[:, 8:]
    error = float(held_out.std()) / np.sqrt(held_out.numel())
    late = np.array(losses[-40:])
    assert abs(float(held_out.mean()) - entropy) < 4 * error < (np.log(4) - entropy) / 20
    assert late.mean() > entropy - 4 * late.std() / np.sqrt(len(late)), "a training window knew itself"
    kept = reader.read(reader.begin(1), np.array([[5, *data.codes(64, 127)]]))
    assert kept.votes.sum() > 0, "without leaving out a training window is its own copy"


def test_another_datasets_memory_is_refused(repetitive_data: Dataset, tmp_path: Path) -> None:
    other = dataset_of(tmp_path, {"a": repetitive(3000, 8), "val": repetitive(500, 9), "test": repetitive(500, 10)}, 64)
    (other.path / "memory").symlink_to(open_memory(repetitive_data).path)
    with pytest.raises(DatasetError, match="is the memory of dataset"):
        open_memory(other)


def test_runs_side_by_side_share_the_tables_that_are_counted_for_them(config: RunConfig, tmp_path: Path) -> None:
    """Where nothing has been counted yet; the runs are continued by the same call."""
    shutil.copytree(config.dataset, tmp_path / "data", ignore=shutil.ignore_patterns("memory"))
    elsewhere = config.but(dataset=str(tmp_path / "data"))
    runs = [PlannedRun(elsewhere, tmp_path / "first"), PlannedRun(elsewhere, tmp_path / "second")]
    heard: list[str] = []
    for _ in range(2):
        train_side_by_side(runs, jobs=2, threads=1, device="cpu", progress=lambda name, *_: heard.append(name))
    assert heard[0] == "counting training bases"
    first, second = (open_run(run.out) for run in runs)
    assert first.config.memory_tables == second.config.memory_tables is not None
    assert all(run.done for run in runs)


def test_a_plan_tells_what_the_tables_take(repetitive_data: Dataset, config: RunConfig) -> None:
    open_memory(repetitive_data)
    told = plan(config, torch.device("cpu"), dataset=repetitive_data).memory
    assert told == plan_memory(repetitive_data) and told is not None and told.built
    assert (
        plan(config.but(model=config.model.but(memory=())), torch.device("cpu"), dataset=repetitive_data).memory is None
    )
    lines = {
        row.head: row
        for row in plan_table(config, plan(config, torch.device("cpu"), dataset=repetitive_data), "cpu").rows
    }
    assert lines["memory's tables"].cells[0].text == "0.07 GB" and "left out of memory" not in lines
    short = replace(plan(config, torch.device("cpu")), memory=replace(told, built=False, left_out=12_345))
    lines = {row.head: row for row in plan_table(config, short, "cpu").rows}
    assert lines["left out of memory"].cells[0].text == "12,345" and "of one core" in lines["counting"].cells[1].text
