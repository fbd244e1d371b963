"""Tracks hold each scored base where it lies on the assembly, and leave out what was not scored."""

from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import DatasetError, SourceError
from dnagoat.evaluation.outputs.tracks import refuse_shared_bases, write_tracks
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.pieces import sliding, stretches
from dnagoat.genome.alphabet import decode, encode, reverse_complement
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.genome.read.chrom_sizes import Sizes, read_sizes


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


BASES = "".join(np.random.default_rng(8).choice(list("ACGT"), 6000))


def sliced(folder: Path, records: dict[str, str], **options: object) -> Dataset:
    folder.mkdir()
    (folder / "cut.fa").write_text("".join(f">{name}\n{bases}\n" for name, bases in records.items()))
    return prepare(folder / "cut.fa", folder / "prepared", PrepareOptions(window=64, **options))


def made_up(dataset: Dataset) -> Scores:
    """The loss of each base of train is the number of its place on the chromosome."""
    pieces = sliding(stretches(dataset, "train"), 64, 64)
    places = []
    for position in pieces.positions().tolist():
        contig, at = dataset.locate(position)
        places.append(contig.to_home(at, at + 1)[0])
    losses = np.array(places, dtype=np.float32)
    return Scores(pieces, losses, losses > 0)


def test_a_slice_of_the_other_strand_lies_where_its_bases_are(tmp_path: Path) -> None:
    pyBigWig = pytest.importorskip("pyBigWig")
    turned = decode(reverse_complement(encode(BASES[3000:5000])))
    dataset = sliced(tmp_path / "data", {"chr1:1001-2000": BASES[1000:2000], "chr1:3001-5000/rc": turned})
    paths, notes = write_tracks(tmp_path, "t", dataset, made_up(dataset))
    track = pyBigWig.open(str(paths[1]))
    assert track.chroms() == {"chr1": 5000}
    values = np.array(track.values("chr1", 0, 5000))
    written = ~np.isnan(values)
    assert np.array_equal(values[written], np.flatnonzero(written)) and written.sum() > 2800
    assert written[1000] and written[4999] and not written[2000:3000].any()
    track.close()
    assert len(notes) == 1 and "pieces of chr1 5,000 and not the real length" in notes[0]


def test_headers_carry_the_real_length_where_it_is_known(tmp_path: Path) -> None:
    pyBigWig = pytest.importorskip("pyBigWig")
    (tmp_path / "chosen.bed").write_text("chr1\t100\t1000\n")
    (tmp_path / "demo.bed").write_text("chr21\t33001000\t33003000\n")
    dataset = sliced(tmp_path / "data", {"chr1": BASES}, regions=tmp_path / "chosen.bed")
    demo = prepare("demo", tmp_path / "demo", PrepareOptions(window=64, regions=tmp_path / "demo.bed"))
    for held, expected in ((dataset, {"chr1": 6000}), (demo, {"chr21": 48_129_895})):
        paths, notes = write_tracks(tmp_path, "t", held, made_up(held))
        track = pyBigWig.open(str(paths[1]))
        assert track.chroms() == expected and notes == []
        track.close()


def sizes(folder: Path, text: str) -> Sizes:
    (folder / "sizes").write_bytes(text.encode())
    return read_sizes(folder / "sizes")


@pytest.mark.parametrize(
    "text",
    ["chr1\t249250621\nchr2\t9\n", "chr1\t249250621\t6\t60\t61\n", "\ufeff1 249250621\r\n", "chr1\t249250621"],
    ids=["chrom.sizes", "fai", "mark, alias, spaces and CRLF", "no end"],
)
def test_headers_carry_the_length_that_a_file_gives(tmp_path: Path, text: str) -> None:
    pyBigWig = pytest.importorskip("pyBigWig")
    dataset = sliced(tmp_path / "data", {"chr1:1001-2000": BASES[1000:2000]})
    paths, notes = write_tracks(tmp_path, "t", dataset, made_up(dataset), sizes(tmp_path, text))
    track = pyBigWig.open(str(paths[1]))
    assert track.chroms() == {"chr1": 249_250_621} and notes == []
    track.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chr1\t1999\n", "chr1 has 1,999 bases in .* and a base 2,000 in the dataset"),
        ("chr1\t2000\nchr1\t3000\n", "line 2: chr1 has two lengths"),
        ("chr1\n", "line 1 gives no length"),
        ("chr1\t-5\n", "line 1 gives no length"),
        ("chr1\t1e9\n", "line 1 gives no length"),
        ("chr1\t0\n", "line 1 gives no length"),
        ("# nothing\n", "holds no length"),
        (">chr1\nACGT\n", "line 1 gives no length"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(tmp_path: Path, text: str, said: str) -> None:
    dataset = sliced(tmp_path / "data", {"chr1:1001-2000": BASES[1000:2000]})
    with pytest.raises(SourceError, match=said):
        write_tracks(tmp_path / "out", "t", dataset, made_up(dataset), sizes(tmp_path, text))
    assert not (tmp_path / "out").exists()


def test_a_length_of_another_assembly_is_refused_where_the_real_one_is_known(tmp_path: Path) -> None:
    (tmp_path / "chosen.bed").write_text("chr1\t100\t1000\n")
    dataset = sliced(tmp_path / "data", {"chr1": BASES}, regions=tmp_path / "chosen.bed")
    with pytest.raises(SourceError, match=r"chr1 has 7,000 bases in .* and 6,000 bases in the dataset"):
        sizes(tmp_path, "chr1\t7000\n").of(dataset.contigs, "the dataset")
    assert sizes(tmp_path, "chr2\t7000\n").of(dataset.contigs, "the dataset") == ({"chr1": 6000}, [])


def test_bases_that_two_contigs_hold_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """As in a dataset that was prepared before `prepare` refused it."""
    dataset = sliced(tmp_path / "data", {"a": BASES[:2000], "b": BASES[1500:3500]})
    places = ({"chromosome": "chr1", "start": 0}, {"chromosome": "chr1", "start": 1500})
    contigs = tuple(contig.model_copy(update=place) for contig, place in zip(dataset.contigs, places, strict=True))
    old = Dataset(dataset.path, dataset.manifest.model_copy(update={"contigs": contigs}))
    scores = made_up(old)
    for ask in (lambda: refuse_shared_bases(old, "train"), lambda: write_tracks(tmp_path / "out", "t", old, scores)):
        with pytest.raises(DatasetError, match=r"hold chr1 from 1,\d+ to [12],\d+, .*--overlaps trim"):
            ask()
    assert not (tmp_path / "out").exists()
    refuse_shared_bases(old, "test")
