"""What `inspect` found, as tables and figures: where heads started and went, and only what holds of the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.reporting.sections import inspect as microscope
from dnagoat.reporting.sections import prior
from dnagoat.reporting.sources import Results, read_runs
from dnagoat.reporting.style import KNOWN_ARMS, MUTED
from dnagoat.reporting.table import Table
from tests.reporting import example
from tests.reporting.inspected import result


def named(tables: list[Table]) -> dict[str, Table]:
    return {table.name: table for table in tables}


def test_where_heads_started_and_went_stands_side_by_side() -> None:
    table = named(microscope.tables(result()))["inspect-journeys"]
    assert [column.key for column in table.columns] == ["peak_start", "peak", "strongest", "slope_start", "slope"]
    first, second = ([cell.text for cell in row.cells] for row in table.rows[:2])
    assert first == ["3", "8", "10.5", "0.0500", "0.0083"]
    assert second == ["n/a", "n/a", "10.5", "0.0500", "0.0083"], "a head without a peak has none at 0"
    assert "nearest" in table.notes[0] and "168" in table.notes[0]


def test_a_scheme_without_waves_and_slopes_has_no_such_table() -> None:
    plain = result("rope")
    for one in plain["checkpoints"]:
        one["waves"] = []
        for layer in one["layers"]:
            layer["momentum"] = None
            for head in layer["heads"]:
                head |= {"peak": None, "slope": None, "strongest": None, "waves": []}
    assert list(named(microscope.tables(plain))) == ["inspect-priors", "inspect-content", "inspect-ablations"]
    assert [figure.name for figure in microscope.figures(plain)] == ["inspect-training"]


def test_waves_that_moved_most_come_first_with_each_layers_own_period() -> None:
    table = named(microscope.tables(result()))["inspect-waves"]
    assert [row.head for row in table.rows] == ["10.5 bases, now 10 to 12", "3 bases"]


def test_momentum_is_shown_for_each_checkpoint() -> None:
    table = named(microscope.tables(result()))["inspect-momentum"]
    assert [row.head for row in table.rows] == [f"step {step}" for step in range(6)]
    assert [cell.text for cell in table.rows[2].cells] == ["none", "0.3"]


def test_few_blocks_are_said_below_the_ablations() -> None:
    table = named(microscope.tables(result()))["inspect-ablations"]
    assert table.notes[-1] == "⚠ only 12 blocks of 20,000 bases: the interval is too narrow below 30."


def test_bounds_are_shown_for_softmax_alone() -> None:
    soft = named(microscope.tables(result()))["inspect-content"]
    sparse = named(microscope.tables(result(normaliser="entmax15")))["inspect-content"]
    assert "tightness" in [column.key for column in soft.columns] and "x exp(omega)" in soft.notes[0]
    assert "tightness" not in [column.key for column in sparse.columns]
    assert "entmax15 gives weights of exactly 0" in sparse.notes[0] and "x exp" not in sparse.notes[0]


def lines(panel: Axes) -> list[Line2D]:
    """The curves of a panel, without its upright marks."""
    return [line for line in panel.get_lines() if len(np.asarray(line.get_xdata())) > 2]


@pytest.mark.parametrize("position", ["goat", "rope+bias"])
def test_curves_go_from_grey_dashes_over_pale_lines_to_the_last(position: str) -> None:
    colour = KNOWN_ARMS[position].light
    _, priors, sinks = microscope.figures(result(position))
    assert [priors.name, sinks.name] == ["inspect-prior", "inspect-sink"]
    for panel in priors.drawing.axes:
        start, first, middle, last = lines(panel)
        assert (start.get_linestyle(), start.get_color()) == ("--", MUTED.light)
        assert [(line.get_color(), line.get_alpha()) for line in (first, middle)] == [(colour, prior.PALE)] * 2
        assert (last.get_color(), last.get_alpha()) == (colour, None)
        at, drawn = (np.asarray(side) for side in (last.get_xdata(), last.get_ydata()))
        for peak in (3, 171):  # neither a peak nor its copy, one base wide, is thinned away
            assert drawn[at == peak] > -2
    assert len(lines(sinks.drawing.axes[0])) == 8, "four of each head"
    assert "grey dashes" in priors.reading and "pale lines" in priors.reading


def test_a_model_of_many_heads_is_drawn_lightly_and_has_room() -> None:
    """Start and last alone, as finely as their panels show; a layout that finds no room would warn, and fail here."""
    priors, sinks = microscope.curves(result(layers=8, heads=8))
    assert len(lines(priors.drawing.axes[0])) == 2
    assert len(priors.inline()) + len(sinks.inline()) < 550_000


def test_as_many_heads_as_models_have_are_told_apart() -> None:
    """Twelve a layer have room for one tick each; each of twelve layers has a colour, a line or a marker of its own."""
    priors, _ = microscope.curves(result(layers=2, heads=12))
    training = microscope.over_training(result(layers=12, heads=2))
    assert [tick.get_text() for tick in priors.drawing.axes[-1].get_xticklabels()] == ["171"]
    lines = training.drawing.axes[0].get_lines()
    looks = {
        (line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines if line.get_marker() != "None"
    }
    assert len(looks) == 12


def test_the_start_that_a_prior_holds_is_drawn(tmp_path: Path) -> None:
    runs = read_runs([example.run(tmp_path / "goat", example.config("goat"), 1.3)])
    figure = prior.log_prior(Results(runs), runs[0])
    assert figure is not None and "grey dashes are where training started" in figure.reading
    started, learned = lines(figure.drawing.axes[0])
    assert started.get_linestyle() == "--" and learned.get_linestyle() == "-"
    initial = runs[0].measures["prior"]["layers"][0]["heads"][0]["initial"]
    at, drawn = (np.asarray(side) for side in (started.get_xdata(), started.get_ydata()))
    stored = dict(zip(runs[0].measures["prior"]["distances"], initial, strict=True))
    np.testing.assert_allclose(drawn, [stored[int(d)] - max(initial) for d in at], atol=1e-12)


def test_biases_of_rope_are_drawn_and_a_fixed_prior_is_not() -> None:
    assert [SCHEMES[name].learned for name in ("goat", "goat+rope", "rope+bias")] == [True] * 3
    assert not any(SCHEMES[name].learned for name in ("alibi", "rope", "nope", "sinusoidal"))
