"""What a run is: frozen configurations, checked at birth, written to `config.json` and read back unchanged."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dnagoat.errors import OptionError

PositionName = Literal["nope", "sinusoidal", "rope", "rope+bias", "alibi", "goat", "goat+rope"]
GoatPart = Literal["spectral", "sink", "recency"]
GoatForm = Literal["own", "authors"]
Family = Literal["words", "gaps", "copies"]  # of what memory looks up

# Short periods make a peak at a distance narrow; those of 10.5 and 24 bases put off its whole copies from every 12
# bases to every 168. It is recency that lowers these, see dnagoat.attention.schemes.distances.
DISTANCE_PERIODS = (2.0, 3.0, 4.0, 6.0, 10.5, 24.0)
# In bases: 3 codon, 10.5 turn of the helix, 171 alpha satellite, about 300 Alu; the others fill the gaps between and
# beyond, up to the length of long windows.
DNA_PERIODS = (3.0, 10.5, 60.0, 171.0, 300.0, 1_000.0, 5_000.0, 20_000.0)
# What the authors' form has unless something else is asked for (goat-attention 0.1.1; rank 2 in their genome run): the
# ladder instead of periods, and a small network for the sink.
AUTHORS: dict[str, Any] = {"init": "seeded", "rank": 2, "periods": None, "sink_width": 4}
SINK_WIDTH = 64  # of our own form

STRONGEST = 1000.0  # of a momentum; the literature has up to 2


class Frozen(BaseModel):
    """Immutable, refuses unknown fields; a wrong value is an `OptionError` of one sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as fault:
            raise OptionError(_sentence(fault)) from None

    def but(self, **changes: Any) -> Self:
        """The same configuration with some fields changed, and checked again."""
        return type(self)(**{**{name: getattr(self, name) for name in type(self).model_fields}, **changes})

    def leaves(self) -> dict[str, Any]:
        """Every setting by its path, `model.position.name`, as JSON writes it."""
        return _flat(self.model_dump(mode="json"))


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        leaves |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return leaves


def _sentence(fault: ValidationError) -> str:
    first = fault.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    where = {"name": "position"}.get(where, where)  # the one field whose name says nothing to who typed an arm
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "literal_error":
        message = _choices(str(first["input"]), first["ctx"]["expected"])
    return f"{where} = {first['input']!r}: {message}" if where else message


def _choices(given: str, expected: str) -> str:
    """What may be given, and what may have been meant."""
    near = get_close_matches(given.lower(), expected.replace(" or ", ", ").replace("'", "").split(", "), n=1)
    return f"there are {expected}" + (f"; did you mean {near[0]}?" if near else "")


class GoatConfig(Frozen):
    """The prior's parts (SINK, SPECTRAL, RECENCY are separate components) and how they start.

    `form` `authors` has the parts as the authors' module computes them (`dnagoat.attention.schemes.authors`): another
    ladder, another network of the sink, slopes behind softplus. `own` has ours.
    `periods` are in bases; without them the frequencies are the geometric ladder, `ladder_base ** (-r / rank)`, or
    `ladder_base ** (-r / (rank - 1))` in the authors' form.
    Init `seeded` is the authors' start, near ALiBi; `uniform` is no prior at first; both have DNA's periods unless
    others are given. With `distances` (experiments/five-arms.md), `distances` names for each layer the distance in
    bases at which each head's spectral part starts with its peak, of height `amplitude` a period; None is a head that
    starts without one. `distances` None is the rule of `dnagoat.attention.schemes.distances`.
    """

    form: GoatForm = "own"
    parts: tuple[GoatPart, ...] = ("spectral", "sink", "recency")
    rank: int = Field(len(DISTANCE_PERIODS), ge=1)
    periods: tuple[float, ...] | None = DISTANCE_PERIODS
    ladder_base: float = Field(10_000.0, gt=1)
    learn_periods: bool = False
    init: Literal["uniform", "seeded", "distances"] = "distances"
    distances: tuple[tuple[int | None, ...], ...] | None = None
    amplitude: float = Field(1.0, gt=0)
    sink_width: int = Field(SINK_WIDTH, ge=1)
    sink_frequencies: int = Field(8, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _what_goes_with_it(cls, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("form") == "authors":
            placed = given.get("init") == "distances"  # on waves that peaks are made of
            given = {name: value for name, value in AUTHORS.items() if not placed or name == "sink_width"} | given
        if "periods" in given or "rank" in given:
            return given
        periods = DISTANCE_PERIODS if given.get("init", "distances") == "distances" else DNA_PERIODS
        return {**given, "periods": periods, "rank": len(periods)}

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if not self.parts or len(set(self.parts)) != len(self.parts):
            raise ValueError("parts must name at least one of spectral, sink, recency, each once")
        if self.periods is not None:
            if len(self.periods) != self.rank:
                raise ValueError(f"{len(self.periods)} periods for rank {self.rank}; give one period a rank")
            if min(self.periods) < 2:
                raise ValueError("a period is at least 2 bases: a shorter one looks the same as a longer one")
        placed = self.init == "distances" and "spectral" in self.parts
        if not placed and (self.distances is not None or self.amplitude != 1.0):
            raise ValueError(
                "distances and amplitude are where a spectral part with init distances starts; leave them out"
            )
        if self.distances is not None and min((d or 0 for layer in self.distances for d in layer), default=0) < 0:
            raise ValueError("a distance is 0 or more bases back; keys ahead are masked")
        return self


class MomentumConfig(Frozen):
    """The shear of queries and keys; `layers` None means every layer."""

    strength: float = Field(ge=0, le=STRONGEST)
    ramp_steps: int = Field(0, ge=0)
    layers: tuple[int, ...] | None = None


class PositionConfig(Frozen):
    """One position scheme by its name, with the settings that belong to it.

    `convolution` is the number of taps of a causal convolution of queries and keys, the present base included.
    """

    name: PositionName = "goat"
    rope_base: float = Field(10_000.0, gt=1)
    goat: GoatConfig = GoatConfig()
    momentum: MomentumConfig | None = None
    convolution: int | None = Field(None, ge=2, le=64)

    @model_validator(mode="after")
    def _one_on_top(self) -> Self:
        if self.momentum is not None and self.convolution is not None:
            raise ValueError("momentum and a convolution both act on queries and keys; take one")
        return self

    @property
    def primed(self) -> bool:
        """Whether the settings of `goat` mean anything to this scheme."""
        return "goat" in self.name or self.name == "rope+bias"


class ModelConfig(Frozen):
    """A pre-norm transformer over nucleotides.

    `classes` is 4 (A, C, G, T), or 5 where the authors' protocol scores N too.
    """

    width: int = Field(128, ge=1, le=2**17)
    heads: int = Field(2, ge=1, le=2**10)
    layers: int = Field(4, ge=1, le=2**10)
    mlp_width: int = Field(512, ge=1, le=2**20)
    context: int = Field(1024, ge=1, description="training length in bases; schemes may run past it")
    classes: Literal[4, 5] = 4
    position: PositionConfig = PositionConfig()
    normaliser: Literal["softmax", "sparsemax", "entmax15", "entmax"] = "softmax"
    kernel: Literal["auto", "sdpa", "flash", "dense"] = "auto"
    content: int | None = Field(
        None, ge=2, description="dimensions of a head's queries and keys beside position lanes; None = what these leave"
    )
    memory: tuple[Family, ...] = Field((), description="what is looked up in the training split; () = nothing")

    @property
    def head_width(self) -> int:
        """Dimensions of a head's values, and of its queries and keys with their lanes unless `content` is given."""
        return self.width // self.heads

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of {self.heads} heads")
        if self.head_width % 2:
            raise ValueError(f"head width {self.head_width} is odd; rotations need pairs")
        if self.content is not None and self.content > self.head_width:
            raise ValueError(f"content of {self.content} is more than a head of {self.head_width}")
        self._check_memory()
        if (named := self.position.goat.distances) is not None and [len(row) for row in named] != [
            self.heads
        ] * self.layers:
            raise ValueError(f"distances must name {self.heads} heads in each of {self.layers} layers")
        momentum = self.position.momentum
        if unknown := set(momentum.layers or () if momentum else ()) - set(range(self.layers)):
            raise ValueError(f"momentum in layer {min(unknown)}: layers are 0 to {self.layers - 1}")
        if self.normaliser != "softmax" and self.kernel not in ("auto", "dense"):
            raise ValueError(
                f"normaliser {self.normaliser} needs the dense kernel, not {self.kernel}; use auto or dense"
            )
        return self

    def _check_memory(self) -> None:
        if not self.memory:
            return
        if self.classes == 5:
            raise ValueError("memory knows four bases, and a model of five classes scores N too; leave out one of them")
        if "words" not in self.memory or len(set(self.memory)) != len(self.memory):
            raise ValueError("memory names words, and with them gaps or copies or both, each once")


class TrainConfig(Frozen):
    """How the weights are found; everything that a resumed run must agree on."""

    steps: int = Field(1000, ge=1)
    batch_size: int = Field(8, ge=1, le=2**20, description="windows in the effective batch of all processes")
    micro_batch: int | None = Field(None, ge=1, description="windows at once on one device; None = all")
    lr: float = Field(3e-4, gt=0)
    warmup: int = Field(100, ge=0)
    schedule: Literal["linear", "cosine"] = "cosine"
    weight_decay: float = Field(0.1, ge=0)
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = Field(1.0, gt=0)
    seed: int = Field(0, ge=0, lt=2**64)
    precision: Literal["fp32", "tf32", "bf16", "fp16"] = "fp32"
    reverse_complement: bool = True
    jitter: int = Field(0, ge=0, description="largest random shift of a training window, in bases")
    score_n: bool = False
    prior_lr_scale: float = Field(1.0, ge=0, description="learning rate of position parameters over that of weights")
    memory_lr_scale: float = Field(3.0, ge=0, description="the same of the parameters that weigh what memory says")
    eval_every: int = Field(100, ge=1)
    eval_windows: int = Field(256, ge=1, description="validation windows scored during training")
    checkpoint_every: int = Field(100, ge=1)
    keep: int = Field(2, ge=1)
    recipe: Literal["none", "goat"] = "none"


class RunConfig(Frozen):
    """A run: a model, a way of training it, and the dataset by its folder and content hash."""

    format: Literal[1] = 1
    preset: str = "small"
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    dataset: str
    dataset_hash: str
    memory_tables: str | None = None  # a hash of what the tables hold that a model with memory was trained with
    tool_version: str
