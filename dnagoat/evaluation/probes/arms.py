"""What an arm's name means: `rope`, `goat`, `goat:spectral,sink`, each also with `+momentum` or `+momentum=0.5`."""

from __future__ import annotations

from dnagoat.config import GoatConfig, MomentumConfig, PositionConfig
from dnagoat.errors import OptionError

MOMENTUM = "+momentum"
ALONE = 1.0  # what one layer wants (arXiv 2602.04902)


def position_of(arm: str, goat: GoatConfig | None = None) -> PositionConfig:
    """The position scheme of an arm; `goat` holds the settings of GOAT arms, whose parts the name may choose."""
    scheme, wanted, strength = arm.partition(MOMENTUM)
    name, _, parts = scheme.partition(":")
    settings = goat or GoatConfig()
    if parts:
        settings = settings.but(parts=tuple(parts.split(",")))
    momentum = MomentumConfig(strength=_strength(arm, strength)) if wanted else None
    return PositionConfig(name=name, goat=settings, momentum=momentum)


def _strength(arm: str, text: str) -> float:
    try:
        return float(text.removeprefix("=")) if text else ALONE
    except ValueError:
        raise OptionError(f"--arm {arm}: momentum is a number, as in {MOMENTUM}=0.5") from None
