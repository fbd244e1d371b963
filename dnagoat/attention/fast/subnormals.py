"""Numbers below the smallest normal one count as 0 while the library computes on a CPU.

Steep slopes make attention weights and their gradients subnormal (below 1.2e-38 in float32). Many CPUs handle those in
microcode, a hundred times slower than others, and arms would differ in speed for no reason of their own. The switch
is in each thread's own control register (MXCSR, FPCR), and a thread begins with that of the one that started it:
PyTorch's pool has it if it starts afterwards. GNU's OpenMP, which most builds of PyTorch have, can be told to end its
pool, and starts a new one with the next parallel work; LLVM's and Intel's hand the register on by themselves.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

GRAIN = 32_768  # elements of a thread's share of elementwise work (at::internal::GRAIN_SIZE)
SUBNORMAL = 71_362  # the bits of 1e-40 in float32


@contextmanager
def flush_subnormals() -> Iterator[None]:
    """Inside the block this thread and its pool take subnormal numbers for 0; afterwards both are as before.

    Does nothing inside another such block, or where the CPU has no such switch.
    """
    flushed = not _keep(1)
    if (flushed and not threads_that_keep()) or not torch.set_flush_denormal(True):
        yield
        return
    try:
        if threads_that_keep():
            _end_pool()
        yield
    finally:
        torch.set_flush_denormal(flushed)
        _end_pool()


def threads_that_keep() -> int:
    """How many threads of this one's pool, itself included, compute with subnormal numbers at this moment."""
    return -(-_keep(torch.get_num_threads() * GRAIN) // GRAIN)


def subnormals() -> str:
    """What is done with them at this moment: `flushed`, `kept`, or `kept by 3 of 4 threads`."""
    keeping, threads = threads_that_keep(), torch.get_num_threads()
    if 0 < keeping < threads:
        return f"kept by {keeping} of {threads} threads"
    return "kept" if keeping else "flushed"


@torch.no_grad()
def _keep(count: int) -> int:
    """How many of `count` subnormal numbers are still there after a multiplication by 1."""
    numbers = torch.full((count,), SUBNORMAL, dtype=torch.int32, device="cpu").view(torch.float32)
    return int((numbers * 1).view(torch.int32).count_nonzero())  # as integers, to which no switch applies


def _end_pool() -> None:
    """Ends the threads that OpenMP keeps for this one; the next parallel work starts others."""
    end = getattr(ctypes.CDLL(torch._C.__file__), "omp_pause_resource_all", None)  # looked up in all that PyTorch loads
    if end is not None:
        end(1)  # omp_pause_soft


def count_subnormal(x: Tensor) -> int:
    """How many elements of a float32 tensor are subnormal, whatever this thread does with them."""
    bits = x.detach().view(torch.int32) & 0x7FFF_FFFF
    return int(((bits > 0) & (bits < 0x0080_0000)).count_nonzero())
