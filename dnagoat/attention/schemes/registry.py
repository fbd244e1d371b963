"""Which position scheme a name means: the one place where a scheme is registered. Nothing here needs torch."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from dnagoat.attention.schemes.alibi import Alibi
from dnagoat.attention.schemes.base import PositionScheme
from dnagoat.attention.schemes.biased_rope import BiasedRope
from dnagoat.attention.schemes.fire import Fire
from dnagoat.attention.schemes.goat import Goat
from dnagoat.attention.schemes.rope import Rope
from dnagoat.attention.schemes.rotated_goat import RotatedGoat
from dnagoat.attention.schemes.sinusoidal import Sinusoidal
from dnagoat.attention.schemes.t5 import T5
from dnagoat.errors import FieldError, OptionError

if TYPE_CHECKING:
    from dnagoat.config import ModelConfig

SCHEMES: dict[str, type[PositionScheme]] = {
    "nope": PositionScheme,
    "sinusoidal": Sinusoidal,
    "rope": Rope,
    "rope+bias": BiasedRope,
    "alibi": Alibi,
    "goat": Goat,
    "goat+rope": RotatedGoat,
    "t5": T5,
    "fire": Fire,
}
DEFAULT = "goat"
PLAIN = "nope"  # without positions, and so without parameters for them
USUAL = ("rope", "goat")  # what is compared unless arms are named: the reference first


def scheme_named(name: str) -> type[PositionScheme]:
    """The scheme of this name; an `OptionError` lists the names there are."""
    if name not in SCHEMES:
        near = get_close_matches(name.lower(), SCHEMES, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        *names, last = map(repr, SCHEMES)
        raise FieldError(PositionScheme, "position", name, f"there are {', '.join(names)} or {last}{meant}")
    return SCHEMES[name]


def owners(key: str) -> list[str]:
    """The schemes that have a setting, by its option (`goat-init`) or its name in an arm (`init`)."""
    return [name for name, scheme in SCHEMES.items() if scheme.settings.field_of(key)]


def scheme_for(config: ModelConfig, layer: int) -> PositionScheme:
    """The scheme of one layer, with a gate, and with momentum or a convolution on top, where the configuration asks for
    it."""
    from dnagoat.attention.schemes.convolution import Convolution
    from dnagoat.attention.schemes.gate import Gate
    from dnagoat.attention.schemes.momentum import Momentum

    scheme = SCHEMES[config.position.name](config, layer)
    if scheme.content < 2:
        raise OptionError(
            f"{config.position.name} needs {scheme.lanes} lanes, more than a head of {config.head_width} can spare; "
            "use a lower rank, fewer parts or wider heads"
        )
    if config.position.gate:
        scheme = Gate(scheme, config)
    if config.position.convolution is not None:
        return Convolution(scheme, config, config.position.convolution)
    momentum = config.position.momentum
    if momentum is None or (momentum.layers is not None and layer not in momentum.layers):
        return scheme
    return Momentum(scheme, config, momentum)
