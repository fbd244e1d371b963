"""How figures look: one colour and one marker an arm everywhere, safe for colour-blind readers, light and dark."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

from dnagoat.attention.schemes.registry import SCHEMES

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

# Each scheme declares its hues. All are after Okabe and Ito (2008) and Tol, moved by a search until each two of them
# lie at least 15 apart in CIELAB (and 12 from the greys of the nulls), as seen with full colour vision and without each
# kind of cone, on paper and on a dark screen (tested).
KNOWN_ARMS = {name: Ink(*scheme.colours) for name, scheme in SCHEMES.items()}
SPARE = (
    Ink("#332187", "#8081ed"),
    Ink("#5a5800", "#c5d86f"),
    Ink("#9e1133", "#e25b79"),
    Ink("#015e3b", "#98ffca"),
    Ink("#475379", "#4d6db1"),
    Ink("#5d2103", "#db9576"),
)
# Eleven: where a spare colour comes again, its marker is another.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p")
# One for as many arms as there are spare colours, so that no two arms share both.
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


def looks(arms: Mapping[str, str | None]) -> dict[str, Look]:
    """A look for each arm, by name, of a scheme or of None: the scheme's own colour, or the next spare one.

    Of several arms of one scheme the one that is called as the scheme has its colour.
    """
    spare = itertools.cycle(SPARE)
    together = Counter(arms.values())
    own = {arm for arm, scheme in arms.items() if together[scheme] == 1 or arm == scheme}
    inks = {arm: (KNOWN_ARMS.get(scheme or "") if arm in own else None) or next(spare) for arm, scheme in arms.items()}
    return {
        arm: Look(ink, MARKERS[rank % len(MARKERS)], DASHES[rank // len(SPARE) % len(DASHES)])
        for rank, (arm, ink) in enumerate(inks.items())
    }


def every_ink() -> list[Ink]:
    """All colours that a figure may use; the page turns each into a CSS variable, so that it follows the theme."""
    return [TEXT, MUTED, GRID, PAPER, *KNOWN_ARMS.values(), *SPARE]


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
    """Matplotlib with this style inside the block, and with the caller's settings again after it.

    A letter of an arm's name that its font lacks is no fault: in an SVG the text stays text, and a browser has it.
    """
    import matplotlib as mpl

    with mpl.rc_context(cast(Any, SETTINGS)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield
