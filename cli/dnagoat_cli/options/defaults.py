"""What an option is where it is not given: the help page names the value that each preset has for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from dnagoat_cli.options.runs import OneRun, Shared
from dnagoat_cli.options.unfold import paths

if TYPE_CHECKING:
    from dnagoat.config import ModelConfig, TrainConfig


class NamesPresets(TyperCommand):
    """A command whose help lists the presets that there are."""

    def get_params(self, ctx: Any) -> list[Any]:
        from dnagoat.training.presets import PRESETS

        shown: list[Any] = super().get_params(ctx)
        *others, last = PRESETS
        for option in shown:
            if option.name == "preset":
                option.help = f"{', '.join(others)} or {last}."
        return shown


class WithPresets(NamesPresets):
    """A command whose help says what each preset has for an option that sets a field of a run's configuration."""

    def get_params(self, ctx: Any) -> list[Any]:
        shown: list[Any] = super().get_params(ctx)
        fields = paths(Shared) | paths(OneRun)
        for option in shown:
            if option.name in fields:
                option.show_default = by_preset(fields[option.name]) or option.show_default
        return shown

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with whole_names():
            super().format_help(ctx, formatter)


@contextmanager
def whole_names() -> Iterator[None]:
    """Where a narrow terminal has no room for the name of an option, help folds it: Typer would cut it."""
    from typer import rich_utils

    def folded(highlight: Any) -> Any:
        def fold(text: Any) -> Any:
            made = highlight(text)
            made.overflow = "fold"
            return made

        return fold

    kept = {name: getattr(rich_utils, name) for name in ("highlighter", "negative_highlighter")}
    for name, highlight in kept.items():
        setattr(rich_utils, name, folded(highlight))
    try:
        yield
    finally:
        for name, highlight in kept.items():
            setattr(rich_utils, name, highlight)


def by_preset(path: str) -> str:
    """`tiny, paper: 8; small: 16; 125m: 64`; the value alone where all have it, nothing where they have none."""

    def said(model: ModelConfig, train: TrainConfig) -> str:
        room, *fields = path.split(".")
        return _said(reduce(getattr, fields, {"model": model, "train": train}[room]))

    return _listed(said)


def of_scheme(owner: str, field: str) -> str:
    """The same of a setting of a position scheme, as its option takes it."""

    def said(model: ModelConfig, train: TrainConfig) -> str:
        settings = model.position.but(name=owner).settings
        value = getattr(settings, field)
        return _said(value if value is None or value is False else settings.options()[field].write(value))

    return _listed(said)


def _listed(said: Callable[[ModelConfig, TrainConfig], str]) -> str:
    """What is said of each preset; those of which the same is said stand together."""
    from dnagoat.training.presets import PRESETS

    named: dict[str, list[str]] = {}
    for name, (model, train) in PRESETS.items():
        named.setdefault(said(model, train), []).append(name)
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{', '.join(presets)}: {value or 'none'}" for value, presets in named.items())


def _said(value: Any) -> str:
    if value is None or value is False:
        return "off" if value is False else ""
    return "on" if value is True else f"{value:,}" if isinstance(value, int) else str(value)
