"""How attention learns where a base is: the interface of position schemes, and NoPE, which is its empty case.

A scheme may act in four places, and only where it must: on the embeddings (sinusoidal), by turning queries and keys
(RoPE), through lanes of the head whose product is a log-prior (ALiBi, GOAT), and by a bias added to the scores (T5).

Its file says all that anyone asks about it: settings and options, colours, how it starts, its parts, its formula in
plain float64. Reading that needs no torch: a scheme becomes a torch module when the first one is made.
"""

# B batch, T queries, S keys, H heads, D head width, C content width of a head, P lanes, R frequencies

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self, TypeVar

from dnagoat.attention.schemes.settings import Settings

Own = TypeVar("Own", bound=Settings)

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import Module

    from dnagoat.attention.lanes.stacked import Lanes
    from dnagoat.config import ModelConfig

    Pair = tuple[Tensor, Tensor]
    Made = TypeVar("Made", Tensor, Pair)
else:
    Module, Pair, Made = object, tuple, TypeVar("Made")

EMBEDDING, ROTATION, BIAS = "position embedding", "rotation", "bias"  # what of a scheme can be switched off


def single_products(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether `dtype` keeps 24 bits, and is multiplied as it is here: no autocast, bfloat16 or TF32."""
    import torch

    if device.type != "cpu" or torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling():
        return False  # a compiled graph cannot ask for the precision
    return dtype in (torch.float32, torch.float64) and torch.get_float32_matmul_precision() == "highest"


class At:
    """Absolute positions of queries and keys, (T,) or (B, T); what layers share about them is made once a forward.

    `origin` is a position to count from where only differences matter (recency's lanes); `queries` and `keys` stay
    absolute. Keys that are kept for later calls must be counted from 0. `single` promises that lanes in float32 are
    multiplied as such: a position then needs no pieces.
    """

    def __init__(self, queries: Tensor, keys: Tensor | None = None, origin: int = 0, single: bool = False) -> None:
        self.queries = queries
        self.keys = queries if keys is None else keys
        self.origin, self.single = origin, single
        self.lanes: list[Lanes] | None = None  # of each layer, where they were made for all of them in one pass
        self._made: dict[tuple[str, int], Tensor | Pair] = {}

    @classmethod
    def whole(cls, count: int, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> At:
        """Positions 0 to count - 1 at once, with nothing before them or after: counted from the middle.

        `dtype` is that of the content beside which lanes will stand, float32 by default; where autocast rules, it need
        not be given.
        """
        import torch

        positions = torch.arange(count, device=device)
        single = single_products(positions.device, dtype or torch.float32)
        return cls(positions, origin=count // 2, single=single)

    def latest(self, count: int) -> At:
        """The same keys and the last `count` queries; what was made for the keys need not be made again."""
        at = At(self.queries[-count:], self.keys, self.origin, self.single)
        at._made = dict(self._made)
        return at

    def again(self) -> At:
        """The same positions for another forward, with all that was made for them: nothing of it is learned."""
        at = At(self.queries, self.keys, self.origin, self.single)
        at._made = self._made
        return at

    def once(self, name: str, positions: Tensor, make: Callable[[Tensor], Made]) -> Made:
        """`make(positions)`, computed by the first layer that asks for `name` and kept for the others."""
        key = (name, id(positions))
        if key not in self._made:
            self._made[key] = make(positions)
        return self._made[key]  # type: ignore[return-value]


class Waves(NamedTuple):
    """A prior's waves: coefficients of cosines and sines, (H, R) each, and radians a base, (R,)."""

    even: Tensor
    odd: Tensor
    frequencies: Tensor


class Published(NamedTuple):
    """What the GOAT authors report of their genome run with a scheme (arXiv 2601.15380)."""

    nll: float  # nats a symbol
    tokens_per_second: int
    cuda_peak: float  # bytes


@cache
def _as_module(scheme: type[PositionScheme]) -> type[PositionScheme]:
    from torch import nn

    if issubclass(scheme, nn.Module):
        return scheme
    names = {"__module__": scheme.__module__, "__qualname__": scheme.__qualname__, "__doc__": scheme.__doc__}
    return type(scheme.__name__, (scheme, nn.Module), names)


class PositionScheme(Module):
    """Attention without any position: the base class is NoPE (arXiv 2305.19466); a scheme overrides what it changes.

    `lanes` dimensions of a head's queries and keys are positions', `content` are not; the kernel's scale is
    1 / sqrt(content).
    """

    settings: ClassVar[type[Settings]] = Settings
    colours: ClassVar[tuple[str, str]] = ("#5d214f", "#a9548b")  # in figures: on paper, on a dark screen
    learned: ClassVar[bool] = False  # whether where its heads look is learned
    published: ClassVar[Published | None] = None

    lanes: int = 0
    published_lanes: int = 0  # as many as in the run that is `published`
    reach: int | None = None  # how many positions it holds exactly; None = no limit
    # What bases past the length of training show that none within it did; measured in experiments/five-arms.md.
    unseen: Literal["nothing", "distances", "positions"] = "distances"
    gated: bool = False  # whether what a layer reads dials its prior
    looks_back: int = 0  # earlier queries and keys that `rotate` takes into one; they are its `before`

    def __new__(cls, *_: object, **__: object) -> Self:
        return super().__new__(_as_module(cls))  # type: ignore[arg-type, return-value]

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__()
        self.config, self.heads, self.layer = config, config.heads, layer

    @property
    def content(self) -> int:
        """C: what lanes leave of a head, or what the configuration gives it, to which they are then added."""
        given = self.config.content
        return self.config.head_width - self.lanes if given is None else given

    @property
    def root(self) -> float:
        """sqrt(content), the factor that query lanes carry because the kernel divides by it."""
        return math.sqrt(self.content)

    def settings_as(self, kind: type[Own]) -> Own:
        """Its settings, of the class that the scheme declares."""
        own = self.config.position.settings
        assert isinstance(own, kind)
        return own

    # What it does.

    def embed(self, x: Tensor, at: At) -> Tensor:
        """(B, T, width) -> the same, before the first block."""
        return x

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        """Content q (B, H, T, C), k (B, H, S, C) -> the same, and what the next call wants to have as `before`."""
        return q, k, None

    def lanes_at(self, at: At) -> Pair | None:
        """Query lanes (H, T, P) and key lanes (H, S, P), or with a leading B: product / `root` = log-prior."""
        return None

    @classmethod
    def lanes_of(cls, schemes: Sequence[PositionScheme], at: At) -> Pair | None:
        """The same of several layers' schemes, all of this class, with a leading L."""
        import torch

        pairs = [pair for scheme in schemes if (pair := scheme.lanes_at(at)) is not None]
        return (torch.stack([query for query, _ in pairs]), torch.stack([key for _, key in pairs])) if pairs else None

    def bias(self, at: At) -> Tensor | None:
        """(H, T, S), or with a leading B: nats that are added to the scores, where lanes cannot hold them. Any block of
        queries and keys may be asked for; keys after their query are hidden, whatever it says of them."""
        return None

    def gate(self, x: Tensor) -> Tensor | None:
        """(B, T, width), what the layer reads -> (B, H, T, 1), what the lanes of its queries are multiplied with; None
        is 1."""
        return None

    @property
    def biased(self) -> bool:
        """Whether there is a bias."""
        return _overrides(self, "bias")

    def constrain(self) -> None:
        """Puts parameters back where they are allowed to be; called after each optimizer step."""

    def set_step(self, step: int) -> None:
        """Tells the scheme how many optimizer steps have been taken."""

    # How it starts, and what of it can be looked at and switched off.

    def start(self, name: str, idle: Tensor, draw: Callable[[float], Tensor]) -> Tensor:
        """Where its parameter `name` starts. `idle` is where it has no effect (0; linear maps are drawn); `draw(sd)` is
        normal numbers of its shape, its own for each seed."""
        return idle

    def removable(self) -> tuple[str, ...]:
        """What can be switched off, by name; by default what it overrides."""
        does = {BIAS: ("lanes_at", "bias"), ROTATION: ("rotate",), EMBEDDING: ("embed",)}
        return tuple(part for part, hooks in does.items() if any(_overrides(self, hook) for hook in hooks))

    def without(self, part: str) -> PositionScheme:
        """The same scheme, of the same width, of which one of the `removable` does nothing; the weights are shared."""
        from dnagoat.attention.schemes.mute import Mute

        return Mute(self, part)

    def factors(self, queries: Tensor, keys: Tensor) -> Pair | None:
        """Query lanes (H, T, P) and key lanes (H, S, P) whose product is the log-prior; None where it has no lanes."""
        lanes = self.lanes_at(At(queries, keys))
        return None if lanes is None else (lanes[0] / self.root, lanes[1])

    def log_prior(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(H, T, S) float64: the log-prior up to a constant a row, from the very lanes and bias that attention uses."""
        import torch

        at = At(queries, keys)
        with torch.no_grad():
            prior = torch.zeros(self.heads, len(queries), len(keys), dtype=torch.float64, device=queries.device)
            if (lanes := self.lanes_at(at)) is not None:
                query, key = (side.double() for side in lanes)
                prior = query @ key.transpose(-1, -2) / self.root
            bias = self.bias(at)
            return prior if bias is None else prior + bias.double()

    def kernel(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(H, T, S) float64: what positions alone give to the scores: the log-prior, and what biases add."""
        return self.log_prior(queries, keys)

    @property
    def prefers(self) -> bool:
        """Whether positions alone give anything to the scores."""
        return any(_overrides(self, hook) for hook in ("lanes_at", "bias", "kernel"))

    def recency(self) -> Tensor | None:
        """(H,) slopes in nats a base of a part that prefers what is near."""
        return None

    def sink(self, at: At) -> Tensor | None:
        """(..., H, S) nats of a part that favours some keys whoever asks."""
        return None

    def waves(self) -> Waves | None:
        """Of a spectral part."""
        return None

    def spectral(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """(H, T, S) float64 nats: what the waves alone give."""
        return None

    # What it must compute, in plain float64, by the formulas of the papers: the proof compares the two.

    gradient_bar: ClassVar[float] = (
        1e-3  # the largest error in float32 of its parameters' gradients that the proof allows
    )

    def exact_prior(self, i: Tensor, j: Tensor) -> Tensor | float:
        """K_ij of queries i (T, 1) and keys j (1, S), float64: (H, T, S), differentiable in the parameters."""
        return 0.0

    def exact_gate(self, x: Tensor) -> Tensor | float:
        """x (B, T, width), float64 -> (B, H, T, 1), what multiplies the rows of K."""
        return 1.0

    def exact_content(self, x: Tensor, positions: Tensor, side: str) -> Tensor:
        """(B, H, T, C) projected queries or keys (`side`) -> what the score is the product of."""
        return x

    def spread(self, generator: torch.Generator, slope: float) -> None:
        """Puts parameters over their whole range, so that the proof is of all; recency's slopes from `slope` to 0."""
        for parameter in self.parameters():
            parameter.uniform_(-1, 1, generator=generator)


def _overrides(scheme: PositionScheme, hook: str) -> bool:
    return getattr(type(scheme), hook) is not getattr(PositionScheme, hook)


__all__ = ["BIAS", "EMBEDDING", "ROTATION", "At", "Pair", "PositionScheme", "Published", "Waves"]
