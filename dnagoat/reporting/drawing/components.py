"""Vectors on their first two principal components, coloured by what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import OptionError
from dnagoat.evaluation.outputs.embeddings.principal_components import Kept, principal_components
from dnagoat.reporting.drawing.figure import Figure, canvas, thinned
from dnagoat.reporting.numbers import percent, whole
from dnagoat.reporting.style import MUTED, SPARE, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 4_000  # points: more cannot be told apart, and would only weigh
CLASSES = 8  # values of a column that get a colour of their own


def draw_components(kept: Kept, labels: Sequence[str] | None, called: str) -> Figure:
    """Two panels of the same points: coloured by `labels`, which are `called` so, and by the share of G and C.

    An `OptionError` where fewer than three vectors, or a width of one, leave no plane.
    """
    vectors = kept.vectors()
    known = np.isfinite(vectors[:, 0]) if len(vectors) else np.zeros(0, dtype=bool)
    if known.sum() < 3 or vectors.shape[1] < 2:
        raise OptionError(
            f"--figure shows at least 3 vectors of known bases, and there are {known.sum():,}; leave it out"
        )
    found = principal_components(vectors)
    shown = np.flatnonzero(known)[thinned(int(known.sum()), MOST)]
    places, gc = found.places[shown], np.array(kept.gc)[shown]
    axis = [
        f"component {number + 1} ({percent(float(share))} of variance)" for number, share in enumerate(found.shares)
    ]
    with drawing():
        figure, (left, right) = canvas(1, 2, height=3.6, share_x=True, share_y=True)
        if labels is None:
            left.scatter(places[:, 0], places[:, 1], s=5, color=MUTED.light, linewidths=0, rasterized=True)
            left.set_title("all")
        else:
            _coloured(left, places, [labels[place] for place in shown.tolist()], called)
        points = right.scatter(places[:, 0], places[:, 1], c=gc, s=5, cmap="cividis", linewidths=0, rasterized=True)
        right.set_title("G and C")
        figure.colorbar(points, ax=right, label="share of known bases")
        for panel in (left, right):
            panel.set_xlabel(axis[0])
        left.set_ylabel(axis[1])
    return Figure(
        "components",
        "Vectors on their first two principal components",
        reading="One point a region, the same in both panels: what the right one explains is composition.",
        limits="Two directions of many: what is apart elsewhere may lie together here.",
        alt=f"Two scatter plots of {whole(len(shown))} vectors on two components with "
        f"{percent(float(found.shares.sum()))} of the variance, by {called if labels else 'nothing'} and by GC.",
        drawing=figure,
    )


def _coloured(panel: Axes, places: NDArray[np.float64], labels: list[str], called: str) -> None:
    """By number where all labels are numbers and there are many, else by the commonest values."""
    panel.set_title(called)
    common = [label for label, _ in Counter(labels).most_common(CLASSES)]
    numbers = _numbers(labels)
    if numbers is not None and len(set(labels)) > CLASSES:
        points = panel.scatter(
            places[:, 0], places[:, 1], c=numbers, s=5, cmap="viridis", linewidths=0, rasterized=True
        )
        panel.figure.colorbar(points, ax=panel)
        return
    of = np.array(labels)
    rest = ~np.isin(of, common)
    if rest.any():
        panel.scatter(
            places[rest, 0], places[rest, 1], s=5, color=MUTED.light, linewidths=0, label="other", rasterized=True
        )
    for label, ink in zip(common, SPARE * CLASSES, strict=False):
        mine = of == label
        panel.scatter(
            places[mine, 0], places[mine, 1], s=5, color=ink.light, linewidths=0, label=label[:30], rasterized=True
        )
    panel.legend(markerscale=2)


def _numbers(labels: list[str]) -> list[float] | None:
    try:
        found = [float(label) for label in labels]
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None
