"""How a source becomes a dataset: one pass writes the store and the index, a second over the store cuts the windows."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from dnagoat import __version__
from dnagoat.errors import OptionError, WindowError
from dnagoat.files import as_utf8, write_text
from dnagoat.folders import may_fill
from dnagoat.frozen import Frozen
from dnagoat.genome.alphabet import BASES, MASKED
from dnagoat.genome.chromosomes import find_others
from dnagoat.genome.dataset import (
    Contig,
    Dataset,
    Manifest,
    Rules,
    SourceRecord,
    Tally,
    apart,
    content_hash,
    open_dataset,
)
from dnagoat.genome.fetch.assemblies import catalogue
from dnagoat.genome.leaks.dropping import drop_copies
from dnagoat.genome.leaks.sampled_words import K
from dnagoat.genome.origins import Joined, Origin, open_origins
from dnagoat.genome.place import OverlapRule
from dnagoat.genome.read.in_order import records_of
from dnagoat.genome.read.records import Records
from dnagoat.genome.read.region_scan import RegionScan
from dnagoat.genome.read.source import Source
from dnagoat.genome.split import split_contigs
from dnagoat.genome.store.folder import MANIFEST, TOKENS, may_replace, new_folder
from dnagoat.genome.store.window_table import WindowTable, write_bed
from dnagoat.genome.store.writing import Stored, keep_freed, leave_out, store_records
from dnagoat.progress import StageProgress
from dnagoat.streams import refuse_two_readers
from dnagoat.wording import counted


class PrepareOptions(Frozen):
    """The rules of a preparation; `stride` None means the window (tiles do not overlap).

    A named genome brings its own validation and test contigs; `val` and `test` replace them.
    """

    window: int = Field(1024, ge=2)
    stride: int | None = Field(None, ge=1)
    val: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    split: Literal["contig", "blocks"] = "contig"
    max_n: float = Field(0.1, ge=0, le=1)
    gaps: Literal["refuse", "drop"] = "refuse"
    contigs: Literal["primary", "all"] = "primary"
    overlaps: OverlapRule = "refuse"
    copies: Literal["keep", "drop"] = "keep"
    regions: Path | None = None
    catalogue: Path | None = None
    offline: bool = False
    workers: int = Field(2, ge=1)
    bed: bool = False
    force: bool = False

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if self.split == "blocks" and (self.val or self.test):
            raise ValueError("--split-blocks divides every contig by itself; leave out --val and --test")
        if self.copies == "drop" and self.window < 2 * K:
            raise ValueError(f"--drop-copies compares {K}-mers and needs windows of {2 * K} bases or more")
        return self


def prepare(
    source: Path | str | Sequence[Path | str],
    out: Path,
    options: PrepareOptions,
    progress: StageProgress = lambda _: None,
) -> Dataset:
    """Prepares `source` into the new folder `out`: a FASTA or 2bit file, or the name of a genome of the catalogue.

    Of several sources each is a genome whose contigs are called GENOME:CONTIG; `val` and `test` may name genomes.
    Errors: `SourceError` for a source that does not hold DNA or cannot be fetched, `DatasetError` for a folder that is
    taken or a contig that does not exist, `WindowError` where no window is left. Nothing is written under `out` until
    all is done.
    """
    sources = [source] if isinstance(source, Path | str) else list(source)
    may_fill(out, "--out")
    may_replace(out, options.force)
    refuse_two_readers(
        *(("the genome", Path(one)) for one in sources),
        ("--regions", options.regions),
        ("--catalogue", options.catalogue),
    )
    if len(sources) > 1 and options.regions is not None:
        raise OptionError(
            "--regions are intervals of one genome; cut them out of each (`bedtools getfasta`) and prepare those files "
            "together"
        )
    keep_freed()
    origins = open_origins(
        sources, options.catalogue, offline=options.offline, threads=options.workers, progress=progress
    )
    if options.split == "contig" and not options.val and not options.test:
        held_out = {
            split: tuple(
                apart(one.genome, name) for one in origins if one.assembly for name in getattr(one.assembly, split)
            )
            for split in ("val", "test")
        }
        options = options.but(**held_out)
    with new_folder(out, options.force) as folder:
        _write(origins, folder, options, progress)
        if options.copies == "drop":
            drop_copies(folder, bed=options.bed, threads=options.workers, progress=progress)
    return open_dataset(out)


def command(sources: Sequence[SourceRecord], rules: Rules, out: Path | str) -> str | None:
    """`dnagoat prepare ...` that makes a dataset anew from what its manifest says; files by their names alone.

    None for a genome of somebody's own catalogue, which the manifest does not name.
    """
    if any(source.assembly is not None and source.assembly not in catalogue() for source in sources):
        return None
    every = rules.regions is None and rules.contigs == "all"
    words: list[object] = ["dnagoat", "prepare", *(source.assembly or source.name for source in sources)]
    words += ["--window", rules.window, "--stride", rules.stride]
    words += [word for split in ("val", "test") for name in getattr(rules, split) for word in (f"--{split}", name)]
    words += ["--split-blocks"] if rules.split == "blocks" else []
    words += ["--max-n", f"{rules.max_n:g}", "--gaps", rules.gaps]
    words += ["--regions", rules.regions] if rules.regions else []
    words += ["--all-contigs"] if every else []
    words += ["--overlaps", rules.overlaps] if rules.overlaps != "refuse" else []
    words += ["--drop-copies"] if rules.copies == "drop" else []
    return shlex.join(map(str, [*words, "--out", out]))


def _write(origins: list[Origin], folder: Path, options: PrepareOptions, progress: StageProgress) -> None:
    each = [_records(origin.source, folder, options) for origin in origins]
    records = Joined(origins, each)
    every = options.contigs == "all" or options.regions is not None
    stored = _store(records, origins, folder, options.but(contigs="all" if every else "primary"), progress)
    records.write_index(folder)
    rules = _rules(options, origins, stored, "all" if every else "primary")
    called = ", ".join(str(origin.source.path) for origin in origins)
    contigs, notes = split_contigs(_measured(stored.contigs, origins), rules, folder / TOKENS, called)
    table = WindowTable(folder, rules.window, rules.stride, rules.max_n)
    table.write(contigs, progress)
    if options.bed:
        write_bed(folder)
    if not sum(table.kept.values()):
        raise WindowError(f"{called}: no window is left, {_why_none(contigs, table, rules)}")
    manifest = Manifest(
        tool_version=__version__,
        content_hash=content_hash(stored.sha256, table.sha256, rules.window, contigs),
        tokens_sha256=stored.sha256,
        windows_sha256=table.sha256,
        token_codes={**{base: code for code, base in enumerate(BASES)}, "soft-masked": MASKED},
        sources=tuple(origin.record() for origin in origins),
        rules=rules,
        tally=_tally(stored, table),
        contigs=tuple(contigs),
        left_out=tuple(stored.skipped),
        uneven=tuple(records.uneven),
        notes=tuple(
            map(as_utf8, (*(note for one in each if isinstance(one, RegionScan) for note in one.notes), *notes))
        ),
    )
    # pydantic writes it: with 50,000 contigs json's indented encoder takes as long as all the rest.
    write_text(folder / MANIFEST, manifest.model_dump_json(indent=2) + "\n")


def _records(source: Source, folder: Path, options: PrepareOptions) -> Records:
    if options.regions is not None:
        return RegionScan(source, options.regions, options.gaps, folder, options.overlaps)
    return records_of(source, options.gaps, cure="take gaps out, or use --gaps drop")


def _store(
    records: Joined, origins: list[Origin], folder: Path, options: PrepareOptions, progress: StageProgress
) -> Stored:
    """The records that are prepared: all, those that the catalogue calls primary, or those that are chromosomes."""
    every, tokens = options.contigs == "all", folder / TOKENS
    of = {origin.genome: origin for origin in origins}
    stored = store_records(
        records,
        tokens,
        lambda header: of[header.genome].keeps(header.name, every=every),
        progress,
        threads=options.workers,
    )
    others: set[str] = set()
    for origin in origins:
        if not (every or (origin.assembly is not None and origin.assembly.primary is not None)):
            others |= find_others(origin.own(stored.contigs), (*options.val, *options.test))
    return leave_out(stored, others, tokens, threads=options.workers) if others else stored


def _rules(options: PrepareOptions, origins: list[Origin], stored: Stored, contigs: Literal["primary", "all"]) -> Rules:
    rules = Rules(
        window=options.window,
        stride=options.stride or options.window,
        max_n=options.max_n,
        split=options.split,
        val=options.val,
        test=options.test,
        guard=options.window if options.split == "blocks" or set(options.val) & set(options.test) else 0,
        gaps=options.gaps,
        regions=as_utf8(options.regions.name) if options.regions else None,
        contigs=contigs,
        overlaps=options.overlaps,
    )
    if origins[0].assembly is None or options.regions is None:
        return rules
    # The genome's own split may name what no interval holds.
    there = {name for contig in stored.contigs for name in (contig.name, contig.home)}
    return rules.but(**{of: tuple(n for n in getattr(rules, of) if n in there) for of in ("val", "test")})


def _measured(contigs: list[Contig], origins: list[Origin]) -> list[Contig]:
    """The contigs, pieces with the length of their chromosome where the catalogue or a whole record says it."""
    lengths = {name: length for origin in origins for name, length in origin.lengths().items()}
    lengths |= {contig.name: contig.length for contig in contigs if contig.start is None}
    return [
        contig.model_copy(update={"chromosome_length": lengths[contig.home]})
        if contig.home_length is None and contig.home in lengths
        else contig
        for contig in contigs
    ]


def _tally(stored: Stored, table: WindowTable) -> Tally:
    return Tally(
        bases=stored.total("length"),
        n=stored.total("n"),
        masked=stored.total("masked"),
        gc=stored.total("gc"),
        ambiguous=stored.letters["ambiguous"],
        uracil=stored.letters["uracil"],
        gaps_dropped=stored.letters["gaps"],
        windows=table.kept,
        windows_too_many_n=table.dropped,
        partial_tiles=table.partial,
        contigs_skipped=len(stored.skipped),
    )


def _why_none(contigs: list[Contig], table: WindowTable, rules: Rules) -> str:
    if table.dropped:
        return (
            f"all {table.dropped:,} are over {rules.max_n:.0%} N or nothing but N; raise --max-n or give other sequence"
        )
    longest = max(contig.length for contig in contigs)
    if longest < rules.window:
        return f"the longest contig has {counted(longest, 'base')} and a window {rules.window:,}; lower --window"
    return (
        f"blocks and their gaps leave no {rules.window:,} bases in one piece; lower --window or name --val and --test"
    )
