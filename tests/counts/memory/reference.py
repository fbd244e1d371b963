"""Memory in plain Python, written from its definition: dictionaries over all places, and every copy by hand."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

BEFORE, AFTER = 32, 16
ORDERS = {2: 20, 3: 20, 4: 20, 6: 20, 8: 20, 9: 20, 10: 16, 11: 8, 12: 4, 14: 2, 16: 1, 20: 0.5, 24: 0.5}
GAPPED = [(16, 1), (16, 2), (16, 4), (16, 8), (16, 16), (12, 1), (12, 4), (12, 12), (24, 8)]
EXPERTS = [(k, 0) for k in ORDERS] + GAPPED


def strands(stretches: list[np.ndarray]) -> list[list[int]]:
    """Each stretch and its other strand."""
    other = [[3 - c if c < 4 else 4 for c in reversed(stretch.tolist())] for stretch in stretches]
    return [stretch.tolist() for stretch in stretches] + other


Counts = dict[tuple[int, int], dict[tuple[int, ...], list[int]]]


def counted(stretches: list[np.ndarray]) -> Counts:
    """For each expert: what followed each word, over all places whose surroundings are known."""
    counts: Counts = {expert: defaultdict(lambda: [0, 0, 0, 0]) for expert in EXPERTS}
    for text in strands(stretches):
        for p in range(BEFORE, len(text) - AFTER):
            if max(text[p - BEFORE : p + AFTER + 1]) > 3:
                continue
            for k, gap in EXPERTS:
                if k <= 8:
                    counts[k, gap][tuple(text[p - k - 1 : p - 1])][text[p - 1]] += 1
                else:
                    counts[k, gap][tuple(text[p - k : p])][text[p + gap]] += 1
    return counts


def said(counts: Counts, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nats above a guess (T, E, 4) and log(1 + n) (T, E) before each of codes (T,), from those before it."""
    read = codes.tolist()
    says, seen = np.zeros((len(read), len(EXPERTS), 4)), np.zeros((len(read), len(EXPERTS)))
    for t in range(len(read)):
        chances: list[list[float]] = []
        for e, (k, gap) in enumerate(EXPERTS):
            lower = ([0.25] * 4 if e == 0 else chances[e - 1]) if gap == 0 else chances[list(ORDERS).index(8)]
            alpha = ORDERS[k] if gap == 0 else 1
            before = read[t - k - gap : t] if t >= k + gap else [4]
            found = counts[k, gap].get(tuple(before[:k]), [0] * 4) if max(before) < 4 else [0] * 4
            chances.append([(found[b] + alpha * lower[b]) / (sum(found) + alpha) for b in range(4)])
            seen[t, e] = math.log(1 + sum(found))
        says[t] = np.log(chances) - math.log(0.25)
    return says, seen
