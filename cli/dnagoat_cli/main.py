"""Which commands there are, and how they end: a user's fault is a sentence and 2, a signal is 128 + its number."""

from __future__ import annotations

import errno
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import dnagoat
from dnagoat.errors import DnagoatError, Stopped
from dnagoat.training.launch.stop import unwind_when_told

# What a disk or a path says that the user can mend: no room, no permission, no such place.
PLACES = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP),
)


class Sentences(TyperGroup):
    """Turns the library's errors into one sentence; bugs keep their traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except DnagoatError as fault:
            sys.stderr.write(f"error: {fault}\n")
            raise typer.Exit(2) from None
        except KeyboardInterrupt as end:
            number = end.signal if isinstance(end, Stopped) else signal.SIGINT
            raise typer.Exit(128 + number) from None
        except OSError as fault:
            if fault.errno not in PLACES:
                raise
            where = f"{fault.filename}: " if fault.filename else ""
            sys.stderr.write(f"error: {where}{fault.strerror}; give another place, or make room there\n")
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Sentences,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Train nucleotide language models with GOAT, RoPE and other position schemes, and compare them fairly.",
)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"dnagoat {dnagoat.__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    unwind_when_told()  # training has a handler of its own


# One line a command; each module adds itself to `app`.
from dnagoat_cli import (  # noqa: E402
    bench,  # noqa: F401
    compare,  # noqa: F401
    demo,  # noqa: F401
    evaluate,  # noqa: F401
    generate,  # noqa: F401
    info,  # noqa: F401
    inspect,  # noqa: F401
    prepare,  # noqa: F401
    probe,  # noqa: F401
    report,  # noqa: F401
    train,  # noqa: F401
)
