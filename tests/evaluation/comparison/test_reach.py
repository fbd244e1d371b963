"""Bases to reach an NLL: between two validations on a straight line, or never."""

from __future__ import annotations

import pytest

from dnagoat.evaluation.comparison.reach import bases_to_reach

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
