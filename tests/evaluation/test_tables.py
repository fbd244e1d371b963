"""What a person reads of a result in the terminal: the lines that keep a number from travelling alone."""

from __future__ import annotations

import pytest

from dnagoat.evaluation.results import MEASURES
from dnagoat.evaluation.scoring.pieces import sliding
from dnagoat.reporting.contents import SECTIONS, section_of
from dnagoat.reporting.sections.likelihood import context_sentence


@pytest.mark.parametrize(("stride", "room"), [(64, 0), (64, 100), (64, 448), (512, 0)])
def test_the_context_of_a_base_is_said_with_its_exceptions(stride: int, room: int) -> None:
    pieces = sliding([(1000, 3000)], 512, stride, [room])
    result = {
        "context": 512,
        "stride": stride,
        "mean_context": pieces.mean_context(),
        "short_context": pieces.short(512 - stride),
        "count": 2000,
    }
    said = context_sentence(result)
    assert f"{pieces.contexts().mean():,.1f} bases before it on average" in said
    if short := max(512 - stride - room, 0):
        assert said.endswith(f"; {short} bases ({short / 2000:.2%}) have fewer than {512 - stride}")
    else:
        assert "fewer" not in said


def test_each_stratum_shows_its_blocks() -> None:
    row = {"name": "inside", "value": 1.2, "interval": [1.1, 1.3], "count": 150, "share": 0.01, "blocks": 3}
    (table,) = section_of("strata").of_results([{"groups": [{"name": "some.bed", "question": "", "strata": [row]}]}])
    assert [cell.text for cell in table.rows[0].cells] == ["1.2000", "150", "1.0 %", "3"]


def test_every_measure_has_its_section() -> None:
    """A new measure is its file and its section; both name the files that runs keep alike."""
    needs = [need for section in SECTIONS for need in (*section.needs, *section.may_show)]
    assert {need.measure for need in needs} == set(MEASURES)
