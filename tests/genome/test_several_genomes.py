"""Several genomes in one dataset: names kept apart, split by genome or contig, found again by BED files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from dnagoat.errors import DatasetError, DnagoatError, OptionError, SourceError
from dnagoat.evaluation.scoring.marks import read_marks
from dnagoat.genome.alphabet import decode
from dnagoat.genome.dataset import Dataset, open_dataset
from dnagoat.genome.passport import remarks
from dnagoat.genome.place import Names
from dnagoat.genome.preparation import PrepareOptions, command, prepare
from dnagoat.genome.read.chrom_sizes import Sizes
from dnagoat.genome.store.verify import verify
from dnagoat_cli import app
from tests.genome.small import fasta, random_bases

A = {"chr1": random_bases(500, seed=1), "chr2": random_bases(300, seed=2), "chrUn_x": random_bases(200, seed=3)}
B = {"chr1": random_bases(400, seed=4), "chr3_100_300": random_bases(200, seed=5)}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "a.fa").write_text(fasta(A))
    (tmp_path / "b.fa.gz").write_bytes(gzip.compress(fasta(B).encode()))
    return [tmp_path / "a.fa", tmp_path / "b.fa.gz"]


def made(files: list[Path], **options: Any) -> Dataset:
    out = files[0].parent / f"data{len(list(files[0].parent.iterdir()))}"
    return prepare(files, out, PrepareOptions(**{"window": 50, **options}))


def splits(dataset: Dataset) -> dict[str, set[str]]:
    return {contig.name: {split for *_, split in contig.spans} for contig in dataset.contigs}


def test_names_are_kept_apart_and_bases_kept(files: list[Path]) -> None:
    dataset = made(files, val=("a:chr2",), test=("b",))
    assert splits(dataset) == {
        "a:chr1": {"train"}, "a:chr2": {"val"}, "b:chr1": {"test"}, "b:chr3_100_300": {"test"},
    }  # fmt: skip
    truth = {**{f"a:{n}": t for n, t in A.items()}, **{f"b:{n}": t for n, t in B.items()}}
    for contig in dataset.contigs:
        assert decode(dataset.codes(contig.offset, contig.offset + contig.length)) == truth[contig.name]
    piece = dataset.contigs[-1]
    assert (piece.genome, piece.home, piece.bare_home, piece.start) == ("b", "b:chr3", "chr3", 100)
    manifest = json.loads((dataset.path / "manifest.json").read_text())
    assert manifest["format"] == 3 and [one["genome"] for one in manifest["sources"]] == ["a", "b"]
    assert dataset.manifest.left_out == ("a:chrUn_x",) and "1 unplaced" in remarks(dataset.manifest)[0]
    assert (dataset.path / "genomes" / "a" / "genome.fai").read_text().startswith("chr1\t500\t")
    assert all(check.holds for path in files for check in verify(dataset, path))
    assert Sizes().of(dataset.contigs, "it")[0] == {"a:chr1": 500, "a:chr2": 300, "b:chr1": 400, "b:chr3": 300}


def test_one_of_the_genomes_is_as_it_would_be_alone(files: list[Path]) -> None:
    both, alone = made(files, val=("chr2",), test=("chr3",)), made(files[:1], val=("chr2",))
    ours = both.windows[both.windows["contig"].astype(str).str.startswith("a:")]
    assert ours["start"].tolist() == alone.windows["start"].tolist()
    assert ours["gc"].tolist() == alone.windows["gc"].tolist()
    assert splits(both)["b:chr3_100_300"] == {"test"}
    assert "chr2 is read as a:chr2" in " ".join(both.manifest.notes)


def test_the_command_of_the_manifest_makes_it_again(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = made(files, val=("a:chr2",), test=("b",))
    said = command(dataset.manifest.sources, dataset.manifest.rules, "again")
    assert said is not None and said.startswith("dnagoat prepare a.fa b.fa.gz ")
    monkeypatch.chdir(files[0].parent)
    result = CliRunner().invoke(app, said.split()[1:])
    assert result.exit_code == 0, result.stderr
    assert open_dataset(Path("again")).content_hash == dataset.content_hash


def test_the_folder_is_called_after_all(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files[0].parent)
    result = CliRunner().invoke(app, ["prepare", "a.fa", "b.fa.gz", "--window", "50"])
    assert result.exit_code == 0 and Path("data/a-b/manifest.json").exists()


def test_bed_files_name_contigs_with_and_without_their_genome(files: list[Path], tmp_path: Path) -> None:
    dataset = made(files)
    (tmp_path / "x.bed").write_text(
        "a:chr1\t0\t10\nb:1\t5\t7\nchr2\t3\t4\nb:chr3\t150\t160\nchr3\t170\t171\nchr1\t0\t9\n"
    )
    marks = read_marks(tmp_path / "x.bed", dataset)
    offsets = {contig.name: contig.offset for contig in dataset.contigs}
    held = [
        *((offsets["a:chr1"], offsets["a:chr1"] + 10), (offsets["a:chr2"] + 3, offsets["a:chr2"] + 4)),
        *(
            (offsets["b:chr1"] + 5, offsets["b:chr1"] + 7),
            (offsets["b:chr3_100_300"] + 50, offsets["b:chr3_100_300"] + 60),
        ),
        (offsets["b:chr3_100_300"] + 70, offsets["b:chr3_100_300"] + 71),
    ]
    assert list(zip(marks.starts, marks.ends, strict=True)) == held
    said = " ".join(marks.notes)
    for note in ("b:1 is read as b:chr1", "chr2 is read as a:chr2", "chr1 may be a:chr1 or b:chr1", "1 of 6 lines"):
        assert note in said


def test_names_without_genomes_are_as_they_were() -> None:
    names = Names(["chr1", "HLA:HLA00001", "x:chr2"])
    assert (names.find("1"), names.find("chr2"), names.find("HLA00001")) == ("chr1", None, None)
    assert Names(["x:chr2", "x:chr20"], ["x"]).find("2") == "x:chr2"


def test_genomes_that_share_a_sequence_leak(files: list[Path]) -> None:
    (files[0].parent / "c.fa").write_text(fasta({"other": A["chr2"], "own": random_bases(300, seed=9)}))
    both = [files[0], files[0].parent / "c.fa"]
    with pytest.raises(DatasetError, match="a:chr2 and c:other hold the same 300 bases"):
        made(both, test=("c",))
    assert splits(made(both, test=("c",), overlaps="trim"))["a:chr2"] == set()


@pytest.mark.parametrize(
    ("names", "options", "fault", "said"),
    [
        (["a.fa", "deep/a.fa.gz"], {}, SourceError, "would both be called a"),
        (["a.fa", "a.fa"], {}, SourceError, "would both be called a"),
        (["a.fa", "-"], {}, SourceError, "standard input has no name"),
        (["a.fa", "none.fa"], {}, SourceError, "none.fa does not exist"),
        (["a.fa", "b c.fa"], {}, SourceError, "neither blanks nor colons"),
        (["a.fa", "b:c.fa"], {}, SourceError, "neither blanks nor colons"),
        (["a.fa", "b.fa.gz"], {"val": ("chr1",)}, DatasetError, "--val chr1 may be a:chr1 or b:chr1; say which"),
        (["a.fa", "b.fa.gz"], {"test": ("c",)}, DatasetError, "--test c: no contig of that name"),
        (["a.fa", "b.fa.gz"], {"regions": Path("x.bed")}, OptionError, "intervals of one genome"),
        ([], {}, OptionError, "no genome is given"),
    ],
)
def test_faults_are_sentences(
    files: list[Path], names: list[str], options: dict[str, Any], fault: type[DnagoatError], said: str
) -> None:
    folder = files[0].parent
    (folder / "deep").mkdir()
    for copy in ("deep/a.fa.gz", "b c.fa", "b:c.fa"):
        (folder / copy).write_bytes(files[0].read_bytes())
    (folder / "x.bed").write_text("chr1\t0\t100\n")
    given = [Path(name) if name == "-" else folder / name for name in names]
    with pytest.raises(fault, match=said) as caught:
        prepare(given, folder / "out", PrepareOptions(window=50, **options))
    assert "\n" not in str(caught.value) and not (folder / "out").exists()


def test_format_2_is_read(files: list[Path]) -> None:
    dataset = made(files[:1])
    file = dataset.path / "manifest.json"
    manifest = json.loads(file.read_text())
    (source,) = manifest.pop("sources")
    old = {**manifest, "format": 2, "source": {k: v for k, v in source.items() if k != "genome"}}
    for new in ("leaks_before", "leaks_after"):
        del old[new]
    file.write_text(json.dumps(old))
    again = open_dataset(dataset.path)
    assert again.manifest.sources == dataset.manifest.sources
    assert np.array_equal(again.tokens, dataset.tokens)
