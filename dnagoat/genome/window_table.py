"""How are windows written: windows.parquet, a bounded number of rows at a time, with what each holds and a hash.

Columns: contig, start, end (0-based, half-open), split, gc (share of the known bases), n_fraction, masked_fraction.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dnagoat.genome.dataset import Contig
from dnagoat.genome.progress import Progress, Tell
from dnagoat.genome.tokens import read_tokens
from dnagoat.genome.windows import SPLITS, Span, Split, batches_of, count_in_windows, tile

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE: Final = 1 << 20  # bases counted at once: what stays in a core's cache
_ROWS: Final = 1 << 19  # windows written at once


class WindowTable:
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

    def write(self, contigs: list[Contig], progress: Tell) -> None:
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
