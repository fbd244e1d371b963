"""Which options the commands that train share, and which field of a run's configuration each one sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args

import typer

MODEL, LEARNING, MACHINE = "Model", "Learning", "Machine"

Preset = Annotated[str | None, typer.Option(help="tiny, small, paper or 125m.", show_default="small")]
Steps = Annotated[int | None, typer.Option(help="Optimizer steps.")]
BatchSize = Annotated[int | None, typer.Option(help="Windows in the effective batch of all processes.")]
Lr = Annotated[float | None, typer.Option(help="Peak learning rate.", rich_help_panel=LEARNING)]
Warmup = Annotated[int | None, typer.Option(help="Steps of linear warm-up.", rich_help_panel=LEARNING)]
Schedule = Annotated[str | None, typer.Option(help="linear or cosine decay.", rich_help_panel=LEARNING)]
WeightDecay = Annotated[float | None, typer.Option(help="Decay of matrices.", rich_help_panel=LEARNING)]
Clip = Annotated[float | None, typer.Option(help="Largest gradient norm.", rich_help_panel=LEARNING)]
ReverseComplement = Annotated[
    bool | None,
    typer.Option(
        "--reverse-complement/--no-reverse-complement",
        help="Read half of the windows on the other strand.",
        rich_help_panel=LEARNING,
    ),
]
Jitter = Annotated[
    int | None, typer.Option(help="Largest random shift of a window, in bases.", rich_help_panel=LEARNING)
]
PriorLrScale = Annotated[
    float | None, typer.Option(help="Learning rate of position parameters over the others'.", rich_help_panel=LEARNING)
]
EvalEvery = Annotated[int | None, typer.Option(help="Steps between validations.", rich_help_panel=LEARNING)]
EvalWindows = Annotated[int | None, typer.Option(help="Validation windows scored each time.", rich_help_panel=LEARNING)]
CheckpointEvery = Annotated[int | None, typer.Option(help="Steps between checkpoints.", rich_help_panel=MACHINE)]
Keep = Annotated[int | None, typer.Option(help="Newest checkpoints kept, beside the best.", rich_help_panel=MACHINE)]
Precision = Annotated[str | None, typer.Option(help="fp32, tf32, bf16 or fp16.", rich_help_panel=MACHINE)]
MicroBatch = Annotated[
    int | None, typer.Option(help="Windows at once on one device; gradients add up.", rich_help_panel=MACHINE)
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.", rich_help_panel=MACHINE)]
Parallel = Annotated[
    str, typer.Option(help="Under torchrun or srun: auto, none, ddp or fsdp.", rich_help_panel=MACHINE)
]
Compile = Annotated[bool, typer.Option("--compile", help="torch.compile the model.", rich_help_panel=MACHINE)]
CheckpointActivations = Annotated[
    bool,
    typer.Option(
        "--checkpoint-activations",
        help="Recompute blocks in the backward pass: less memory, a third slower.",
        rich_help_panel=MACHINE,
    ),
]
WaitForPeers = Annotated[
    float,
    typer.Option(min=1, help="Seconds that processes wait for each other at the start.", rich_help_panel=MACHINE),
]
Momentum = Annotated[
    float | None, typer.Option(help="Strength of the shear of queries and keys.", rich_help_panel=MODEL)
]
MomentumLayers = Annotated[
    str | None, typer.Option(help="Layers with momentum, as 0,1; all by default.", rich_help_panel=MODEL)
]
MomentumRamp = Annotated[
    int | None, typer.Option(help="Steps over which momentum grows from a third.", rich_help_panel=MODEL)
]
Convolution = Annotated[
    int | None,
    typer.Option(help="Taps of a short causal convolution of queries and keys.", rich_help_panel=MODEL),
]
Heads = Annotated[int | None, typer.Option(help="Heads of a layer; the width stays.", rich_help_panel=MODEL)]
Content = Annotated[
    int | None,
    typer.Option(
        help="Dimensions of a head's queries and keys beside position lanes; by default what these leave of the head.",
        rich_help_panel=MODEL,
    ),
]
Memory = Annotated[
    bool,
    typer.Option("--memory", help="Look up what the training split holds: words, gaps, copies.", rich_help_panel=MODEL),
]
MemoryFamilies = Annotated[
    str | None, typer.Option(help="Memory with some of its families, as words+copies.", rich_help_panel=MODEL)
]
MatchParameters = Annotated[
    bool,
    typer.Option(
        "--match-parameters", help="Size the MLP so that all arms are as large as RoPE.", rich_help_panel=MODEL
    ),
]
Normaliser = Annotated[str | None, typer.Option(help="softmax, sparsemax, entmax15 or entmax.", rich_help_panel=MODEL)]
Kernel = Annotated[str | None, typer.Option(help="auto, sdpa, flash or dense.", rich_help_panel=MODEL)]

# Options whose name in Python says nothing of the field: what each sets.
FIELDS = {
    "heads": "model.heads",
    "convolution": "model.position.convolution",
    "content": "model.content",
    "normaliser": "model.normaliser",
    "kernel": "model.kernel",
}
TRAIN = (
    *("steps", "batch_size", "micro_batch", "lr", "warmup", "schedule", "recipe", "weight_decay", "clip"),
    *("prior_lr_scale", "seed", "precision", "reverse_complement", "jitter", "score_n"),
    *("eval_every", "eval_windows", "checkpoint_every", "keep"),
)


def fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Paths of the run's configuration and the values that the command line gave; what was not given stays out."""
    from dnagoat.config import Family, MomentumConfig
    from dnagoat.errors import OptionError

    chosen = {f"train.{name}": given[name] for name in TRAIN if name in given}
    chosen |= {path: given[name] for name, path in FIELDS.items() if name in given}
    chosen["model.classes"] = 5 if given.get("score_n") else None
    if given.get("memory") or given.get("memory_families"):
        named = given.get("memory_families")
        chosen["model.memory"] = tuple(named.replace(",", "+").split("+")) if named else get_args(Family)
    if (strength := given.get("momentum")) is not None:
        layers = given.get("momentum_layers")
        chosen["model.position.momentum"] = MomentumConfig(
            strength=strength,
            ramp_steps=given.get("momentum_ramp") or 0,
            layers=None if layers is None else whole_numbers(layers, "--momentum-layers"),
        )
    elif given.get("momentum_layers") is not None or given.get("momentum_ramp") is not None:
        raise OptionError("--momentum-layers and --momentum-ramp go with --momentum; give its strength")
    return {path: value for path, value in chosen.items() if value is not None}


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
