"""Beside chromosomes, what repeats them or has no place on them is left out and told; without any, nothing is."""

from __future__ import annotations

import pytest

from dnagoat.genome.alphabet import decode
from dnagoat.genome.chromosomes import find_others, kind_of
from dnagoat.genome.dataset import Contig
from dnagoat.genome.passport import remarks
from dnagoat.genome.preparation import command
from dnagoat.genome.store.verify import verify
from tests.genome.conftest import Prepared
from tests.genome.small import random_bases


def contigs(names: str, length: int = 100) -> list[Contig]:
    return [Contig(name=name, offset=place * length, length=length) for place, name in enumerate(names.split())]


@pytest.mark.parametrize(
    ("kept", "others"),
    [
        (  # hs38DH and UCSC's hg38
            "chr1 chr2 chr22 chrX chrY chrM",
            "chr1_KI270706v1_random chrUn_KI270302v1 chr6_GL000250v2_alt chrUn_KN707606v1_decoy chrEBV "
            "HLA-A*01:01:01:01 HLA-DRB1*15:03:01:02 HLA-B*07:02N chr1_KQ031383v1_fix chrUn_JTFH01000001v1_decoy",
        ),
        (  # hg19 and hs37d5
            "1 2 22 X Y MT",
            "GL000191.1 GL000207.1 NC_007605 hs37d5",
        ),
        ("chr6 chr17 chrM", "chr6_apd_hap1 chr17_ctg5_hap1 chr17_gl000203_random chrUn_gl000211"),
        ("1 X MT", "KI270728.1 KI270302.1 CHR_HSCHR6_MHC_APD_CTG1 HSCHR1_CTG1_UNLOCALIZED CHR_HG1_PATCH"),  # Ensembl
        ("CM000663.2 CM000664.2 CM000685.2 J01415.2", "KI270706.1 GL000250.2 KQ031383.1"),  # GenBank
        ("CM000663.2", "KI270706.1 GL000250.2 KQ031383.1"),
        ("CM012345.1 CM012346.1", "NW_009646194.1 KI270706.1"),
        ("NC_000001.11 NC_000023.11 NC_012920.1", "NT_187361.1 NW_009646194.1"),  # RefSeq
        ("chr1 chrM", "chr1_GL456210_random chrUn_GL456239 GL456210.1 JH584304.1"),  # mouse
        ("chr2L chr2R chrX chr4", "chrUn_CP007120v1 chrU chrUextra"),  # fly
    ],
)
def test_what_stands_beside_the_chromosomes_of_a_reference(kept: str, others: str) -> None:
    assert find_others(contigs(f"{others} {kept}")) == set(others.split())
    assert find_others(contigs(kept)) == set()
    assert all(kind_of(name) != "other" for name in others.split())


@pytest.mark.parametrize(
    "names",
    [
        "NC_000913.3",
        "NC_002695.2 NC_002127.1 NC_002128.1",  # a chromosome and its plasmids
        "NZ_CP012345.1 NZ_CP012346.1 NZ_JAAABC010000001.1 NZ_JAAABC010000002.1",
        "CP012345.1 CP012346.1",
        "contig_1 contig_2 contig_10",
        "scaffold_1 scaffold_2 scaffold10",
        "chr1 scaffold_12 contig_3 ctg4 tig00000012",
        "1 2 3 41 512",
        "NODE_1_length_5000_cov_3 NODE_2_length_400_cov_9",
        "tig00000001 ptg000001l h1tg000001l utg1",
        "k141_1 k141_2",
        "chrI chrII chrXVI chrM 2micron",
        "Chr1 Chr5 ChrM ChrC Pt Mt",
        "plasmid_pXO1 chromosome",
        "NC_007605.1 NC_001806.2",  # viruses, whole
        "chrEBV",
        "HLA-A*01:01:01:01 HLA-A*01:02",
        "chr1_KI270706v1_random chrUn_KI270302v1",
        "KI270706.1 GL000250.2",
        "MT KI270706.1 KI270707.1",  # a draft with its mitochondrion
        "NC_012920.1 NW_003613580.1 NW_003613581.1",
        "AEMK02000123.1 JAHBCX010000001.1",
    ],
)
def test_a_genome_of_contigs_loses_none(names: str) -> None:
    assert find_others(contigs(names)) == set()


def test_what_is_asked_for_by_name_is_kept_and_a_piece_is_what_its_chromosome_is() -> None:
    given = contigs("chr1 HLA-A*01:01 chr6_GL000250v2_alt")
    assert find_others(given, ("HLA-A*01:01",)) == {"chr6_GL000250v2_alt"}
    piece = Contig(name="chr1_X_alt:1-50", offset=0, length=50, chromosome="chr1_X_alt", start=0)
    assert find_others([*given, piece], ("chr1_X_alt", "HLA-A*01:01")) == {"chr6_GL000250v2_alt"}
    assert piece.name in find_others([*given, piece])


RECORDS = {
    "HLA-A*01:01": random_bases(300, 1, "ACGTR"),
    "chr1": random_bases(700, 2, "ACGTacgtN"),
    "chrUn_KI270302v1": random_bases(333, 3, "ACGU"),
    "chr2": random_bases(501, 4, "ACGTK"),
    "chrEBV": random_bases(200, 5),
}


def test_left_out_contigs_are_told_and_leave_no_trace_in_the_store(prepared: Prepared) -> None:
    dataset = prepared(RECORDS, window=50, max_n=1.0, test=("chr2",))
    stored = {c.name: decode(dataset.tokens[c.offset : c.offset + c.length], case=True) for c in dataset.contigs}
    assert stored == {name: RECORDS[name].replace("K", "N") for name in ("chr1", "chr2")}
    assert dataset.manifest.left_out == ("HLA-A*01:01", "chrUn_KI270302v1", "chrEBV")
    assert all(check.holds for check in verify(dataset))
    same = prepared({name: RECORDS[name] for name in ("chr1", "chr2")}, "same", window=50, max_n=1.0, test=("chr2",))
    assert dataset.content_hash == same.content_hash
    assert dataset.manifest.tally.ambiguous == same.manifest.tally.ambiguous == RECORDS["chr2"].count("K")
    assert dataset.manifest.tally.uracil == 0
    (said,) = [remark for remark in remarks(dataset.manifest) if "left out" in remark]
    assert said == (
        "3 contigs beside the chromosomes left out: 1 HLA allele, 1 unplaced, 1 virus "
        "(HLA-A*01:01, chrUn_KI270302v1, chrEBV); `dnagoat prepare --all-contigs` keeps them"
    )


def test_all_contigs_are_kept_on_request(prepared: Prepared) -> None:
    dataset = prepared(RECORDS, window=50, max_n=1.0, contigs="all")
    assert [contig.name for contig in dataset.contigs] == list(RECORDS)
    assert not any("left out" in remark for remark in remarks(dataset.manifest))
    said = command(dataset.manifest.sources, dataset.manifest.rules, "data/x")
    assert said is not None and "--all-contigs" in said
