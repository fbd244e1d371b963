"""What a position scheme can be told: its settings, the options that give them, and how they are called in a report.

Nothing here needs torch: a configuration is read, an option refused and a report drawn without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dnagoat.frozen import Frozen


@dataclass(frozen=True)
class Option:
    """How the command line gives one setting: `--flag` of `train`; in an arm it goes by the field's own name.

    `read` makes the value of a text, ValueError where it cannot; without it the field's own type does.
    """

    flag: str
    help: str
    read: Callable[[str], Any] | None = None
    write: Callable[[Any], str] = str
    form: str = ""  # what to give instead of a text that cannot be read


class Settings(Frozen):
    """The settings of one scheme, none by default: a field annotated with an `Option` is one that can be given."""

    proof: ClassVar[Mapping[str, Any]] = {}  # what the proof that the scheme is exact starts from,
    proofs: ClassVar[Sequence[Mapping[str, Any]]] = ({},)  # and the settings, beside these, that it is made for

    @classmethod
    def options(cls) -> dict[str, Option]:
        """The options that set a field, by the field's name."""
        marks = {name: field.metadata for name, field in cls.model_fields.items()}
        return {name: mark for name, found in marks.items() for mark in found if isinstance(mark, Option)}

    @classmethod
    def field_of(cls, key: str) -> str | None:
        """The field that an option (`goat-init`), or its name in an arm (`init`), sets; None where there is none."""
        for name, option in cls.options().items():
            if key in (option.flag, name, name.replace("_", "-")):
                return name
        return None

    @classmethod
    def kind(cls, field: str) -> type[int] | type[float] | type[bool] | type[str]:
        """What the command line takes for a field: int, float and bool as they are, all else as text."""
        kinds: dict[Any, type[int] | type[float] | type[bool]] = {int: int, float: float, bool: bool}
        return kinds.get(cls.model_fields[field].annotation, str)

    @classmethod
    def read(cls, field: str, value: Any) -> Any:
        """The value of a field that was given as text; ValueError where it cannot be read."""
        return (cls.options()[field].read or cls.kind(field))(value) if isinstance(value, str) else value

    @classmethod
    def shared(cls, other: Settings) -> Self:
        """These settings with the values of another scheme's that both schemes have."""
        return cls(**{name: getattr(other, name) for name in cls.model_fields if name in type(other).model_fields})

    def given(self, values: Mapping[str, Any], *, sparse: bool = False) -> Self:
        """The same with some fields given anew and with what goes with them; `sparse` where a normaliser is."""
        return self.but(**values)

    def fit(self, heads: int, layers: int) -> None:
        """ValueError where a model of so many heads and layers cannot have them."""

    def called(self, name: str) -> str:
        """What a report calls the scheme `name` with these settings: what is unusual about them in a word."""
        return name

    def method(self) -> str | None:
        """What a report's methods say about them, where there is something to say; without a full stop."""
        return None

    def written(self) -> dict[str, Any]:
        """The options that give these settings back: flags and values, those that are idle or None left out."""
        values = {name: getattr(self, name) for name in self.options()}
        return {
            option.flag: values[name] if self.kind(name) is bool else option.write(values[name])
            for name, option in self.options().items()
            if values[name] is not None and name not in self.idle()
        }

    def idle(self) -> set[str]:
        """Fields that mean nothing beside the others: giving them would change nothing, or is refused."""
        return set()
