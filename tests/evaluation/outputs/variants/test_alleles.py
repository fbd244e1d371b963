"""Scores of alleles against plain passes over edited sequences, on both strands, however the record puts the change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import OptionError
from dnagoat.evaluation.outputs.variants.alleles import Frame
from tests.evaluation.conftest import MakeRun
from tests.evaluation.outputs.variants.conftest import FRAME, Score, by_hand, turned, write_calls, write_genome

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
    make_run: MakeRun, bases: str, tmp_path: Path, score_file: Score, position: str
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


def test_a_reversed_genome_gives_reversed_scores(
    make_run: MakeRun, bases: str, tmp_path: Path, score_file: Score
) -> None:
    model = make_run("goat").model()
    changes = random_changes(bases, 60)
    plain = write_genome(tmp_path / "g.fa", {"one": bases})
    other = write_genome(tmp_path / "r.fa", {"one": turned(bases)})
    calls = write_calls(tmp_path / "c.vcf", [("one", at + 1, ref, alt) for at, ref, alt in changes])
    back = [("one", len(bases) - at - len(ref) + 1, turned(ref), turned(alt)) for at, ref, alt in changes]
    found = score_file(model, calls, plain)
    turned_rows = score_file(model, write_calls(tmp_path / "r.vcf", back), other)
    for row, twin in zip(found, turned_rows, strict=True):
        assert (row["llr_forward"], row["llr_reverse"]) == pytest.approx(
            (twin["llr_reverse"], twin["llr_forward"]), abs=4 * EXACT
        )


def test_one_change_has_one_score_however_it_is_written(
    make_run: MakeRun, tmp_path: Path, score_file: Score, bases: str
) -> None:
    text = bases[:300] + "CACACACACA" + "T" + bases[311:600]
    genome = write_genome(tmp_path / "g.fa", {"one": text})
    written = [
        (300, text[299] + "CA", text[299]),  # leftmost
        (308, "ACA", "A"),  # rightmost
        (302, "ACAC", "AC"),
        (299, text[298:309], text[298:300] + text[302:309]),  # with bases that both have
    ]
    lines = [("one", at, ref, alt) for at, ref, alt in written]
    found = score_file(make_run("rope").model(), write_calls(tmp_path / "c.vcf", lines), genome)
    assert [row["skipped"] for row in found] == [None] * 4
    assert [row["llr"] for row in found] == pytest.approx([found[0]["llr"]] * 4, abs=EXACT)


def test_alleles_of_one_record_are_those_of_records_of_their_own(
    make_run: MakeRun, bases: str, tmp_path: Path, score_file: Score
) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    ref = bases[500]
    alts = [base for base in "ACGT" if base != ref] + [ref + "GG", bases[500] + "TTTTTT"]
    together = write_calls(tmp_path / "t.vcf", [("one", 501, ref, ",".join(alts))])
    apart = write_calls(tmp_path / "a.vcf", [("one", 501, ref, alt) for alt in alts])
    model = make_run("goat").model()
    ratios = [row["llr"] for row in score_file(model, together, genome)]
    assert ratios == pytest.approx([row["llr"] for row in score_file(model, apart, genome)], abs=EXACT)
    assert len(set(ratios)) == len(alts)


def test_a_model_without_a_start_symbol(make_run: MakeRun, bases: str, tmp_path: Path, score_file: Score) -> None:
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    alt = "ACGT"["ACGT".index(bases[700]) - 1]
    calls = write_calls(tmp_path / "c.vcf", [("one", 701, bases[700], alt)])
    (row,) = score_file(make_run("rope", classes=5).model(), calls, genome)
    assert row["skipped"] is None
    assert np.isfinite(row["llr"])


@pytest.mark.parametrize(("context", "after"), [(64, 0), (64, 32), (2, 1), (1, 1)])
def test_a_frame_that_holds_no_allele_is_refused(context: int, after: int) -> None:
    with pytest.raises(OptionError, match="--after"):
        Frame(context, after)
