"""The first two principal components of vectors that lie on disk, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.outputs.embeddings.vectors import Embedding

# n vectors of width D

_AT_ONCE = 1 << 14  # vectors that are read at once


class Components(NamedTuple):
    """Places (n, 2) on the first two components, NaN of an unknown vector, and the shares of variance (2,) there."""

    places: NDArray[np.float64]
    shares: NDArray[np.float64]


class Kept:
    """Vectors and the share of G and C of each, kept in a file as they pass by."""

    def __init__(self, file: Path, width: int) -> None:
        self._file, self._width = file, width
        self.gc: list[float] = []

    def passing(self, found: Iterable[Embedding]) -> Iterator[Embedding]:
        with self._file.open("wb") as out:
            for one in found:
                out.write(one.vector.astype("<f4").tobytes())
                self.gc.append(one.gc / one.known if one.known else float("nan"))
                yield one

    def vectors(self) -> NDArray[np.float32]:
        """All of them, (n, D), as they lie on disk."""
        if not self.gc:
            return np.zeros((0, self._width), dtype=np.float32)
        return np.memmap(self._file, dtype="<f4", mode="r", shape=(len(self.gc), self._width))


def principal_components(vectors: NDArray[np.float32]) -> Components:
    """Of centred vectors (n, D), not scaled; the largest loading of each component is positive."""
    width = vectors.shape[1]
    total, products, count = np.zeros(width), np.zeros((width, width)), 0
    for chunk in _chunks(vectors):
        total, count = total + chunk.sum(0), count + len(chunk)
    mean = total / max(count, 1)
    for chunk in _chunks(vectors):
        products += (chunk - mean).T @ (chunk - mean)
    values, axes = np.linalg.eigh(products)
    axes = axes[:, ::-1][:, :2]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])])
    places = [(np.asarray(vectors[at : at + _AT_ONCE], dtype=np.float64) - mean) @ axes for at in _starts(vectors)]
    shares = np.maximum(values[::-1][:2], 0) / max(float(values.sum()), np.finfo(float).tiny)
    return Components(np.concatenate([np.zeros((0, axes.shape[1])), *places]), shares)


def _starts(vectors: NDArray[np.float32]) -> range:
    return range(0, len(vectors), _AT_ONCE)


def _chunks(vectors: NDArray[np.float32]) -> Iterator[NDArray[np.float64]]:
    """The known vectors, a chunk at a time."""
    for at in _starts(vectors):
        chunk = np.asarray(vectors[at : at + _AT_ONCE], dtype=np.float64)
        yield chunk[np.isfinite(chunk).all(1)]
