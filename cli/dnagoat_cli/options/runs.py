"""Which options the commands that train share, and which field of a run's configuration each one sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dnagoat_cli.options.unfold import Sets, settings

if TYPE_CHECKING:
    from dnagoat.training.launch.parallel import Execution

MODEL, LEARNING, MACHINE = "Model", "Learning", "Machine"

Preset = Annotated[str | None, typer.Option(show_default="small")]  # its help lists those there are
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.", rich_help_panel=MACHINE)]
MatchParameters = Annotated[
    bool,
    typer.Option(
        "--match-parameters", help="Size the MLP so that all arms are as large as RoPE.", rich_help_panel=MODEL
    ),
]


@dataclass(frozen=True)
class Shared:
    """What `train` and `compare` may both be given."""

    steps: Annotated[int | None, typer.Option(help="Optimizer steps."), Sets("train.steps")] = None
    batch_size: Annotated[
        int | None, typer.Option(help="Windows in the effective batch of all processes."), Sets("train.batch_size")
    ] = None
    heads: Annotated[
        int | None,
        typer.Option(help="Heads of a layer; the width stays.", rich_help_panel=MODEL),
        Sets("model.heads"),
    ] = None
    content: Annotated[
        int | None,
        typer.Option(
            help="Dimensions of a head's queries and keys beside position lanes; by default what these leave of the "
            "head.",
            rich_help_panel=MODEL,
        ),
        Sets("model.content"),
    ] = None
    optimizer: Annotated[
        str | None,
        typer.Option(
            help="muon for the matrices of attention and MLP and adamw for the rest, or adamw for all. Without --lr "
            "another one than the preset's has its own rate (adamw: tiny 0.001, small 0.0006).",
            rich_help_panel=LEARNING,
        ),
        Sets("train.optimizer"),
    ] = None
    warmup: Annotated[
        int | None, typer.Option(help="Steps of linear warm-up.", rich_help_panel=LEARNING), Sets("train.warmup")
    ] = None
    schedule: Annotated[
        str | None, typer.Option(help="linear or cosine decay.", rich_help_panel=LEARNING), Sets("train.schedule")
    ] = None
    weight_decay: Annotated[
        float | None, typer.Option(help="Decay of matrices.", rich_help_panel=LEARNING), Sets("train.weight_decay")
    ] = None
    reverse_complement: Annotated[
        bool | None,
        typer.Option(
            "--reverse-complement/--no-reverse-complement",
            help="Read half of the windows on the other strand.",
            rich_help_panel=LEARNING,
        ),
        Sets("train.reverse_complement"),
    ] = None
    prior_lr_scale: Annotated[
        float | None,
        typer.Option(help="Learning rate of position parameters over the others'.", rich_help_panel=LEARNING),
        Sets("train.prior_lr_scale"),
    ] = None
    eval_every: Annotated[
        int | None, typer.Option(help="Steps between validations.", rich_help_panel=LEARNING), Sets("train.eval_every")
    ] = None
    eval_windows: Annotated[
        int | None,
        typer.Option(help="Validation windows scored each time.", rich_help_panel=LEARNING),
        Sets("train.eval_windows"),
    ] = None
    checkpoint_every: Annotated[
        int | None,
        typer.Option(help="Steps between checkpoints.", rich_help_panel=MACHINE),
        Sets("train.checkpoint_every"),
    ] = None
    precision: Annotated[
        str | None, typer.Option(help="fp32, tf32, bf16 or fp16.", rich_help_panel=MACHINE), Sets("train.precision")
    ] = None
    micro_batch: Annotated[
        int | None,
        typer.Option(help="Windows at once on one device; gradients add up.", rich_help_panel=MACHINE),
        Sets("train.micro_batch"),
    ] = None


@dataclass(frozen=True)
class OneRun:
    """What `train` may be given beside that: in a comparison an arm says it, or the comparison does."""

    seed: Annotated[int | None, typer.Option(help="Of initial weights and data order."), Sets("train.seed")] = None
    memory: Annotated[
        bool,
        typer.Option(
            "--memory", help="Look up what the training split holds: words, gaps, copies.", rich_help_panel=MODEL
        ),
    ] = False
    memory_families: Annotated[
        str | None, typer.Option(help="Of words, gaps, copies, context, as words+copies.", rich_help_panel=MODEL)
    ] = None
    momentum: Annotated[
        float | None, typer.Option(help="Strength of the shear of queries and keys.", rich_help_panel=MODEL)
    ] = None
    momentum_layers: Annotated[
        str | None, typer.Option(help="Layers with momentum, as 0,1; all by default.", rich_help_panel=MODEL)
    ] = None
    momentum_ramp: Annotated[
        int | None, typer.Option(help="Steps over which momentum grows from a third.", rich_help_panel=MODEL)
    ] = None
    convolution: Annotated[
        int | None,
        typer.Option(help="Taps of a short causal convolution of queries and keys.", rich_help_panel=MODEL),
        Sets("model.position.convolution"),
    ] = None
    gate: Annotated[
        bool | None,
        typer.Option(
            "--gate",
            help="Let each query dial its heads' prior, 0 to 2, by what it reads (schemes with position lanes).",
            rich_help_panel=MODEL,
        ),
        Sets("model.position.gate"),
    ] = None
    normaliser: Annotated[
        str | None,
        typer.Option(help="softmax, sparsemax, entmax15 or entmax.", rich_help_panel=MODEL),
        Sets("model.normaliser"),
    ] = None
    kernel: Annotated[
        str | None, typer.Option(help="auto, sdpa, flash or dense.", rich_help_panel=MODEL), Sets("model.kernel")
    ] = None
    lr: Annotated[
        float | None, typer.Option(help="Peak learning rate.", rich_help_panel=LEARNING), Sets("train.lr")
    ] = None
    recipe: Annotated[
        str | None,
        typer.Option(help="goat: linear decay, rate x0.75, warm-up x1.15.", rich_help_panel=LEARNING),
        Sets("train.recipe"),
    ] = None
    clip: Annotated[
        float | None, typer.Option(help="Largest gradient norm.", rich_help_panel=LEARNING), Sets("train.clip")
    ] = None
    jitter: Annotated[
        int | None,
        typer.Option(help="Largest random shift of a window, in bases.", rich_help_panel=LEARNING),
        Sets("train.jitter"),
    ] = None
    score_n: Annotated[
        bool | None,
        typer.Option("--score-n", help="GOAT authors' protocol: N is a fifth class.", rich_help_panel=LEARNING),
        Sets("train.score_n"),
    ] = None
    keep: Annotated[
        int | None,
        typer.Option(help="Newest checkpoints kept, beside the best.", rich_help_panel=MACHINE),
        Sets("train.keep"),
    ] = None

    def settings(self) -> dict[str, Any]:
        """Paths of the run's configuration and the values that were given, those of several options together too."""
        from dnagoat.config import REMEMBERED

        found = settings(self)
        if self.score_n:
            found["model.classes"] = 5
        if self.memory or self.memory_families:
            named = self.memory_families
            found["model.memory"] = tuple(named.replace(",", "+").split("+")) if named else REMEMBERED
        return found | self._momentum()

    def _momentum(self) -> dict[str, Any]:
        from dnagoat.config import MomentumConfig
        from dnagoat.errors import OptionError

        if self.momentum is None:
            if self.momentum_layers is not None or self.momentum_ramp is not None:
                raise OptionError("--momentum-layers and --momentum-ramp go with --momentum; give its strength")
            return {}
        layers = self.momentum_layers
        momentum = MomentumConfig(
            strength=self.momentum,
            ramp_steps=self.momentum_ramp or 0,
            layers=None if layers is None else whole_numbers(layers, "--momentum-layers"),
        )
        return {"model.position.momentum": momentum}


@dataclass(frozen=True)
class Computing:
    """How `train` computes: none of it changes what is computed."""

    parallel: Annotated[
        str, typer.Option(help="Under torchrun or srun: auto, none, ddp or fsdp.", rich_help_panel=MACHINE)
    ] = "auto"
    wait_for_peers: Annotated[
        float,
        typer.Option(min=1, help="Seconds that processes wait for each other at the start.", rich_help_panel=MACHINE),
    ] = 300
    compile_model: Annotated[
        bool, typer.Option("--compile", help="torch.compile the model.", rich_help_panel=MACHINE)
    ] = False
    checkpoint_activations: Annotated[
        bool,
        typer.Option(
            "--checkpoint-activations",
            help="Recompute blocks in the backward pass: less memory, a third slower.",
            rich_help_panel=MACHINE,
        ),
    ] = False

    def execution(self) -> Execution:
        from dnagoat.training.launch.parallel import Execution

        return Execution(
            parallel=self.parallel,  # the configuration checks it
            compile=self.compile_model,
            checkpoint_activations=self.checkpoint_activations,
            patience=self.wait_for_peers,
        )


def numbers(text: str, option: str) -> tuple[float, ...]:
    """`3,10.5` -> (3.0, 10.5)."""
    from dnagoat.errors import OptionError

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"{option} {text}: give numbers with commas between, as 3,10.5") from None


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """`0,1` -> (0, 1)."""
    from dnagoat.errors import OptionError

    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"{option} {text}: give whole numbers with commas between, as 0,1") from None
