"""Which position scheme a name means: the one place where the configuration's names become components."""

from __future__ import annotations

from dnagoat.attention.schemes.alibi import Alibi
from dnagoat.attention.schemes.base import PositionScheme
from dnagoat.attention.schemes.convolution import Convolution
from dnagoat.attention.schemes.goat import Goat, RotatedGoat
from dnagoat.attention.schemes.momentum import Momentum
from dnagoat.attention.schemes.rope import BiasedRope, Rope
from dnagoat.attention.schemes.sinusoidal import Sinusoidal
from dnagoat.config import ModelConfig
from dnagoat.errors import OptionError

SCHEMES: dict[str, type[PositionScheme]] = {
    "nope": PositionScheme,
    "sinusoidal": Sinusoidal,
    "rope": Rope,
    "rope+bias": BiasedRope,
    "alibi": Alibi,
    "goat": Goat,
    "goat+rope": RotatedGoat,
}


def scheme_for(config: ModelConfig, layer: int) -> PositionScheme:
    """The scheme of one layer, with momentum or a convolution on top where the configuration asks for it."""
    scheme = SCHEMES[config.position.name](config, layer)
    if scheme.content < 2:
        raise OptionError(
            f"{config.position.name} needs {scheme.lanes} lanes, more than a head of {config.head_width} can spare; "
            "use a lower rank, fewer parts or wider heads"
        )
    if config.position.convolution is not None:
        return Convolution(scheme, config, config.position.convolution)
    momentum = config.position.momentum
    if momentum is None or (momentum.layers is not None and layer not in momentum.layers):
        return scheme
    return Momentum(scheme, config, momentum)
