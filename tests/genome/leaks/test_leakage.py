"""Near-copies that were planted are found, on either strand, and none is found where none was planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnagoat.errors import DatasetError
from dnagoat.files import read_json
from dnagoat.genome.alphabet import decode, encode, reverse_complement
from dnagoat.genome.leaks import near_copies
from dnagoat.genome.leaks.leakage import leakage
from dnagoat.genome.leaks.sampled_words import K, sampled_kmers
from tests.genome.conftest import Prepared
from tests.genome.small import random_bases

WINDOW = 512


def mutated(bases: str, rate: float, seed: int) -> str:
    rng = np.random.default_rng(seed)
    codes = encode(bases).copy()
    hit = rng.random(len(codes)) < rate
    codes[hit] = (codes[hit] + rng.integers(1, 4, hit.sum(), dtype=np.uint8)) % 4
    return decode(codes)


def other_strand(bases: str) -> str:
    return decode(reverse_complement(encode(bases)))


@given(st.text("ACGTNacgt", max_size=150))
def test_kmers_are_exact_and_strand_neutral(bases: str) -> None:
    tokens = encode(bases) | np.array([8 * base.islower() for base in bases], dtype=np.uint8)
    kmers = sampled_kmers(tokens, one_in=1)
    upper = bases.upper()
    whole = [start for start in range(len(bases) - K + 1) if "N" not in upper[start : start + K]]
    assert kmers.starts.tolist() == whole
    assert kmers.unique.tolist() == [bases[start : start + K].isupper() for start in whole]
    canonical = [min(upper[start : start + K], other_strand(upper[start : start + K])) for start in whole]
    assert kmers.forward.tolist() == [upper[s : s + K] == c for s, c in zip(whole, canonical, strict=True)]
    # Equal numbers are equal k-mers, on either strand.
    names = dict(zip(kmers.values.tolist(), canonical, strict=True))
    assert len(names) == len(set(canonical))
    assert [names[value] for value in kmers.values.tolist()] == canonical
    mirrored = sampled_kmers(encode(other_strand(upper)), one_in=1)
    assert sorted(mirrored.values.tolist()) == sorted(kmers.values.tolist())


def test_a_sample_is_a_fixed_part_whatever_stands_around() -> None:
    bases = random_bases(40_000)
    all_of_it = sampled_kmers(encode(bases), one_in=16)
    assert len(all_of_it.values) == pytest.approx(40_000 / 16, rel=0.1)
    part = sampled_kmers(encode(bases[10_000:20_000]), one_in=16)
    inside = all_of_it.where((all_of_it.starts >= 10_000) & (all_of_it.starts <= 20_000 - K))
    assert part.values.tolist() == inside.values.tolist()


@pytest.fixture
def planted(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Of 40 test windows: 4 copied as they are, 4 on the other strand, 4 at 99.5 %, 4 at 80 % identity."""
    monkeypatch.setattr(near_copies, "_CHUNK", 1000)
    test = random_bases(40 * WINDOW, 1)
    train = random_bases(400_000, 2)

    def plant(train: str, at: int, first: int, change: Any) -> str:
        piece = change(test[first * WINDOW : (first + 4) * WINDOW])
        return train[:at] + piece + train[at + len(piece) :]

    train = plant(train, 50_000, 0, lambda piece: piece)
    train = plant(train, 100_777, 10, other_strand)
    train = plant(train, 200_000, 20, lambda piece: mutated(piece, 0.005, 3))
    train = plant(train, 300_000, 30, lambda piece: mutated(piece, 0.2, 4))
    dataset = prepared({"train": train, "test": test}, window=WINDOW, test=("test",))
    return leakage(dataset)


def test_the_share_of_near_copies_is_the_planted_one(planted: dict[str, Any]) -> None:
    shares = planted["splits"]["test"]["overall"]
    assert (shares["windows"], shares["judged"]) == (40, 40)
    assert shares["near"] == 12 / 40
    assert shares["same"] == pytest.approx(8 / 40)
    assert 12 / 40 <= shares["any"] <= 16 / 40
    assert planted["splits"]["val"]["overall"] == {
        "windows": 0,
        "judged": 0,
        "any": None,
        "near": None,
        "same": None,
        "shared": None,
    }


def test_the_worst_pairs_say_where(planted: dict[str, Any]) -> None:
    found = {pair["start"] // WINDOW: pair for pair in planted["pairs"]}
    for window, pair in found.items():
        assert (pair["contig"], pair["train_contig"]) == ("test", "train")
        assert pair["strand"] == ("-" if 10 <= window < 14 else "+")
        if window < 4:
            planted_at = 50_000 + window * WINDOW
            assert pair["shared"] == 1.0
        elif window < 14:
            planted_at = 100_777 + (13 - window) * WINDOW
        else:
            planted_at = 200_000 + (window - 20) * WINDOW
        # A sampled 32-mer need not stand at the very edge.
        assert planted_at <= pair["train_start"] < planted_at + WINDOW // 2
        assert planted_at + WINDOW // 2 < pair["train_end"] <= planted_at + WINDOW
    assert {window // 10 for window in found} == {0, 1, 2}


def test_nothing_is_found_where_nothing_was_planted(prepared: Prepared) -> None:
    records = {"train": random_bases(200_000, 5), "val": random_bases(20_000, 6), "test": random_bases(20_000, 7)}
    report = leakage(prepared(records, window=WINDOW, val=("val",), test=("test",)))
    for split in ("val", "test"):
        overall = report["splits"][split]["overall"]
        assert (overall["any"], overall["near"], overall["same"], overall["shared"]) == (0, 0, 0, 0)
    assert report["pairs"] == []


def test_repeats_are_told_apart_by_their_mask(prepared: Prepared) -> None:
    repeat, own = random_bases(2 * WINDOW, 8), random_bases(2 * WINDOW, 9)
    records = {"train": random_bases(9999, 10) + repeat, "test": repeat.lower() + own}
    report = leakage(prepared(records, window=WINDOW, test=("test",)))
    shares = report["splits"]["test"]
    assert (shares["overall"]["judged"], shares["overall"]["near"]) == (4, 0.5)
    assert (shares["outside_repeats"]["judged"], shares["outside_repeats"]["near"]) == (2, 0.0)


def test_the_report_is_kept_until_the_content_changes(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = prepared({"a": random_bases(5000)}, window=100, split="blocks")
    report = leakage(dataset)
    assert read_json(dataset.path / "leakage.json") == report
    assert report["dataset_hash"] == dataset.content_hash
    kept = {**report, "pairs": ["kept"]}
    monkeypatch.setattr("dnagoat.genome.leaks.leakage.read_json", lambda _: kept)
    assert leakage(dataset)["pairs"] == ["kept"]
    kept["dataset_hash"] = "another"
    assert leakage(dataset)["pairs"] == report["pairs"]


def test_windows_shorter_than_two_kmers_are_refused(prepared: Prepared) -> None:
    with pytest.raises(DatasetError, match="compares 32-mers and needs 64"):
        leakage(prepared({"a": random_bases(500)}, window=63))
