"""What strips of queries save on a CPU: causal attention, forward and backward, whole over in strips, by length.

    python benchmarks/strips.py [--rounds 7] [--json FILE]

Eight heads of 64, 4,096 positions in as many sequences as that makes; each precision up to the length at which strips
are used. One process, one thread, process time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from rows import Row, finish, interleaved, options
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from dnagoat.attention.fast import strips

POSITIONS, HEADS, HEAD = 4_096, 8, 64


def both_ways(
    forward: Callable[[Tensor, Tensor, Tensor], Tensor], length: int, dtype: torch.dtype
) -> Callable[[], None]:
    shape = POSITIONS // length, length, HEADS, HEAD
    q, k, v, gradient = (torch.randn(shape, dtype=dtype).transpose(1, 2) for _ in range(4))
    for x in (q, k, v):
        x.requires_grad_()

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
    for dtype, (strip, longest) in strips.SIZES.items():
        for length in (256, 512, 1024, 2048):
            if not strip < length <= longest:
                continue
            arms = {"whole": both_ways(whole, length, dtype), "strips": both_ways(in_strips, length, dtype)}
            least = interleaved(arms, rounds)
            detail = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in least.items())
            name = f"whole / strips, {str(dtype).removeprefix('torch.')}, {length}"
            yield Row(name, least["whole"] / least["strips"], "ratio", 1.0, ">=", rounds, detail)


if __name__ == "__main__":
    chosen = options(__doc__ or "", rounds=7)
    finish(rows(chosen.rounds), chosen.json)
