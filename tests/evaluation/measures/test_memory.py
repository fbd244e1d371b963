"""What memory is worth: parts of a trained model on the same bases; and every other measure of a model with memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from dnagoat.config import Family, RunConfig
from dnagoat.counts.memory.experts import experts_of, family_of
from dnagoat.errors import OptionError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.measures.memory import measure as measure_memory
from dnagoat.evaluation.microscope.remembered import sources, without_family
from dnagoat.evaluation.outputs.sequences import score_sequences
from dnagoat.evaluation.outputs.tracks import write_tracks
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.scored import scores_of
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.genome.alphabet import encode
from dnagoat.genome.batches import gather, to_inputs_targets
from dnagoat.genome.dataset import Dataset
from dnagoat.reporting.contents import section_of
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.loop import train
from tests.counts.memory.genome import repetitive

FAMILIES: tuple[Family, ...] = ("words", "gaps", "copies", "context")
OPTIONS = MeasureOptions(windows=12, block=256)


@pytest.fixture(scope="module")
def run(remembering: Callable[[tuple[Family, ...]], RunConfig], tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "memory"
    list(train(remembering(FAMILIES), out, device="cpu"))
    return open_run(out)


def test_parts_are_scored_on_the_bases_of_the_likelihood(run: Run, repetitive_data: Dataset) -> None:
    result = ensure(run, "memory", OPTIONS)
    scores = scores_of(run, repetitive_data, OPTIONS)
    assert result["count"] == scores.counts().sum()
    assert result["value"] == pytest.approx(scores.sums().sum() / scores.counts().sum(), abs=1e-5)
    assert [part["part"] for part in result["parts"]] == ["as trained", "transformer", "memory", *FAMILIES]
    for part in result["parts"]:
        assert part["cost"] == pytest.approx(part["value"] - result["value"], abs=1e-12)
        low, high = part["cost_interval"]
        assert low <= part["cost"] <= high
    values = {part["part"]: part["value"] for part in result["parts"]}
    assert values["transformer"] > result["value"] + 0.01, "on a repetitive genome memory is worth something"
    assert len(result["sources"]) == len(sources(FAMILIES))
    assert result["best_source"] == int(np.argmin([source["value"] for source in result["sources"]]))


def test_a_source_alone_costs_what_it_says(run: Run, repetitive_data: Dataset) -> None:
    result, starts = ensure(run, "memory", OPTIONS), repetitive_data.starts("test")
    chosen = starts[np.linspace(0, len(starts) - 1, 12).round().astype(int)]
    symbols, targets = to_inputs_targets(gather(repetitive_data.tokens, chosen, 64))
    memory = run.model().memory
    assert memory is not None
    said = memory.look_up(torch.from_numpy(symbols))[0].says.numpy()
    known = (targets >= 0) & (targets < 4)
    own = np.take_along_axis(said, targets.clip(0, 3)[..., None, None].repeat(said.shape[2], 2), 3)[known][..., 0]
    expected = math.log(4) - own.mean(0)
    found = [source["value"] for source in result["sources"] if source["family"] != "copies"]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_shares_and_gates_of_trust_add_up(run: Run) -> None:
    for row in ensure(run, "memory", OPTIONS)["trust"]:
        assert sum(each["share"] for each in row["seen"]) == pytest.approx(1)
        whole = sum(each["share"] * each["gate"] for each in row["seen"] if each["gate"] is not None)
        assert whole == pytest.approx(row["gate"], abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_left_out_is_one_that_has_seen_nothing(run: Run, family: Family) -> None:
    memory = run.model().memory
    assert memory is not None
    symbols = torch.from_numpy(to_inputs_targets(encode("".join(repetitive(200, 11)))[None])[0])
    features, _ = memory.look_up(symbols)
    left = without_family(features, FAMILIES, family)
    of, backing = family_of(FAMILIES), experts_of(FAMILIES).backing
    for e, own in enumerate(of):
        expected = e
        while own == family and expected >= 0 and of[expected] == family:
            expected = int(backing[expected])
        said = features.says[:, :, expected] if expected >= 0 else torch.zeros_like(features.says[:, :, 0])
        assert torch.equal(left.says[:, :, e], said)
        assert own != family or not left.seen[:, :, e].any()
    assert bool(left.votes.any()) == (family != "copies")


def test_a_model_without_memory_has_no_parts(run: Run) -> None:
    config = run.config.but(model=run.config.model.but(memory=()))
    with pytest.raises(OptionError, match="was trained without memory"):
        measure_memory(Run(run.path, config), OPTIONS)


def test_every_other_measure_takes_memory(run: Run, repetitive_data: Dataset, tmp_path: Path) -> None:
    asked = TrajectoryOptions(prompts=4, prompt_length=40, length=60, samples=2, gc_window=20, gc_stride=10)
    for name in ("memory", "rc", "inspect", "generation"):
        result = ensure(run, name, OPTIONS.but(trajectory=asked))
        assert all(table.markdown() for table in section_of(name).of_results([result]))
    trained = result["longest_match"]
    assert trained["generated"]["longest"] > 0 and set(trained) == {"generated", "true", "markov"}
    weaker = OPTIONS.but(trajectory=asked.but(memory_strength=0.0))
    assert ensure(run, "generation", weaker)["log_probability"] != result["log_probability"]
    looked = ensure(run, "inspect", OPTIONS.but(trajectory=asked))
    assert [row["family"] for row in looked["trust"]] == [source["family"] for source in sources(FAMILIES)]
    (record,) = score_sequences(run.model(), [("one", repetitive_data.codes(0, 100))], 256)
    assert math.isfinite(record.forward) and record.scored > 0


def test_tracks_of_a_model_with_memory_hold_its_nll(run: Run, repetitive_data: Dataset, tmp_path: Path) -> None:
    scores = scores_of(run, repetitive_data, OPTIONS)
    lines = write_tracks(tmp_path, "nll", repetitive_data, scores).paths[0].read_text().splitlines()[1:]
    values = [float(line.split("\t")[3]) for line in lines]
    assert len(values) == int(np.isfinite(scores.losses).sum())
    assert np.mean(values) == pytest.approx(ensure(run, "nll", OPTIONS)["value"], abs=1e-4)
