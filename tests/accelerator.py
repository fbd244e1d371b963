"""A make-believe accelerator: PyTorch's place for other makers' devices, under fake tensors, on any machine.

What would run on a GPU runs here with shapes, types and devices and without numbers, and every operation is seen.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import Tensor, library, nn
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode

NAME = "make_believe"


class Absent(backend_registration._DummyBackendModule):
    """What PyTorch asks about the device; it is not there, so that fake tensors never touch it."""

    def is_available(self) -> bool:
        return False

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]


backend_registration._setup_privateuseone_for_python_backend(NAME, backend_module=Absent())

# What autocast does for a device of its own: products in half precision, all else as it comes.
_every = library.Library("_", "IMPL")
_every.fallback(library.fallthrough_kernel, "AutocastPrivateUse1")
_aten = library.Library("aten", "IMPL")
_keys = torch._C.DispatchKeySet(torch._C._parse_dispatch_key("AutocastPrivateUse1"))  # type: ignore[arg-type]


def _casting(operation: Any) -> Any:
    def kernel(*given: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(_keys):
            half = torch.get_autocast_dtype(NAME)
            return operation(*(x.to(half) if isinstance(x, Tensor) and x.is_floating_point() else x for x in given))

    return kernel


for _name in ("linear", "matmul", "mm", "bmm", "addmm"):
    _aten.impl(_name, _casting(getattr(torch.ops.aten, _name)), "AutocastPrivateUse1")

# Operations that launch nothing: they look at the same memory in another way, or reserve some.
FREE = frozenset(
    [
        "_record_function_enter_new",
        "_record_function_exit",
        "_reshape_alias",
        "_unsafe_view",
        "alias",
        "as_strided",
        "detach",
        "diagonal",
        "empty",
        "empty_like",
        "empty_strided",
        "expand",
        "is_same_size",
        "lift_fresh",
        "narrow",
        "new_empty",
        "new_empty_strided",
        "permute",
        "select",
        "slice",
        "split",
        "split_with_sizes",
        "squeeze",
        "t",
        "transpose",
        "unbind",
        "unsqueeze",
        "view",
        "view_as",
    ]
)


class Operations(TorchDispatchMode):
    """Launches by name, and what went from one device to another, was read by the host or computed there."""

    def __init__(self) -> None:
        super().__init__()
        self.launches: Counter[str] = Counter()
        self.crossings: list[str] = []
        self.on_host: list[str] = []  # what was computed there

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        space, _, name = str(func).partition(".")
        name = name.partition(".")[0]
        if space == "prim":
            return out
        if name not in FREE:
            self.launches[name] += 1
        if isinstance(out, Tensor) and out.device.type != NAME:
            self.on_host.append(str(func))
        tensors = [x for x in (*args, out) if isinstance(x, Tensor)]
        if "_local_scalar" in name or (name in ("_to_copy", "copy_") and len({x.device.type for x in tensors}) > 1):
            self.crossings.append(str(func))
        return out


def moved(model: nn.Module) -> nn.Module:
    """The model on the make-believe device; `Module.to` cannot exchange fake parameters."""
    for module in model.modules():
        for held in (module._parameters, module._buffers):
            for name, tensor in held.items():
                if tensor is not None:
                    there = tensor.detach().to(NAME)
                    held[name] = nn.Parameter(there) if held is module._parameters else there  # type: ignore[assignment]
    return model
