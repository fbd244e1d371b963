"""What `inspect` found, as tables and figures: where heads started and went, and only what holds of the run."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.reporting.sections import heads, prior
from dnagoat.reporting.sections import inspect as microscope
from dnagoat.reporting.sources import Results, read_runs
from dnagoat.reporting.style import KNOWN_ARMS
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


def fields(panel: Axes) -> list[PathPatch]:
    """What is drawn of a panel's heads: the fields of one darkness are one path."""
    return [patch for patch in panel.patches if isinstance(patch, PathPatch)]


@pytest.mark.parametrize("position", ["goat", "rope+bias"])
def test_a_panel_a_checkpoint_from_the_start_to_what_was_learned(position: str) -> None:
    colour = KNOWN_ARMS[position].light
    _, priors, sinks = microscope.figures(result(position))
    assert [priors.name, sinks.name] == ["inspect-prior", "inspect-sink"]
    titles = [panel.get_title(loc="left") for panel in priors.drawing.axes]
    assert titles == ["at the start", "on the way", "on the way", "learned"]
    for panel in priors.drawing.axes:
        assert {to_hex(patch.get_facecolor()) for patch in fields(panel)} == {colour}
        corners = sum(len(np.asarray(patch.get_path().vertices)) for patch in fields(panel))
        assert corners >= 4 * 5, "a field or more of each head"
    assert len(sinks.drawing.axes[0].get_lines()) == 8, "four of each head"
    assert "grey dashes" in sinks.reading and "pale lines" in sinks.reading


def test_a_field_holds_the_weight_that_the_prior_gives_its_distances() -> None:
    """A prior of two distances: three quarters of the weight at 3, a quarter at 171, nothing elsewhere."""
    distances = list(range(512))
    told = [math.log(0.75) if d == 3 else math.log(0.25) if d == 171 else -60.0 for d in distances]
    bins = heads.edges(distances)
    found = heads.weights(distances, told, bins)
    assert found.sum() == pytest.approx(1)
    held = {
        round(float(share), 6): (low, high)
        for low, high, share in zip(bins, bins[1:], found, strict=False)
        if share > 1e-6
    }
    assert set(held) == {0.75, 0.25}
    assert held[0.75] == (3, 4) and held[0.25][0] <= 171 < held[0.25][1]


def test_every_head_says_how_far_it_looks() -> None:
    _, priors, _ = microscope.figures(result())
    said = re.findall(r"<title>(layer [^<]*)</title>", priors.inline())
    assert len(said) == 4 * 4 and said[0].startswith("layer 1, head 1: half of its weight within")


def test_a_model_of_many_heads_is_drawn_lightly_and_has_room() -> None:
    """Start and last alone; a layout that finds no room would warn, and fail here."""
    _, priors, sinks = microscope.figures(result(layers=8, heads=8))
    assert len(priors.drawing.axes) == 2
    assert len(priors.inline()) + len(sinks.inline()) < 250_000


def test_as_many_layers_as_models_have_are_told_apart() -> None:
    """A layer has a colour, a line or a marker of its own."""
    training = microscope.over_training(result(layers=12, heads=2))
    lines = training.drawing.axes[0].get_lines()
    looks = {
        (line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines if line.get_marker() != "None"
    }
    assert len(looks) == 12


def test_the_start_that_a_prior_holds_is_drawn(tmp_path: Path) -> None:
    runs = read_runs([example.run(tmp_path / "goat", example.config("goat"), 1.3)])
    figure = prior.log_prior(Results(runs), runs[0])
    assert figure is not None
    assert [panel.get_title(loc="left") for panel in figure.drawing.axes] == ["at the start", "learned"]


def test_biases_of_rope_are_drawn_and_a_fixed_prior_is_not() -> None:
    assert [SCHEMES[name].learned for name in ("goat", "goat+rope", "rope+bias")] == [True] * 3
    assert not any(SCHEMES[name].learned for name in ("alibi", "rope", "nope", "sinusoidal"))
