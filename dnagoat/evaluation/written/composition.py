"""What DNA is made of: GC along it, k-mers, CpG, dinucleotides, homopolymers and the symmetry of its strands.

Sequences are rows of codes (N, L); nothing is counted across the end of a row, and whatever touches an N is left out.
"""

# N sequences, L bases each, W windows, k bases of a word

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import jensenshannon

from dnagoat.counts.kmers import kmer_codes
from dnagoat.genome.alphabet import BASES, A, C, Codes, G, N, T, reverse_complement

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LONGEST_RUN = 20  # homopolymers of this length and longer share one entry of the table


def gc_fraction(codes: Codes) -> Floats:
    """The share of G and C among the known bases of the last axis, NaN where none is known."""
    known = (codes < N).sum(axis=-1)
    gc = ((codes == G) | (codes == C)).sum(axis=-1)
    fraction: Floats = np.divide(gc, known, out=np.full(np.shape(gc), np.nan), where=known > 0)
    return fraction


def sliding_gc(codes: Codes, window: int, stride: int) -> Floats:
    """GC fraction (..., W) of the whole windows at 0, stride, 2 stride, ... of codes (..., L)."""
    return gc_fraction(np.lib.stride_tricks.sliding_window_view(codes, window, axis=-1)[..., ::stride, :])


def kmer_counts(codes: Codes, k: int) -> Counts:
    """How often each of the 4**k words occurs in the rows of codes."""
    if codes.shape[-1] < k:
        return np.zeros(4**k, np.int64)
    words, known = kmer_codes(codes, k)
    return np.bincount(words[known], minlength=4**k).astype(np.int64)


def divergence(counts: Counts, other: Counts) -> float | None:
    """Jensen-Shannon divergence in bits (0 the same, 1 disjoint) of two spectra; None where one is empty."""
    if not counts.sum() or not other.sum():
        return None
    return float(jensenshannon(counts, other, base=2) ** 2)


def cpg_ratio(codes: Codes) -> float | None:
    """CpG observed over expected: n(CG) * n(bases) / (n(C) * n(G)) (Gardiner-Garden & Frommer 1987)."""
    single, pair = kmer_counts(codes, 1), kmer_counts(codes, 2)
    expected = int(single[C]) * int(single[G])
    return float(pair[4 * C + G] * int(single.sum()) / expected) if expected else None


def dinucleotides(codes: Codes) -> dict[str, dict[str, float | None]]:
    """Each dinucleotide's frequency and its odds ratio rho = f(xy) / (f(x) f(y)) (Burge et al. 1992)."""
    single, pair = kmer_counts(codes, 1), kmer_counts(codes, 2)
    f1, f2 = single / max(single.sum(), 1), pair / max(pair.sum(), 1)
    return {
        BASES[x] + BASES[y]: {
            "frequency": float(f2[4 * x + y]),
            "rho": float(f2[4 * x + y] / (f1[x] * f1[y])) if f1[x] * f1[y] else None,
        }
        for x in range(4)
        for y in range(4)
    }


def homopolymers(codes: Codes) -> dict[str, list[int]]:
    """How many runs of A or T and of C or G have length 1, 2, ... `LONGEST_RUN` and longer."""
    padded = np.pad(np.atleast_2d(codes), ((0, 0), (1, 1)), constant_values=255).ravel()
    starts = np.flatnonzero(np.diff(padded, prepend=padded[:1]) != 0)
    lengths = np.diff(starts, append=len(padded)).clip(max=LONGEST_RUN)
    letters = padded[starts]
    return {
        name: np.bincount(lengths[np.isin(letters, bases)], minlength=LONGEST_RUN + 1)[1:].tolist()
        for name, bases in (("AT", (A, T)), ("CG", (C, G)))
    }


def strand_symmetry(codes: Codes, k: int = 3) -> dict[str, float | None]:
    """How far from Chargaff's second rule: skews of A/T and G/C, and how far k-mers are from their complements."""
    single = kmer_counts(codes, 1)
    return {
        "at_skew": _skew(int(single[A]), int(single[T])),
        "gc_skew": _skew(int(single[G]), int(single[C])),
        "kmer_jsd": divergence(kmer_counts(codes, k), kmer_counts(reverse_complement(codes), k)),
    }


def _skew(one: int, other: int) -> float | None:
    return (one - other) / (one + other) if one + other else None


def profile(codes: Codes) -> dict[str, Any]:
    """Everything about the composition of a set of sequences (N, L) that is a number or a small table."""
    return {
        "sequences": int(codes.shape[0]),
        "bases": int(codes.size),
        "gc": float(gc_fraction(codes.ravel())) if (codes < N).any() else None,
        "cpg_ratio": cpg_ratio(codes),
        "strand_symmetry": strand_symmetry(codes),
        "homopolymers": homopolymers(codes),
        "dinucleotides": dinucleotides(codes),
    }
