"""Scores of alleles against plain passes over edited sequences, on both strands, however the record puts the change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluation.outputs.variants.conftest import FRAME, by_hand, turned, write_calls, write_genome

from dnagoat.evaluation.outputs.variants.alleles import Frame
from dnagoat.errors import OptionError

EXACT = 1e-5  # nats


def random_changes(bases: str, count: int) -> list[tuple[int, str, str]]:
    """(0-based position, REF, ALT): substitutions of one and of several bases, insertions, deletions, both at once."""
    rng = np.random.default_rng(0)
    changes = []
    for number in range(count):
        at = int(rng.integers(200, len(bases) - 200))
        kind = number % 5
        ref = bases[at : at + (1, int(rng.integers(2, 6)), 1, int(rng.integers(2, 12)), int(rng.integers(1, 6)))[kind]]
        new = "".join(rng.choice(list("ACGT"), int(rng.integers(1, 12))))
        alt = (new[:1], "".join(rng.choice(list("ACGT"), len(ref))), ref + new, ref[:1], new)[kind]
        if alt != ref:
            changes.append((at, ref, alt))
    return changes


def widest(bases: str, start: int, ref: str, alt: str) -> tuple[int, str, str]:
    """The change with every base over which it can be moved, found by trying all places."""
    edited = bases[:start] + alt + bases[start + len(ref) :]
    low = next(i for i in range(len(bases)) if i >= len(edited) or bases[i] != edited[i])
    back = next(i for i in range(len(bases)) if i >= len(edited) or bases[-1 - i] != edited[-1 - i])
    # What both ends have in common may overlap: the change then lies anywhere in the overlap.
    first, last = min(low, len(bases) - back, len(edited) - back), max(len(bases) - back, low)
    grown = last + len(edited) - len(bases)
    if grown < low:
        last, grown = last + low - grown, low
    return first, bases[first:last], edited[first:grown]


@pytest.mark.parametrize("position", ["goat", "rope"])
def test_five_hundred_variants_against_passes_over_edited_sequences(
    make_run, bases: str, tmp_path: Path, score_file, position: str
) -> None:
    model = make_run(position).model()
    changes = random_changes(bases, 500 if position == "goat" else 50)
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = write_calls(tmp_path / "c.vcf", [("one", at + 1, ref, alt) for at, ref, alt in changes])
    found = score_file(model, calls, genome)
    assert len(found) == len(changes)
    for record, change in zip(found, changes, strict=True):
        start, ref, alt = widest(bases, *change)
        before = FRAME.context - FRAME.after - max(len(ref), len(alt))
        end = start + len(ref)
        want = by_hand(model, bases[start - before : start], ref, alt, bases[end : end + before], FRAME.after)
        assert [record["llr_forward"], record["llr_reverse"]] == pytest.approx(want, abs=4 * EXACT)
        assert record["llr"] == pytest.approx(sum(want) / 2, abs=4 * EXACT)
