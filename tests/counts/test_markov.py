"""Counts and probabilities of Markov chains against plain loops, a chain of known entropy, and a published check."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from dnagoat.counts import markov
from dnagoat.counts.kmers import kmer_codes
from dnagoat.counts.markov import backed_off, count, interpolated
from dnagoat.genome.alphabet import Codes, decode, encode, reverse_complement


def random_codes(length: int, seed: int, n: float = 0.02) -> Codes:
    p = [(1 - n) * 0.3, (1 - n) * 0.2, (1 - n) * 0.2, (1 - n) * 0.3, n]
    return np.random.default_rng(seed).choice(5, length, p=p).astype(np.uint8)


def plain_count(stretches: list[Codes], word: str) -> int:
    strands = [decode(strand) for codes in stretches for strand in (codes, reverse_complement(codes))]
    return sum(s.startswith(word, i) for s in strands for i in range(len(s)))


@pytest.mark.parametrize("chunk", [markov.CHUNK, 7])
def test_counts_are_those_of_both_strands(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markov, "CHUNK", chunk)
    stretches = [random_codes(150, 1), random_codes(80, 2, n=0), encode("A"), encode("NNNN"), encode("GN")]
    tables = count(stretches, order=3)
    assert tables.bases == sum(int((codes < 4).sum()) for codes in stretches)
    for k in range(4):
        for kmer in range(4 ** (k + 1)):
            word = "".join("ACGT"[(kmer >> 2 * place) & 3] for place in range(k, -1, -1))
            assert tables.tables[k][kmer] == plain_count(stretches, word), word


def test_interpolation_as_written_down() -> None:
    tables = count([random_codes(500, 3)], order=2)
    codes = random_codes(40, 4)[None]
    text = decode(codes[0])
    for k, chances in enumerate(interpolated(tables, codes, pseudo=20)):
        for i, base in enumerate(text):
            if base == "N":
                assert np.isnan(chances[0, i])
                continue
            expected = 0.25
            for order in range(k + 1):
                context = text[i - order : i]
                if order > i or "N" in context:
                    break
                seen = [int(tables.tables[order][kmer_codes(encode(context + b), order + 1)[0][0]]) for b in "ACGT"]
                expected = (seen["ACGT".index(base)] + 20 * expected) / (sum(seen) + 20)
            assert chances[0, i] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scheme", [interpolated, backed_off])
def test_chances_of_the_four_bases_sum_to_one(scheme: markov.Scheme) -> None:
    tables = count([random_codes(3_000, 5)], order=4)
    before = random_codes(30, 6)
    codes = np.stack([np.append(before, base) for base in range(4)]).astype(np.uint8)
    for chances in scheme(tables, codes):
        assert chances[:, -1].sum() == pytest.approx(1, abs=1e-12)


def test_backing_off_takes_the_longest_context_seen_often() -> None:
    tables = count([encode("ACACACACAC" * 10 + "GT")], order=2)
    codes = encode("ACA")[None]
    zero, one, two = backed_off(tables, codes, often=20)
    assert two[0, 0] == zero[0, 0]
    assert two[0, 1] == one[0, 1]
    seen, context = tables.look_up(2, np.array([kmer_codes(codes[0], 3)[0][0]]))
    assert two[0, 2] == pytest.approx((seen[0] + 0.5) / (context[0] + 2))
    assert list(backed_off(tables, encode("GTA")[None], often=20))[2][0, 2] < 0.5  # GT is rare: its order 1 decides


def test_windows_shorter_than_the_order() -> None:
    tables = count([random_codes(500, 7)], order=5)
    levels = list(interpolated(tables, encode("AC")[None]))
    assert len(levels) == 6
    assert np.array_equal(levels[1], levels[5])


def test_recovers_the_entropy_of_a_planted_chain() -> None:
    """Order 2, self reverse-complementary on average: order 2 reaches the entropy rate, order 0 stays near ln 4."""
    rng = np.random.default_rng(8)
    table = rng.dirichlet([0.5] * 4, 16)
    draws, codes = rng.random(60_000), np.zeros(60_000, dtype=np.uint8)
    for i in range(2, len(codes)):
        codes[i] = np.searchsorted(np.cumsum(table[4 * codes[i - 2] + codes[i - 1]])[:-1], draws[i])
    # Its other strand is another chain; trained on one strand's counts alone the rate must be met.
    one_strand = markov.MarkovTables(
        tuple(np.bincount(kmer_codes(codes[:50_000], k + 1)[0], minlength=4 ** (k + 1)) for k in range(4)),
        50_000,
    )
    contexts = np.bincount(4 * codes[:-1].astype(int) + codes[1:], minlength=16) / (len(codes) - 1)
    rate = -(contexts[:, None] * table * np.log(table)).sum()
    means = [float(-np.log(chances[0, 3:]).mean()) for chances in interpolated(one_strand, codes[None, 50_000:])]
    assert means[2] == pytest.approx(rate, abs=0.02)
    assert means[1] > means[2] + 0.05
    assert means[3] == pytest.approx(rate, abs=0.02)


@pytest.mark.slow
def test_human_check_values(shared: Path) -> None:
    """Chromosome 20 counted, 256 windows of chromosome 21 scored: nats of orders 0 to 12 as measured independently."""
    expected = [1.372, 1.344, 1.335, 1.332, 1.327, 1.322, 1.313, 1.302, 1.286, 1.273, 1.260, 1.254, 1.255]
    tables = count([chromosome(shared / "data" / "human_GRCh37_chr20.fa.gz")])
    codes = chromosome(shared / "data" / "human_hg19_chr21_softmasked.fa.gz")
    rng = np.random.default_rng(7)
    starts: list[int] = []
    while len(starts) < 256:
        start = int(rng.integers(9_500_000, len(codes) - 9000))
        if np.mean(codes[start : start + 8193] == 4) < 0.01:
            starts.append(start)
    windows = np.stack([codes[start : start + 513] for start in starts])
    measured = [float(-np.nanmean(np.log(p[:, k:]))) for k, p in enumerate(interpolated(tables, windows))]
    assert measured == pytest.approx(expected, abs=0.002)


def chromosome(path: Path) -> Codes:
    text = gzip.decompress(path.read_bytes())
    return encode(text[text.index(b"\n") :].replace(b"\n", b""))
