"""The prior over a grid: translation, restriction, the class token, and the float64 reference."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from dnagoat.attention.schemes.base import PositionScheme
from examples.two_axes import GridPrior, cell_positions

HEADS = 3


def learned(seed: int, *, class_token: bool = True) -> GridPrior:
    """A prior with parameters of the size that training reaches, not of the size it starts at."""
    draw = torch.Generator().manual_seed(seed)
    prior = GridPrior(HEADS, [2.0, 3.7, 8.0], class_token=class_token)
    with torch.no_grad():
        for parameter in prior.parameters():
            parameter.normal_(generator=draw)
    return prior


def by_definition(prior: GridPrior, height: int, width: int) -> Tensor:
    """K from the formula, cell by cell in Python floats."""
    cells = [(row, column) for row in range(height) for column in range(width)]
    log_prior = torch.zeros(HEADS, len(cells) + 1, len(cells) + 1, dtype=torch.float64)
    for head in range(HEADS):
        log_prior[head, 1:, 0] = prior.class_key[head].item()
        log_prior[head, 0, 0] = prior.class_self[head].item()
        for i, (row, column) in enumerate(cells):
            for j, (other_row, other_column) in enumerate(cells):
                for scheme, distance in zip(prior.axes, (row - other_row, column - other_column), strict=True):
                    assert isinstance(scheme, PositionScheme)
                    waves = scheme.waves()
                    assert waves is not None
                    even, odd, frequencies = (side.tolist() for side in waves)
                    for a, b, w in zip(even[head], odd[head], frequencies, strict=True):
                        log_prior[head, i + 1, j + 1] += a * math.cos(w * distance) + b * math.sin(w * distance)
    return log_prior


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 5), (4, 2)])
def test_attention_with_lanes_is_the_float64_reference(height: int, width: int) -> None:
    draw = torch.Generator().manual_seed(0)
    prior, content = learned(1), 8
    q, k, v = torch.randn(3, 2, HEADS, height * width + 1, content, generator=draw)
    scores = q.double() @ k.double().mT / math.sqrt(content) + by_definition(prior, height, width)
    reference = scores.softmax(-1) @ v.double()

    query, key = prior.extend(q, k, height, width)
    output = scaled_dot_product_attention(query, key, v, scale=1 / math.sqrt(content))
    assert query.shape[-1] == content + prior.lanes
    assert (output - reference).abs().max() <= 2e-6 * reference.abs().max()


def test_a_shift_of_both_cells_changes_nothing() -> None:
    height, width = 7, 6
    log_prior = learned(2, class_token=False).log_prior(height, width).detach()
    grid = log_prior.view(HEADS, height, width, height, width)
    for down, along in [(1, 0), (0, 1), (2, 3)]:
        here = grid[:, : height - down, : width - along, : height - down, : width - along]
        there = grid[:, down:, along:, down:, along:]
        torch.testing.assert_close(here, there, rtol=0, atol=2e-5)


def test_rows_and_columns_are_told_apart() -> None:
    log_prior = learned(3, class_token=False).log_prior(5, 5).detach()
    middle = log_prior[:, 12].view(HEADS, 5, 5)
    assert (middle - middle.mT).abs().max() > 0.1


@pytest.mark.parametrize("class_token", [True, False])
def test_a_large_grid_restricted_to_the_small_one_is_the_small_one(class_token: bool) -> None:
    prior = learned(4, class_token=class_token)
    small, large = prior.log_prior(3, 4), prior.log_prior(9, 11)
    kept = (torch.arange(3)[:, None] * 11 + torch.arange(4)).flatten()
    if class_token:
        kept = torch.cat([torch.zeros(1, dtype=torch.long), kept + 1])
    torch.testing.assert_close(large[:, kept][:, :, kept], small, rtol=0, atol=2e-5)


def test_every_other_cell_of_a_grid_twice_as_fine_is_the_coarse_one() -> None:
    prior = learned(5, class_token=False)
    coarse, fine = prior.log_prior(4, 4), prior.log_prior(8, 8, spacing=0.5)
    kept = (torch.arange(0, 8, 2)[:, None] * 8 + torch.arange(0, 8, 2)).flatten()
    torch.testing.assert_close(fine[:, kept][:, :, kept], coarse, rtol=0, atol=2e-5)


def test_finer_cells_weigh_their_area_against_the_class_token() -> None:
    prior = GridPrior(HEADS, [4.0])
    with torch.no_grad():
        prior.class_key.fill_(1.5)
    coarse, fine = (prior.log_prior(n, n, s).softmax(-1)[:, :, 0] for n, s in [(4, 1.0), (8, 0.5)])
    torch.testing.assert_close(fine[:, 1], coarse[:, 1])
    torch.testing.assert_close(fine[:, 0], coarse[:, 0])


def test_it_starts_as_plain_attention_and_every_parameter_learns() -> None:
    prior = GridPrior(HEADS, [3.0, 9.0])
    assert not prior.log_prior(3, 3).any()
    q, k, v = torch.randn(3, 1, HEADS, 10, 4, generator=torch.Generator().manual_seed(6))
    query, key = prior.extend(q, k, 3, 3)
    scaled_dot_product_attention(query, key, v, scale=0.5).square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.all() for parameter in prior.parameters())


def test_a_head_told_where_to_look_has_its_peak_there() -> None:
    offsets = torch.tensor([[0.0, 1.0], [-2.0, 0.0], [1.0, -1.0]])
    prior = GridPrior(HEADS, [2.0, 3.7, 8.0], class_token=False)
    prior.look_at(offsets, amplitude=1.5)
    middle = prior.log_prior(5, 5).detach()[:, 12]
    for head, (down, along) in enumerate(offsets.int().tolist()):
        assert int(middle[head].argmax()) == (2 - down) * 5 + (2 - along)
        assert float(middle[head].max()) == pytest.approx(1.5 * 6, abs=1e-5)


def test_positions_run_row_by_row() -> None:
    assert cell_positions(2, 3, spacing=0.5).tolist() == [[0, 0], [0, 0.5], [0, 1], [0.5, 0], [0.5, 0.5], [0.5, 1]]


def test_the_example_runs_and_knows_nothing_but_the_front_door() -> None:
    file = Path(__file__).resolve().parents[2] / "examples" / "two_axes.py"
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    weights = [[float(cell) for cell in line.replace("%", "").split()] for line in ran.stdout.splitlines()]
    assert len(weights) == 5 and abs(sum(map(sum, weights)) - 100) < 2
    assert max(max(row) for row in weights) == weights[3][0], "one row down, two columns to the left"
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert all(name == "dnagoat" or not name.startswith("dnagoat") for name in names)
