"""How a source becomes a dataset: one pass writes the store and the index, a second over the store cuts the windows."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from dnagoat import __version__
from dnagoat.errors import OptionError, SourceError, WindowError
from dnagoat.files import write_text
from dnagoat.folders import may_fill
from dnagoat.frozen import Frozen
from dnagoat.genome.alphabet import BASES, MASKED
from dnagoat.genome.chromosomes import find_others
from dnagoat.genome.dataset import Contig, Dataset, Manifest, Rules, SourceRecord, Tally, content_hash, open_dataset
from dnagoat.genome.fetch.assemblies import Assembly, cache_folder, catalogue
from dnagoat.genome.fetch.download import fetch
from dnagoat.genome.place import OverlapRule
from dnagoat.genome.read.records import Records
from dnagoat.genome.read.region_scan import RegionScan
from dnagoat.genome.read.scan import FastaScan
from dnagoat.genome.read.source import Source
from dnagoat.genome.read.twobit import TwoBitScan
from dnagoat.genome.split import split_contigs
from dnagoat.genome.store.folder import may_replace, new_folder
from dnagoat.genome.store.window_table import WindowTable, write_bed
from dnagoat.genome.store.writing import Stored, keep_freed, leave_out, store_records
from dnagoat.progress import StageProgress
from dnagoat.streams import is_stream, name_input, refuse_two_readers


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
    regions: Path | None = None
    catalogue: Path | None = None
    offline: bool = False
    workers: int = Field(2, ge=1)
    bed: bool = False
    force: bool = False

    @model_validator(mode="after")
    def _one_split(self) -> Self:
        if self.split == "blocks" and (self.val or self.test):
            raise ValueError("--split-blocks divides every contig by itself; leave out --val and --test")
        return self


def prepare(
    source: Path | str, out: Path, options: PrepareOptions, progress: StageProgress = lambda _: None
) -> Dataset:
    """Prepares `source` into the new folder `out`: a FASTA or 2bit file, or the name of a genome of the catalogue.

    Errors: `SourceError` for a source that does not hold DNA or cannot be fetched, `DatasetError` for a folder that is
    taken or a contig that does not exist, `WindowError` where no window is left. Nothing is written under `out` until
    all is done.
    """
    may_fill(out, "--out")
    may_replace(out, options.force)
    refuse_two_readers(("the genome", Path(source)), ("--regions", options.regions), ("--catalogue", options.catalogue))
    keep_freed()
    assembly = named(source, options.catalogue)
    if assembly is None:
        if not (is_stream(Path(source)) or Path(source).exists()):
            raise SourceError(f"{source} does not exist; give a FASTA file, or the name of an assembly")
        opened = Source(Path(source), threads=options.workers)
    else:
        path = fetch(assembly, cache_folder(), offline=options.offline, progress=progress)
        opened = Source(path, threads=options.workers)
        if options.split == "contig" and not options.val and not options.test:
            options = options.but(val=assembly.val, test=assembly.test)
    with new_folder(out, options.force) as folder:
        _write(opened, assembly, folder, options, progress)
    return open_dataset(out)


def command(source: SourceRecord, rules: Rules, out: Path | str) -> str | None:
    """`dnagoat prepare ...` that makes a dataset anew from what its manifest says; files by their names alone.

    None for a genome of somebody's own catalogue, which the manifest does not name.
    """
    if source.assembly is not None and source.assembly not in catalogue():
        return None
    every = rules.regions is None and rules.contigs == "all"
    words = ["dnagoat", "prepare", source.assembly or source.name, "--window", rules.window, "--stride", rules.stride]
    words += [word for split in ("val", "test") for name in getattr(rules, split) for word in (f"--{split}", name)]
    words += ["--split-blocks"] if rules.split == "blocks" else []
    words += ["--max-n", f"{rules.max_n:g}", "--gaps", rules.gaps]
    words += ["--regions", rules.regions] if rules.regions else []
    words += ["--all-contigs"] if every else []
    words += ["--overlaps", rules.overlaps] if rules.overlaps != "refuse" else []
    return shlex.join(map(str, [*words, "--out", out]))


def name_dataset(source: str) -> str:
    """genome.fa.gz -> genome; an `OptionError` for a stream, which has no name."""
    if is_stream(Path(source)):
        raise OptionError(f"{name_input(Path(source))} has no name that a dataset could take; give --out FOLDER")
    name = Path(source).name
    for ending in (".gz", ".bgz", ".fa", ".fasta", ".fna", ".2bit"):
        name = name.removesuffix(ending)
    return name or "dataset"


def named(source: Path | str, own: Path | None) -> Assembly | None:
    """The genome of that name; None where `source` is a file. A name that is both is refused."""
    assembly = catalogue(own).get(str(source))
    if assembly is not None and Path(source).is_file():
        raise SourceError(f"{source} is a file here and the name of a genome; write ./{source} for the file")
    return assembly


def _write(
    source: Source, assembly: Assembly | None, folder: Path, options: PrepareOptions, progress: StageProgress
) -> None:
    records = _records(source, folder, options)
    every = options.contigs == "all" or options.regions is not None
    stored = _store(records, assembly, folder, options.but(contigs="all" if every else "primary"), progress)
    records.write_index(folder)
    rules = _rules(options, assembly, stored, "all" if every else "primary")
    contigs, notes = split_contigs(_measured(stored.contigs, assembly), rules, folder / "tokens.u8", str(source.path))
    table = WindowTable(folder, rules.window, rules.stride, rules.max_n)
    table.write(contigs, progress)
    if options.bed:
        write_bed(folder)
    if not sum(table.kept.values()):
        raise WindowError(f"{source}: no window is left, {_why_none(contigs, table, rules)}")
    manifest = Manifest(
        tool_version=__version__,
        content_hash=content_hash(stored.sha256, table.sha256, rules.window, contigs),
        tokens_sha256=stored.sha256,
        windows_sha256=table.sha256,
        token_codes={**{base: code for code, base in enumerate(BASES)}, "soft-masked": MASKED},
        source=SourceRecord(
            name="-" if source.streamed else source.path.name,
            kind=source.kind,
            bytes=source.done,
            sha256=source.sha256,
            assembly=assembly.name if assembly else None,
            address=assembly.address if assembly else None,
        ),
        rules=rules,
        tally=_tally(stored, table),
        contigs=tuple(contigs),
        left_out=tuple(stored.skipped),
        uneven=tuple(records.uneven),
        notes=(*(records.notes if isinstance(records, RegionScan) else ()), *notes),
    )
    # pydantic writes it: with 50,000 contigs json's indented encoder takes as long as all the rest.
    write_text(folder / "manifest.json", manifest.model_dump_json(indent=2) + "\n")


def _records(source: Source, folder: Path, options: PrepareOptions) -> Records:
    if options.regions is not None:
        return RegionScan(source, options.regions, options.gaps, folder, options.overlaps)
    if source.kind == "2bit":
        return TwoBitScan(source)
    return FastaScan(source, options.gaps, cure="take gaps out, or use --gaps drop")


def _store(
    records: Records, assembly: Assembly | None, folder: Path, options: PrepareOptions, progress: StageProgress
) -> Stored:
    """The records that are prepared: all, those that the catalogue calls primary, or those that are chromosomes."""
    every, tokens = options.contigs == "all", folder / "tokens.u8"
    named = assembly is not None and assembly.primary is not None
    stored = store_records(
        records,
        tokens,
        lambda name: assembly is None or assembly.keeps(name, every=every),
        progress,
        threads=options.workers,
    )
    others = set() if every or named else find_others(stored.contigs, (*options.val, *options.test))
    return leave_out(stored, others, tokens, threads=options.workers) if others else stored


def _rules(
    options: PrepareOptions, assembly: Assembly | None, stored: Stored, contigs: Literal["primary", "all"]
) -> Rules:
    rules = Rules(
        window=options.window,
        stride=options.stride or options.window,
        max_n=options.max_n,
        split=options.split,
        val=options.val,
        test=options.test,
        guard=options.window if options.split == "blocks" or set(options.val) & set(options.test) else 0,
        gaps=options.gaps,
        regions=options.regions.name if options.regions else None,
        contigs=contigs,
        overlaps=options.overlaps,
    )
    if assembly is None or options.regions is None:
        return rules
    # The genome's own split may name what no interval holds.
    there = {name for contig in stored.contigs for name in (contig.name, contig.home)}
    return rules.but(**{of: tuple(n for n in getattr(rules, of) if n in there) for of in ("val", "test")})


def _measured(contigs: list[Contig], assembly: Assembly | None) -> list[Contig]:
    """The contigs, pieces with the length of their chromosome where the catalogue or a whole record says it."""
    lengths = {**(assembly.lengths if assembly else {}), **{c.name: c.length for c in contigs if c.start is None}}
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
        return f"the longest contig has {longest:,} bases and a window {rules.window:,}; lower --window"
    return (
        f"blocks and their gaps leave no {rules.window:,} bases in one piece; lower --window or name --val and --test"
    )
