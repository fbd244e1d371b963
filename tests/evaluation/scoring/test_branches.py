"""Branches after a shared stem, against one plain pass a branch, whatever places and mixes queries and keys."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.evaluation.scoring.branches import Stem, score_branches
from dnagoat.model.transformer import DnaLM

EXACT = 1e-8  # nats, in float64

POSITIONS = {
    **{name: PositionConfig(name=name) for name in SCHEMES},
    "momentum": PositionConfig(name="rope", momentum=MomentumConfig(strength=0.5)),
    "convolution": PositionConfig(name="goat", convolution=4),
    "gate": PositionConfig(name="goat", gate=True),
}


def stems() -> list[Stem]:
    """Stems of several lengths and branches of several more."""
    rng = np.random.default_rng(0)

    def bases(count: int) -> np.ndarray:
        return rng.integers(0, 4, count).astype(np.uint8)

    shapes = ((1, (3, 3)), (40, (9, 12)), (40, (8, 8)), (40, (5, 6, 7)), (63, (1, 20)))
    return [Stem(bases(before), tuple(bases(length) for length in lengths)) for before, lengths in shapes]


@torch.inference_mode()
def one_pass(model: DnaLM, before: np.ndarray, branch: np.ndarray) -> float:
    codes = [*([5] if model.classes == 4 else []), *before.tolist(), *branch.tolist()]
    log_p = torch.log_softmax(model(torch.tensor([codes]))[0, :, :4], -1)
    first = len(codes) - len(branch)
    return sum(float(log_p[first - 1 + step, base]) for step, base in enumerate(branch.tolist()))


@pytest.mark.parametrize("name", POSITIONS)
def test_a_branch_has_the_score_of_a_pass_of_its_own(name: str) -> None:
    model = DnaLM(ModelConfig(layers=2, width=64, heads=2, mlp_width=64, context=96, position=POSITIONS[name]))
    model = model.double().eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():  # far from a start at which much is 0
        parameter.data += 0.1 * torch.rand(parameter.shape, generator=generator, dtype=torch.float64)
    for bases in (1, 1 << 12):
        for stem, found in zip(stems(), score_branches(model, stems(), bases), strict=True):
            assert found == pytest.approx([one_pass(model, stem.before, each) for each in stem.branches], abs=EXACT)


def test_a_model_without_a_start_symbol() -> None:
    config = ModelConfig(layers=2, width=32, heads=1, mlp_width=32, context=96, classes=5)
    model = DnaLM(config).double().eval()
    for stem, found in zip(stems(), score_branches(model, stems(), 64), strict=True):
        assert found == pytest.approx([one_pass(model, stem.before, each) for each in stem.branches], abs=EXACT)
