"""How exact attention is at the lengths that take too long for a test: each error beside its bar.

    python benchmarks/exactness.py [--device cuda] [--json FILE]

Total variation is read from the kernel's own weights for the last query, content logits N(0, 1). A reference of L x L
in float64 limits the float32 rows to 4,096 on a machine of 16 GB.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch
from rows import Row, finish

from dnagoat.attention.kernels import sdpa
from dnagoat.attention.proof import parity
from dnagoat.attention.proof.parity import ALIBI_LIKE, Subject

BF16 = torch.bfloat16
STEEP = (1.0, 0.8, 0.6, 0.5)


def variation(device: str) -> Iterator[Row]:
    for length in (1_024, 2_048, 4_096, 8_192, 16_384, 65_536, 131_072):
        bar = 2e-3 if length <= 16_384 else 5e-3
        for slope in (1.0, 0.5, 0.02) if length < 65_536 else (0.5,):
            subject = Subject("goat", {"parts": ("recency",)}, heads=1, slope=slope)
            error = parity.total_variation(subject, length, BF16, device)
            yield Row(f"recency, bf16, {length}, slope {slope:g}", error, "TV", bar, "<=", 1)
    sharp = parity.total_variation(Subject("goat", {"parts": ("recency",)}), 1024, BF16, device, deviation=4.0)
    yield Row("recency, bf16, 1024, content x 4", sharp, "TV", 3e-3, "<=", 1)
    for part, bar in (("spectral", 0.04), ("sink", 0.01)):
        subjects = [Subject("goat", {"parts": (part,)}, seed=seed) for seed in range(5)]
        worst = max(parity.prior_error(subject.layer(device).scheme, 16_384, BF16, device) for subject in subjects)
        yield Row(f"{part}, bf16, 16384", worst, "nats", bar, "<=", 5)


def float32(device: str) -> Iterator[Row]:
    for length in (1, 7, 1023, 1024, 2048, 4096):
        for subject in (Subject("nope", heads=1), Subject("rope", heads=1), Subject("goat", heads=1)):
            errors = parity.layer_errors(subject, length, 1, device, sdpa)
            forward, content = subject.bars(length)
            gradient = max(error for name, error in errors.items() if name != "forward" and "scheme" not in name)
            yield Row(f"{subject.label}, fp32, {length}", errors["forward"], "forward", forward, "<=", 1)
            yield Row(f"{subject.label}, fp32, {length}", gradient, "gradient", content, "<=", 1)


def slopes(device: str) -> Iterator[Row]:
    for dtype, length, bar in ((torch.float32, 4096, 1e-3), (BF16, 2048, 0.1)):
        for name, start in (("ALiBi-like", ALIBI_LIKE), ("steep", STEEP)):
            errors = [parity.slope_gradient_error(length, dtype, start, device, seed=seed) for seed in range(3)]
            label = f"slope gradient, {str(dtype)[6:]}, {length}, {name}"
            yield Row(label, max(errors), "relative", bar, "<=", 3, ", ".join(f"{error:.1e}" for error in errors))
    wide = parity.usable_kernels()["dense"]  # sums in float32, as GPUs do; PyTorch's CPU kernel in bfloat16
    errors = [parity.slope_gradient_error(2048, BF16, STEEP, device, wide, seed) for seed in range(3)]
    yield Row("slope gradient, bfloat16, 2048, steep, dense", max(errors), "relative", 0.1, "<=", 3)


def rows(device: str) -> Iterator[Row]:
    yield from float32(device)
    yield from slopes(device)
    yield from variation(device)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    finish(rows(chosen.device), chosen.json)
