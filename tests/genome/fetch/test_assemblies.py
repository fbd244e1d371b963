"""The catalogue of genomes, shipped and one's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dnagoat.errors import DnagoatError, OptionError, SourceError
from dnagoat.genome.fetch.assemblies import cache_folder, catalogue
from dnagoat.genome.origins import named


def test_the_shipped_genomes_are_complete() -> None:
    known = catalogue()
    assert list(known) == ["hg38", "hs1", "hg19", "mm39", "sacCer3", "demo"]
    for name, assembly in known.items():
        assert assembly.bases and assembly.contigs and assembly.val and assembly.test
        assert all(assembly.keeps(contig) for contig in (*assembly.val, *assembly.test))
        if name != "demo":
            assert all(address.startswith("https://") for address in assembly.addresses)
            assert len({address.rsplit("/", 1)[-1] for address in assembly.addresses}) == 1
            assert assembly.md5 or assembly.checksum_addresses()[0].endswith("/md5sum.txt")
    assert (known["hg38"].val, known["hg38"].test) == (("chr20",), ("chr21",))


@pytest.mark.parametrize(
    ("name", "kept", "dropped"),
    [
        ("hg38", ["chr1", "chr22", "chrX", "chrM"], ["chr1_KI270706v1_random", "chrUn_KI270302v1", "chrEBV"]),
        ("sacCer3", ["chrI", "chrXVI", "chrM"], ["2micron"]),
    ],
)
def test_primary_contigs(name: str, kept: list[str], dropped: list[str]) -> None:
    assembly = catalogue()[name]
    assert [assembly.keeps(contig) for contig in kept] == [True] * len(kept)
    assert [assembly.keeps(contig) for contig in dropped] == [False] * len(dropped)
    assert all(assembly.keeps(contig, every=True) for contig in dropped)


def test_one_s_own_genomes_join(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[mouse2]\nfile = "genomes/m.fa"\nval = ["chr1"]\n')
    assembly = catalogue(own)["mouse2"]
    assert assembly.file == tmp_path / "genomes" / "m.fa"
    assert assembly.bases is None


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("[x\n", SourceError, "cannot be read as a catalogue"),
        ("x = 1\n", SourceError, "x stands outside a table"),
        ("[x]\n", SourceError, "x: give either an address or a file"),
        ('[x]\nfile = "a"\nadress = "b"\n', SourceError, "adress"),
        ('[x]\nfile = "a"\nprimary = "("\n', SourceError, "x: "),
        ('[hg38]\nfile = "a"\n', SourceError, "hg38 is the name of a genome that is known already"),
        (None, OptionError, "does not exist; --catalogue takes a TOML file"),
    ],
)
def test_faults_of_a_catalogue(tmp_path: Path, text: str | None, error: type[DnagoatError], sentence: str) -> None:
    own = tmp_path / "own.toml"
    if text is not None:
        own.write_text(text)
    with pytest.raises(error, match=re.escape(sentence)):
        catalogue(own)


def test_a_name_that_is_a_file_too_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hg38").write_text(">a\nACGT\n")
    with pytest.raises(SourceError, match=r"hg38 is a file here and the name of a genome; write \./hg38"):
        named("hg38", None)
    assert named("./hg38", None) is None
    hs1 = named("hs1", None)
    assert hs1 is not None and hs1.name == "hs1"


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DNAGOAT_CACHE", "/somewhere/else")
    assert cache_folder() == Path("/somewhere/else")
    monkeypatch.delenv("DNAGOAT_CACHE")
    assert cache_folder().name == "dnagoat"
