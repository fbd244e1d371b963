"""Values that do not change: frozen models, checked at birth, whose faults are one sentence."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from dnagoat.errors import FieldError, OptionError


class Frozen(BaseModel):
    """Immutable, refuses unknown fields; a wrong value is an `OptionError` of one sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as fault:
            raise _option_error(type(self), fault) from None

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


def _option_error(owner: type, fault: ValidationError) -> OptionError:
    first = fault.errors()[0]
    message = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if first["type"] == "literal_error":
        message = _choices(str(first["input"]), first["ctx"]["expected"])
    if not first["loc"]:
        return OptionError(message)
    return FieldError(owner, str(first["loc"][0]), first["input"], message)


def _choices(given: str, expected: str) -> str:
    """What may be given, and what may have been meant."""
    near = get_close_matches(given.lower(), expected.replace(" or ", ", ").replace("'", "").split(", "), n=1)
    return f"there are {expected}" + (f"; did you mean {near[0]}?" if near else "")
