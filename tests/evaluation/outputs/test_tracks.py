"""Tracks hold each scored base where it lies on the assembly, and leave out what was not scored."""

from pathlib import Path

import numpy as np
import pytest

from dnagoat.evaluation.outputs.tracks import write_tracks
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.pieces import sliding, stretches
from dnagoat.genome.dataset import Dataset


@pytest.fixture
def scores(dataset: Dataset) -> Scores:
    pieces = sliding(stretches(dataset, "val") + stretches(dataset, "test"), 64, 64).spread(40)
    losses = np.random.default_rng(3).random(pieces.offsets[-1]).astype(np.float32)
    losses[dataset.tokens[pieces.positions()] & 7 == 4] = np.nan
    return Scores(pieces, losses, losses > 0.5)


def by_place(dataset: Dataset, scores: Scores) -> dict[tuple[str, int], float]:
    places = {}
    for position, loss in zip(scores.pieces.positions(), scores.losses, strict=True):
        contig, at = dataset.locate(int(position))
        if not np.isnan(loss):
            places["chr7" if contig.name.startswith("chr7") else contig.name, at + (contig.start or 0)] = float(loss)
    return places


def test_bedgraph_lines(dataset: Dataset, scores: Scores, tmp_path: Path) -> None:
    header, *lines = write_tracks(tmp_path, "nll", dataset, scores).paths[0].read_text().splitlines()
    assert header.startswith("track type=bedGraph ")
    rows = [line.split("\t") for line in lines]
    assert rows == sorted(rows, key=lambda row: (row[0], int(row[1])))
    assert all(int(end) == int(start) + 1 for _, start, end, _ in rows)
    written = {(name, int(start)): float(value) for name, start, _, value in rows}
    expected = by_place(dataset, scores)
    assert written.keys() == expected.keys()
    assert list(written.values()) == pytest.approx([expected[place] for place in written], abs=5e-5)
    assert min(place for name, place in written if name == "chr7") >= 1000


def test_bigwig_holds_the_same(dataset: Dataset, scores: Scores, tmp_path: Path) -> None:
    pyBigWig = pytest.importorskip("pyBigWig")
    track = pyBigWig.open(str(write_tracks(tmp_path, "nll", dataset, scores).paths[1]))
    assert track.chroms() == {"chr7": 5000, "train": 20_000, "val": 4_000}
    expected = by_place(dataset, scores)
    for name, length in (("chr7", 5000), ("val", 4000)):
        values = track.values(name, 0, length)
        for place in range(length):
            if (name, place) in expected:
                assert values[place] == pytest.approx(expected[name, place], abs=1e-6)
            else:
                assert np.isnan(values[place])
    track.close()
