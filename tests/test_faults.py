"""What a command says where a place cannot be written, and that what is no user's fault keeps its traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from dnagoat_cli.main import Sentences
from dnagoat_cli.main import app as cli


def failing(number: int) -> typer.Typer:
    app = typer.Typer(cls=Sentences, pretty_exceptions_enable=False)

    @app.callback()
    def root() -> None:
        pass

    @app.command()
    def write() -> None:
        raise OSError(number, os.strerror(number), "there/it")

    return app


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.ENOENT, errno.ENOTDIR])
def test_a_place_that_cannot_be_written_is_one_sentence(number: int) -> None:
    result = CliRunner().invoke(failing(number), ["write"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: there/it: {os.strerror(number)}; ")
    assert len(result.stderr.splitlines()) == 1


def test_other_faults_of_the_system_are_no_users() -> None:
    result = CliRunner().invoke(failing(errno.EBADF), ["write"])
    assert isinstance(result.exception, OSError)


def test_a_command_that_is_told_to_stop_cleans_up_behind_itself() -> None:
    """SIGTERM unwinds, so that what was begun under a temporary name is removed; --version needs no command."""
    code = (
        "import os, signal, sys, time\n"
        "from dnagoat_cli.main import app\n"
        "@app.command()\n"
        "def wait():\n"
        "    try:\n"
        "        print('ready', flush=True); time.sleep(60)\n"
        "    finally:\n"
        "        print('cleaned', flush=True)\n"
        "app(['wait'])\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.stdout.readline() == "cleaned\n"
        assert process.wait() == 128 + 15
    assert CliRunner().invoke(cli, ["--version"]).stdout.startswith("dnagoat ")
