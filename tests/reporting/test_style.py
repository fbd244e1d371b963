"""Colours keep their meaning: one an arm, legible on both grounds, and apart for colour-blind readers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dnagoat.reporting.style import KNOWN_ARMS, MUTED, PAPER, SPARE, TEXT, Ink, every_ink, looks

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


@pytest.mark.parametrize("ground", ["light", "dark"])
@pytest.mark.parametrize("deficiency", [None, *DEFICIENCIES])
def test_the_four_main_arms_stay_apart(deficiency: str | None, ground: str) -> None:
    seen = np.array(DEFICIENCIES[deficiency]) if deficiency else np.eye(3)
    colours = {arm: lab(seen @ linear(getattr(KNOWN_ARMS[arm], ground))) for arm in ("rope", "goat", "alibi", "nope")}
    for one, other in combinations(colours, 2):
        assert np.linalg.norm(colours[one] - colours[other]) > 15, f"{one} and {other} look alike"


def test_an_arm_looks_the_same_in_any_company() -> None:
    assert looks(["goat", "rope"])["goat"].ink == looks(["alibi", "nope", "goat"])["goat"].ink
    many = looks([f"arm {number}" for number in range(9)])
    assert len({(look.ink, look.dash) for look in many.values()}) == 9


def test_no_two_theme_colours_are_one_on_paper() -> None:
    # The page replaces colours by name of their light value: two inks with one value could not be told apart.
    assert len({ink.light.lower() for ink in every_ink()}) == len(every_ink())
