"""What strips of queries save on a CPU: causal attention, forward and backward, whole over in strips, by length.

    python benchmarks/strips.py [--rounds 7] [--json FILE]

Heads of 64, as many as make 4,096 rows; float32; one process, one thread, process time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from rows import Row, finish, interleaved, options
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from dnagoat.attention import strips

ROWS, HEAD = 4_096, 64


def both_ways(forward: Callable[[Tensor, Tensor, Tensor], Tensor], length: int) -> Callable[[], None]:
    shape = 1, length, ROWS // length, HEAD
    q, k, v = (torch.randn(shape).transpose(1, 2).requires_grad_() for _ in range(3))
    gradient = torch.randn(shape).transpose(1, 2)

    def work() -> None:
        torch.autograd.grad(forward(q, k, v), (q, k, v), gradient)

    return work


def whole(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return scaled_dot_product_attention(q, k, v, is_causal=True, scale=HEAD**-0.5)


def in_strips(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return strips.attend(q, k, v, HEAD**-0.5)


def rows(rounds: int) -> Iterator[Row]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for length in (256, 512, 1024, 2048):
        least = interleaved({"whole": both_ways(whole, length), "strips": both_ways(in_strips, length)}, rounds)
        detail = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in least.items())
        yield Row(f"whole / strips, {length}", least["whole"] / least["strips"], "ratio", 1.0, ">=", rounds, detail)


if __name__ == "__main__":
    chosen = options(__doc__ or "", rounds=7)
    finish(rows(chosen.rounds), chosen.json)
