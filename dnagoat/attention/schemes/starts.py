"""Where GOAT's parameters start: at nothing, near ALiBi as its authors', or with a peak at a distance for each head."""

# H heads

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from dnagoat.attention.schemes.alibi import alibi_slopes
from dnagoat.attention.schemes.authors import raw_of
from dnagoat.attention.schemes.distances import peaks, slopes
from dnagoat.attention.schemes.goat import Goat, GoatConfig

SEEDED_SD, AUTHORS_SD = 0.01, 1e-3

Draw = Callable[[float], Tensor]


def start(scheme: Goat, name: str, idle: Tensor, draw: Draw) -> Tensor:
    """Of the parameter `name` (`parts.spectral.even`), as `PositionScheme.start`."""
    _, _, field = name.partition(".")
    if name.endswith(".learned"):
        return scheme.get_parameter(name).detach().clone()  # frequencies stay as they were made
    goat = scheme.settings_as(GoatConfig)
    if field == "recency.slopes" and goat.slopes is not None:
        return torch.tensor(goat.slopes[scheme.layer]).to(idle)
    if goat.form == "authors":
        return _authors(scheme, field, idle, draw)
    return STARTS[goat.init](scheme, field, idle, draw)


def _uniform(scheme: Goat, field: str, idle: Tensor, draw: Draw) -> Tensor:
    """K = 0 exactly, plain attention at step 0; the sink's network is drawn, its gain is 0."""
    return idle


def _seeded(scheme: Goat, field: str, idle: Tensor, draw: Draw) -> Tensor:
    """As the authors start: ALiBi's slopes, a ~ N(0, 0.01), everything else as `uniform`."""
    if field == "recency.slopes":
        return alibi_slopes(scheme.heads).to(idle)
    return draw(SEEDED_SD) if field == "spectral.even" else idle


def _at_distances(scheme: Goat, field: str, idle: Tensor, draw: Draw) -> Tensor:
    """The spectral part of each head but free ones peaks at a distance of its own; slopes follow, the rest is 0."""
    goat = scheme.settings_as(GoatConfig)
    chosen = goat.placed(scheme.config.layers, scheme.heads)
    if field == "recency.slopes":
        return slopes(chosen, scheme.layer).to(idle)
    if field not in ("spectral.even", "spectral.odd"):
        return idle
    even, odd = peaks(chosen[scheme.layer], goat.frequencies(), goat.amplitude)
    return (even if field == "spectral.even" else odd).to(idle)


STARTS: dict[str, Callable[[Goat, str, Tensor, Draw], Tensor]] = {
    "uniform": _uniform,
    "seeded": _seeded,
    "distances": _at_distances,
}


def _authors(scheme: Goat, field: str, idle: Tensor, draw: Draw) -> Tensor:
    """The same in the authors' form, as their module draws it: gain 1 before a sink's network that is all but 0."""
    init = scheme.settings_as(GoatConfig).init
    if field in ("sink.inner.weight", "sink.outer.weight"):
        flat = init == "uniform" and field == "sink.outer.weight"
        return torch.zeros_like(idle) if flat else draw(AUTHORS_SD)
    if field == "sink.gain":
        return torch.ones_like(idle)
    if field == "recency.raw":
        return raw_of(start(scheme, "parts.recency.slopes", idle, draw))
    return STARTS[init](scheme, field, idle, draw)
