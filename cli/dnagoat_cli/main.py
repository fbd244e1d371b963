"""Which commands there are, and how they end: a user's fault is a sentence and 2, a signal is 128 + its number."""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

import dnagoat
from dnagoat.errors import DnagoatError, Stopped
from dnagoat.folders import place_caches
from dnagoat.training.launch.stop import unwind_when_told
from dnagoat_cli.terminal.bar import begin_command
from dnagoat_cli.terminal.help_pages import let_help_flow
from dnagoat_cli.terminal.letters import fit_streams

# What a disk or a path says that the user can mend: no room, no permission, no such place, a disk that fails.
PLACES = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP),
    *(errno.ENXIO, errno.ENODEV, errno.EIO, errno.ESTALE, errno.EBUSY),
)
CALLED = "dnagoat.called"
GONE = 128 + signal.SIGPIPE  # as a shell reports a command whose reader has gone: `| head` has what it wanted


class Sentences(TyperGroup):
    """Turns the library's errors into one sentence; bugs keep their traceback."""

    def main(self, *words: Any, **settings: Any) -> Any:
        _replace_shut_streams()
        fit_streams()
        let_help_flow(self)
        place_caches()
        try:
            try:
                return super().main(*words, **settings)
            except SystemExit as end:
                # Click and rich end with 1 where the reader of a pipe has gone, which is no failure of the command.
                gone = isinstance(end.__context__, BrokenPipeError) or not _flushed()
                raise SystemExit(GONE if gone else end.code) from None
        except OSError as fault:  # of a command, and of help and version, which are printed before there is one
            if fault.errno not in PLACES:
                raise
            _drop_output()
            where = f"{fault.filename}: " if fault.filename else ""
            sys.stderr.write(f"error: {where}{fault.strerror}; give another place, or make room there\n")
            raise SystemExit(2) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        ctx.meta[CALLED] = args  # which command a fault is of
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        begin_command()
        ctx.meta[CALLED] = []
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()  # a full disk or a reader that has gone is met here, not while Python ends
            return found
        except BrokenPipeError as fault:
            if not (fault.filename or any(map(_hung_up, (sys.stdout, sys.stderr)))):
                raise RuntimeError("a pipe between this command's own processes broke") from fault
            _drop_output()
            raise typer.Exit(GONE) from None
        except DnagoatError as fault:
            from dnagoat_cli.options.faults import command_in, sentence

            sys.stderr.write(f"error: {sentence(fault, command_in(self, ctx.meta[CALLED]), ctx)}\n")
            raise typer.Exit(2) from None
        except KeyboardInterrupt as end:
            number = end.signal if isinstance(end, Stopped) else signal.SIGINT
            raise typer.Exit(128 + number) from None


def _hung_up(stream: TextIO) -> bool:
    """Whether nobody reads the pipe any longer, as behind `| head`."""
    try:
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLERR)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError):
        return False


def _replace_shut_streams() -> None:
    """A stream that the shell has closed (>&-) is the null device: what is opened next must not take its place."""
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:
            setattr(sys, stream, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _flushed() -> bool:
    """Writes out standard output; whether somebody still reads it. Python would try while it ends, and complain."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return False
    return True


def _drop_output() -> None:
    """What is left in the buffer of standard output has nowhere to go: Python must not try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


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
from dnagoat_cli.commands import (  # noqa: E402
    bench,  # noqa: F401
    compare,  # noqa: F401
    demo,  # noqa: F401
    embed,  # noqa: F401
    evaluate,  # noqa: F401
    export,  # noqa: F401
    generate,  # noqa: F401
    importing,  # noqa: F401
    info,  # noqa: F401
    inspect,  # noqa: F401
    prepare,  # noqa: F401
    probe,  # noqa: F401
    report,  # noqa: F401
    score,  # noqa: F401
    train,  # noqa: F401
)
