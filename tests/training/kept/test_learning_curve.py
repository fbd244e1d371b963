"""Bases to reach an NLL, between two validations on a straight line, or never; losses at the end."""

from __future__ import annotations

import pytest

from dnagoat.training.kept.learning_curve import bases_to_reach, late_losses

ROWS = [
    {"bases": bases, "val_nll": nll}
    for bases, nll in ((100, 1.35), (150, None), (200, 1.31), (300, 1.33), (400, 1.25), (500, 1.24))
]


@pytest.mark.parametrize(
    ("nll", "bases"), [(1.40, 100), (1.35, 100), (1.33, 150), (1.31, 200), (1.29, 350), (1.25, 400), (1.2, None)]
)
def test_bases_are_read_off_between_validations(nll: float, bases: int | None) -> None:
    assert bases_to_reach(ROWS, nll) == bases


def test_without_validation_nothing_is_reached() -> None:
    assert bases_to_reach([{"bases": 10, "val_nll": None}], 2.0) is None


def test_late_losses_end_at_the_last_validation() -> None:
    rows = [{"loss": float(step), "val_nll": step / 2 if step in (2, 5) else None} for step in range(1, 8)]
    assert late_losses(rows) == (4.0, 2.5)
    assert late_losses(rows[:3]) == (1.5, 1.0)
    assert late_losses(rows[:1]) == (None, None)
