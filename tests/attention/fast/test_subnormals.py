"""Subnormal numbers are flushed in every thread that computes, change no result, and come back afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from threading import Thread

import pytest
import torch
from torch import Tensor

from dnagoat.attention.biased import Bias
from dnagoat.attention.fast.subnormals import (
    GRAIN,
    SUBNORMAL,
    count_subnormal,
    flush_subnormals,
    subnormals,
    threads_that_keep,
)
from dnagoat.attention.kernels import dense, sdpa
from dnagoat.attention.proof.parity import Subject
from dnagoat.attention.schemes.base import At

THREADS = 3


@pytest.fixture(autouse=True)
def pool() -> Iterator[None]:
    """A pool of some threads that has begun to work, and keeps subnormal numbers."""
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    assert threads_that_keep() == THREADS
    if not torch.set_flush_denormal(False):
        pytest.skip("this CPU has no switch for subnormal numbers")
    yield
    assert threads_that_keep() == THREADS, "the block has left something behind"
    torch.set_num_threads(before)


def tiny(count: int) -> Tensor:
    return torch.full((count,), SUBNORMAL, dtype=torch.int32).view(torch.float32)


def test_a_pool_at_work_flushes_inside_the_block_and_keeps_afterwards() -> None:
    with flush_subnormals():
        assert (threads_that_keep(), subnormals()) == (0, "flushed")
        with flush_subnormals():
            pass
        assert threads_that_keep() == 0, "the inner block has ended the outer one"
    assert (threads_that_keep(), subnormals()) == (THREADS, "kept")


def test_the_block_ends_with_an_error_too() -> None:
    with pytest.raises(ValueError, match="in the block"), flush_subnormals():
        raise ValueError("in the block")
    assert subnormals() == "kept"


def test_a_user_who_flushes_is_left_flushing() -> None:
    torch.set_flush_denormal(True)
    try:
        assert subnormals() == f"kept by {THREADS - 1} of {THREADS} threads"
        with flush_subnormals():
            assert subnormals() == "flushed"
        assert int((tiny(1) * 1).view(torch.int32)) == 0
    finally:
        torch.set_flush_denormal(False)
        with flush_subnormals():  # whose end restarts the pool
            pass


def test_threads_that_are_started_inside_flush_too() -> None:
    found: list[int] = []
    with flush_subnormals():
        thread = Thread(target=lambda: found.append(threads_that_keep()))
        thread.start()
        thread.join()
    assert found == [0]


def test_gradients_are_flushed_by_all_threads_of_a_backward_pass() -> None:
    def kept() -> tuple[int, int]:
        x = torch.ones(THREADS * GRAIN, requires_grad=True)
        y = x * tiny(len(x))
        y.backward(torch.ones_like(y))
        assert x.grad is not None
        return count_subnormal(y), count_subnormal(x.grad)

    assert kept() == (THREADS * GRAIN, THREADS * GRAIN)
    with flush_subnormals():
        assert kept() == (0, 0)


def steep(inside: AbstractContextManager[None]) -> tuple[int, int, list[Tensor]]:
    """A layer at slope 1 over 512 bases: how many of its attention weights are subnormal, how many gradients of its
    queries, keys and values from the last base's output, and what it gives."""
    layer, seen = Subject("goat", {"parts": ("recency",)}).layer(), list[Tensor]()
    x = torch.randn(2, 512, 256, generator=torch.Generator().manual_seed(1), requires_grad=True)

    def looked_at(scores: Tensor) -> Tensor:
        seen.append(scores.softmax(-1))
        return seen[0]

    def looking(
        q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
    ) -> Tensor:
        for side in (q, k, v):
            side.retain_grad()
            seen.append(side)
        return sdpa(q, k, v, scale, causal, mask, bias)

    with inside:
        layer.kernel = dense(looked_at)
        layer(x, At.whole(512))
        layer.kernel = looking
        y = layer(x, At.whole(512))
        y[:, -1].sum().backward()
    gradients = [side.grad for side in seen[1:] if side.grad is not None]
    return count_subnormal(seen[0]), sum(map(count_subnormal, gradients)), [y.detach(), *gradients]


def test_a_steep_slope_makes_weights_and_gradients_subnormal_and_flushing_changes_nothing_else() -> None:
    weights, gradients, kept = steep(nullcontext())
    assert weights > 10_000 and gradients > 10_000  # of 2,097,152 and 786,432
    none, left, flushed = steep(flush_subnormals())
    assert (none, left) == (0, 0)
    largest = 512 * torch.finfo(torch.float32).smallest_normal  # a weight that is flushed, times what flows through it
    for one, other in zip(kept, flushed, strict=True):
        assert ((one - other).abs() <= largest).all()
