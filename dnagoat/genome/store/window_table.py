"""How are windows written: windows.parquet, a bounded number of rows at a time, with what each holds and a hash.

Columns: contig, start, end (0-based, half-open), split, gc (share of the known bases), n_fraction, masked_fraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Contig
from dnagoat.genome.store.folder import TOKENS, WINDOWS
from dnagoat.genome.store.tokens import read_tokens
from dnagoat.genome.windows import SPLITS, Shares, Span, Split, count_in_windows, tile
from dnagoat.progress import Stage, StageProgress

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE: Final = 1 << 20  # bases counted at once: what stays in a core's cache
_ROWS: Final = 1 << 19  # windows written at once


class Rows(NamedTuple):
    """Windows, a column each: contig number, split number, start in the contig, start in the store."""

    contig: Ints
    split: Ints
    start: Ints
    at: Ints


class WindowTable:
    """Writes windows.parquet a bounded number of rows at a time, and counts what it kept and dropped."""

    def __init__(self, folder: Path, window: int, stride: int, max_n: float) -> None:
        self.folder, self.window, self.stride, self.max_n = folder, window, stride, max_n
        self.kept: dict[Split, int] = dict.fromkeys(SPLITS, 0)
        self.dropped = 0
        self.partial = 0
        self._digest = sha256()

    @property
    def sha256(self) -> str:
        """Of contig, split and start of each window that was kept (int64, little-endian)."""
        return self._digest.hexdigest()

    def write(self, contigs: list[Contig], progress: StageProgress) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = pa.array([contig.name for contig in contigs], pa.string())
        total = max(sum(contig.length for contig in contigs), 1)
        with (
            (self.folder / WINDOWS).open("wb") as handle,
            pq.ParquetWriter(handle, _schema(), compression="zstd") as writer,
        ):
            held: list[tuple[Rows, Shares]] = []
            for rows in self._gathered(self._tilings(contigs)):
                held.append(self._counted(rows))
                if sum(len(kept.at) for kept, _ in held) >= _ROWS:
                    writer.write_table(self._table(names, held))
                    held = []
                done = int(rows.at[-1]) + self.window
                progress(Stage("windows", done, done / total))
            if held:
                writer.write_table(self._table(names, held))

    def _tilings(self, contigs: list[Contig]) -> Iterator[Rows]:
        """The windows of each span in genome order, those of a long span in parts of about _AT_ONCE bases."""
        step = max(1, (_AT_ONCE - self.window) // self.stride + 1)
        for number, contig in enumerate(contigs):
            for span in contig.spans:
                starts = tile(Span(*span), self.window, self.stride)
                covered = int(starts[-1]) + self.window if starts.size else span[0]
                self.partial += covered < span[1]
                for first in range(0, len(starts), step):
                    some = starts[first : first + step]
                    label = np.full(len(some), SPLITS.index(span[2]))
                    yield Rows(np.full(len(some), number), label, some, some + contig.offset)

    def _gathered(self, tilings: Iterator[Rows]) -> Iterator[Rows]:
        """Neighbours joined while they lie within _AT_ONCE bases: many small contigs are counted in one go."""
        waiting: list[Rows] = []
        for rows in tilings:
            if waiting and rows.at[-1] + self.window - waiting[0].at[0] > _AT_ONCE:
                yield _joined(waiting)
                waiting = []
            waiting.append(rows)
        if waiting:
            yield _joined(waiting)

    def _counted(self, rows: Rows) -> tuple[Rows, Shares]:
        """The windows that are kept, with what is in them."""
        first = int(rows.at[0])
        tokens = read_tokens(self.folder / TOKENS, first, int(rows.at[-1]) - first + self.window)
        shares = count_in_windows(tokens, rows.at - first, self.window)
        # A window without one base that can be scored is dropped whatever --max-n says.
        keep = (shares.n <= self.max_n * self.window) & (shares.n < self.window)
        rows, shares = Rows(*(column[keep] for column in rows)), Shares(*(share[keep] for share in shares))
        self.dropped += int(np.count_nonzero(~keep))
        for split, count in zip(SPLITS, np.bincount(rows.split, minlength=len(SPLITS)), strict=True):
            self.kept[split] += int(count)
        self._digest.update(digest(rows.contig, rows.split, rows.start))
        return rows, shares

    def _table(self, names: pa.Array, held: list[tuple[Rows, Shares]]) -> pa.Table:
        import pyarrow as pa

        rows = _joined([kept for kept, _ in held])
        gc, n, masked = (np.concatenate(column) for column in zip(*(shares for _, shares in held), strict=True))
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(rows.contig, pa.int32()), names),
            pa.array(rows.start),
            pa.array(rows.start + self.window),
            pa.DictionaryArray.from_arrays(pa.array(rows.split, pa.int8()), pa.array(SPLITS)),
            pa.array(gc / (self.window - n), pa.float32()),  # of the known bases, as GC is counted
            pa.array(n / self.window, pa.float32()),
            pa.array(masked / self.window, pa.float32()),
        ]
        return pa.Table.from_arrays(columns, schema=_schema())


def digest(contig: Ints, split: Ints, start: Ints) -> bytes:
    """What the hash of a table of windows is taken of: the numbers of contig and split, and the start, of each."""
    return np.stack([contig, split, start], axis=1).astype("<i8").tobytes()


def write_bed(folder: Path) -> None:
    """windows.bed beside windows.parquet: contig, start, end, split; for genome browsers and bedtools."""
    import pyarrow.parquet as pq

    with (
        (folder / "windows.bed").open("w", encoding="utf-8", newline="\n") as handle,
        (folder / WINDOWS).open("rb") as table,
    ):
        file = pq.ParquetFile(table)
        for batch in file.iter_batches(columns=["contig", "start", "end", "split"]):
            rows = zip(*(batch.column(place).to_pylist() for place in range(4)), strict=True)
            handle.writelines(f"{contig}\t{start}\t{end}\t{split}\n" for contig, start, end, split in rows)


def _joined(rows: list[Rows]) -> Rows:
    return Rows(*(np.concatenate(column) for column in zip(*rows, strict=True)))


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
