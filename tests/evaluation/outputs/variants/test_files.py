"""Files of variants: awkward records, other readers, names, interruptions, and what is refused in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dnagoat.errors import MissingError, OptionError, SourceError
from dnagoat.evaluation.outputs.variants import scored_file as module
from dnagoat.evaluation.outputs.variants.ratios import score_changes
from dnagoat.model.transformer import DnaLM
from tests.evaluation.conftest import MakeRun
from tests.evaluation.outputs.variants.conftest import FRAME, Score, write_calls, write_genome

pysam = pytest.importorskip("pysam", reason="needs the package pysam")


@pytest.fixture
def model(make_run: MakeRun) -> DnaLM:
    return make_run("rope").model()


def other(base: str) -> str:
    return "CAAA"["ACGT".index(base)]


def snv(bases: str, at: int, name: str = "one") -> tuple[str, int, str, str]:
    """A substitution at a 1-based position."""
    return name, at, bases[at - 1], other(bases[at - 1])


def test_every_awkward_record_keeps_its_place_and_says_why(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score
) -> None:
    text = bases[:400] + "NN" + bases[402:600].lower() + "R" + bases[601:]
    genome = write_genome(tmp_path / "g.fa", {"one": text})
    long = bases[999 : 999 + FRAME.longest + 2]
    lines = {
        snv(bases, 300): None,
        ("one", 302, bases[301].lower(), other(bases[301]).lower()): None,
        snv(bases, 500): None,  # lower case in the genome
        ("one", 310, bases[309], f"{other(bases[309])},*,<DEL>"): (None, "star", "symbolic"),
        ("one", 311, bases[310], f"{bases[310]}[one:400["): "breakend",
        ("one", 312, bases[311], f".{bases[311]}"): "breakend",
        ("one", 313, bases[312], "."): "no_alt",
        ("one", 314, bases[313], "<NON_REF>"): "symbolic",
        ("one", 315, bases[314], "N"): "not_acgt",
        ("one", 316, bases[315], "R"): "not_acgt",
        ("one", 317, "N", "A"): "not_acgt",
        ("one", 318, bases[317], bases[317]): "no_change",
        ("one", 401, "A", "C"): "near_n",  # on an N
        snv(bases, 395): "near_n",
        snv(bases, 408): "near_n",
        snv(bases, 411): None,  # as many known bases on the left as are scored there
        ("one", 601, "A", "C"): "near_n",  # IUPAC in the genome
        snv(bases, 8): "near_end",
        snv(bases, 9): None,
        snv(bases, 2_993): "near_end",
        ("one", 0, "N", "<DEL>"): "symbolic",
        ("one", 0, "A", "C"): "outside",
        ("one", 1_000, long, long[0]): "too_long",
        ("chrUn_KI27", 7, "A", "C"): "unknown_sequence",
        snv(bases, 1_500): None,
    }
    calls = write_calls(tmp_path / "c.vcf", list(lines))
    out = tmp_path / "scored.vcf"
    rows = score_file(model, calls, genome, out)
    want = [why for whys in lines.values() for why in (whys if isinstance(whys, tuple) else (whys,))]
    assert [row["skipped"] for row in rows] == want
    assert all((row["llr"] is None) == (row["skipped"] is not None) for row in rows)
    with pysam.VariantFile(str(out)) as file:
        records = list(file)
        assert [(r.chrom, r.pos) for r in records] == [line[:2] for line in lines]
    for record, one in zip(records, lines.values(), strict=True):
        whys = one if isinstance(one, tuple) else (one,)
        ratios = record.info.get("DNAGOAT_LLR", (None,) * len(whys))
        assert [ratio is None for ratio in ratios] == [why is not None for why in whys]
        if any(whys):
            assert record.info["DNAGOAT_SKIPPED"] == tuple(why or "." for why in whys)


UNDECLARED = (
    "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\n"
    "one\t300\trs1\t{0}\t<DEL>\t30\tq10\tEND=400;ODD=1\tGT:XX\t0/1:7\n"
    "one\t301\trs2\t{1}\t{2}\t.\tPASS\tODD=2\tGT:XX\t1/1:8\n"
)


@pytest.mark.parametrize("suffix", [".vcf", ".vcf.gz", ".bcf"])
def test_other_readers_read_what_was_written(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score, suffix: str
) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = tmp_path / "c.vcf"
    calls.write_text(UNDECLARED.format(bases[299], bases[300], other(bases[300])))
    out = tmp_path / f"scored{suffix}"
    rows = score_file(model, calls, genome, out)
    with pysam.VariantFile(str(out)) as file:
        assert {"DNAGOAT_LLR", "DNAGOAT_LLR_FWD", "DNAGOAT_LLR_REV"} <= set(file.header.info)
        assert file.header.info["DNAGOAT_LLR"].number == "A"
        first, second = file
        assert first.info["DNAGOAT_SKIPPED"] == ("symbolic",)
        assert (first.stop, first.info["ODD"], first.samples["s1"]["XX"]) == (400, "1", "7")
        assert second.info["DNAGOAT_LLR"][0] == pytest.approx(rows[1]["llr"], rel=1e-5)
        mean = (second.info["DNAGOAT_LLR_FWD"][0] + second.info["DNAGOAT_LLR_REV"][0]) / 2
        assert second.info["DNAGOAT_LLR"][0] == pytest.approx(mean, rel=1e-4, abs=1e-5)
        if suffix != ".vcf":
            assert [record.pos for record in file.fetch("one", 300, 301)] == [300, 301]
    if suffix == ".vcf":
        fields = out.read_text().splitlines()[-1].split("\t")
        assert fields[:7] == ["one", "301", "rs2", bases[300], other(bases[300]), ".", "PASS"]
        assert float(dict(word.split("=") for word in fields[7].split(";"))["DNAGOAT_LLR"])


def test_bgzip_and_bcf_are_read_as_the_text_is(model: DnaLM, bases: str, tmp_path: Path, score_file: Score) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    plain = write_calls(tmp_path / "c.vcf", [snv(bases, 300), snv(bases, 700)], "##contig=<ID=one>\n")
    want = score_file(model, plain, genome)
    for mode, name in (("wz", "c.vcf.gz"), ("wb", "c.bcf")):
        packed = str(tmp_path / name)
        with pysam.VariantFile(str(plain)) as file, pysam.VariantFile(packed, mode, header=file.header) as sink:
            for record in file:
                sink.write(record)
        assert score_file(model, tmp_path / name, genome) == want


def test_names_follow_the_one_rule_and_are_told(model: DnaLM, bases: str, tmp_path: Path, score_file: Score) -> None:
    genome = write_genome(tmp_path / "g.fa", {"chr1": bases[:1_500], "chr2": bases[1_500:]})
    said: list[str] = []
    rows = score_file(model, write_calls(tmp_path / "c.vcf", [snv(bases, 300, "1")]), genome, said=said)
    same = score_file(model, write_calls(tmp_path / "d.vcf", [snv(bases, 300, "chr1")]), genome)
    assert rows[0]["llr"] == same[0]["llr"]
    assert any("1 is read as chr1" in sentence for sentence in said)
    with pytest.raises(SourceError, match=r"no variant of .* is about a sequence"):
        score_file(model, write_calls(tmp_path / "e.vcf", [snv(bases, 300, "HG7")]), genome)


def test_a_piece_of_a_chromosome_is_found_by_the_chromosomes_coordinates(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score
) -> None:
    whole = write_genome(tmp_path / "w.fa", {"chr7": bases})
    pieces = write_genome(tmp_path / "p.fa", {"chr7_500_1500": bases[500:1_500], "chr7_2000_2500": bases[2_000:2_500]})
    calls = write_calls(tmp_path / "c.vcf", [snv(bases, at, "chr7") for at in (900, 1_700, 2_200)])
    want, found = score_file(model, calls, whole), score_file(model, calls, pieces)
    assert [row["skipped"] for row in found] == [None, "outside", None]
    assert [found[n]["llr"] for n in (0, 2)] == pytest.approx([want[n]["llr"] for n in (0, 2)], abs=1e-5)


def test_records_that_do_not_fit_the_genome_are_counted_and_refused(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score
) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    wrong = ("one", 300, other(bases[299]), bases[299])
    calls = write_calls(tmp_path / "c.vcf", [snv(bases, 290), wrong, ("one", 3_005, "A", "C")])
    out = tmp_path / "out.vcf"
    with pytest.raises(
        SourceError, match=r"c.vcf does not fit .* in 2 of 3 records .*one:300 REF is .*--skip-mismatches"
    ):
        score_file(model, calls, genome, out)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["c.vcf", "g.fa"]
    rows = score_file(model, calls, genome, out, skip_mismatches=True)
    assert [row["skipped"] for row in rows] == [None, "ref_mismatch", "outside"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello\n",
        "##fileformat=VCFv4.2\n",
        "one\t5\t.\tA\tC\t.\t.\t.\n",
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\none\tx\t.\tA\tC\t.\t.\t.\n",
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\none\t5\t.\tA\n",
    ],
)
def test_what_is_no_file_of_variants(model: DnaLM, bases: str, tmp_path: Path, score_file: Score, text: str) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    (tmp_path / "c.vcf").write_text(text)
    with pytest.raises(SourceError, match=r"c\.vcf"):
        score_file(model, tmp_path / "c.vcf", genome)


def test_a_file_that_was_cut_short(model: DnaLM, bases: str, tmp_path: Path, score_file: Score, shared: Path) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    with pytest.raises(SourceError, match="truncated_real_vcf"):
        score_file(model, shared / "awkward" / "truncated_real_vcf.gz", genome)


def test_an_interrupted_run_goes_on_where_it_was(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = write_calls(tmp_path / "c.vcf", [snv(bases, at) for at in range(100, 160)])
    whole = score_file(model, calls, genome)
    monkeypatch.setattr(module, "AT_ONCE", 16)
    times = 0

    def stop_in_the_third(*given: Any) -> np.ndarray:
        nonlocal times
        times += 1
        if times == 3:
            raise KeyboardInterrupt
        return score_changes(*given)

    monkeypatch.setattr(module, "score_changes", stop_in_the_third)
    out, partial = tmp_path / "s.vcf", tmp_path / "s.vcf.partial"
    with pytest.raises(KeyboardInterrupt):
        score_file(model, calls, genome, out)
    assert not out.exists()
    partial.write_bytes(partial.read_bytes() + b"half a row")  # a write that was cut short
    said: list[str] = []
    found = score_file(model, calls, genome, out, said, resume=True)
    assert times == 3 + 2
    assert any("32 scored alleles" in sentence for sentence in said)
    assert [row["llr"] for row in found] == pytest.approx([row["llr"] for row in whole], abs=1e-5)
    assert not partial.exists()


def test_another_setting_starts_anew_and_says_so(model: DnaLM, bases: str, tmp_path: Path, score_file: Score) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = write_calls(tmp_path / "c.vcf", [snv(bases, 300)])
    (tmp_path / "s.vcf.partial").write_bytes(b'{"after": 3}\nrows')
    for resume in (True, False):
        said: list[str] = []
        (row,) = score_file(model, calls, genome, tmp_path / "s.vcf", said, resume=resume)
        assert row["skipped"] is None
        assert any("starts anew" in sentence for sentence in said) or not resume


def test_fields_that_are_there_are_not_written_over(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score
) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = write_calls(tmp_path / "c.vcf", [snv(bases, 300)])
    score_file(model, calls, genome, tmp_path / "once.vcf")
    with pytest.raises(OptionError, match=r"DNAGOAT_LLR.*--name"):
        score_file(model, tmp_path / "once.vcf", genome)
    score_file(model, tmp_path / "once.vcf", genome, tmp_path / "twice.vcf", prefix="second")
    with pysam.VariantFile(str(tmp_path / "twice.vcf")) as file:
        (record,) = file
    assert record.info["second_LLR"] == record.info["DNAGOAT_LLR"]


def test_unsorted_variants_keep_their_order_and_have_no_index(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score
) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = write_calls(tmp_path / "c.vcf", [snv(bases, at) for at in (900, 300, 600)])
    said: list[str] = []
    rows = score_file(model, calls, genome, tmp_path / "s.vcf.gz", said)
    assert [row["position"] for row in rows] == [900, 300, 600]
    assert any("has no index" in sentence for sentence in said)
    assert not (tmp_path / "s.vcf.gz.tbi").exists()


def test_a_file_without_a_variant_is_written_without_one(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score
) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    for name in ("s.vcf", "s.vcf.gz", "s.bcf"):
        assert score_file(model, write_calls(tmp_path / "c.vcf", []), genome, tmp_path / name) == []
        with pysam.VariantFile(str(tmp_path / name)) as file:
            assert list(file) == []


def test_without_pysam_it_is_one_sentence(
    model: DnaLM, bases: str, tmp_path: Path, score_file: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pysam", None)
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    with pytest.raises(MissingError, match=r"dnagoat\[variants\]"):
        score_file(model, write_calls(tmp_path / "c.vcf", [snv(bases, 300)]), genome)
