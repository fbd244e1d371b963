"""How rows of scores are kept: TSV (compressed in .gz) or Parquet, as the file's name says; a chunk at a time."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, TextIO

from dnagoat.files import BYTES, written_whole

Cell = str | int | float | None
Columns = Mapping[str, type]  # name -> str, int or float

CHUNK: Final = 10_000  # rows of a Parquet group, which is held at once


def write_rows(out: Path, columns: Columns, rows: Iterable[Sequence[Cell]]) -> None:
    """Writes `rows`, cells in the order of `columns`; None is NA in TSV and null in Parquet."""
    with written_whole(out) as aside:
        if out.suffix == ".parquet":
            _write_parquet(aside, columns, iter(rows))
        elif out.suffix == ".gz":
            with gzip.open(aside, "wt", encoding="utf-8", errors=BYTES) as packed:
                _write_lines(packed, columns, rows)
        else:
            with aside.open("w", encoding="utf-8", errors=BYTES) as handle:
                _write_lines(handle, columns, rows)


def _write_lines(handle: TextIO, columns: Columns, rows: Iterable[Sequence[Cell]]) -> None:
    handle.write("\t".join(columns) + "\n")
    handle.writelines("\t".join(map(_text, row)) + "\n" for row in rows)


def _text(cell: Cell) -> str:
    if cell is None:
        return "NA"
    return f"{cell:.6f}" if isinstance(cell, float) else str(cell)


def _write_parquet(aside: Path, columns: Columns, rows: Iterator[Sequence[Cell]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema({name: kinds[kind] for name, kind in columns.items()})
    with aside.open("wb") as handle, pq.ParquetWriter(handle, schema) as writer:
        while chunk := list(islice(rows, CHUNK)):
            arrays = [
                pa.array(cells, type=field.type) for cells, field in zip(zip(*chunk, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
