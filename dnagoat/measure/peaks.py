"""How much memory something took: peaks that are reset before and read after, each under its own name.

CUDA: bytes that PyTorch allocated, and bytes that it reserved from the device. CPU: the largest resident size of the
whole process, libraries included, which is another thing and is never put in one column with the first two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from dnagoat.training.kept.metrics import resident_peak

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def reset_peaks(device: torch.device) -> dict[str, Any]:
    """Starts new peaks; what is resident now, and whether its peak could be reset (on Linux it can)."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
    try:
        _CLEAR.write_text("5")  # proc(5): resets VmHWM to what is resident now
    except OSError:
        return {"resident_before": _status("VmRSS"), "resident_reset": False}
    return {"resident_before": _status("VmRSS"), "resident_reset": True}


def read_peaks(device: torch.device) -> dict[str, int | None]:
    """Bytes at the peak since `reset_peaks`; None where there is no such memory."""
    cuda = device.type == "cuda"
    return {
        "cuda_allocated_peak": torch.cuda.max_memory_allocated(device) if cuda else None,
        "cuda_reserved_peak": torch.cuda.max_memory_reserved(device) if cuda else None,
        "resident_peak": _status("VmHWM") or resident_peak(),
    }


def _status(field: str) -> int | None:
    try:
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)
