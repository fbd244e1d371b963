"""Which attention kernel ran: read from a profile of one call, not from what was asked for."""

from __future__ import annotations

from collections.abc import Callable

from torch.profiler import ProfilerActivity, profile

# What a profile calls each routine, and what people call it; the first that is found is the one.
KERNELS = (
    ("flash_attn", "flash-attn package"),
    ("_scaled_dot_product_cudnn_attention", "sdpa, cuDNN"),
    ("_scaled_dot_product_flash_attention_for_cpu", "sdpa, flash on CPU"),
    ("_scaled_dot_product_flash_attention", "sdpa, flash"),
    ("_scaled_dot_product_efficient_attention", "sdpa, memory-efficient"),
    ("_scaled_dot_product_fused_attention_overrideable", "sdpa, device's own"),
    ("_scaled_dot_product_attention_math", "sdpa, math (quadratic)"),
)
DENSE = "dense (quadratic)"


def kernel_of(call: Callable[[], object]) -> str:
    """The kernels that `call` ran, joined by a plus where there are several; without any, attention was dense."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        call()
    names = {str(event.key) for event in profiled.key_averages()}
    found = []
    for name in sorted(names):
        label = next((label for part, label in KERNELS if part in name and "backward" not in name), None)
        if label and label not in found:
            found.append(label)
    return " + ".join(found) or DENSE
