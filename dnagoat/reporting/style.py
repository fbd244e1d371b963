"""How figures look: one colour and one marker an arm everywhere, safe for colour-blind readers, light and dark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

Dash = Literal["-", "--", "-.", ":"]


@dataclass(frozen=True)
class Ink:
    """One colour on white paper and on a dark screen, each with a contrast of at least 3 to its ground."""

    light: str
    dark: str


PAPER = Ink("#ffffff", "#14171b")
TEXT = Ink("#1b1f24", "#e8eaed")
MUTED = Ink("#66707b", "#98a2ad")  # axes, baselines and nulls
GRID = Ink("#dfe3e8", "#31373e")
ALARM = Ink("#a4262c", "#ff9a93")

# After Okabe and Ito (2008) and Tol's muted scheme, darkened where white paper asks for it. The first four arms stay
# apart for deuteranopes and protanopes (tested); markers and line styles tell the others apart as well.
KNOWN_ARMS = {
    "rope": Ink("#0072b2", "#5aaef0"),
    "goat": Ink("#d55e00", "#ff8c42"),
    "alibi": Ink("#009e73", "#2fd3a3"),
    "nope": Ink("#5c1f4d", "#a8538a"),
    "sinusoidal": Ink("#b9598f", "#f08dc2"),
    "goat+rope": Ink("#a87900", "#e8b83a"),
    "rope+bias": Ink("#3f8f9f", "#7fd0e0"),
}
SPARE = (
    Ink("#332288", "#938af0"),
    Ink("#6f7d1e", "#c0cf5f"),
    Ink("#a11d33", "#ff7d8f"),
    Ink("#8c4f3a", "#d99a84"),
    Ink("#4f5b66", "#b8c4cf"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
DASHES: tuple[Dash, ...] = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Look:
    """How one arm is drawn, in every figure of a page."""

    ink: Ink
    marker: str
    dash: Dash

    @property
    def colour(self) -> str:
        return self.ink.light


def looks(arms: Sequence[str]) -> dict[str, Look]:
    """A look for each arm: its scheme's own colour, or the next spare one where several arms are of one scheme."""
    spare = iter(SPARE * (1 + len(arms) // len(SPARE)))
    names = list(dict.fromkeys(arms))
    schemes = Counter(map(_scheme, names))
    inks = {arm: KNOWN_ARMS.get(arm if schemes[_scheme(arm)] > 1 else _scheme(arm)) or next(spare) for arm in names}
    return {
        arm: Look(ink, MARKERS[rank % len(MARKERS)], DASHES[rank // len(SPARE) % len(DASHES)])
        for rank, (arm, ink) in enumerate(inks.items())
    }


def _scheme(arm: str) -> str:
    """`goat:spectral@heads=4` and `goat (lr 0.001)` are goat."""
    return re.split(r"[:@ ]", arm, maxsplit=1)[0]


def every_ink() -> list[Ink]:
    """All colours that a figure may use; the page turns each into a CSS variable, so that it follows the theme."""
    return [TEXT, MUTED, GRID, PAPER, ALARM, *KNOWN_ARMS.values(), *SPARE]


SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": TEXT.light,
    "axes.labelsize": 9.5,
    "axes.labelcolor": TEXT.light,
    "axes.edgecolor": MUTED.light,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": GRID.light,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED.light,
    "ytick.color": MUTED.light,
    "xtick.labelcolor": TEXT.light,
    "ytick.labelcolor": TEXT.light,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "text.color": TEXT.light,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and edited
    "svg.hashsalt": "dnagoat",  # the same figure is the same file
    "pdf.fonttype": 42,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib with this style inside the block, and with the caller's settings again after it."""
    import matplotlib as mpl

    with mpl.rc_context(cast(Any, SETTINGS)):
        yield
