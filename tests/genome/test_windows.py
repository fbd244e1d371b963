"""Tiling and splits: no base in two splits, the guard holds, nothing crosses a contig."""

from __future__ import annotations

import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnagoat.errors import DatasetError
from dnagoat.genome.windows import SPLITS, Span, block_ranks, by_blocks, by_contig, count_in_windows, tile

LENGTHS = st.lists(st.integers(0, 3000), min_size=1, max_size=12)


@given(LENGTHS, st.integers(2, 60))
def test_blocks_share_no_base_and_keep_the_guard(lengths: list[int], guard: int) -> None:
    for length, spans in zip(lengths, by_blocks(lengths, block_ranks(sum(lengths), guard), guard), strict=True):
        assert all(0 <= span.start < span.end <= length for span in spans)
        for left, right in itertools.pairwise(spans):
            assert left.split != right.split
            assert right.start - left.end >= guard


@given(LENGTHS, st.integers(2, 60))
def test_blocks_give_a_tenth_to_each_held_out_split(lengths: list[int], guard: int) -> None:
    total = sum(lengths)
    held = dict.fromkeys(SPLITS, 0)
    for spans in by_blocks(lengths, block_ranks(sum(lengths), guard), guard):
        for span in spans:
            held[span.split] += span.end - span.start
    if total >= 10 * guard:
        assert held["val"] == pytest.approx(total / 10, abs=4)
        assert held["test"] == pytest.approx(total / 10, abs=4)
    else:
        assert held == {"train": total, "val": 0, "test": 0}


def test_contigs_go_whole_to_the_split_that_names_them() -> None:
    spans = by_contig(["a", "b", "c"], [10, 20, 30], val=["c"], test=["a"])
    assert spans == [[Span(0, 10, "test")], [Span(0, 20, "train")], [Span(0, 30, "val")]]


def test_a_contig_named_for_both_is_validation_and_test_in_guarded_turns() -> None:
    train, shared = by_contig(["a", "b"], [50, 1000], val=["b"], test=["b"], guard=7)
    assert train == [Span(0, 50, "train")]
    assert [span.split for span in shared] == ["val", "test"] * 10
    assert shared[0].start == 0 and shared[-1].end == 1000
    assert all(right.start - left.end == 7 for left, right in pairwise(shared))


def test_contigs_that_do_not_exist_or_are_too_short_to_share() -> None:
    with pytest.raises(DatasetError, match="--val chr9: no contig of that name; there are a, b"):
        by_contig(["a", "b"], [1, 1], val=["chr9"], test=[])
    with pytest.raises(DatasetError, match="contig a has 1 base, too few for 20 guarded stretches"):
        by_contig(["a", "b"], [1, 1], val=["a"], test=["a"])


@given(st.integers(0, 50), st.integers(0, 300), st.integers(2, 40), st.integers(1, 50))
def test_tiles_lie_within_the_span_and_none_is_missing(start: int, length: int, window: int, stride: int) -> None:
    starts = tile(Span(start, start + length, "train"), window, stride)
    assert starts.tolist() == [at for at in range(start, start + length, stride) if at + window <= start + length]


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 4, 8, 9, 10, 11, 12]), max_size=200),
    st.integers(2, 30),
    st.integers(1, 40),
    st.data(),
)
def test_counts_are_those_of_each_window_by_itself(
    tokens: list[int], window: int, stride: int, data: st.DataObject
) -> None:
    starts = tile(Span(0, len(tokens), "train"), window, stride)
    if data.draw(st.booleans()) and starts.size:
        starts = np.array(sorted(data.draw(st.sets(st.sampled_from(starts.tolist()), min_size=1))))
    shares = count_in_windows(np.array(tokens, dtype=np.uint8), starts, window)
    assert list(zip(*shares, strict=True)) == [
        (
            sum(token & 7 in (1, 2) for token in tokens[start : start + window]),
            sum(token & 7 == 4 for token in tokens[start : start + window]),
            sum(token >= 8 for token in tokens[start : start + window]),
        )
        for start in starts
    ]
