"""A fault in a field of the library, said of the option that a person typed for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

from dnagoat.attention.schemes.settings import Settings
from dnagoat.errors import DnagoatError, FieldError
from dnagoat.wording import typed

# Options that are not called as the field that they set; (class, field) -> parameter.
RENAMED = {
    ("MeasureOptions", "which"): "checkpoint",
    ("LinearOptions", "which"): "checkpoint",
    ("PrepareOptions", "split"): "split_blocks",
    ("PrepareOptions", "contigs"): "all_contigs",
    ("PrepareOptions", "copies"): "drop_copies",
    ("ModelConfig", "classes"): "score_n",
    ("ModelConfig", "memory"): "memory_families",
    ("MomentumConfig", "strength"): "momentum",
    ("MomentumConfig", "ramp_steps"): "momentum_ramp",
    ("MomentumConfig", "layers"): "momentum_layers",
    ("ModelConfig", "layers"): "depth",
    ("InductionOptions", "layers"): "depth",
    ("Execution", "compile"): "compile_model",
    ("Execution", "patience"): "wait_for_peers",
    ("Job", "batch"): "batch_size",
}


def sentence(fault: DnagoatError, command: Any, ctx: Any) -> str:
    """What is said of a fault: with the option of this very command, where one sets the field."""
    if not isinstance(fault, FieldError):
        return str(fault)
    option = option_for(fault.owner, fault.field, options_of(command, ctx))
    return str(fault) if option is None else f"{option} {typed(fault.value)}: {fault.said}"


def option_for(owner: type, field: str, options: Mapping[str, str]) -> str | None:
    """The option of a command that sets a field of a class, or None; `options` maps its parameters to what is typed."""
    flags = owner.options() if issubclass(owner, Settings) else {}  # a scheme's settings name their own
    named = [flags[field].flag.replace("-", "_")] if field in flags else []
    # Repeatable options are singular: --arm sets `arms`.
    named += [field, RENAMED.get((owner.__name__, field), field), field.removesuffix("s")]
    return next((options[name] for name in named if name in options), None)


def options_of(command: Any, ctx: Any) -> dict[str, str]:
    return {
        parameter.name: max(parameter.opts, key=len)
        for parameter in command.get_params(ctx)
        if parameter.param_type_name == "option"
    }


def command_in(group: Any, words: list[str]) -> Any:
    """The command that these words call, in groups within groups."""
    while words and isinstance(group, TyperGroup) and words[0] in group.commands:
        group, words = group.commands[words[0]], words[1:]
    return group
