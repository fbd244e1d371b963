"""The presets of the probes: `paper` is as the papers have it, and every arm of it can be built."""

from __future__ import annotations

import pytest

from dnagoat.errors import OptionError
from dnagoat.evaluation.probes.repetition import repetitions
from dnagoat.evaluation.probes.sizes import induction_preset, recall_preset
from dnagoat.training.step.matching import count
from tests.goat_settings import goat_settings


def test_paper_is_what_the_papers_say() -> None:
    for task, key in (("passkey", 8), ("needle", 12)):
        recall = recall_preset("paper", task)  # type: ignore[arg-type]
        model = recall.model
        assert (model.width, model.layers, model.heads, model.mlp_width) == (512, 12, 8, 2048)
        assert (recall.task, recall.length, recall.marker, recall.key) == (task, 1024, 12, key)
        assert recall.hidden.room(recall.length) > 0
        goat = goat_settings(model)
        assert (goat.init, goat.rank, goat.periods, goat.sink_frequencies) == ("seeded", 2, None, 8)
        for arm in ("rope", "goat", "alibi"):
            config = recall.config(arm, seed=0).model
            assert config.context == 1024
            assert count(config) == pytest.approx(
                12 * 12 * 512**2, rel=0.05
            )  # of GOAT a little less: lanes are not projected
    induction = induction_preset("paper")
    model = induction.model
    assert (model.width, model.heads, model.mlp_width, induction.layers) == (512, 8, 2048, (1,))
    assert {0.0, 1.0} <= set(induction.strengths)
    repetitions(induction.vocabulary, induction.length, induction.stretch, 1, 0, "test", 0)


def test_an_unknown_preset_is_refused_with_those_there_are() -> None:
    with pytest.raises(OptionError, match="tiny and paper"):
        induction_preset("huge")
