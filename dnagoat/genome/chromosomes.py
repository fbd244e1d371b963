"""Which contigs of a genome are chromosomes, and which repeat them or have no place on them?

A contig is left out only by a name that says what it is, and only beside chromosomes: a genome of nothing but contigs
or scaffolds keeps them all. Names: UCSC, Ensembl, and the analysis sets of GRCh37 and GRCh38 (hs37d5, hs38DH).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Contig

_PLAIN: Final = re.compile(
    r"(chr)?([0-9]{1,2}[ABLR]?|[XYZW]|X[LR]|[IVX]{1,5})"
    # Human (GRCh37, GRCh38, T2T-CHM13) and mouse, by accession.
    r"|(CM0006(6[3-9]|[78][0-9])|NC_0000([01][0-9]|2[0-4])|NC_0609[234][0-9]|CM00(099|10[01])[0-9]|NC_0000[678][0-9])(\.[0-9]+)?",
    re.IGNORECASE,
)
_ACCESSION: Final = re.compile(r"(CM|NC_)[0-9]{6}(\.[0-9]+)?")

# What a name says by itself.
_KINDS: Final[dict[str, re.Pattern[str]]] = {
    "alternate": re.compile(r".+_alt|.+_fix|.+_hap[0-9]+|(CHR_)?HSCHR.+|CHR_(HG|MG|MM).+|.+_PATCH"),
    "decoy": re.compile(r".+_decoy|hs3[78]d[0-9]+"),
    "HLA allele": re.compile(r"HLA-[A-Z0-9]+\*[0-9:]+[A-Z]?|HLA:HLA[0-9]+"),
    "unlocalised": re.compile(r".+_random", re.IGNORECASE),
    "unplaced": re.compile(r"(chr)?Un([_.].+)?|chrU(extra)?", re.IGNORECASE),
    "virus": re.compile(r"chrEBV|EBV"),
}
# What it says only beside chromosomes: scaffolds of the human and the mouse genome, by accession.
_SCAFFOLD: Final = re.compile(
    r"(G[LK]|K[BEIKNQVZ]|M[LU]|J[HS]|JTFH01|AAD[BC]0[12])[0-9]{6}([.v][0-9]+)?|N[TW]_[0-9]{6,9}(\.[0-9]+)?"
)
_VIRUS: Final = re.compile(r"NC_007605(\.[0-9]+)?")


def kind_of(name: str) -> str:
    """What a contig that is no chromosome is, by its name."""
    kinds = [*_KINDS.items(), ("unplaced", _SCAFFOLD), ("virus", _VIRUS)]
    return next((kind for kind, pattern in kinds if pattern.fullmatch(name)), "other")


def find_others(contigs: list[Contig], asked: Collection[str] = ()) -> set[str]:
    """Names of the contigs that are left out where chromosomes are prepared; never one that is `asked` for.

    A piece is judged by what it is a piece of.
    """
    plain = any(_PLAIN.fullmatch(contig.bare_home) for contig in contigs)
    accessions = sum(contig.length for contig in contigs if _ACCESSION.fullmatch(contig.bare_home))
    if not plain and not accessions:
        return set()
    by_name = list(_KINDS.values()) + ([_VIRUS] if plain else [])
    others = {contig.name for contig in contigs if any(kind.fullmatch(contig.bare_home) for kind in by_name)}
    scaffolds = [contig for contig in contigs if _SCAFFOLD.fullmatch(contig.bare_home)]
    # A draft may have a mitochondrion with an accession beside the scaffolds that are the genome.
    if plain or sum(contig.length for contig in scaffolds) <= accessions:
        others |= {contig.name for contig in scaffolds}
    return {
        contig.name
        for contig in contigs
        if contig.name in others and not {contig.name, contig.home, contig.bare_home} & set(asked)
    }
