"""What a command says where a place cannot be written, and that what is no user's fault keeps its traceback."""

from __future__ import annotations

import errno
import os

import pytest
import typer
from typer.testing import CliRunner

from dnagoat_cli.main import Sentences


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
