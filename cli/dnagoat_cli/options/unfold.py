"""Options that several commands share: declared once as the fields of a dataclass, given to a command as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar, get_type_hints

C = TypeVar("C", bound=Callable[..., None])


@dataclass(frozen=True)
class Sets:
    """Which field of a run's configuration an option sets, by its path: an annotation beside the option itself."""

    path: str


def unfold(command: C) -> C:
    """The command as Typer is to see it: each parameter that is a dataclass of options becomes its fields.

    A field is what a parameter would be: `steps: Annotated[int | None, typer.Option(help="...")] = None`.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    shown: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(kind := hints[name]) and isinstance(kind, type):
            groups[name] = kind
            shown += _parameters(kind)
        else:
            shown.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def unfolded(**given: Any) -> None:
        built = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        command(**given, **built)

    unfolded.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    unfolded.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return unfolded  # type: ignore[return-value]


def _parameters(kind: type) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def settings(*groups: Any) -> dict[str, Any]:
    """What was given, by the path that each option sets; what was not, and what sets nothing by itself, is left out."""
    named = {path: getattr(group, name) for group in groups for name, path in paths(type(group)).items()}
    return {path: value for path, value in named.items() if value is not None}


def paths(group: type) -> dict[str, str]:
    """The path that each option of a group sets, by the option's name."""
    hints = get_type_hints(group, include_extras=True)
    return {
        name: mark.path
        for name, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Sets)
    }


def given(group: Any) -> dict[str, Any]:
    """The options of a group that were given, by their names."""
    return {field.name: value for field in fields(group) if (value := getattr(group, field.name)) is not None}
