"""The authors' protocol: N scored, no first base, only of runs that have a class for N."""

import numpy as np
import pytest
import torch

from dnagoat.errors import OptionError
from dnagoat.evaluation.measures import ensure
from dnagoat.genome.dataset import Dataset


def test_n_is_scored_and_the_first_base_is_not(make_run, dataset: Dataset) -> None:
    run = make_run(classes=5)
    (run.path / "metrics.jsonl").write_text('{"step": 1, "val_nll": 1.5}\n{"step": 2, "val_nll": 1.25}\n{"step": 3}\n')
    result = ensure(run, "protocol-paper")
    model = run.model()
    codes = np.stack([dataset.codes(int(s), int(s) + 64) for s in dataset.starts("val")]).astype(np.int64)
    with torch.no_grad():
        log_p = model(torch.from_numpy(codes[:, :-1])).log_softmax(-1)
    expected = -log_p.gather(-1, torch.from_numpy(codes[:, 1:, None])).mean()
    # Means of batches, the last of which is smaller: as in the authors' script, not weighted.
    assert result["value"] == pytest.approx(expected.item(), abs=0.01)
    assert result["batches"] == 8
    assert result["best_of_evaluations"] == 1.25
    assert result["count"] == 62 * 63
    assert result["split"] == "val"


def test_four_classes_cannot(make_run) -> None:
    with pytest.raises(OptionError, match="--score-n"):
        ensure(make_run(), "protocol-paper")
