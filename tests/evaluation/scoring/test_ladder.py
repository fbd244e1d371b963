"""The baselines beyond plain chains: hashed order, repeats on both strands, mixtures that stay distributions."""

import numpy as np
import pytest

from dnagoat.counts import hashed, repeats
from dnagoat.counts.hashed import count_hashed, lengthened
from dnagoat.counts.kmers import kmer_codes, reverse_complements
from dnagoat.counts.markov import CHUNK, count, interpolated
from dnagoat.counts.mixture import copied, mixed
from dnagoat.evaluation.scoring.ladder import Rung, ladder_sums
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.pieces import sliding, stretches
from dnagoat.genome.alphabet import Codes, decode, encode, reverse_complement
from dnagoat.genome.dataset import Dataset


def random_codes(length: int, seed: int, n: float = 0.0) -> Codes:
    return np.random.default_rng(seed).choice(5, length, p=[*4 * [(1 - n) / 4], n]).astype(np.uint8)


def test_a_hashed_order_without_collisions_is_the_plain_one() -> None:
    stretches = [random_codes(3_000, 1, n=0.01), random_codes(500, 2)]
    plain = list(interpolated(count(stretches, order=4), windows := random_codes(300, 3, n=0.02).reshape(3, 100)))
    counts = count_hashed(stretches, bases=3_500, order=4)
    assert len(np.unique(counts.places(np.arange(4**4))[0])) == 4**4
    np.testing.assert_allclose(lengthened(counts, windows, plain[3]), plain[4], rtol=1e-12)


def test_of_contexts_that_share_a_slot_the_first_keeps_it_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,024 contexts for 64 slots: a context has all of its own counts where it came first, and none elsewhere."""
    monkeypatch.setattr(hashed, "FEWEST_BITS", 6)
    monkeypatch.setattr(hashed, "MOST_BITS", 6)
    codes, order = random_codes(4_000, 11, n=0.01), 5
    counts = count_hashed([codes], bases=4_000, order=order)
    plain = count([codes], order=order).tables[order].reshape(-1, 4)
    contexts = np.arange(4**order)
    slots, tags = counts.places(contexts)
    assert len(set(zip(slots, tags, strict=True))) == len(contexts), "the tag tells them all apart"
    kmers, known = kmer_codes(codes, order + 1)
    came = [
        strand[i] >> 2
        for strand in (kmers[known], reverse_complements(kmers[known], order + 1))
        for i in range(len(strand))
    ]
    first: dict[int, int] = {}
    for context in came:
        first.setdefault(int(slots[context]), int(context))
    owners = np.isin(contexts, list(first.values()))
    seen = counts.seen(contexts << 2)
    assert owners.sum() == 64
    assert np.array_equal(seen[owners], plain[owners])
    assert not seen[~owners].any()
    assert plain[~owners].sum() > 5_000


def test_a_context_without_a_slot_is_left_to_the_lower_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashed, "FEWEST_BITS", 1)
    monkeypatch.setattr(hashed, "MOST_BITS", 1)
    counts = count_hashed([random_codes(500, 12)], bases=500, order=4)
    windows = random_codes(300, 13).reshape(3, 100)
    lower = np.full(windows.shape, 0.25)
    changed = lengthened(counts, windows, lower) != lower
    owned = counts.seen(kmer_codes(windows, 5)[0]).any(axis=-1)
    assert 0 < owned.sum() < 20
    assert not changed[:, 4:][~owned].any()


@pytest.mark.parametrize(("bits", "crowded"), [(16, False), (13, False), (10, True), (6, True)])
def test_the_load_of_a_table_is_that_of_all_its_contexts(
    bits: int, crowded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hashed, "FEWEST_BITS", bits)
    monkeypatch.setattr(hashed, "MOST_BITS", bits)
    codes = random_codes(4_000, 14)
    counts = count_hashed([codes], bases=4_000)
    assert counts.tags.nbytes + counts.table.nbytes == 17 << bits
    assert (counts.load > hashed.CROWDED) == crowded
    if bits > 10:  # enough slots are free to tell
        assert counts.load == pytest.approx(2 * (4_000 - 16) / 2**bits, rel=0.05)


def plainly(text: str, before: str, seed: int) -> str:
    """What followed the last occurrence of `before` (either strand) in `text`, by search; N: nothing did."""
    other = decode(reverse_complement(encode(before)))
    found = {}
    for start in range(len(text) - seed + 1):
        word = text[start : start + seed]
        end = start + seed
        if word == before and end < len(text) and text[end] != "N":
            found[("ahead", start)] = text[end]
        if word == other and start > 0 and text[start - 1] != "N":
            found[("behind", start)] = decode(reverse_complement(encode(text[start - 1])))
    if not found:
        return "N"
    last = max(start for _, start in found)
    return found.get(("ahead", last)) or found[("behind", last)]


@pytest.fixture
def short_seed(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(repeats, "WORD", 5)
    return 5


def test_repeats_of_the_context_as_found_by_search(short_seed: int) -> None:
    codes = random_codes(1_600, 4, n=0.005).reshape(4, 400)
    codes[0, 300:340] = reverse_complement(codes[0, 100:140])
    predicted = repeats.from_context(codes)
    assert (predicted < 4).mean() > 0.1
    for row, windows in zip(predicted, codes, strict=True):
        text = decode(windows)
        for i in range(len(text)):
            before = text[i - short_seed : i] if i >= short_seed else "N"
            expected = "N" if "N" in before else plainly(text[:i], before, short_seed)
            assert decode(row[i : i + 1]) == expected, (i, before)


@pytest.mark.parametrize("chunk", [CHUNK, 50])
def test_repeats_of_the_training_split_as_found_by_search(
    short_seed: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats, "CHUNK", chunk)
    train = random_codes(1_000, 5, n=0.01)
    codes = random_codes(300, 6, n=0.01).reshape(2, 150)
    predicted = repeats.occurrences([train], repeats.asked_for([codes])).predict(codes)
    assert (predicted < 4).mean() > 0.3
    for row, windows in zip(predicted, codes, strict=True):
        text = decode(windows)
        for i in range(len(text)):
            before = text[i - short_seed : i] if i >= short_seed else "N"
            expected = "N" if "N" in before else plainly(decode(train), before, short_seed)
            assert decode(row[i : i + 1]) == expected


def test_the_later_of_two_stretches_wins() -> None:
    seed = encode("ACGTTGCATTAGCCATGATC")
    first, second = np.append(seed, 0).astype(np.uint8), np.append(seed, 2).astype(np.uint8)
    window = np.append(seed, 3)[None].astype(np.uint8)
    kmers = repeats.asked_for([window])
    assert repeats.occurrences([first, second], kmers).predict(window)[0, -1] == 2
    assert repeats.occurrences([second, first], kmers).predict(window)[0, -1] == 0


def test_mixtures_are_distributions_and_know_nothing_of_the_base_itself() -> None:
    """With all four last bases tried, the chances of a mixture of distributions sum to one."""
    rng = np.random.default_rng(7)
    past = rng.uniform(0.1, 0.6, (3, 1, 20))
    options = rng.dirichlet([1, 1, 1, 1], 3)  # three predictors' distributions of the last base
    total = 0.0
    codes = np.append(random_codes(20, 8), 0)[None].astype(np.uint8)
    predicted = np.where(rng.random((1, 21)) < 0.5, random_codes(21, 9)[None], 4).astype(np.uint8)
    predicted[0, -1] = 2
    for base in range(4):
        chances = np.concatenate([past, options[:, None, None, base]], axis=-1)
        codes[0, -1] = base
        total += copied(mixed(chances), codes, predicted)[0, -1]
    assert total == pytest.approx(1, abs=1e-12)


def test_a_mixture_follows_whoever_has_been_right() -> None:
    good, bad = np.full((1, 200), 0.9), np.full((1, 200), 0.25)
    blend = mixed(np.stack([bad, good, bad]))
    assert blend[0, 0] == pytest.approx((0.9 + 0.25 + 0.25) / 3)
    assert blend[0, -1] > 0.89


def test_an_exact_repeat_costs_next_to_nothing() -> None:
    unit = random_codes(300, 10)
    codes = np.concatenate([unit, unit, reverse_complement(unit)])[None]
    chances = copied(np.full(codes.shape, 0.25), codes, repeats.from_context(codes))
    assert -np.log(chances[0, 330:600]).mean() < 0.05
    assert -np.log(chances[0, 630:]).mean() < 0.05
    assert -np.log(chances[0, :300]).mean() == pytest.approx(np.log(4))


def test_ladder_scores_the_model_s_bases_alone(dataset: Dataset) -> None:
    """Bases that the model was not scored on cost nothing in any rung; order 0 is known for random bases."""
    pieces = sliding(stretches(dataset, "test"), 64, 16)
    codes = dataset.tokens[pieces.positions()] & 7
    losses = np.where((codes < 4) & (np.arange(len(codes)) % 2 == 0), 1.0, np.nan).astype(np.float32)
    sums = ladder_sums(dataset, Scores(pieces, losses, losses > 0))
    counted = np.bincount(codes[~np.isnan(losses)], minlength=4)
    tables = count([dataset.codes(0, 19_968)], order=0)
    seen = tables.tables[0]
    expected = -(counted * np.log((seen + 5) / (seen.sum() + 20))).sum()
    assert sums[Rung("markov", 0)].sum() == pytest.approx(expected, rel=1e-6)
    assert list(sums)[-4:] == [Rung("backoff", 12), Rung("hashed", 16), Rung("mix"), Rung("repeats")]


def test_runs_that_are_scored_on_the_same_bases_share_the_answer(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = sliding(stretches(dataset, "test"), 64, 64)
    losses = np.where(dataset.tokens[pieces.positions()] & 7 < 4, 1.0, np.nan).astype(np.float32)
    first = ladder_sums(dataset, Scores(pieces, losses, losses > 0))
    fewer = losses.copy()
    fewer[:40] = np.nan
    other = ladder_sums(dataset, Scores(pieces, fewer, losses > 0))
    assert other[Rung("markov", 0)].sum() < first[Rung("markov", 0)].sum()
    monkeypatch.setattr("dnagoat.evaluation.scoring.ladder._computed", None)
    assert ladder_sums(dataset, Scores(pieces, 2 * losses, losses > 2)) is first
