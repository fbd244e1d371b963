"""Whether every scheme computes what its formula says, in float32 and in half precision."""

from __future__ import annotations

import pytest
import torch

from dnagoat.attention.kernels import sdpa
from dnagoat.attention.lanes.assemble import assemble
from dnagoat.attention.proof import parity, reference
from dnagoat.attention.proof.parity import ALIBI_LIKE, SUBJECTS, TWICE, Subject
from dnagoat.attention.schemes.base import At

BF16 = torch.bfloat16
RECENCY = Subject("goat", {"parts": ("recency",)})


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.label)
@pytest.mark.parametrize(("length", "batch"), [(1, 7), (7, 1), (129, 7), (513, 1)])
def test_float32_is_within_the_bars(subject: Subject, length: int, batch: int) -> None:
    errors = parity.layer_errors(subject, length, batch, "cpu", sdpa)
    forward, content = subject.bars(length)
    assert errors.pop("forward") <= forward
    for name, error in errors.items():
        assert error <= (subject.gradient_bar if name.startswith("scheme.") else content), name


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.label)
def test_float64_is_exact(subject: Subject) -> None:
    layer = subject.layer().double()
    x = torch.randn(2, 65, layer.out.weight.shape[1], dtype=torch.float64)
    got, want = layer(x, At(torch.arange(65))), reference.attention(layer, x)
    assert parity.error(got, want) < 1e-12


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.label)
def test_the_lanes_are_the_formula_at_any_positions(subject: Subject) -> None:
    scheme = subject.layer().double().scheme
    queries, keys = torch.tensor([0, 5, 255, 256, 70_000]), torch.tensor([0, 1, 3, 255, 256, 257, 65_535, 70_000])
    got, want = scheme.log_prior(queries, keys), reference.log_prior(scheme, queries, keys)
    causal = queries[:, None] >= keys  # ALiBi's formula is recency's only there
    wrong = torch.where(causal, got - want, torch.nan)
    wrong = wrong - wrong[:, :, :1]  # up to a constant a row
    assert wrong.nan_to_num().abs().max() < 1e-9


@pytest.mark.parametrize("length", [128, 1024, 8192, 16_384])
def test_recency_in_bfloat16(length: int) -> None:
    assert parity.total_variation(Subject("goat", {"parts": ("recency",)}, heads=2), length, BF16) <= TWICE


def test_recency_in_bfloat16_under_sharp_content() -> None:
    assert parity.total_variation(RECENCY, 1024, BF16, deviation=4.0) <= 1.5 * TWICE


def test_a_single_lane_would_not_pass() -> None:
    """The measure sees the fault that the pieces cure: slope * j in one bfloat16 lane."""
    length, root = 1024, 63**0.5
    q, k = (torch.randn(1, 1, rows, 63, generator=torch.Generator().manual_seed(rows)).to(BF16) for rows in (1, length))
    lane = torch.arange(length).float()[None, :, None]
    naive = parity._weights(assemble(q, torch.tensor([[[0.5 * root]]])), assemble(k, lane), 1 / root, sdpa)
    exact = (q.double() @ k.double().transpose(-1, -2) / root + 0.5 * lane[..., 0].double())[0, :, 0].softmax(-1)
    assert 0.5 * (naive - exact).abs().sum() > 0.1


@pytest.mark.parametrize("length", [1024, 16_384])
@pytest.mark.parametrize(("part", "bar"), [("spectral", 0.04), ("sink", 0.01)])
def test_smooth_parts_in_bfloat16(part: str, bar: float, length: int) -> None:
    """Alone, and beside the other parts at rest: the head then has another content width to make up for."""
    for parts in ((part,), ("spectral", "sink", "recency")):
        scheme = Subject("goat", {"parts": parts}).layer().scheme
        with torch.no_grad():
            for name, parameter in scheme.named_parameters():
                if part not in name and name.endswith(("even", "odd", "gain", "first", "slopes")):
                    parameter.zero_()
        assert parity.prior_error(scheme, length, BF16) <= bar


def test_the_slopes_gradient_in_float32_at_4096() -> None:
    assert parity.slope_gradient_error(4096, torch.float32, (0.25,)) <= 1e-3


def test_the_slopes_gradient_in_bfloat16_at_2048() -> None:
    assert parity.slope_gradient_error(2048, BF16, ALIBI_LIKE[:2]) <= 0.1


def test_steep_slopes_where_the_kernel_sums_in_float32() -> None:
    """PyTorch's CPU kernel adds query gradients of 512 keys at a time in bfloat16, which GPUs and `dense` do not."""
    exact_sums = parity.usable_kernels()["dense"]
    assert parity.slope_gradient_error(2048, BF16, (1.0, 0.5), kernel=exact_sums) <= 0.01


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_computes_the_prior_in_float32(dtype: torch.dtype) -> None:
    layer = Subject("goat").layer()
    x = torch.randn(1, 300, 256)
    with torch.autocast("cpu", dtype=dtype):
        y = layer(x, At(torch.arange(300)))
    assert y.dtype == dtype
    assert parity.error(y.detach(), reference.attention(layer, x.double())) < 2e-2


def test_the_self_test_covers_every_scheme_and_holds() -> None:
    rows = list(parity.parities(length=96))
    assert all(row.held for row in rows), [row for row in rows if not row.held]
    assert {row.precision for row in rows} == {"float32", "bfloat16", "float16"}
    assert {subject.label for subject in SUBJECTS} <= {row.subject for row in rows}
