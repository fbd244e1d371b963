"""How many bases pass through a model at once: as many as a processor's caches hold, or a GPU's free memory."""

# W symbols of a piece

from __future__ import annotations

from dnagoat.config import ModelConfig
from dnagoat.generation.continuation import free_bytes
from dnagoat.model.transformer import DnaLM

CPU_BASES = 1 << 12  # more at once no longer fits a CPU's caches: 64 windows of 1,024 took 22 % longer than 4
GPU_BASES = 1 << 20  # more at once keep no GPU busier
GPU_SHARE = 0.5  # of what is free: the allocator's slack takes some of the rest


def bases_at_once(model: DnaLM, asked: int | None, width: int, *, cached: bool = False) -> int:
    """At most `asked`, and on a GPU what its free memory takes, in pieces of `width` symbols.

    `cached` pieces leave keys and values behind. Batch mates change no result.
    """
    device = model.embedding.weight.device
    if device.type == "cuda":
        size = numbers_a_base(model.config, width, cached) * model.embedding.weight.element_size()
        most = max(1, min(GPU_BASES, int(GPU_SHARE * free_bytes(device)) // size))
    else:
        most = CPU_BASES
    return most if asked is None else min(asked, most)


def numbers_a_base(config: ModelConfig, width: int, cached: bool = False) -> int:
    """Numbers that a forward without gradients holds at its widest place, for each symbol of a piece of `width`.

    What a block reads, its norm, queries, keys, values and their copies for the kernel; or the MLP's inside and what
    its curve makes of it. A normaliser other than softmax has all weights of the square, and sorts them.
    """
    square = 14 * config.heads * width if config.normaliser != "softmax" else 0
    kept = 2 * config.layers * config.width if cached else 0
    return 8 * config.width + 2 * config.mlp_width + square + kept
