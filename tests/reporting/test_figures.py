"""Every figure can be read: axes with units, a caption with its limits, words for who cannot see it, no overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.document import Report
from dnagoat.reporting.drawing.figure import CLOUD, CURVE, Figure, thinned
from dnagoat.reporting.drawing.marks import shown_by
from dnagoat.reporting.numbers import decimals
from dnagoat.reporting.sections.lengths import lengths
from dnagoat.reporting.sections.training import curves
from dnagoat.reporting.sources import Results, read_runs
from dnagoat.reporting.style import drawing, looks
from tests.reporting import example

EXPECTED = {
    "comparison", "nll-test", "training-curves", "lead", "strata", "strata-along", "strata-seen", "strand-gap",
    "context-length", "gc-correlation", "gc-trajectories", "gc-scatter", "kmers", "prior-goat", "sink-goat", "cost-1",
    "leakage",
}  # fmt: skip


@pytest.fixture(params=sorted(EXPECTED))
def figure(request: pytest.FixtureRequest, whole: Report) -> Figure:
    return next(figure for figure in whole.figures if figure.name == request.param)


def test_all_figures_are_there(whole: Report) -> None:
    assert {figure.name for figure in whole.figures} == EXPECTED


def test_it_says_how_to_read_it_and_what_it_cannot_show(figure: Figure) -> None:
    assert len(figure.reading) > 40 and len(figure.limits) > 40 and len(figure.alt) > 40
    assert re.findall(r"[.!?] [A-Z]", figure.reading) == [], "one sentence of reading"
    assert "nan" not in figure.alt.lower() and "None" not in figure.alt


def test_axes_are_labelled_with_units(figure: Figure) -> None:
    """An axis of numbers names its quantity, itself or for all panels; `(nats per base)`, `(bases)`, a share, an r."""
    whole_figure = [figure.drawing.get_supxlabel(), figure.drawing.get_supylabel()]
    labels = [axes.get_xlabel() for axes in figure.drawing.axes] + [axes.get_ylabel() for axes in figure.drawing.axes]
    said = " ".join([*whole_figure, *labels])
    assert any(axes.get_xlabel() for axes in figure.drawing.axes) or whole_figure[0]
    assert any(unit in said for unit in ("nats per base", "bases", "(%)", "Pearson r", "GiB"))


def _texts(drawn: Drawing) -> Iterator[Text]:
    """Everything that is written: tick labels inside the view, labels, titles, notes and legends of all panels."""
    for axes in drawn.axes:
        if not axes.get_visible():
            continue
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if min(limits) <= tick.get_loc() <= max(limits):
                    yield tick.label1
            yield from (axis.label, axis.offsetText)
        yield from (axes.title, axes._left_title, axes._right_title)  # type: ignore[attr-defined]  # set by their loc
        yield from axes.texts
        if legend := axes.get_legend():
            yield from legend.get_texts()
    for legend in drawn.legends:
        yield from legend.get_texts()
    yield from drawn.texts
    yield from filter(None, (drawn._suptitle, drawn._supxlabel, drawn._supylabel))  # type: ignore[attr-defined]


@pytest.mark.parametrize("which", ["whole", "crowded"])
def test_texts_lie_on_the_canvas_and_not_over_each_other(which: str, request: pytest.FixtureRequest) -> None:
    """Of two arms with short names, and of four with long names and four heads."""
    made: Report = request.getfixturevalue(which)
    faults = []
    with drawing():
        for figure in made.figures:
            drawn = figure.drawing
            drawn.draw_without_rendering()
            seen = [text for text in dict.fromkeys(_texts(drawn)) if text.get_visible() and text.get_text().strip()]
            boxes = [(text.get_text(), text.get_window_extent()) for text in seen]
            for said, box in boxes:
                inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= drawn.bbox.x1 + 1 and box.y1 <= drawn.bbox.y1 + 1
                faults += [] if inside else [f"{figure.name}: {said!r} is cut off"]
            for (one, first), (other, second) in combinations(boxes, 2):
                apart = first.x1 - 1 <= second.x0 or second.x1 - 1 <= first.x0
                if not (apart or first.y1 - 1 <= second.y0 or second.y1 - 1 <= first.y0):
                    faults.append(f"{figure.name}: {one!r} lies over {other!r}")
    assert not faults, "\n".join(faults)


def _named(made: Report, name: str) -> Figure:
    return next(figure for figure in made.figures if figure.name == name)


def test_legends_lie_over_no_curve(crowded: Report) -> None:
    """They stand outside the panels."""
    inside = [figure.name for figure in crowded.figures if any(axes.get_legend() for axes in figure.drawing.axes)]
    assert inside == []


def test_one_mark_an_arm_and_single_seeds_smaller(crowded: Report) -> None:
    """Each arm against the reference: one dot, one interval that is the hull of both of the rule, a dot a seed."""
    comparison = crowded.results.comparison
    assert comparison is not None
    (panel,) = _named(crowded, "comparison").drawing.axes
    for arm in comparison["arms"][1:]:
        found = arm["splits"]["test"]["all"]["difference"]
        own = [line for line in panel.lines if shown_by(line)[0] == arm["name"]]
        dots = [line for line in own if line.get_marker() != "None"]
        large = [line for line in dots if line.get_markersize() > 4]
        assert [_first(line) for line in large] == [found["value"]]
        assert sorted(_first(line) for line in dots if line not in large) == sorted(found["by_seed"])
        (interval,) = (np.asarray(line.get_xdata()) for line in own if line.get_marker() == "None")
        both = [*found["over_seeds"], *found["over_blocks"]]
        assert list(interval) == [min(both), max(both)]


def _first(line: Line2D) -> float:
    return float(np.asarray(line.get_xdata())[0])


def test_the_sides_of_zero_are_named_and_the_noise_of_seeds_is_a_band(crowded: Report) -> None:
    (panel,) = _named(crowded, "comparison").drawing.axes
    said = {text.get_text(): text.get_horizontalalignment() for text in panel.texts}
    assert said["\N{LEFTWARDS ARROW} better than rope"] == "right" and said["worse \N{RIGHTWARDS ARROW}"] == "left"
    comparison = crowded.results.comparison
    assert comparison is not None
    own = comparison["arms"][0]["splits"]["test"]["all"]
    (band,) = panel.patches
    ends = [seed - own["value"] for seed in own["by_seed"]]
    assert isinstance(band, Rectangle)
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((min(ends), max(ends)))


def test_panels_are_named_in_whole_words_and_none_is_empty(crowded: Report) -> None:
    titles = [
        panel.get_title(loc="left").replace("\n", " ") for panel in _named(crowded, "comparison-strata").drawing.axes
    ]
    assert titles == ["repeats", "outside repeats", "first 128 bases of a window", "last 128 bases of a window"]
    for figure in crowded.figures:
        for panel in figure.drawing.axes:
            drawn = [*panel.lines, *panel.patches, *panel.collections, *panel.images]
            assert panel.get_visible() and drawn, f"{figure.name} has an empty panel"


def test_an_arm_has_one_colour_in_all_figures(crowded: Report) -> None:
    styles = looks(crowded.results.arms)
    for figure in crowded.figures:
        for artist in figure.drawing.findobj(Line2D):
            arm = shown_by(artist)[0]
            if arm in styles:
                assert to_hex(artist.get_color()) == styles[arm].colour, f"{figure.name}: {arm}"


def test_fonts_are_embedded_in_a_pdf(crowded: Report, tmp_path: Path) -> None:
    path = tmp_path / "figure.pdf"
    _named(crowded, "comparison").write(path)
    assert b"/FontFile2" in path.read_bytes() and b"/Type3" not in path.read_bytes()


def test_values_are_told_to_who_points_at_a_mark(crowded: Report) -> None:
    found = crowded.results.comparison
    assert found is not None
    svg = _named(crowded, "comparison").inline({"goat@init=seeded@rank=4": "arm-1"})
    value = decimals(found["arms"][1]["splits"]["test"]["all"]["difference"]["value"], sign=True)
    assert f'<g class="arm-1"><title>goat@init=seeded@rank=4: {value}' in svg
    assert "mark:" not in svg


def test_scatters_and_curves_are_thinned_to_what_can_be_seen(crowded: Report) -> None:
    for name, most in (("gc-scatter", CLOUD), ("kmers", CLOUD), ("training-curves", CURVE), ("context-length", CURVE)):
        counts = [np.size(line.get_xdata()) for axes in _named(crowded, name).drawing.axes for line in axes.lines]
        assert max(counts) <= most, name
    assert f"at most {CLOUD} windows" in _named(crowded, "gc-scatter").limits


def test_thinning_keeps_both_ends() -> None:
    assert list(thinned(3, 200)) == [0, 1, 2]
    kept = thinned(601, 300)
    assert (len(kept), kept[0], kept[-1]) == (300, 0, 600)


def test_context_of_runs_of_several_training_lengths(results: Results) -> None:
    """Ticks are of all lengths that any run was scored on, and each training length has its dotted line."""
    runs = [replace(run, measures=dict(run.measures)) for run in results.runs]
    longer = dict(runs[0].measures["lengths-test"])
    longer |= {"training_length": 1024, "lengths": longer["lengths"][1:]}
    runs[0].measures["lengths-test"] = longer
    for order in (runs, runs[::-1]):
        figure = lengths(replace(results, runs=order), Warnings({}, {}))
        assert figure is not None
        left, right = figure.drawing.axes
        assert [text.get_text() for text in left.get_xticklabels()] == ["512", "1,024", "2,048", "4,096", "8,192"]
        for axes in (left, right):
            dotted = [np.asarray(line.get_xdata())[0] for line in axes.lines if line.get_linestyle() == ":"]
            assert dotted == [512, 1024]


def test_bins_of_positions_have_their_intervals(whole: Report) -> None:
    left, right = _named(whole, "context-length").drawing.axes
    assert len(left.collections) == len(right.collections) == 2, "a pale band a run"


def test_rows_without_a_number_stay_in_the_figure_of_cost(crowded: Report) -> None:
    """Out of memory, refused, out of memory after rounds that worked; and kernels are told apart."""
    first, second = _named(crowded, "cost-1"), _named(crowded, "cost-2")
    assert "kernel" not in first.title and second.title.endswith("kernel dense")
    said = [text.get_text() for text in second.drawing.axes[0].texts]
    assert said == ["138,000", "out of memory", "refused"]
    assert "138,000\nout of memory in round 2" in [text.get_text() for text in first.drawing.axes[0].texts]
    assert "out of memory" in second.alt


def test_it_is_the_same_drawing_every_time(figure: Figure) -> None:
    assert figure.inline() == figure.inline()


def test_its_svg_is_whole_and_names_no_other_place(figure: Figure, tmp_path: Path) -> None:
    inline = figure.inline()
    root = ElementTree.fromstring(inline)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert 'href="http' not in inline and "#1b1f24" not in inline, "colours follow the theme, links stay inside"


@pytest.mark.parametrize("nll", [1.0, 1.6])
def test_training_that_has_just_begun_or_gone_far_is_drawn(tmp_path: Path, nll: float) -> None:
    """Two steps, near or far from what base composition alone gives: nothing collapses (a warning would fail here)."""
    run = example.run(tmp_path / "rope", example.config("rope", steps=2), nll)
    figure = curves(Results(read_runs([run])))
    assert figure is not None
    low, high = figure.drawing.axes[0].get_ylim()
    assert low < 1.372 < high, "the reference line is in view"
