"""Which routine computes attention: PyTorch's fused one, the flash-attn package, or an explicit product.

A kernel takes q (B, H, T, D), k and v (B, H, S, D), the scale of the scores, and which keys a query may see: under
`causal` T = S and key j is visible to query i when j <= i; `mask` (B or 1, 1, T, S) is True where visible.
"""

# B batch, H heads, T queries, S keys, D head width

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import _disable_current_modes

from dnagoat.attention import biased
from dnagoat.attention.biased import Bias
from dnagoat.attention.fast import strips
from dnagoat.errors import MissingError, OptionError


class Kernel(Protocol):
    """A way to attend; `bias` is what is added to the scores, where there is any."""

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
    ) -> Tensor: ...


DENSE_LIMIT = 8_192


def sdpa(
    q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
) -> Tensor:
    """PyTorch's scaled_dot_product_attention; it picks flash, efficient, cuDNN or math by itself.

    Where its CPU kernel would compute what the causal mask hides, it is called strip by strip. A bias it would want
    whole, and dense its gradient: with one it is flex attention on CUDA, and `biased.attend` elsewhere.
    """
    if bias is not None:
        attend = biased.flex if q.is_cuda and q.shape[-2] > 1 else biased.attend
        return attend(q, k, v, scale, causal, mask, bias)
    if causal and mask is None and strips.pay(q, k, v):
        return strips.attend(q, k, v, scale)
    return scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale)


def flash(
    q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
) -> Tensor:
    """The flash-attn package; what it cannot take (a mask, a bias, float32, a tensor on a CPU) goes to `sdpa`."""
    if not _takes(q, mask, bias):
        return sdpa(q, k, v, scale, causal, mask, bias)
    if fault := flash_fault():
        raise MissingError(_refusal(fault))
    from flash_attn import flash_attn_func

    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return flash_attn_func(q, k, v, softmax_scale=scale, causal=causal).transpose(1, 2)  # type: ignore[no-any-return]


def auto(
    q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
) -> Tensor:
    """The flash-attn package for tensors that it takes and on GPUs where it is the fastest; else `sdpa`.

    A compiled graph has PyTorch's own: a tracer cannot see whether the package works.
    """
    best = _takes(q, mask, bias) and not torch.compiler.is_compiling()
    best = best and not _own_is_faster(q.device) and flash_fault() is None
    return (flash if best else sdpa)(q, k, v, scale, causal, mask, bias)


def _takes(q: Tensor, mask: Tensor | None, bias: Bias | None) -> bool:
    return q.is_cuda and mask is None and bias is None and q.dtype in (torch.float16, torch.bfloat16)


def _own_is_faster(device: torch.device) -> bool:
    """Whether PyTorch's own choice, cuDNN, beats flash-attn 2: from compute capability 9.0 (Hopper) on."""
    return torch.cuda.get_device_capability(device) >= (9, 0)


def dense(normalise: Callable[[Tensor], Tensor]) -> Kernel:
    """Explicit scores and weights, quadratic in memory, in at least float32; any normaliser."""

    def kernel(
        q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
    ) -> Tensor:
        if bias is not None:
            return biased.attend(q, k, v, scale, causal, mask, bias, normalise)
        if k.shape[-2] > DENSE_LIMIT:
            raise OptionError(
                f"{k.shape[-2]:,} keys are more than the {DENSE_LIMIT:,} that a dense kernel takes; "
                "use softmax with kernel sdpa, or shorter windows"
            )
        precise = torch.promote_types(q.dtype, torch.float32)
        scores = q.to(precise) @ k.to(precise).transpose(-1, -2) * scale
        if causal:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(precise).min / 4)
        return (normalise(scores) @ v.to(precise)).to(v.dtype)

    return kernel


@cache
def flash_fault() -> str | None:
    """Why the flash-attn package cannot be used here, or None: the function itself is tried, once.

    With real tensors: a plan's are fake, which no extension takes, and the answer is for the whole process.
    """
    if not torch.cuda.is_available():
        return "there is no CUDA device"
    try:
        with _disable_current_modes(), torch.no_grad():
            _try_flash()
    except Exception as fault:
        return f"{type(fault).__name__}: {str(fault).splitlines()[0] if str(fault) else 'no message'}"
    return None


def _try_flash() -> None:
    from flash_attn import flash_attn_func

    x = torch.randn(1, 8, 1, 64, device="cuda", dtype=torch.bfloat16)
    flash_attn_func(x, x, x, causal=True)


def _refusal(fault: str) -> str:
    return f"kernel flash cannot be used here ({fault}); kernels auto and sdpa can"


def refuse_kernel(name: str, device: torch.device) -> None:
    """A `MissingError` where the kernel of this name was asked for and cannot work on the device."""
    if name != "flash":
        return
    if fault := "it needs a CUDA device" if device.type != "cuda" else flash_fault():
        raise MissingError(_refusal(fault))


def kernel_for(name: str, normaliser: str, normalise: Callable[[Tensor], Tensor]) -> Kernel:
    """The kernel that a configuration's name means; a sparse normaliser needs the dense one.

    Nothing is tried here: a model may be counted, planned or read where it is not to run.
    """
    if normaliser != "softmax" or name == "dense":
        return dense(normalise)
    return {"flash": flash, "sdpa": sdpa, "auto": auto}[name]
