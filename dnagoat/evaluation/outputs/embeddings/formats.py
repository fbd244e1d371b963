"""How vectors are kept: Parquet, .npy with a table of places beside it, or AnnData; a chunk at a time."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import MissingError, OptionError
from dnagoat.evaluation.outputs.embeddings.texts import PLACE
from dnagoat.evaluation.outputs.embeddings.vectors import Embedding
from dnagoat.evaluation.outputs.rows import Cell, write_rows
from dnagoat.files import as_utf8, written_whole
from dnagoat.streams import is_passage

COLUMNS: Final[dict[str, type]] = {**PLACE, "length": int, "known": int, "gc": float}
VECTOR: Final = "embedding"
CHUNK: Final = 2_000  # rows of a Parquet group, which is held at once


def files_of(out: Path) -> list[Path]:
    """What will be written for `out`; an `OptionError` where its name ends in no known format, or lacks a package."""
    if is_passage(out) or out.suffix == ".parquet":
        return [out]
    if out.suffix == ".npy":
        return [out, out.with_suffix(".tsv")]
    if out.suffix == ".h5ad":
        load_anndata()
        return [out]
    raise OptionError(f"--out {out}: give a name that ends in .parquet, .npy or .h5ad")


def load_anndata() -> Any:
    """The package that writes AnnData; a `MissingError` where it is not installed."""
    try:
        import anndata
    except ImportError:
        raise MissingError(
            "AnnData (.h5ad) needs the package anndata; install dnagoat[anndata] (`pip install 'dnagoat[anndata]'`), "
            "or write .parquet or .npy"
        ) from None
    return anndata


def write_embeddings(out: Path, found: Iterable[Embedding], width: int, about: Mapping[str, str]) -> list[Path]:
    """Writes what `found` yields, in its order; `about` says whose vectors they are. Returns the files.

    Parquet has a column `embedding` of `width` float32, null where no base is known; .npy is (rows, width) with NaN
    there, and a table of the same rows beside it; AnnData has X and obs. A stream gets Parquet.
    """
    files = files_of(out)
    if out.suffix == ".npy" and not is_passage(out):
        with written_whole(out) as aside, aside.open("w+b") as vectors:
            write_rows(files[1], COLUMNS, _shed(found, vectors, width))
    elif out.suffix == ".h5ad" and not is_passage(out):
        _write_anndata(out, found, width, about)
    else:
        _write_parquet(out, found, width, about)
    return [file for file in files if not is_passage(file)]


def cells(one: Embedding) -> tuple[Cell, ...]:
    """The cells of `COLUMNS`; coordinates are 0-based and half-open."""
    return (*one.text.row, one.text.length, one.known, one.gc / one.known if one.known else None)


def _shed(found: Iterable[Embedding], vectors: BinaryIO, width: int) -> Iterator[tuple[Cell, ...]]:
    """The rows of embeddings, whose vectors go to an .npy file; its header is set right at the end."""
    _write_header(vectors, 0, width)
    count = 0
    for one in found:
        count += 1
        vectors.write(one.vector.astype("<f4").tobytes())
        yield cells(one)
    vectors.seek(0)
    _write_header(vectors, count, width)  # as long as the first: NumPy pads it for any number of rows
    vectors.flush()


def _write_header(vectors: BinaryIO, count: int, width: int) -> None:
    np.lib.format.write_array_header_1_0(vectors, {"descr": "<f4", "fortran_order": False, "shape": (count, width)})


def _write_parquet(out: Path, found: Iterable[Embedding], width: int, about: Mapping[str, str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    vector = pa.list_(pa.float32(), width)
    fields = [pa.field(name, kinds[kind]) for name, kind in COLUMNS.items()]
    schema = pa.schema([*fields, pa.field(VECTOR, vector)], metadata={"dnagoat": json.dumps(dict(about))})
    rest = iter(found)
    with written_whole(out) as aside, aside.open("wb") as handle, pq.ParquetWriter(handle, schema) as writer:
        while chunk := list(islice(rest, CHUNK)):
            columns = zip(*map(cells, chunk), strict=True)
            arrays = [pa.array(column, type=field.type) for column, field in zip(columns, fields, strict=True)]
            values = pa.array(np.concatenate([one.vector for one in chunk]))
            unknown = pa.array([not one.known for one in chunk])
            arrays.append(pa.FixedSizeListArray.from_arrays(values, type=vector, mask=unknown))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _write_anndata(out: Path, found: Iterable[Embedding], width: int, about: Mapping[str, str]) -> None:
    import pandas as pd

    anndata = load_anndata()
    with written_whole(out) as aside, tempfile.TemporaryDirectory(prefix="dnagoat-", dir=aside.parent) as folder:
        file = Path(folder) / "x.npy"
        with file.open("w+b") as vectors:
            rows = list(_shed(found, vectors, width))
        obs = pd.DataFrame(rows, columns=list(COLUMNS), index=_names("row", len(rows)))
        obs = obs.astype({name: object for name, kind in COLUMNS.items() if kind is str})
        var = pd.DataFrame(index=_names(VECTOR, width))
        told = {key: as_utf8(value) for key, value in about.items()}
        data = anndata.AnnData(X=_mapped(file), obs=obs, var=var, uns={"dnagoat": told})
        data.write_h5ad(aside)


def _names(what: str, count: int) -> Any:
    """Labels as objects: anndata writes no strings of Arrow, which pandas 3 makes of them."""
    import pandas as pd

    return pd.Index([f"{what}_{number}" for number in range(count)], dtype=object)


def _mapped(file: Path) -> NDArray[np.float32]:
    """An .npy file as it lies on disk; one without rows cannot be mapped."""
    try:
        return np.asarray(np.load(file, mmap_mode="r"))
    except ValueError:
        return np.asarray(np.load(file))
