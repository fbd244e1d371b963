"""Which attention routine really ran: observed during one call, not read from what was asked for.

On CUDA the profiler says so. On CPU the dispatcher does: there the profiler would know no more, and writes to stderr.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# What an operator or a CUDA kernel has in its name, and what people call it; the first that fits is the one.
KERNELS = (
    ("flash_attn", "flash-attn package"),
    ("flex_attention", "flex attention"),
    ("_scaled_dot_product_cudnn_attention", "sdpa, cuDNN"),
    ("_scaled_dot_product_flash_attention_for_cpu", "sdpa, flash on CPU"),
    ("_scaled_dot_product_flash_attention", "sdpa, flash"),
    ("_scaled_dot_product_efficient_attention", "sdpa, memory-efficient"),
    ("_scaled_dot_product_fused_attention_overrideable", "sdpa, device's own"),
    ("_scaled_dot_product_attention_math", "sdpa, math (quadratic)"),
)
MATH = KERNELS[-1][0]
DENSE = "dense (quadratic)"


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Names of the operators that reach a device."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(str(func))
        return func(*args, **(kwargs or {}))


class _Calls(TorchFunctionMode):
    """Whether scaled_dot_product_attention was called: its quadratic form has no operator of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.called = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.called |= func is scaled_dot_product_attention
        return func(*args, **(kwargs or {}))


def kernel_of(call: Callable[[], object]) -> str:
    """The routines that `call` ran, joined by a plus where there are several; without any, attention was dense."""
    return _labels(_profiled(call) if torch.cuda.is_available() else _dispatched(call))


def _dispatched(call: Callable[[], object]) -> set[str]:
    with _Operators() as operators, _Calls() as calls:
        call()
    fused = any("_scaled_dot_product" in name for name in operators.names)
    names: set[str] = operators.names
    return names | ({MATH} if calls.called and not fused else set())


def _profiled(call: Callable[[], object]) -> set[str]:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        call()
        torch.cuda.synchronize()
    return {str(event.key) for event in profiler.key_averages()}


def _labels(names: Iterable[str]) -> str:
    found = []
    for name in sorted(names):
        label = next((label for part, label in KERNELS if part in name and "backward" not in name), None)
        if label and label not in found:
            found.append(label)
    return " + ".join(found) or DENSE
