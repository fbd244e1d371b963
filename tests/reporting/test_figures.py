"""Every figure can be read: axes with units, a caption with its limits, words for who cannot see it, no overlap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from dnagoat.reporting.figures.figure import Figure
from dnagoat.reporting.figures.training import curves
from dnagoat.reporting.report import Report
from dnagoat.reporting.results import Results, read_runs
from dnagoat.reporting.style import drawing
from tests.reporting import example

EXPECTED = {
    "nll-test", "training-curves", "strata", "strata-along", "strand-gap", "context-length", "gc-correlation",
    "gc-trajectories", "gc-scatter", "kmers", "prior-goat", "sink-goat", "cost-1", "leakage",
}  # fmt: skip


@pytest.fixture(params=sorted(EXPECTED))
def figure(request: pytest.FixtureRequest, whole: Report) -> Figure:
    return next(figure for figure in whole.figures if figure.name == request.param)


def test_all_figures_are_there(whole: Report) -> None:
    assert {figure.name for figure in whole.figures} == EXPECTED


def test_it_says_how_to_read_it_and_what_it_cannot_show(figure: Figure) -> None:
    assert len(figure.reading) > 40 and len(figure.limits) > 40 and len(figure.alt) > 40
    assert "nan" not in figure.alt.lower() and "None" not in figure.alt


def test_axes_are_labelled_with_units(figure: Figure) -> None:
    """An axis of numbers names its quantity, itself or for all panels; `(nats per base)`, `(bases)`, a share, an r."""
    whole_figure = [figure.drawing.get_supxlabel(), figure.drawing.get_supylabel()]
    labels = [axes.get_xlabel() for axes in figure.drawing.axes] + [axes.get_ylabel() for axes in figure.drawing.axes]
    said = " ".join([*whole_figure, *labels])
    assert any(axes.get_xlabel() for axes in figure.drawing.axes) or whole_figure[0]
    assert any(unit in said for unit in ("nats per base", "bases", "(%)", "Pearson r", "GiB"))


def _texts(axes: Axes) -> Iterator[Text]:
    """Tick labels inside the view, labels and title: what a panel writes around its drawing."""
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        for tick in axis.get_major_ticks():
            if min(limits) <= tick.get_loc() <= max(limits):
                yield tick.label1
        yield axis.label
    yield from (axes.title, axes._left_title)  # type: ignore[attr-defined]  # set by loc="left"


def test_texts_do_not_overlap(figure: Figure) -> None:
    with drawing():
        figure.drawing.draw_without_rendering()
        for axes in figure.drawing.axes:
            texts = [text for text in _texts(axes) if text.get_visible() and text.get_text() and axes.get_visible()]
            boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
            for (one, first), (other, second) in combinations(boxes, 2):
                apart = first.x1 - 1 <= second.x0 or second.x1 - 1 <= first.x0
                assert apart or first.y1 - 1 <= second.y0 or second.y1 - 1 <= first.y0, f"{one!r} lies over {other!r}"


def test_it_is_the_same_drawing_every_time(figure: Figure) -> None:
    assert figure.inline() == figure.inline()


def test_its_svg_is_whole_and_names_no_other_place(figure: Figure, tmp_path: Path) -> None:
    inline = figure.inline()
    root = ElementTree.fromstring(inline)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) and all(str(name).startswith(figure.name) for name in ids)
    assert 'href="http' not in inline and "#1b1f24" not in inline, "colours follow the theme, links stay inside"


@pytest.mark.parametrize("nll", [1.0, 1.6])
def test_training_that_has_just_begun_or_gone_far_is_drawn(tmp_path: Path, nll: float) -> None:
    """Two steps, near or far from what base composition alone gives: nothing collapses (a warning would fail here)."""
    run = example.run(tmp_path / "rope", example.config("rope", steps=2), nll)
    figure = curves(Results(read_runs([run])))
    assert figure is not None
    low, high = figure.drawing.axes[0].get_ylim()
    assert low < 1.372 < high, "the reference line is in view"
