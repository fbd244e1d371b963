"""What `export` and `import` say of what they wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from dnagoat_cli.terminal.bar import say
from dnagoat_cli.terminal.prose import print_prose

if TYPE_CHECKING:
    from dnagoat.evaluation.outputs.export.leaving import Leaving
    from dnagoat.training.kept.run import Run


def show_export(left: Leaving, out: Path) -> None:
    from dnagoat.wording import counted

    size = sum(file.stat().st_size for file in ([out] if out.is_file() else out.iterdir()))
    _show(f"[bold]{out}[/bold]  {counted(left.model.parameter_count, 'parameter')}, {size / 1e6:,.1f} MB")


def show_import(run: Run) -> None:
    config = run.config
    if config.model.memory and run.dataset_path() is None:
        say(
            f"{run.path} looks words up in its training split, so every command that asks it needs {config.dataset} "
            f"({config.dataset_hash[:12]}): give --dataset here, or to each of them"
        )
    _show(
        f"[bold]{run.path}[/bold]  {config.model.position.name}, trained on {config.dataset} "
        f"({config.dataset_hash[:12]})"
    )


def _show(text: str) -> None:
    print_prose(text, Console())
