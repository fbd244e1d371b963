"""Colours keep their meaning: one an arm, legible on both grounds, and apart for colour-blind readers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from dnagoat.reporting.style import KNOWN_ARMS, MUTED, PAPER, SPARE, TEXT, Ink, Look, every_ink, looks

# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
DEFICIENCIES = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = TO_XYZ @ rgb.clip(0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    light, dark = sorted((float(TO_XYZ[1] @ linear(colour)) + 0.05 for colour in (one, other)), reverse=True)
    return light / dark


@pytest.mark.parametrize("ink", [*KNOWN_ARMS.values(), *SPARE, TEXT, MUTED])
def test_every_colour_stands_out_on_paper_and_on_a_dark_screen(ink: Ink) -> None:
    assert contrast(ink.light, PAPER.light) >= 3
    assert contrast(ink.dark, PAPER.dark) >= 3


SCHEMES = [*KNOWN_ARMS, *(f"goat@rank={rank}" for rank in range(2, 8))]


def scheme_of(setting: str) -> str:
    return setting.partition("@")[0]


def pages(arms: int) -> Iterator[list[Look]]:
    """The looks of every page of so many arms: known schemes, and settings of one scheme beside them or alone."""
    for chosen in combinations(SCHEMES, arms):
        yield list(looks({arm: scheme_of(arm) for arm in chosen}).values())


@pytest.mark.parametrize("ground", ["light", "dark"])
@pytest.mark.parametrize("deficiency", [None, *DEFICIENCIES])
def test_any_two_arms_of_a_page_stay_apart_and_from_the_nulls(deficiency: str | None, ground: str) -> None:
    """In colour alone: up to six arms are told apart without a look at their markers."""
    seen = np.array(DEFICIENCIES[deficiency]) if deficiency else np.eye(3)
    pairs = {frozenset(pair) for page in pages(6) for pair in combinations([look.ink for look in page], 2)}
    assert all(len(pair) == 2 for pair in pairs), "two arms of one page have one ink"
    pairs |= {frozenset((look.ink, null)) for page in pages(6) for look in page for null in (MUTED, TEXT)}
    colours = {ink: lab(seen @ linear(getattr(ink, ground))) for pair in pairs for ink in pair}
    for one, other in pairs:
        least = 12 if {one, other} & {MUTED, TEXT} else 15  # nulls also have dashes and rows of their own
        assert np.linalg.norm(colours[one] - colours[other]) > least, f"{one} and {other} look alike"


def test_an_arm_looks_the_same_in_any_company() -> None:
    two, three = (looks({arm: arm for arm in arms}) for arms in (("goat", "rope"), ("alibi", "nope", "goat")))
    assert two["goat"].ink == three["goat"].ink


def test_an_arm_has_the_colour_of_its_scheme_whatever_it_is_called() -> None:
    named = looks({"rope, but better": "goat", "goat": "rope", "heads 4@8": None})
    assert [look.ink for look in named.values()] == [KNOWN_ARMS["goat"], KNOWN_ARMS["rope"], SPARE[0]]
    several = looks({"published": "goat", "goat": "goat"})
    assert [look.ink for look in several.values()] == [SPARE[0], KNOWN_ARMS["goat"]]


def test_where_colours_run_out_lines_bars_and_marks_tell_arms_apart() -> None:
    many = list(looks({f"goat@rank={rank}": "goat" for rank in range(20)}).values())
    assert len({look.ink for look in many}) == len(SPARE)
    assert len({(look.ink, look.dash) for look in many}) == 20
    assert len({(look.ink, look.marker) for look in many}) == 20
    assert all(one.marker != other.marker for one, other in combinations(many, 2) if one.ink == other.ink)


def test_no_two_theme_colours_are_one_on_paper() -> None:
    # The page replaces colours by name of their light value: two inks with one value could not be told apart.
    assert len({ink.light.lower() for ink in every_ink()}) == len(every_ink())
