"""Does GC% along generated DNA follow the true continuation? Pearson r three ways, intervals, and constant input."""

from __future__ import annotations

from pydantic import Field

from dnagoat.config import Frozen


class TrajectoryOptions(Frozen):
    """How the trajectory is measured; lengths in bases."""

    prompts: int = Field(128, ge=2, description="random windows of the split without N")
    prompt_length: int = Field(512, ge=1)
    length: int = Field(512, ge=2, description="generated bases a continuation")
    samples: int = Field(8, ge=1, description="continuations a prompt")
    window: int = Field(64, ge=1)
    stride: int = Field(32, ge=1)
    temperature: float = Field(1.0, ge=0)
