"""Laws of the position schemes: what they must leave alone, what they equal, how they start and stay in bounds."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from dnagoat.attention.lanes.rotation import turned
from dnagoat.attention.proof.parity import Subject
from dnagoat.attention.proof.reference import log_prior
from dnagoat.attention.schemes.alibi import alibi_slopes
from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.goat import Goat, GoatConfig
from dnagoat.attention.schemes.momentum import Momentum, shear
from dnagoat.attention.schemes.parts import Recency, Spectral
from dnagoat.attention.schemes.registry import SCHEMES, scheme_for
from dnagoat.attention.schemes.rope import Rope, exact_ladder, exact_rotation
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.errors import OptionError


def goat(**settings: object) -> Goat:
    config = ModelConfig(position=PositionConfig(settings=GoatConfig(**settings)))
    return Goat(config)


def masked(prior: Tensor) -> Tensor:
    length = prior.shape[-1]
    return prior.masked_fill(~torch.ones(length, length, dtype=torch.bool).tril(), -math.inf).softmax(-1)


def test_recency_equals_alibi_under_the_causal_mask_and_not_without_it() -> None:
    scheme = goat(parts=("recency",)).double()
    recency = scheme.parts["recency"]
    assert isinstance(recency, Recency)
    recency.slopes.data.copy_(alibi_slopes(2))
    j = torch.arange(300)
    penalty = -alibi_slopes(2)[:, None, None] * (j[:, None] - j).abs()
    prior = scheme.log_prior(j, j)
    torch.testing.assert_close(masked(prior), masked(penalty), rtol=1e-9, atol=1e-12)
    assert (prior.softmax(-1) - penalty.softmax(-1)).abs().sum(-1).max() > 1.9  # opposite ends


@pytest.mark.parametrize("heads", [1, 2, 3, 8, 12])
def test_alibi_slopes_follow_the_papers_rule(heads: int) -> None:
    slopes = alibi_slopes(heads)
    assert len(slopes) == heads and (slopes > 0).all() and (slopes <= 1).all()
    if heads == 8:
        assert slopes.tolist() == [2.0**-power for power in range(1, 9)]
    if heads == 12:  # the first eight, then every other one of sixteen heads
        torch.testing.assert_close(slopes[8:], 2.0 ** -torch.tensor([0.5, 1.5, 2.5, 3.5], dtype=torch.float64))


def test_spectral_depends_on_the_difference_alone() -> None:
    scheme = Subject("goat", {"parts": ("spectral",)}).layer().double().scheme
    near, far = scheme.log_prior(torch.arange(9), torch.arange(9)), scheme.log_prior(*[torch.arange(9) + 50_000] * 2)
    torch.testing.assert_close(near, far, rtol=0, atol=1e-8)


def test_even_amplitudes_are_symmetric_and_odd_ones_know_the_direction() -> None:
    scheme = goat(parts=("spectral",)).double()
    spectral, j = scheme.parts["spectral"], torch.arange(50)
    assert isinstance(spectral, Spectral)
    spectral.even.data.normal_()
    prior = scheme.log_prior(j, j)
    torch.testing.assert_close(prior, prior.mT, rtol=0, atol=1e-11)
    spectral.even.data.zero_()
    spectral.odd.data.normal_()
    prior = scheme.log_prior(j, j)
    torch.testing.assert_close(prior, -prior.mT, rtol=0, atol=1e-11)
    assert prior.abs().max() > 0.1


def test_a_period_in_bases_repeats_after_so_many_bases() -> None:
    scheme = goat(parts=("spectral",), rank=1, periods=(171.0,)).double()
    spectral = scheme.parts["spectral"]
    assert isinstance(spectral, Spectral)
    spectral.even.data.fill_(1.0)
    prior = scheme.log_prior(torch.tensor([1000]), 1000 - torch.tensor([0, 171, 342, 85]))[0, 0]
    torch.testing.assert_close(prior[:3], torch.ones(3, dtype=torch.float64))
    assert prior[3] < -0.99


@pytest.mark.parametrize("parts", [("spectral",), ("sink",), ("recency",), ("spectral", "sink", "recency")])
def test_parts_are_separate_and_add_up(parts: tuple[str, ...]) -> None:
    scheme = Subject("goat", {"parts": parts}).layer().double().scheme
    assert isinstance(scheme, Goat) and set(scheme.parts) == set(parts)
    j = torch.arange(40)
    whole, expected = scheme.log_prior(j, j), log_prior(scheme, j, j)
    torch.testing.assert_close(whole - whole[..., :1], expected - expected[..., :1], rtol=0, atol=1e-9)


def test_lanes_stay_inside_the_head() -> None:
    for name in SCHEMES:
        scheme = scheme_for(ModelConfig(position=PositionConfig(name=name)), 0)
        assert scheme.lanes + scheme.content == 64 and scheme.content % 2 == 0
        lanes = scheme.lanes_at(At(torch.arange(5)))
        assert (lanes is None) == (scheme.lanes == 0)
        for side in lanes or ():
            assert side.shape == (2, 5, scheme.lanes)


def test_a_head_too_narrow_for_its_lanes_is_refused() -> None:
    with pytest.raises(OptionError, match="20 lanes, more than a head of 16"):
        scheme_for(ModelConfig(width=32, heads=2), 0)


def test_rope_scores_depend_on_the_difference_alone_and_lengths_stay() -> None:
    scheme = Rope(ModelConfig(position=PositionConfig(name="rope")))
    x, y = torch.randn(2, 1, 1, 1, 64, dtype=torch.float64)

    def score(i: int, j: int) -> Tensor:
        q, k, _ = scheme.rotate(x.clone(), y.clone(), At(torch.tensor([i]), torch.tensor([j])))
        torch.testing.assert_close(q.norm(), x.norm())
        return (q * k).sum()

    torch.testing.assert_close(score(7, 3), score(40_007, 40_003), rtol=0, atol=1e-9)
    assert abs(score(7, 3) - score(8, 3)) > 1e-3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_rotation_in_half_precision_rounds_once(dtype: torch.dtype) -> None:
    scheme = Rope(ModelConfig(position=PositionConfig(name="rope")))
    x, at = torch.randn(1, 1, 2000, 64).to(dtype), At(torch.arange(10_000, 12_000))
    got, _, _ = scheme.rotate(x.clone(), x.clone(), at)
    want = exact_rotation(x.double(), at.queries, exact_ladder(64, scheme.base))
    assert ((got - want).abs() <= 1.001 * torch.finfo(dtype).eps / 2 * want.abs() + 1e-6).all()


def test_the_rotation_and_the_assembly_have_the_right_gradients() -> None:
    from dnagoat.attention.lanes.assemble import assemble

    x = torch.randn(1, 2, 5, 6, dtype=torch.float64, requires_grad=True)
    angles = torch.randn(1, 1, 5, 3, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: turned(x * 1.0, angles.cos(), angles.sin()), (x,))
    lanes = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    content = torch.randn(3, 2, 5, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(assemble, (content, lanes))
    own = torch.randn(3, 2, 5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(assemble, (content, own))


def test_positions_may_differ_by_sequence() -> None:
    """Lanes and rotations for (B, T) positions are those of each sequence alone."""
    positions = torch.tensor([[0, 1, 2], [7, 8, 9]])
    for name in SCHEMES:
        scheme = Subject(name).layer().double().scheme
        x = torch.randn(2, 4, 3, scheme.content, dtype=torch.float64)
        q, _, _ = scheme.rotate(x.clone(), x.clone(), At(positions))
        lanes = scheme.lanes_at(At(positions))
        for row, own in enumerate(positions):
            q_own, _, _ = scheme.rotate(x[row : row + 1].clone(), x[row : row + 1].clone(), At(own))
            torch.testing.assert_close(q[row], q_own[0])
            for together, alone in zip(lanes or (), scheme.lanes_at(At(own)) or (), strict=True):
                torch.testing.assert_close(together[row], alone)
        embedded = scheme.embed(torch.zeros(2, 3, 8, dtype=torch.float64), At(positions))
        torch.testing.assert_close(embedded[1], scheme.embed(torch.zeros(1, 3, 8).double(), At(positions[1]))[0])


def test_features_are_made_once_a_forward() -> None:
    at, made = At(torch.arange(4)), []

    def make(positions: Tensor) -> Tensor:
        made.append(positions)
        return positions * 2.0

    assert at.once("x", at.queries, make) is at.once("x", at.keys, make)
    assert len(made) == 1


def test_constraints_bring_slopes_and_periods_back() -> None:
    scheme = goat(learn_periods=True)
    recency, spectral = scheme.parts["recency"], scheme.parts["spectral"]
    assert isinstance(recency, Recency) and isinstance(spectral, Spectral) and spectral.learned is not None
    recency.slopes.data.copy_(torch.tensor([-1.0, 0.5]))
    spectral.learned.data.fill_(5.0)
    scheme.constrain()
    assert recency.slopes.tolist() == [0.0, 0.5]
    assert 2 * math.pi / spectral.frequencies.max() >= 2 - 1e-6


def test_momentum_wraps_after_the_rotation_and_ramps_from_a_third() -> None:
    config = ModelConfig(position=PositionConfig(name="rope"))
    rope, x = Rope(config), torch.randn(1, 2, 6, 64, dtype=torch.float64)
    momentum = Momentum(Rope(config), config, MomentumConfig(strength=0.6, ramp_steps=100)).double()
    at = At(torch.arange(6))
    rotated, _, _ = rope.rotate(x.clone(), x.clone(), at)
    for step, strength in ((0, 0.2), (50, 0.4), (100, 0.6), (1000, 0.6)):
        momentum.set_step(step)
        assert math.isclose(float(momentum.strength), strength, rel_tol=1e-6)
        q, _, held = momentum.rotate(x.clone(), x.clone(), at)
        torch.testing.assert_close(q, shear(rotated, momentum.strength, None))
        torch.testing.assert_close(q[..., 0, :], rotated[..., 0, :])  # the first has no past
        assert held is not None
        torch.testing.assert_close(held[0], rotated[..., -1:, :])  # unsheared


def test_momentum_only_in_chosen_layers() -> None:
    position = PositionConfig(momentum=MomentumConfig(strength=0.3, layers=(1,)))
    schemes = [scheme_for(ModelConfig(position=position), layer) for layer in range(3)]
    assert [isinstance(scheme, Momentum) for scheme in schemes] == [False, True, False]


def test_nope_is_the_uniform_prior() -> None:
    scheme = PositionScheme(ModelConfig(position=PositionConfig(name="nope")))
    assert scheme.log_prior(torch.arange(3), torch.arange(4)).tolist() == torch.zeros(2, 3, 4).tolist()
