"""Which waves a prior is made of, and where its heads start: the settings that spectral priors share.

A prior starts at nothing (`uniform`), near ALiBi as the GOAT authors' (`seeded`), or with a peak for each head at a
distance of its own (`distances`, see dnagoat.attention.schemes.distances).
"""

# L layers, H heads, R frequencies

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, model_validator

from dnagoat.attention.schemes.settings import Option, Settings

if TYPE_CHECKING:
    from torch import Tensor

Init = Literal["uniform", "seeded", "distances"]
Distances = tuple[tuple[int | None, ...], ...]
T = TypeVar("T")
PLACED = ("distances", "free", "amplitude")  # settings of the start at distances

# Short periods make a peak at a distance narrow; those of 10.5 and 24 bases put off its whole copies from every 12
# bases to every 168. It is recency that lowers these, see dnagoat.attention.schemes.distances.
DISTANCE_PERIODS = (2.0, 3.0, 4.0, 6.0, 10.5, 24.0)
# In bases: 3 codon, 10.5 turn of the helix, 171 alpha satellite, about 300 Alu; the others fill the gaps between and
# beyond, up to the length of long windows.
DNA_PERIODS = (3.0, 10.5, 60.0, 171.0, 300.0, 1_000.0, 5_000.0, 20_000.0)


def read_periods(text: str) -> tuple[float, ...]:
    """`3,10.5` or `3/10.5` -> (3.0, 10.5)."""
    return tuple(float(part) for part in re.split("[,/]", text))


def read_by_layer(text: str, read: Callable[[str], T]) -> tuple[tuple[T, ...], ...]:
    """`1/2,3/4` -> what 1 and 2 say of the heads of the first layer, 3 and 4 of those of the second."""
    return tuple(tuple(read(head) for head in layer.split("/")) for layer in text.split(","))


def write_by_layer(rows: Sequence[Sequence[T]], write: Callable[[T], str]) -> str:
    """The opposite of `read_by_layer`."""
    return ",".join("/".join(write(head) for head in row) for row in rows)


def refuse_shape(field: str, rows: Sequence[Sequence[Any]] | None, heads: int, layers: int) -> None:
    """ValueError where rows that are given do not name each head of each layer."""
    if rows is not None and [len(row) for row in rows] != [heads] * layers:
        raise ValueError(f"{field} must name {heads} heads in each of {layers} layers")


def read_distances(text: str) -> Distances:
    """`1/2,1/-` -> (1, 2) for the heads of the first layer, (1, none) for those of the second."""
    return read_by_layer(text, lambda head: None if head == "-" else int(head))


def write_periods(periods: Sequence[float]) -> str:
    return ",".join(f"{period:g}" for period in periods)


def write_distances(distances: Sequence[Sequence[int | None]]) -> str:
    """The opposite of `read_distances`."""
    return write_by_layer(distances, lambda head: "-" if head is None else str(head))


class WaveSettings(Settings):
    """`periods` in bases, one a rank; without them the frequencies are a geometric ladder of base `ladder_base`.

    Init `uniform` and `seeded` have DNA's periods unless others are given. With `distances`, `distances` names for each
    layer the distance in bases at which each head starts with its peak, of height `amplitude` a period; None is a head
    that starts without one. Without it the rule of `dnagoat.attention.schemes.distances` says where, and `free` how
    many heads of a layer in the upper half have none.
    """

    proof: ClassVar[Mapping[str, Any]] = {"init": "seeded"}  # on DNA's waves
    proofs: ClassVar[Sequence[Mapping[str, Any]]] = ({}, {"init": "distances"})  # and on those of peaks

    init: Annotated[
        Init,
        Option(
            "goat-init",
            "distances (a peak for each head, the default), seeded (as the authors) or uniform (no prior at first).",
        ),
    ] = "distances"
    distances: Annotated[
        Distances | None,
        Option(
            "goat-distances",
            "Bases back for each head by layer, as 1/2,1/4,1/8,1/-; - is no peak.",
            read_distances,
            write_distances,
            "give whole bases or -, as 1/2,1/-",
        ),
    ] = None
    free: Annotated[
        int | None,
        Option(
            "goat-free",
            "How many heads of each layer in the upper half start with no peak and no slope; by default half.",
            int,
            form="give the number of free heads of a layer, as 2",
        ),
    ] = Field(None, ge=0)
    amplitude: Annotated[
        float, Option("goat-amplitude", "Height of a peak, in nats a period.", write="{:g}".format)
    ] = Field(1.0, gt=0)
    rank: Annotated[
        int, Option("goat-rank", "Frequencies of the spectral part, on a geometric ladder instead of periods.")
    ] = Field(len(DISTANCE_PERIODS), ge=1)
    periods: Annotated[
        tuple[float, ...] | None,
        Option(
            "goat-periods",
            "Periods in bases, as 3,10.5,171; the prior then starts seeded.",
            read_periods,
            write_periods,
            "give numbers with commas between, as 3,10.5",
        ),
    ] = DISTANCE_PERIODS
    ladder_base: float = Field(10_000.0, gt=1)

    @model_validator(mode="before")
    @classmethod
    def _waves_of_the_start(cls, given: dict[str, Any]) -> dict[str, Any]:
        if "periods" in given or "rank" in given:
            return given
        periods = waves_of(given.get("init", "distances"))
        return {**given, "periods": periods, "rank": len(periods)}

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.periods is not None:
            if len(self.periods) != self.rank:
                raise ValueError(
                    f"the number of periods, {len(self.periods)}, is not the rank {self.rank}; give one period a rank"
                )
            if min(self.periods) < 2:
                raise ValueError("a period is at least 2 bases: a shorter one looks the same as a longer one")
        if not (self.init == "distances" and self.waving) and (
            self.distances is not None or self.free is not None or self.amplitude != 1.0
        ):
            raise ValueError(
                "distances, free and amplitude are where a spectral part with init distances starts; leave them out"
            )
        if self.distances is not None and min((d or 0 for layer in self.distances for d in layer), default=0) < 0:
            raise ValueError("a distance is 0 or more bases back; keys ahead are masked")
        if self.free and self.distances is not None:
            raise ValueError("free and distances both say which heads have no peak; give one of them")
        return self

    @property
    def waving(self) -> bool:
        """Whether there are waves at all."""
        return True

    def frequencies(self) -> Tensor:
        """(R,) radians a base, float64: of the periods, or the ladder where there are none."""
        import torch

        if self.periods is None:
            return self.ladder(self.rank)
        return 2 * math.pi / torch.tensor(self.periods, dtype=torch.float64)

    def placed(self, layers: int, heads: int) -> Distances:
        """Bases back at which each head of each layer starts with its peak, L rows of H: those given, or the rule's."""
        from dnagoat.attention.schemes.distances import distances

        return self.distances or distances(layers, heads, self.free)

    def ladder(self, count: int) -> Tensor:
        """(count,) radians a base, float64."""
        from dnagoat.attention.lanes.sinusoids import ladder

        return ladder(count, self.ladder_base)

    def given(self, values: Mapping[str, Any], *, sparse: bool = False) -> Self:
        """A rank alone means the ladder. Another start brings its waves, unless waves are given."""
        values, init = dict(values), values.get("init", self.init)
        if values.get("periods") is not None:
            values = {"rank": len(values["periods"]), **values}
        elif "rank" in values:
            values["periods"] = None
        elif (init == "distances") != (self.init == "distances"):
            values |= {"periods": waves_of(init), "rank": len(waves_of(init))}
        return self.but(**values)

    def fit(self, heads: int, layers: int) -> None:
        if (self.free or 0) > heads:
            raise ValueError(f"free of {self.free} is more than the {heads} heads of a layer")
        refuse_shape("distances", self.distances, heads, layers)

    def called(self, name: str) -> str:
        return name if self.init == "distances" or not self.waving else f"{name} {self.init}"

    def idle(self) -> set[str]:
        placed = self.init == "distances" and self.waving
        return {*(() if placed else PLACED), *(() if self.waving else ("rank", "periods"))}


def waves_of(init: str) -> tuple[float, ...]:
    """The periods of a start: those that peaks are made of, or DNA's."""
    return DISTANCE_PERIODS if init == "distances" else DNA_PERIODS
