"""The decoder's row of log-prior is the scheme's own, in float32 too, however far along the sequence."""

from __future__ import annotations

import pytest
import torch

from dnagoat.attention.lanes.prior_rows import BLOCK, PriorRows
from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.registry import scheme_for
from dnagoat.config import ModelConfig, PositionConfig

ROOM = 64


def schemes(name: str, dtype: torch.dtype) -> list[PositionScheme]:
    """Two layers whose prior is far from zero."""
    position = PositionConfig(name=name, settings=GoatConfig(rank=2, periods=(3.0, 171.0), sink_frequencies=2))
    config = ModelConfig(width=128, heads=2, position=position)
    random = torch.Generator().manual_seed(0)
    made = [scheme_for(config, layer).to(dtype) for layer in range(2)]
    with torch.no_grad():
        for scheme in made:
            for parameter in scheme.parameters():
                parameter.uniform_(0.0, 0.5, generator=random)
    return made


@torch.no_grad()
def rounding(scheme: PositionScheme, dtype: torch.dtype, first: int) -> float:
    """The most by which a row and its constant may be off: eps times operations times the size of their terms.

    Of a row each lane is rounded twice and added; its terms are relative to a key of its block. What it is compared
    with is a float64 product of absolute positions.
    """
    keys = torch.arange(max(0, first - ROOM), first + BLOCK)
    query, key = (side.double() for side in scheme.lanes_at(At(keys)) or ())
    near = (query.abs() @ (key - key[:, keys == first]).abs().mT).max() / scheme.root
    far = (query.abs() @ key.abs().mT).max() / scheme.root
    sizes = torch.finfo(dtype).eps * near + torch.finfo(torch.float64).eps * far
    return (scheme.lanes + 2) * float(sizes)


@torch.no_grad()
@pytest.mark.parametrize("first", [0, 500, 100_000])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", ["alibi", "goat"])
def test_rows_are_the_log_prior_up_to_a_constant(name: str, dtype: torch.dtype, first: int) -> None:
    made = schemes(name, dtype)
    tolerance = max(rounding(scheme, dtype, first) for scheme in made)
    assert tolerance < (2e-9 if dtype == torch.float64 else 1e-3)  # nats: a derivation that allows more shows nothing
    rows = PriorRows(made, 2, ROOM, torch.empty(0, dtype=dtype))
    held = torch.zeros(ROOM, dtype=torch.long)
    for count, position in enumerate(range(first, first + 270)):
        slot, seen = count % ROOM, min(count + 1, ROOM)
        held[slot] = position
        found = rows.row(position, slot, seen)
        assert found is not None
        if count % 7:
            continue
        for row, scheme in zip(found, made, strict=True):
            expected = scheme.double().log_prior(torch.tensor([position]), held[:seen])
            scheme.to(dtype)
            difference = row.double() - expected
            assert (difference - difference[..., slot, None]).abs().max() < tolerance


def test_schemes_without_lanes_have_no_rows() -> None:
    assert PriorRows(schemes("rope", torch.float32), 2, ROOM, torch.empty(0)).row(0, 0, 1) is None
