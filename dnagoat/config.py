"""What a run is: frozen configurations, checked at birth, written to `config.json` and read back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SerializeAsAny, model_validator

from dnagoat.attention.schemes.registry import DEFAULT, scheme_named
from dnagoat.attention.schemes.settings import Settings
from dnagoat.frozen import Frozen

Family = Literal["words", "gaps", "copies", "context"]  # of what memory knows
REMEMBERED: tuple[Family, ...] = ("words", "gaps", "copies")  # by a memory whose families are not named

STRONGEST = 1000.0  # of a momentum; the literature has up to 2


class MomentumConfig(Frozen):
    """The shear of queries and keys; `layers` None means every layer."""

    strength: float = Field(ge=0, le=STRONGEST)
    ramp_steps: int = Field(0, ge=0)
    layers: tuple[int, ...] | None = None


class PositionConfig(Frozen):
    """One position scheme by its name, with the settings that it declares; another's count where both have them.

    `convolution` is the number of taps of a causal convolution of queries and keys, the present base included; `gate`
    lets the sequence dial the prior.
    """

    name: str = DEFAULT
    settings: SerializeAsAny[Settings]
    momentum: MomentumConfig | None = None
    convolution: int | None = Field(None, ge=2, le=64)
    gate: bool = False

    def __init__(self, *, name: str = DEFAULT, settings: Settings | Mapping[str, Any] | None = None, **more: Any):
        kind = scheme_named(name).settings
        if not isinstance(settings, Settings):
            settings = kind(**(settings or {}))
        super().__init__(name=name, settings=settings if type(settings) is kind else kind.shared(settings), **more)

    @model_validator(mode="after")
    def _one_on_top(self) -> Self:
        if self.momentum is not None and self.convolution is not None:
            raise ValueError("momentum and a convolution both act on queries and keys; take one")
        return self


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
        self.position.settings.fit(self.heads, self.layers)
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
            raise ValueError("memory names words, and with them any of gaps, copies and context, each once")


class TrainConfig(Frozen):
    """How the weights are found; everything that a resumed run must agree on."""

    steps: int = Field(1000, ge=1)
    batch_size: int = Field(8, ge=1, le=2**20, description="windows in the effective batch of all processes")
    micro_batch: int | None = Field(None, ge=1, description="windows at once on one device; None = all")
    optimizer: Literal["adamw", "muon"] = Field(
        "adamw", description="of the matrices of the blocks; the rest has AdamW"
    )
    lr: float = Field(3e-4, gt=0, le=100)
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
    memory_lr_scale: float = Field(3.0, ge=0, description="the same of memory's gates and levels")
    eval_every: int = Field(100, ge=1)
    eval_windows: int = Field(256, ge=1, description="validation windows scored during training")
    checkpoint_every: int = Field(100, ge=1)
    keep: int = Field(2, ge=1)
    recipe: Literal["none", "goat"] = "none"


class Origin(Frozen):
    """Trained weights that a run starts from instead of its seed's: a checkpoint of another run, which may itself have
    started from one."""

    path: str = Field(description="the run's folder as it was given")
    step: int
    sha256: str = Field(description="of the weights")
    dataset: str
    dataset_hash: str
    origin: Origin | None = None

    def moved(self) -> Origin:
        """The same for another machine: names instead of paths."""
        return self.but(
            path=Path(self.path).name,
            dataset=Path(self.dataset).name,
            origin=None if self.origin is None else self.origin.moved(),
        )


class RunConfig(Frozen):
    """A run: a model, a way of training it, and the dataset by its folder and content hash."""

    format: Literal[3] = 3
    name: str | None = Field(None, description="what a person called the arm; None = it is called by what it is")
    preset: str = "small"
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    dataset: str = Field(description="its folder as it was given")
    dataset_places: tuple[str, ...] = Field((), description="its folder from the run's folder, and from the root")
    dataset_hash: str
    memory_tables: str | None = None  # a hash of what the tables hold that a model with memory was trained with
    origin: Origin | None = Field(None, description="the trained weights that it starts from; None = its seed's")
    tool_version: str
