"""What is told while something takes long: a line after two seconds, then one every thirty; none of what is quick."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dnagoat_cli.terminal import bar as shown
from dnagoat_cli.terminal.bar import begin_command, clock, show_progress


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Time goes ten times as fast."""
    monkeypatch.setattr(shown, "FIRST", 0.2)
    monkeypatch.setattr(shown, "EVERY", 3.0)
    monkeypatch.setattr(shown, "LOOK", 0.02)
    begin_command()
    yield
    begin_command()


pytestmark = pytest.mark.usefixtures("quickly")
Captured = pytest.CaptureFixture[str]


def wait_for_lines(capsys: Captured, count: int) -> list[str]:
    """The first lines on standard error, however long a loaded machine takes."""
    lines: list[str] = []
    while len(lines) < count:
        time.sleep(0.02)
        lines += capsys.readouterr().err.splitlines()
    return lines


def test_a_phase_that_calls_nobody_back_is_told(capsys: Captured) -> None:
    with show_progress() as tell:
        tell("goat-s0: counting training bases", 0, 1000)
        (line,) = wait_for_lines(capsys, 1)
    assert re.fullmatch(r"goat-s0: counting training bases, 0 of 1,000 \(0%\), \d:\d\d so far", line)


def test_lines_are_rare_however_many_phases_there_are(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "EVERY", 300.0)
    for _ in range(4):
        with show_progress() as tell:
            for done in range(20):
                tell("scoring windows", done, 20)
                time.sleep(0.02)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_next_line_comes_after_a_while(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "EVERY", 0.3)
    with show_progress() as tell:
        tell("scoring windows", 0, 20)
        tell("scoring windows", 10, 20, "loss 1.3")
        first, *_ = wait_for_lines(capsys, 2)
    assert re.match(r"scoring windows, 10 of 20 \(50%\), loss 1\.3, \d:\d\d so far, about \d:\d\d left", first)


def test_what_is_resumed_is_timed_from_where_it_stood(capsys: Captured) -> None:
    with show_progress() as tell:
        tell("training all runs", 900, 1000)
        tell("training all runs", 901, 1000)
        (line,) = wait_for_lines(capsys, 1)
    said = re.fullmatch(r"training all runs, 901 of 1,000 \(90%\), 0:\d\d so far, about (\d+):(\d\d) left", line)
    assert said is not None, line
    assert 60 * int(said[1]) + int(said[2]) > 10  # 99 steps as long as the one that was made, not a ninth of it


def test_what_is_quick_says_nothing(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "FIRST", 60.0)
    with show_progress() as tell:
        tell("scoring windows", 1, 2)
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_reader_who_has_gone_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = io.StringIO()
    monkeypatch.setattr(sys, "stderr", gone)
    with show_progress() as tell:
        tell("scoring windows", 1, 2)
        gone.close()
        time.sleep(0.4)


def test_times_are_read_as_clocks_show_them() -> None:
    assert [clock(seconds) for seconds in (0.4, 67, 3723)] == ["0:00", "1:07", "1:02:03"]


SLOW = """
import time
from dnagoat_cli.terminal.bar import show_progress
with show_progress() as tell:
    tell("goat: counting training bases", 0, 1000)
    time.sleep(1)
    tell("goat: scoring windows", 3, 40, "loss 1.25")
    time.sleep(1)
print("done")
"""


LONG = """
import time
from dnagoat_cli.terminal.bar import show_progress
with show_progress() as tell:
    for step in range(5):
        tell("training [bold]published GOAT-lr0.0003-s1", 4000 + step, 9000, "loss 1.3412, val 1.3321, 61,234 bases/s")
        time.sleep(0.2)
"""


@pytest.mark.parametrize("columns", [60, 80])
def test_a_bar_is_folded_and_never_cut(columns: int) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    with subprocess.Popen([sys.executable, "-c", LONG], stderr=theirs, env=environment):
        os.close(theirs)
        seen = b"".join(iter(lambda: read(ours), b"")).decode()
    words = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", seen)
    assert "…" not in words
    assert all(word in words for word in ("4,001", "9,000", "1.3412", "61,234", "[bold]"))


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_a_terminal_has_a_bar_that_goes_away(term: str) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": term, "COLUMNS": "100"}
    command = [sys.executable, "-c", SLOW]
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.PIPE, env=environment) as process:
        os.close(theirs)
        seen = b"".join(iter(lambda: read(ours), b"")).decode()
        assert process.stdout is not None and process.stdout.read() == b"done\n"
    moves = "\x1b[" in seen
    assert moves == (term != "dumb")
    if moves:
        assert "goat: counting training bases" in seen and "goat: scoring windows" in seen and "3 of 40" in seen


def read(handle: int) -> bytes:
    try:
        return os.read(handle, 4096)
    except OSError:  # the other side has closed
        return b""


def test_colours_that_are_forced_make_no_terminal_of_a_pipe() -> None:
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-c", SLOW], capture_output=True, text=True, env=environment, check=True, cwd=Path.cwd()
    )
    assert done.stderr.count("\n") <= 1 and "\x1b" not in done.stderr
