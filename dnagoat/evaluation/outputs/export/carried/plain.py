"""What frozen configurations need of pydantic, for machines that do not have it: fields and their defaults.

Nothing is checked: a configuration that comes here was checked when its model was made.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import get_annotations
from typing import Any, ClassVar, TypeVar

Any_ = TypeVar("Any_")
REQUIRED = object()


class ValidationError(ValueError):
    """Never raised."""


class ConfigDict(dict[str, Any]):
    """Settings of a model, which say nothing here."""


class _Transparent:
    def __class_getitem__(cls, item: Any_) -> Any_:
        return item


SerializeAsAny = _Transparent


def Field(default: Any = REQUIRED, **_: Any) -> Any:
    return default


def model_validator(*, mode: str) -> Callable[[Any_], Any_]:
    return lambda method: method


class BaseModel:
    """Fields are the annotations of its classes; a list, as JSON has it, becomes a tuple."""

    model_fields: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        kinds = get_annotations(cls)
        own = {name: getattr(cls, name, REQUIRED) for name in kinds if not str(kinds[name]).startswith("ClassVar")}
        cls.model_fields = {**cls.model_fields, **own}

    def __init__(self, **values: Any) -> None:
        for name, default in self.model_fields.items():
            if (value := values.get(name, default)) is REQUIRED:
                raise TypeError(f"{type(self).__name__} needs {name}")
            object.__setattr__(self, name, _settled(value))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).items()))


def _settled(value: Any) -> Any:
    return tuple(map(_settled, value)) if isinstance(value, list) else value
