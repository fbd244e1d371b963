"""How a source becomes a dataset: one pass writes the store and the index, a second over the store cuts the windows."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field

from dnagoat import __version__
from dnagoat.config import Frozen
from dnagoat.errors import DatasetError, OptionError, WindowError
from dnagoat.files import write_json
from dnagoat.genome.alphabet import BASES, MASKED
from dnagoat.genome.dataset import Contig, Dataset, Manifest, Rules, SourceRecord, Tally, content_hash, open_dataset
from dnagoat.genome.fasta import Bases, FastaScan, Header
from dnagoat.genome.source import Source
from dnagoat.genome.tokens import TokenWriter, read_tokens
from dnagoat.genome.windows import SPLITS, Span, Split, batches_of, by_blocks, by_contig, count_in_windows, tile

if TYPE_CHECKING:
    import pyarrow as pa

DEMO: Final = Path(__file__).with_name("demo.fa.gz")
DEMO_VAL: Final = ("chr21_33000000_34000000",)
DEMO_TEST: Final = ("chr21_36000000_37000000",)
_AT_ONCE: Final = 1 << 24  # bases counted at once
_ROWS: Final = 1 << 19  # windows written at once
# Records cut from a chromosome: chr21_15000000_20000000 (0-based, half-open) or chr1:1-100 (samtools: 1-based, closed).
_PIECE: Final = re.compile(r"(?P<chromosome>.+)(?P<sign>[_:])(?P<start>\d+)[_-](?P<end>\d+)")


class Progress(NamedTuple):
    """How far a preparation is: what it does, bases done, and the share of that work (0 to 1)."""

    stage: Literal["bases", "windows"]
    bases: int
    share: float


class PrepareOptions(Frozen):
    """The rules of a preparation; `stride` None means the window (tiles do not overlap)."""

    window: int = Field(1024, ge=2)
    stride: int | None = Field(None, ge=1)
    val: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    split: Literal["contig", "blocks"] = "contig"
    max_n: float = Field(0.1, ge=0, le=1)
    gaps: Literal["refuse", "drop"] = "refuse"
    force: bool = False


def prepare(
    source: Path | str, out: Path, options: PrepareOptions, progress: Callable[[Progress], None] = lambda _: None
) -> Dataset:
    """Prepares `source` (a FASTA file, or "demo") into the new folder `out`.

    Errors: `SourceError` for a source that is no FASTA of DNA, `DatasetError` for a folder that is taken or a contig
    that does not exist, `WindowError` where no window is left. Nothing is written under `out` until all is done.
    """
    if options.split == "blocks" and (options.val or options.test):
        raise OptionError("--split-blocks divides every contig by itself; leave out --val and --test")
    path = Path(source)
    if str(source) == "demo":
        path = DEMO
        if options.split == "contig" and not options.val and not options.test:
            options = options.but(val=DEMO_VAL, test=DEMO_TEST)
    with _new_folder(out, options.force) as folder:
        _write(Source(path), folder, options, progress)
    return open_dataset(out)


def _write(source: Source, folder: Path, options: PrepareOptions, progress: Callable[[Progress], None]) -> None:
    scan = FastaScan(source, options.gaps)
    contigs, counts, tokens_sha256 = _store(scan, folder, progress)
    scan.write_index(folder / "genome.fai")
    if source.kind == "bgzip":
        source.write_gzi(folder / "genome.gzi")
    stride = options.stride or options.window
    names, lengths = [c.name for c in contigs], [c.length for c in contigs]
    if options.split == "blocks":
        guard = options.window
        spans = by_blocks(lengths, guard)
    else:
        guard = 0
        spans = by_contig(names, lengths, options.val, options.test)
    contigs = [contig.but(spans=tuple(map(tuple, own))) for contig, own in zip(contigs, spans, strict=True)]
    table = _Windows(folder, options.window, stride, options.max_n)
    table.write(contigs, progress)
    if not sum(table.kept.values()):
        raise WindowError(_no_window(source.path, lengths, table, options))
    manifest = Manifest(
        tool_version=__version__,
        content_hash=content_hash(tokens_sha256, table.sha256, options.window, contigs),
        tokens_sha256=tokens_sha256,
        windows_sha256=table.sha256,
        token_codes={**{base: code for code, base in enumerate(BASES)}, "soft-masked": MASKED},
        source=SourceRecord(name=source.path.name, kind=source.kind, bytes=source.size, sha256=source.sha256),
        rules=Rules(
            window=options.window,
            stride=stride,
            max_n=options.max_n,
            split=options.split,
            val=options.val,
            test=options.test,
            guard=guard,
            gaps=options.gaps,
        ),
        tally=Tally(**counts, windows=table.kept, windows_too_many_n=table.dropped, partial_tiles=table.partial),
        contigs=tuple(contigs),
        uneven=tuple(scan.uneven),
    )
    write_json(folder / "manifest.json", manifest.model_dump(mode="json"))


def _store(
    scan: FastaScan, folder: Path, progress: Callable[[Progress], None]
) -> tuple[list[Contig], dict[str, int], str]:
    """Writes tokens.u8; returns the contigs, the counts of the whole, and the store's hash."""
    contigs: list[dict[str, Any]] = []
    ambiguous = uracil = gaps = 0
    source = scan.source
    with TokenWriter(folder / "tokens.u8") as store:

        def begin(header: Header | None) -> None:
            if contigs:
                last = contigs[-1]
                last["length"] = store.bases - last["offset"]
                for name in ("n", "masked", "gc"):
                    last[name] = getattr(store, name) - last[name]
            if header:
                now = {"offset": store.bases, "n": store.n, "masked": store.masked, "gc": store.gc}
                contigs.append({"name": header.name, "description": header.description, **now})

        for event in scan.events():
            if isinstance(event, Header):
                begin(event)
                continue
            assert isinstance(event, Bases)
            store.append(event.tokens)
            ambiguous += event.ambiguous
            uracil += event.uracil
            gaps += event.gaps
            progress(Progress("bases", store.bases, source.done / source.size))
        begin(None)
        counts = {"bases": store.bases, "n": store.n, "masked": store.masked, "gc": store.gc}
        counts |= {"ambiguous": ambiguous, "uracil": uracil, "gaps_dropped": gaps}
        return [Contig(**values, **_piece_of(values)) for values in contigs], counts, store.sha256


def _piece_of(contig: dict[str, Any]) -> dict[str, Any]:
    """Which part of which chromosome a record is, where its name says so and its length agrees."""
    match = _PIECE.fullmatch(contig["name"])
    if not match:
        return {}
    start = int(match["start"]) - (match["sign"] == ":")
    if start < 0 or int(match["end"]) - start != contig["length"]:
        return {}
    return {"chromosome": match["chromosome"], "start": start}


class _Windows:
    """Writes windows.parquet a bounded number of rows at a time, and counts what it kept and dropped."""

    def __init__(self, folder: Path, window: int, stride: int, max_n: float) -> None:
        self.folder, self.window, self.stride, self.max_n = folder, window, stride, max_n
        self.kept: dict[Split, int] = dict.fromkeys(SPLITS, 0)
        self.dropped = 0
        self.partial = 0
        self._digest = sha256()
        self._rows: list[tuple[np.ndarray[Any, Any], ...]] = []
        self._held = 0

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, contigs: list[Contig], progress: Callable[[Progress], None]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = pa.array([contig.name for contig in contigs], pa.string())
        total = sum(contig.length for contig in contigs)
        schema = _schema()
        with pq.ParquetWriter(self.folder / "windows.parquet", schema, compression="zstd") as writer:
            for place, contig in enumerate(contigs):
                for span in contig.spans:
                    self._span(place, contig, Span(*span))
                if self._held >= _ROWS or place + 1 == len(contigs):
                    writer.write_table(self._table(names, schema))
                    done = contig.offset + contig.length
                    progress(Progress("windows", done, done / max(total, 1)))

    def _span(self, place: int, contig: Contig, span: Span) -> None:
        starts = tile(span, self.window, self.stride)
        covered = int(starts[-1]) + self.window - span.start if starts.size else 0
        self.partial += span.end - span.start > covered
        for some in batches_of(starts, _AT_ONCE, self.window, self.stride):
            first = int(some[0])
            tokens = read_tokens(self.folder / "tokens.u8", contig.offset + first, int(some[-1]) - first + self.window)
            shares = count_in_windows(tokens, some - first, self.window, self.stride)
            # A window without one base that can be scored is dropped whatever --max-n says.
            keep = (shares.n <= self.max_n * self.window) & (shares.n < self.window)
            self.dropped += int(np.count_nonzero(~keep))
            self._add(place, span.split, some[keep], [share[keep] for share in shares])

    def _add(self, place: int, split: Split, starts: Any, shares: list[Any]) -> None:
        count = len(starts)
        if not count:
            return
        self.kept[split] += count
        self._held += count
        label = SPLITS.index(split)
        self._digest.update(np.array([place, label, count], dtype="<i8").tobytes())
        self._digest.update(starts.astype("<i8").tobytes())
        fractions = [(share / self.window).astype(np.float32) for share in shares]
        gc, n, masked = fractions
        # GC is a share of the bases that are known, as biologists count it.
        with np.errstate(invalid="ignore"):
            gc = (shares[0] / (self.window - shares[1])).astype(np.float32)
        whole = np.full(count, place, dtype=np.int32), np.full(count, label, dtype=np.int8)
        self._rows.append((whole[0], starts, whole[1], gc, n, masked))

    def _table(self, names: pa.Array, schema: pa.Schema) -> pa.Table:
        import pyarrow as pa

        rows, self._rows, self._held = self._rows, [], 0
        if not rows:
            return schema.empty_table()
        contig, start, split, gc, n, masked = (np.concatenate(column) for column in zip(*rows, strict=True))
        arrays = [
            pa.DictionaryArray.from_arrays(pa.array(contig), names),
            pa.array(start),
            pa.array(start + self.window),
            pa.DictionaryArray.from_arrays(pa.array(split), pa.array(SPLITS)),
            pa.array(gc),
            pa.array(n),
            pa.array(masked),
        ]
        return pa.Table.from_arrays(arrays, schema=schema)


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("contig", pa.dictionary(pa.int32(), pa.string())),
            ("start", pa.int64()),
            ("end", pa.int64()),
            ("split", pa.dictionary(pa.int8(), pa.string())),
            ("gc", pa.float32()),
            ("n_fraction", pa.float32()),
            ("masked_fraction", pa.float32()),
        ]
    )


def _no_window(path: Path, lengths: list[int], table: _Windows, options: PrepareOptions) -> str:
    if table.dropped:
        return (
            f"{path}: no window is left, {table.dropped:,} have more than {options.max_n:.0%} N or nothing but N; "
            "raise --max-n or give other sequence"
        )
    longest = max(lengths)
    return (
        f"{path}: no window is left, the longest of {len(lengths):,} contigs has {longest:,} bases and a window "
        f"{options.window:,}; lower --window"
    )


@contextmanager
def _new_folder(out: Path, force: bool) -> Iterator[Path]:
    """Yields a private folder that becomes `out` on success and is removed on failure; one at a time for one `out`.

    The lock is on the private folder itself, so it falls when its holder does, however it dies; what a killed one left
    is wiped by the next.
    """
    _may_replace(out, force)
    aside = out.with_name(f".{out.name}.partial")
    lock = -1
    try:
        aside.mkdir(parents=True, exist_ok=True)
        lock = os.open(aside, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not aside.exists() or aside.stat().st_ino != os.fstat(lock).st_ino:
            raise BlockingIOError  # it was renamed or removed by its holder just now
        for left in aside.iterdir():
            left.unlink()
        yield aside
        _may_replace(out, force)
        _take_place(aside, out)
    except BlockingIOError:
        aside = None  # type: ignore[assignment]
        raise DatasetError(f"another prepare is writing {out}; wait for it, or give another --out") from None
    except OSError as fault:
        raise _disk_fault(out, fault) from None
    finally:
        if aside is not None and lock >= 0:
            shutil.rmtree(aside, ignore_errors=True)
        if lock >= 0:
            os.close(lock)


def _may_replace(out: Path, force: bool) -> None:
    if not (out.exists() or out.is_symlink()):
        return
    if not force:
        raise DatasetError(f"{out} exists already; give another --out, or --force to replace it")
    if not (out / "manifest.json").is_file():
        raise DatasetError(f"{out} is not a dataset, so --force does not replace it; give another --out")


def _take_place(aside: Path, out: Path) -> None:
    if not out.exists():
        aside.rename(out)
        return
    old = out.with_name(f".{out.name}.old.{os.getpid()}")
    out.rename(old)
    aside.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _disk_fault(out: Path, fault: OSError) -> DatasetError:
    if fault.errno == errno.ENOSPC:
        return DatasetError(f"the disk of {out} is full; a dataset needs about one byte a base")
    return DatasetError(f"{out} cannot be written: {fault.strerror or fault}")
