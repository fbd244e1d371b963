"""GOAT's learned prior (arXiv 2601.15380) as three parts, each of which can be left out: spectral, sink, recency.

    K_ij = sum_r [a_r cos w_r (i-j) + b_r sin w_r (i-j)]  +  u(j)  +  slope * j

Each part gives query and key lanes whose product is its share of K times sqrt(content width); side by side in the head
they make one unmodified attention kernel compute softmax(QK' / sqrt(C) + K). No T x S matrix is ever built.
"""

# H heads, T positions, P lanes

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dnagoat.attention.schemes.base import BIAS, At, Pair, PositionScheme, Published, Waves
from dnagoat.attention.schemes.settings import Option
from dnagoat.attention.schemes.waves import WaveSettings, read_by_layer, refuse_shape, write_by_layer

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from dnagoat.attention.schemes.parts import Part, Weights
    from dnagoat.config import ModelConfig

PartName = Literal["spectral", "sink", "recency"]
Slopes = tuple[tuple[float, ...], ...]
Form = Literal["own", "authors"]

# What the authors' form has unless something else is asked for (goat-attention 0.1.1; rank 2 in their genome run): the
# ladder instead of periods, and a small network for the sink.
AUTHORS: dict[str, Any] = {"init": "seeded", "rank": 2, "periods": None, "sink_width": 4}
SINK_WIDTH = 64  # of our own form


def read_slopes(text: str) -> Slopes:
    """`0.25/0,0.06/0` -> (0.25, 0) for the heads of the first layer, (0.06, 0) for those of the second."""
    return read_by_layer(text, float)


def write_slopes(slopes: Slopes) -> str:
    return write_by_layer(slopes, "{:g}".format)


class GoatConfig(WaveSettings):
    """The prior's parts (SINK, SPECTRAL, RECENCY are separate components) and how they start.

    `form` `authors` has the parts as the authors' module computes them (`dnagoat.attention.schemes.authors`): another
    ladder, another network of the sink, slopes behind softplus. `own` has ours. Init `seeded` is the authors' start,
    near ALiBi.
    """

    proofs: ClassVar[Sequence[Mapping[str, Any]]] = (
        *({"parts": parts} for parts in (("spectral",), ("sink",), ("recency",), ("spectral", "sink"))),
        *({}, {"init": "distances"}),
        *({"form": "authors", "parts": parts} for parts in (("spectral",), ("sink",), ("recency",))),
        {"form": "authors"},
    )

    form: Annotated[
        Form,
        Option(
            "goat-form",
            "own, or authors: ladders, sink network and slopes as the GOAT authors' module has them, with its start.",
        ),
    ] = "own"
    parts: Annotated[
        tuple[PartName, ...],
        Option(
            "goat-parts",
            "Parts of the prior, as spectral,sink,recency.",
            lambda text: tuple(re.split("[+,]", text)),
            ",".join,
        ),
    ] = ("spectral", "sink", "recency")
    slopes: Annotated[
        Slopes | None,
        Option(
            "goat-slopes",
            "Slope of each head's recency at the start, in nats a base by layer, as 0.25/0,0.06/0; by default ALiBi's.",
            read_slopes,
            write_slopes,
            "give numbers, as 0.25/0,0.06/0",
        ),
    ] = None
    learn_periods: Annotated[bool, Option("goat-learn-periods", "Let the periods be learnt.")] = False
    sink_width: Annotated[int, Option("goat-sink-width", "Hidden width of the sink's network.")] = Field(
        SINK_WIDTH, ge=1
    )
    sink_frequencies: int = Field(8, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _what_goes_with_it(cls, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("form") == "authors":
            placed = given.get("init") == "distances"  # on waves that peaks are made of
            given = {name: value for name, value in AUTHORS.items() if not placed or name == "sink_width"} | given
        return given

    @model_validator(mode="after")
    def _some_parts(self) -> Self:
        if not self.parts or len(set(self.parts)) != len(self.parts):
            raise ValueError("parts must name at least one of spectral, sink, recency, each once")
        if self.slopes is not None:
            if "recency" not in self.parts:
                raise ValueError("slopes are where the part recency starts; leave them out, or add the part")
            if not all(0 <= slope < math.inf for layer in self.slopes for slope in layer):
                raise ValueError("a slope is 0 or more nats a base: near bases are never less likely than far ones")
        return self

    @property
    def waving(self) -> bool:
        return "spectral" in self.parts

    def ladder(self, count: int) -> Tensor:
        from dnagoat.attention.lanes.sinusoids import whole_ladder

        return whole_ladder(count, self.ladder_base) if self.form == "authors" else super().ladder(count)

    def given(self, values: Mapping[str, Any], *, sparse: bool = False) -> Self:
        """Waves that were chosen by hand, and sparse normalisers, start as the authors do unless a start is asked for.

        There a peak would be a comb, and to a sparse normaliser it is the only key there is: the head could not learn.
        Another form brings its start, waves and sink's network.
        """
        form = values.get("form", self.form)
        if form != self.form:
            goes = dict(AUTHORS) if form == "authors" else {"sink_width": SINK_WIDTH}
            if values.get("init") == "distances" or {"periods", "rank"} & values.keys():
                goes = {name: value for name, value in goes.items() if name not in ("rank", "periods")}
            values = {**goes, **values}
        by_hand = sparse or any(values.get(name) is not None for name in ("periods", "rank"))
        if by_hand and not {"init", "distances", "free"} & values.keys():
            values = {**values, "init": "seeded" if self.init == "distances" else self.init}
        return super().given(values, sparse=sparse)

    def called(self, name: str) -> str:
        if len(self.parts) < 3:
            name = name.replace("goat", f"goat:{'+'.join(self.parts)}", 1)
        if self.form == "own":
            return super().called(name)
        name = f"{name} {self.form}"
        return name if self.init == AUTHORS["init"] or not self.waving else f"{name} {self.init}"

    def fit(self, heads: int, layers: int) -> None:
        super().fit(heads, layers)
        refuse_shape("slopes", self.slopes, heads, layers)

    def method(self) -> str | None:
        theirs = (
            "GOAT's ladders, sink and slopes are those of the authors' module (goat-attention 0.1.1), in lanes that "
            "hold positions exactly"
        )
        return theirs if self.form == "authors" else None

    def idle(self) -> set[str]:
        needs = {"sink": "sink_width", "recency": "slopes"}
        return super().idle() | {field for part, field in needs.items() if part not in self.parts}


class Goat(PositionScheme):
    """The sum of the chosen parts."""

    settings = GoatConfig
    colours = ("#d55e00", "#ff8c42")
    learned = True
    published: ClassVar[Published | None] = Published(nll=1.1294, tokens_per_second=139_886, cuda_peak=1.83e9)

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        from torch.nn import ModuleDict

        from dnagoat.attention.lanes.exact import EXACT
        from dnagoat.attention.schemes.authors import FORMS

        super().__init__(config, layer)
        own = self.settings_as(GoatConfig)
        chosen = {name: part for name, part in FORMS[own.form].items() if name in own.parts}
        self.parts = ModuleDict({name: part(config, own) for name, part in chosen.items()})
        used = sum(part.lanes for part in self._parts())
        self.lanes = used + used % 2  # an even content width, so that it can be rotated
        self._spare = self.lanes - used
        self.published_lanes = 2 * own.rank + 1  # a cosine and a sine a frequency, one for all the rest
        self.reach = EXACT if "recency" in self.parts else None
        self.unseen = "nothing" if "recency" in self.parts else "distances"  # slopes leave far bases without weight

    def _parts(self) -> list[Part]:
        return list(self.parts.values())  # type: ignore[arg-type]

    def lanes_at(self, at: At) -> Pair:
        return self._lanes(at, [part.weights() for part in self._parts()])

    @classmethod
    def lanes_of(cls, schemes: Sequence[PositionScheme], at: At) -> Pair | None:
        from dnagoat.attention.lanes.stacked import stack

        layers = [scheme._parts() for scheme in schemes if isinstance(scheme, cls)]
        if any(type(part) is not type(first) for layer in layers for part, first in zip(layer, layers[0], strict=True)):
            return super().lanes_of(schemes, at)  # one of them has a part that is switched off
        first = schemes[0]
        assert isinstance(first, cls)
        lanes = first._lanes(at, stack([[part.weights() for part in layer] for layer in layers]))
        query, key = (side.expand(len(schemes), *side.shape[-3:]) for side in lanes)  # where a side learns nothing
        return query, key

    def _lanes(self, at: At, weights: Sequence[Weights]) -> Pair:
        """Lanes of all parts side by side; `weights` are those of each part, of one layer or of several."""
        import torch

        dtype, sides = next(iter(weights[0].values())).dtype, []

        def spare(positions: Tensor) -> Tensor:
            return torch.zeros_like(positions, dtype=dtype).unsqueeze(-2).unsqueeze(-1)

        parts = list(zip(self._parts(), weights, strict=True))
        for side, positions in (("query", at.queries), ("key", at.keys)):
            lanes = [getattr(part, side)(at, self.root, own) for part, own in parts]
            if self._spare:
                lanes.append(at.once("spare", positions, spare))
            common = torch.broadcast_shapes(  # type: ignore[no-untyped-call]
                (self.heads, 1), *(each.shape[:-1] for each in lanes)
            )
            sides.append(torch.cat([each.expand(*common, -1) for each in lanes], dim=-1))
        return sides[0], sides[1]

    def constrain(self) -> None:
        for part in self._parts():
            part.constrain()

    def start(self, name: str, idle: Tensor, draw: Callable[[float], Tensor]) -> Tensor:
        from dnagoat.attention.schemes.starts import start

        return start(self, name, idle, draw)

    def removable(self) -> tuple[str, ...]:
        return (*self.settings_as(GoatConfig).parts, *(part for part in super().removable() if part != BIAS))

    def without(self, part: str) -> PositionScheme:
        from torch.nn import ModuleDict

        from dnagoat.attention.schemes.parts import Mute

        if part not in self.parts:
            return super().without(part)
        other = copy(self)
        muted = {**self.parts, part: Mute(self.parts[part])}  # type: ignore[arg-type]
        other._modules = {**self._modules, "parts": ModuleDict(muted)}
        return other

    def recency(self) -> Tensor | None:
        return getattr(self._part("recency"), "slopes", None)

    def sink(self, at: At) -> Tensor | None:
        part = self._part("sink")
        return None if part is None else part.value(at, part.weights())

    def waves(self) -> Waves | None:
        part = self._part("spectral")
        return None if part is None else Waves(part.even, part.odd, part.frequencies)

    def spectral(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        import torch

        part, at = self._part("spectral"), At(queries, keys)
        if part is None:
            return None
        with torch.no_grad():
            own = part.weights()
            product: Tensor = part.query(at, self.root, own).double() @ part.key(at, self.root, own).double().mT
            return product / self.root

    def _part(self, name: str) -> Any:
        return dict(self.parts.items()).get(name)

    def exact_prior(self, i: Tensor, j: Tensor) -> Tensor:
        return sum((part.exact(i, j) for part in self._parts()), i.new_zeros(self.heads, len(i), j.shape[1]))

    def spread(self, generator: Generator, slope: float) -> None:
        for part in self._parts():
            part.spread(generator, slope)
