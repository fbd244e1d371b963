"""Which bases of the contigs belong to which split, each base of a chromosome once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dnagoat.errors import DatasetError
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.dataset import Contig, Rules
from dnagoat.genome.overlaps import find_shared, refuse_shared, trim_shared
from dnagoat.genome.place import Names
from dnagoat.genome.store.tokens import map_tokens, places_of_known
from dnagoat.genome.windows import block_ranks, by_blocks, by_contig
from dnagoat.wording import counted


def split_contigs(contigs: list[Contig], rules: Rules, tokens: Path, source: str) -> tuple[list[Contig], list[str]]:
    """The contigs with their spans, and what is to be told of it: names read as others, bases left to one record.

    A `DatasetError` where two records hold the same bases and `rules.overlaps` is not to trim them.
    """
    genomes = {contig.genome for contig in contigs if contig.genome}
    names = Names((name for contig in contigs for name in (contig.name, contig.home)), genomes)
    contigs = _with_spans(contigs, rules, names, tokens)
    store = map_tokens(tokens) if any(contig.length for contig in contigs) else np.zeros(0, np.uint8)
    notes = [f"--val and --test: {note}" for note in names.notes(())]

    def read(contig: Contig) -> Codes:
        return store[contig.offset : contig.offset + contig.length]

    if rules.overlaps == "refuse":
        refuse_shared(find_shared(contigs, rules.window, read), source)
        return contigs, notes
    contigs, bases = trim_shared(contigs, rules.window, rules.guard, read)
    if bases:
        notes.append(f"{counted(bases, 'base')} that stood in two records left to one of them (test, then validation)")
    return contigs, notes


def _with_spans(contigs: list[Contig], rules: Rules, names: Names, tokens: Path) -> list[Contig]:
    lengths = [contig.length for contig in contigs]
    if rules.split == "blocks":  # by known bases, so that no block is a run of N
        ranks = block_ranks(sum(contig.length - contig.n for contig in contigs), rules.guard)
        edges = places_of_known(tokens, ranks)
        edges[-1] = sum(lengths)
        spans = by_blocks(lengths, edges, rules.guard)
    else:
        val, test = _chosen(contigs, "--val", rules.val, names), _chosen(contigs, "--test", rules.test, names)
        spans = by_contig([contig.name for contig in contigs], lengths, val, test, rules.guard)
    # Copied, not built anew: they were checked at birth, and there may be tens of thousands.
    return [
        contig.model_copy(update={"spans": tuple(tuple(span) for span in own)})
        for contig, own in zip(contigs, spans, strict=True)
    ]


def _chosen(contigs: list[Contig], option: str, asked: tuple[str, ...], names: Names) -> list[str]:
    """Contigs by their names, or by the chromosome that they are pieces of, or by their genome.

    A name of none stays as it is; a `DatasetError` where it may be that of a contig of several genomes.
    """
    own = {contig.name for contig in contigs}
    pieces: dict[str, list[str]] = {}
    for contig in contigs:
        pieces.setdefault(contig.home, []).append(contig.name)
        if contig.genome is not None:
            pieces.setdefault(contig.genome, []).append(contig.name)
    for name in asked:
        if name not in pieces and len(others := names.several(name)) > 1:
            raise DatasetError(f"{option} {name} may be {' or '.join(others[:4])}; say which")
    meant = [name if name in pieces else names.find(name) or name for name in asked]
    return [contig for name in meant for contig in ([name] if name in own else pieces.get(name, [name]))]
