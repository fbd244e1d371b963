"""The same proofs on a CUDA device: exactness in every precision, and which kernel ran."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from dnagoat.attention import biased
from dnagoat.attention.biased import Bias
from dnagoat.attention.cache import Cache
from dnagoat.attention.kernels import flash_fault
from dnagoat.attention.proof import parity
from dnagoat.attention.proof.kernel import kernel_of
from dnagoat.attention.proof.parity import ALIBI_LIKE, SUBJECTS, Subject
from dnagoat.attention.schemes.base import At
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.model.transformer import DnaLM

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.mark.parametrize("length", [1, 97, 1024])
def test_every_scheme_and_kernel_holds_its_bars(length: int) -> None:
    rows = list(parity.parities("cuda", length))
    assert all(row.held for row in rows), [row for row in rows if not row.held]


@pytest.mark.parametrize(("length", "bar"), [(8192, 2e-3), (16_384, 2e-3), (65_536, 5e-3)])
def test_recency_in_bfloat16_at_length(length: int, bar: float) -> None:
    assert parity.total_variation(Subject("goat", {"parts": ("recency",)}), length, torch.bfloat16, "cuda") <= bar


def test_the_slopes_gradient() -> None:
    assert parity.slope_gradient_error(4096, torch.float32, ALIBI_LIKE, "cuda") <= 1e-3
    assert parity.slope_gradient_error(2048, torch.bfloat16, ALIBI_LIKE, "cuda") <= 0.1


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.label)
def test_tf32_keeps_the_prior(subject: Subject) -> None:
    """TF32 rounds factors to 11 bits: content loses digits, integer pieces do not."""
    from dnagoat.attention.kernels import sdpa

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        errors = parity.layer_errors(subject, 1024, 1, "cuda", sdpa)
    finally:
        torch.set_float32_matmul_precision(before)
    assert errors["forward"] <= 2e-2


@pytest.mark.parametrize("name", ["rope", "rope+bias", "alibi", "goat", "goat+rope"])
def test_half_precision_runs_a_fused_kernel(name: str) -> None:
    model = DnaLM(ModelConfig(layers=1, position=PositionConfig(name=name))).cuda()
    codes = torch.zeros(2, 512, dtype=torch.long, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        ran = kernel_of(lambda: model(codes).sum().backward())
    assert ran in {"sdpa, flash", "sdpa, cuDNN"} if flash_fault() else {"flash-attn package"}


def test_cached_equals_full_in_float64() -> None:
    model = DnaLM(ModelConfig(layers=2)).cuda().double()
    codes = torch.randint(0, 4, (2, 40), device="cuda")
    with torch.no_grad():
        cache = Cache(model.config, 2, 40, device="cuda", dtype=torch.float64)
        parts = [model(codes[:, a:b], cache) for a, b in ((0, 30), (30, 31), (31, 40))]
        torch.testing.assert_close(torch.cat(parts, dim=1), model(codes), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["t5", "fire"])
@pytest.mark.parametrize(("precision", "bar"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_a_bias_by_flex_attention_is_the_reference_with_its_gradients(
    name: str, precision: torch.dtype, bar: float
) -> None:
    layer = Subject(name).layer("cuda")
    at, (q, k, v) = At(torch.arange(300, device="cuda")), torch.randn(3, 2, 4, 300, 64, device="cuda")
    flow = torch.randn_like(q)
    found = []
    kernels: list[tuple[Callable[..., torch.Tensor], torch.dtype]] = [
        (biased.flex, precision),
        (biased.attend, torch.float32),
    ]
    for kernel, dtype in kernels:
        given = [x.to(dtype, copy=True).requires_grad_() for x in (q, k, v)]
        y = kernel(*given, 1 / layer.scheme.root, True, None, Bias(layer.scheme, at))
        parameters = list(layer.scheme.parameters())
        found.append([y, *torch.autograd.grad(y, [*given, *parameters], flow.to(y.dtype))])
    for got, want in zip(*found, strict=True):
        assert parity.error(got, want.double()) <= bar


@pytest.mark.parametrize("name", ["t5", "fire"])
def test_a_scheme_with_a_bias_trains_by_flex_attention(name: str) -> None:
    model = DnaLM(ModelConfig(layers=1, position=PositionConfig(name=name))).cuda()
    codes = torch.zeros(2, 512, dtype=torch.long, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        ran = kernel_of(lambda: model(codes).sum().backward())
    assert ran == "flex attention"
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.position_parameters().values())
