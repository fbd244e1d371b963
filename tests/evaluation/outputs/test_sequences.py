"""A user's sequences: each record by itself, both strands, pieces of long ones, and nothing for N."""

from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import SourceError
from dnagoat.evaluation.outputs import readings
from dnagoat.evaluation.outputs.sequences import Record, score_records
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.genome.alphabet import decode, encode, reverse_complement
from tests.evaluation.conftest import MakeRun


def write(path: Path, sequences: dict[str, str]) -> Path:
    path.write_text("".join(f">{name} words\n{sequence}\n" for name, sequence in sequences.items()))
    return path


@pytest.fixture
def sequences() -> dict[str, str]:
    rng = np.random.default_rng(1)
    made = {f"r{n}": decode(rng.integers(0, 4, n).astype(np.uint8)) for n in (1, 40, 64, 200)}
    return {**made, "again": made["r40"].lower(), "gaps": "ACGTNNNNACGT", "unknown": "NNN"}


def test_short_records_are_one_pass_on_each_strand(
    make_run: MakeRun, tmp_path: Path, sequences: dict[str, str]
) -> None:
    model = make_run("goat").model()
    found = {r.name: r for r in score_records(model, write(tmp_path / "a.fa", sequences), 512)}
    assert list(found) == list(sequences)
    for name, sequence in sequences.items():
        if len(sequence) <= 64:
            codes = encode(sequence)[None]
            for mine, strand in ((found[name].forward, codes), (found[name].reverse, reverse_complement(codes))):
                assert mine == pytest.approx(-np.nansum(window_scores(model, strand)[0]), abs=1e-4)
            assert found[name].scored == sequence.upper().count("N") * -1 + len(sequence)
    assert found["unknown"].row()["mean_log_p_both"] is None
    assert found["r40"].row()["mean_log_p_forward"] == pytest.approx(found["r40"].forward / 40)
    assert found["again"].forward == pytest.approx(found["r40"].forward, abs=1e-5)


def test_neighbours_change_nothing(
    make_run: MakeRun, tmp_path: Path, sequences: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_run("rope").model()
    together = list(score_records(model, write(tmp_path / "all.fa", sequences), 4096))
    monkeypatch.setattr(readings, "AT_ONCE", 1)
    held_apart = list(score_records(model, tmp_path / "all.fa", 1))
    for mine, apart, (name, sequence) in zip(together, held_apart, sequences.items(), strict=True):
        alone = next(iter(score_records(model, write(tmp_path / "one.fa", {name: sequence}), 64)))
        assert mine.forward == pytest.approx(alone.forward, abs=1e-4)
        assert mine.reverse == pytest.approx(apart.reverse, abs=1e-4)


def test_a_long_record_scores_each_base_once_with_half_a_context_before_it(make_run: MakeRun, tmp_path: Path) -> None:
    model = make_run("goat").model()
    text = decode(np.random.default_rng(2).integers(0, 4, 150).astype(np.uint8))
    (found,) = score_records(model, write(tmp_path / "long.fa", {"x": text}), 512)
    codes = encode(text)
    expected = window_scores(model, codes[None, :64])[0].sum()
    for end, new in ((96, 32), (128, 32), (150, 22)):
        expected += window_scores(model, codes[None, end - 64 : end])[0][0, -new:].sum()
    assert found.scored == 150
    assert found.forward == pytest.approx(-expected, abs=1e-4)


def test_an_empty_record_is_a_row_of_zero_bases(make_run: MakeRun, tmp_path: Path) -> None:
    path = write(tmp_path / "e.fa", {"none": "", "some": "ACGT"})
    first, second = score_records(make_run().model(), path, 64)
    assert first == Record("none", 0, 0, 0.0, 0.0)
    assert second.scored == 4


def test_what_is_no_fasta(make_run: MakeRun, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello\n")
    with pytest.raises(SourceError):
        list(score_records(make_run().model(), tmp_path / "x.txt", 64))


def test_without_a_start_symbol_a_single_base_is_not_scored(make_run: MakeRun, tmp_path: Path) -> None:
    model = make_run("rope", classes=5).model()
    found = [(r.scored, r.forward) for r in score_records(model, write(tmp_path / "a.fa", {"a": "A", "b": ""}), 64)]
    assert found == [(0, 0.0), (0, 0.0)]
