"""What does a dataset look like: where its splits lie, and how GC, N and soft-masking are spread over its windows?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dnagoat.genome.dataset import Contig, Dataset
from dnagoat.genome.windows import SPLITS, Split

MEASURES: Final = {"gc": "GC", "n_fraction": "N", "masked_fraction": "soft-masked"}


def histograms(dataset: Dataset, bins: int = 40) -> dict[str, dict[Split, dict[str, Any]]]:
    """For each measure and split: counts of windows in equal bins from 0 to 1, and the mean; None without windows."""
    result: dict[str, dict[Split, dict[str, Any]]] = {}
    for measure in MEASURES:
        result[measure] = {}
        for split in SPLITS:
            values = dataset.windows_of(split)[measure].to_numpy(dtype=np.float64)
            counts, _ = np.histogram(values, bins=bins, range=(0, 1))
            mean = float(values.mean()) if len(values) else None
            result[measure][split] = {"counts": counts.tolist(), "mean": mean}
    return result


def map_cells(contig: Contig, cells: int, longest: int) -> list[Split | None]:
    """A contig as a bar: which split most of each cell belongs to (None: guard gap), `cells` for the longest contig."""
    width = max(1, round(cells * contig.length / max(longest, 1))) if contig.length else 0
    bar: list[Split | None] = []
    for cell in range(width):
        first, last = contig.length * cell / width, contig.length * (cell + 1) / width
        shares: dict[Split | None, float] = dict.fromkeys((*SPLITS, None), 0.0)
        for start, end, split in contig.spans:
            shares[split] += max(0.0, min(end, last) - max(start, first))
        shares[None] = last - first - sum(shares.values())
        bar.append(max(shares, key=lambda split: shares[split]))
    return bar
