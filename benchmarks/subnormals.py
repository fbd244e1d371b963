"""Do steep slopes cost time because attention weights and gradients become subnormal, and does flushing mend it?

    python benchmarks/subnormals.py [--keep] [--rounds 7] [--json FILE]

One attention layer, forward and backward, 8 sequences of 1,024 bases, 8 heads of 64: slopes from 1 down to 0 (`steep`)
beside all 0 (`level`), which is the same work on other numbers. `--keep` leaves the flush out and shows the fault: the
count misses its bar on every CPU, the time on those that compute subnormal numbers in microcode (Intel's). One process,
one thread, process time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext

import torch
from rows import Row, finish, interleaved, options

from dnagoat.attention.fast.subnormals import count_subnormal, flush_subnormals, subnormals
from dnagoat.attention.layer import Attention
from dnagoat.attention.proof.parity import Subject
from dnagoat.attention.schemes.base import At

BATCH, HEADS, LENGTH, WIDTH = 8, 8, 1_024, 512
SLOPES = {"steep": 1.0, "level": 0.0}


def layer(slope: float) -> Attention:
    return Subject("goat", {"parts": ("recency",)}, heads=HEADS, slope=slope).layer()


def both_ways(module: Attention) -> Callable[[], None]:
    """Forward and backward; gradients are dropped afterwards."""
    x = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)
    flow = torch.randn(BATCH, LENGTH, WIDTH)

    def run() -> None:
        module(x, At.whole(LENGTH)).backward(flow)
        x.grad = None
        module.zero_grad(set_to_none=True)

    return run


@torch.no_grad()
def subnormal_weights(module: Attention) -> int:
    """How many of the (heads, length, length) weights of the prior alone are subnormal."""
    at = torch.arange(LENGTH)
    prior = module.scheme.log_prior(at, at).float()
    return count_subnormal(prior.masked_fill(at[:, None] < at, -torch.inf).softmax(-1))


def rows(rounds: int) -> Iterator[Row]:
    layers = {name: layer(slope) for name, slope in SLOPES.items()}
    found = {name: subnormal_weights(module) for name, module in layers.items()}
    detail = f"{subnormals()}; level {found['level']:,}; {HEADS * LENGTH * LENGTH // 2:,} weights in all"
    yield Row("subnormal weights, steep", found["steep"], "weights", 0, "<=", 1, detail)
    least = interleaved({name: both_ways(module) for name, module in layers.items()}, rounds)
    detail = f"{subnormals()}; " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in least.items())
    yield Row("time steep / level", least["steep"] / least["level"], "ratio", 1.05, "<=", rounds, detail)


if __name__ == "__main__":
    chosen = options(__doc__ or "", rounds=7, switches={"keep": "compute with subnormal numbers"})
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with nullcontext() if chosen.keep else flush_subnormals():
        finish(rows(chosen.rounds), chosen.json)
