"""Which measurements `bench` is asked for: arms, and the grid of their jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dnagoat.measure.job import Job


def arms_from(arms: list[str] | None, paper: bool) -> list[str]:
    """The arms that were named, else RoPE and GOAT; with --paper also the authors' module where it is installed."""
    from dnagoat.attention.schemes.registry import SCHEMES, USUAL
    from dnagoat.errors import OptionError
    from dnagoat.measure.benchmark import paper_arms
    from dnagoat.measure.job import PEER

    known = [*SCHEMES, PEER]
    for arm in arms or []:
        if arm not in known:
            raise OptionError(f"--arm {arm}: there are {', '.join(known)}")
    return list(dict.fromkeys(arms)) if arms else paper_arms() if paper else list(USUAL)


def jobs_from(*, preset: str, device: str, **axes: Any) -> list[Job]:
    """The grid of jobs; lengths, batches and precisions that were not named are those of the preset."""
    from dnagoat.measure.job import grid
    from dnagoat.training.launch.processes import pick_device
    from dnagoat.training.presets import preset as preset_of

    model, train = preset_of(preset)
    axes["lengths"] = axes["lengths"] or [model.context]
    axes["batches"] = axes["batches"] or [train.batch_size]
    axes["precisions"] = axes["precisions"] or [train.precision]
    return list(grid(model, train, device=str(pick_device(device)), **axes))
