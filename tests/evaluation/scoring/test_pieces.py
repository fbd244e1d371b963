"""What is scored: each base once, with the context that was asked for, inside its region."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnagoat.errors import OptionError, WindowError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.probes.sinks import sinks
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.pieces import blocks_of, rooms, sliding, stretches
from dnagoat.files import write_json
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.kept.run import Run, open_run


@given(
    lengths=st.lists(st.integers(1, 300), min_size=1, max_size=4),
    context=st.integers(1, 100),
    share=st.floats(0.01, 1),
    room=st.integers(0, 120),
)
def test_every_base_once_with_its_context(lengths: list[int], context: int, share: float, room: int) -> None:
    stride = max(1, int(context * share))
    regions, end = [], 0
    for length in lengths:
        regions.append((end + 120, end + 120 + length))
        end += 120 + length
    pieces = sliding(regions, context, stride, [room] * len(regions))
    assert pieces.positions().tolist() == [base for start, end in regions for base in range(start, end)]
    assert (pieces.widths <= context).all()
    for (start, end), positions in zip(regions, np.split(pieces.positions(), np.cumsum(lengths)[:-1]), strict=True):
        inside = np.isin(pieces.positions(), positions)
        enough = pieces.contexts()[inside] >= np.minimum(positions - start + room, context - stride)
        assert enough.all()
        assert pieces.starts[(pieces.starts >= start - room) & (pieces.starts < end)].size
        assert (positions - pieces.contexts()[inside]).min() >= start - room
    assert pieces.mean_context() == pytest.approx(pieces.contexts().mean())
    assert pieces.short(context - stride) == (pieces.contexts() < context - stride).sum()
    assert pieces.short(0) == 0


def test_stride_out_of_range() -> None:
    with pytest.raises(OptionError, match="--stride 9"):
        sliding([(0, 100)], 8, 9)


def test_what_lies_before_a_stretch_is_read_but_no_other_split(tmp_path: Path) -> None:
    """The guard before a held-out block is room, and so is a hole of N within one; another split is none."""
    bases = np.random.default_rng(1).choice(list("ACGT"), 40_000)
    bases[18_500:18_600] = "N"
    (tmp_path / "one.fa").write_text(f">one\n{''.join(bases)}\n")
    made = prepare(tmp_path / "one.fa", tmp_path / "one", PrepareOptions(window=64, split="blocks"))
    assert [span for span in made.contigs[0].spans if span[2] == "test"] == [
        (17_955, 20_050, "test"),  # blocks hold as many known bases each: 1,995, and 100 N
        (38_005, 40_000, "test"),
    ]
    regions = stretches(made, "test")
    room = rooms(made, regions, "test")
    assert [start for start, _ in regions] == [17_955, 18_595, 38_005]
    assert room == [64, 704, 64]
    pieces = sliding(regions, 512, 64, room)
    assert pieces.positions().tolist() == sliding(regions, 512, 64).positions().tolist()
    trained = np.zeros(40_000, dtype=bool)
    for start, end, split in made.contigs[0].spans:
        trained[start:end] = split != "test"
    assert not any(
        trained[start : start + width].any() for start, width in zip(pieces.starts, pieces.widths, strict=True)
    )
    assert pieces.short(512 - 64) == 2 * (448 - 64)
    assert sliding(regions, 512, 64).short(512 - 64) == 3 * 448
    assert rooms(made, stretches(made, "train")[:1], "train") == [0]


def test_tiles_are_the_dataset_s_windows(dataset: Dataset) -> None:
    pieces = sliding(stretches(dataset, "test"), dataset.window, dataset.window)
    assert pieces.starts.tolist() == dataset.starts("test").tolist()
    assert not pieces.skips.any()
    assert pieces.mean_context() == (dataset.window - 1) / 2


def test_a_spread_and_its_batches(dataset: Dataset) -> None:
    pieces = sliding([(0, 1000), (1500, 1530)], 64, 16).spread(20)
    assert len(pieces) == 20
    assert {int(i) for batch in pieces.batches(200) for i in batch} == set(range(20))
    placed = np.full(pieces.offsets[-1], -1)
    for batch in pieces.batches(200):
        scored, places = pieces.places(batch)
        read = pieces.starts[batch, None] + np.arange(scored.shape[1])
        placed[places] = read[scored]
    assert placed.tolist() == pieces.positions().tolist()


def test_blocks_are_stretches_of_one_contig(dataset: Dataset) -> None:
    both = sliding(stretches(dataset, "val") + stretches(dataset, "test"), 64, 64)
    blocks = blocks_of(dataset, both, 1000)
    assert (np.diff(blocks) >= 0).all()
    assert len(np.unique(blocks)) == 8


def test_a_split_without_windows(dataset: Dataset) -> None:
    class Empty:
        path = dataset.path
        window = 64

        def starts(self, split: str) -> np.ndarray:
            return np.empty(0, dtype=np.int64)

    with pytest.raises(WindowError, match="no window in the split val"):
        stretches(Empty(), "val")  # type: ignore[arg-type]


@pytest.fixture
def two_contigs(tmp_path: Path, make_run: Callable[..., Run]) -> Run:
    """An untrained run on a dataset whose test split has two contigs, both within one block of the store."""
    with (tmp_path / "genome.fa").open("w") as out:
        for seed, name in enumerate(("train", "val", "first", "second")):
            out.write(f">{name}\n{''.join(np.random.default_rng(seed).choice(list('ACGT'), 640))}\n")
    rules = PrepareOptions(window=64, val=("val",), test=("first", "second"))
    dataset = prepare(tmp_path / "genome.fa", tmp_path / "data", rules)
    run = make_run("goat")
    config = run.config.but(dataset=str(dataset.path), dataset_hash=dataset.content_hash)
    write_json(run.path / "config.json", config.model_dump(mode="json"))
    return open_run(run.path)


@pytest.mark.parametrize("name", ["nll", "strata", "rc", "copying", "inspect"])
def test_no_block_of_a_measure_lies_in_two_contigs(two_contigs: Run, name: str) -> None:
    found = ensure(two_contigs, name, MeasureOptions(block=100_000, resamples=1000))
    assert found["blocks"] == 2


def test_no_block_of_the_sink_probe_lies_in_two_contigs(two_contigs: Run) -> None:
    (found,) = sinks([("goat", two_contigs)], MeasureOptions(block=100_000))["runs"]
    assert [row["blocks"] for row in found["replaced"] if row["windows"] == "real"] == [2]
