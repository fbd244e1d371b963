"""Strips of queries give what the whole kernel gives, and keep no more for the backward pass."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from dnagoat.attention.fast import strips
from dnagoat.attention.kernels import sdpa


def drawn(length: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(length)
    shape = 2, length, 3, 16
    return [torch.randn(shape, generator=generator).transpose(1, 2).requires_grad_() for _ in range(4)]


def error(got: Tensor, right: Tensor) -> float:
    return float((got.detach().double() - right.detach()).abs().max() / right.detach().abs().max())


# Output and gradients: four times the worst of all kernels (benchmarks/kernels_matrix.py).
BARS = {torch.float32: (2e-6, 2e-6), torch.bfloat16: (2.5e-2, 2.5e-2)}


@pytest.mark.parametrize(
    ("dtype", "length"),
    [*((torch.float32, length) for length in (129, 255, 256, 600, 2048)), (torch.bfloat16, 257), (torch.bfloat16, 512)],
)
def test_strips_are_exact(dtype: torch.dtype, length: int) -> None:
    *inputs, gradient = (x.detach().to(dtype).requires_grad_() for x in drawn(length))
    precise = [x.detach().double().requires_grad_() for x in inputs]
    got = strips.attend(inputs[0], inputs[1], inputs[2], 0.3)
    q, k, v = precise
    right = scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3)
    assert error(got, right) < BARS[dtype][0]
    gradients = zip(
        torch.autograd.grad(got, inputs, gradient),
        torch.autograd.grad(right, precise, gradient.double()),
        strict=True,
    )
    assert max(error(*pair) for pair in gradients) < BARS[dtype][1]


def test_sequences_may_be_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    *inputs, gradient = drawn(300)
    together = strips.attend(inputs[0], inputs[1], inputs[2], 0.3)
    monkeypatch.setattr(strips, "CACHED", 1)
    alone = strips.attend(inputs[0], inputs[1], inputs[2], 0.3)
    assert torch.equal(together, alone)
    first, second = (torch.autograd.grad(out, inputs, gradient) for out in (together, alone))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_the_kernel_takes_strips_where_they_pay() -> None:
    def ran(x: Tensor, causal: bool = True) -> str:
        return str(sdpa(x, x, x, 0.3, causal, None).grad_fn)

    for dtype, (strip, longest) in strips.SIZES.items():
        x = drawn(longest + 1)[0].to(dtype)
        assert "Strips" in ran(x[..., :longest, :])
        assert "Strips" not in ran(x[..., :longest, :], causal=False)
        assert "Strips" not in ran(x) and "Strips" not in ran(x[..., :strip, :])
    assert "Strips" not in ran(drawn(512)[0].double())


def test_strips_keep_what_the_whole_kernel_keeps() -> None:
    def kept(whole: bool) -> int:
        storages: dict[int, int] = {}

        def pack(x: Tensor) -> Tensor:
            storages[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
            return x

        q, k, v, _ = drawn(600)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
            _ = scaled_dot_product_attention(q, k, v, is_causal=True) if whole else strips.attend(q, k, v, 0.3)
        return sum(storages.values())

    assert kept(whole=False) <= kept(whole=True)
