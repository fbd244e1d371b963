"""A genome that has something to remember: families of copies that differ in a tenth of their bases, and N between."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare

WINDOW = 128


def repetitive(length: int, seed: int, n_share: float = 0.02) -> np.ndarray:
    """Letters (length,): mutated copies of three families on either strand, random bases and patches of N."""
    dice = np.random.default_rng(seed)
    families = [np.random.default_rng(100 + i).integers(0, 4, 150) for i in range(3)]
    parts, total = [], 0
    while total < length:
        part = families[dice.integers(3)].copy() if dice.random() < 0.7 else dice.integers(0, 4, 60)
        hit = dice.random(len(part)) < 0.1
        part[hit] = dice.integers(0, 4, hit.sum())
        if dice.random() < 0.5:
            part = 3 - part[::-1]
        parts.append(part)
        total += len(part)
    letters = np.array(list("ACGT"))[np.concatenate(parts)[:length]]
    for start in dice.integers(0, length, int(length * n_share / 5)):
        letters[start : start + 5] = "N"
    return letters


def dataset_of(folder: Path, contigs: dict[str, np.ndarray], window: int = WINDOW) -> Dataset:
    """Contigs by name; `val` and `test` are held out."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f">{name}\n{''.join(bases)}\n" for name, bases in contigs.items())
    (folder / "genome.fa").write_text(text)
    return prepare(folder / "genome.fa", folder / "data", PrepareOptions(window=window, val=("val",), test=("test",)))
