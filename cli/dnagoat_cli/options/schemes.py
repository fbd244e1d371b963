"""The options that position schemes declare: `--position`, and one for each setting of a scheme.

They are made when a command is run or its help is asked for: declarations take half a second to load.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Annotated, Any, Optional

import typer
from typer.main import get_command

from dnagoat_cli.options.defaults import WithPresets, of_scheme
from dnagoat_cli.options.runs import MODEL

GIVEN = "dnagoat.position"  # where a command finds them in its context


class WithSchemes(WithPresets):
    """A command with those options; `ctx.meta[GIVEN]` has what was given, paths of a run's configuration to values."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [*super().get_params(ctx), *_options().values()]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        values = {path: ctx.params.pop(option.name) for path, option in _options().items()}
        ctx.meta[GIVEN] = {path: value for path, value in values.items() if value is not None}
        return rest


def _options() -> dict[str, Any]:
    """By the path that each sets, as Typer makes them of a signature."""
    from dnagoat.attention.schemes.registry import DEFAULT, SCHEMES
    from dnagoat.training.presets import NAME, SETTINGS

    declared = {NAME: _parameter("position", str, f"{', '.join(SCHEMES)}.", DEFAULT, panel=None)}
    for name, scheme in SCHEMES.items():
        for field, option in scheme.settings.options().items():
            kind, default = scheme.settings.kind(field), of_scheme(name, field)
            declared.setdefault(SETTINGS + option.flag, _parameter(option.flag, kind, option.help, default))

    def command(**_: Any) -> None: ...

    command.__signature__ = Signature(list(declared.values()))  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in declared.values()}
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return dict(zip(declared, get_command(app).params, strict=True))


def _parameter(flag: str, kind: type, words: str, default: str, panel: str | None = MODEL) -> Parameter:
    option = typer.Option(f"--{flag}", help=words, rich_help_panel=panel, show_default=default or False)
    annotation: Any = Annotated[Optional[kind], option]  # noqa: UP045
    return Parameter(flag.replace("-", "_"), Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
