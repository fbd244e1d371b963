"""Whether what is no plain file is written through and read once: pipes, devices, links, descriptors, `-`."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from dnagoat.errors import OptionError
from dnagoat.files import hash_file, may_write, write_text
from dnagoat.folders import why_not_writable
from dnagoat.streams import follow, is_passage, is_stream, refuse_two_readers, refuse_two_writers


def reading(path: Path) -> Callable[[], bytes]:
    """Reads a pipe in a thread; the call gives what came."""
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()

    def end() -> bytes:
        reader.join(600)
        return found[0]

    return end


def null_device(folder: Path) -> Path:
    """A device node of our own that takes everything; skips where none may be made or opened."""
    node = folder / "null"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.write_bytes(b"")
    except OSError as fault:
        pytest.skip(f"no device node can be made and opened here: {fault.strerror}")
    return node


def test_a_device_is_written_through_and_stays_one(tmp_path: Path) -> None:
    node = null_device(tmp_path)
    may_write(node, "--out", force=False)
    write_text(node, "ACGT")
    assert stat.S_ISCHR(node.stat().st_mode) and list(tmp_path.iterdir()) == [node]


def test_a_link_to_a_device_is_written_through(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    write_text(link, "ACGT")
    assert link.is_symlink() and link.readlink() == Path("/dev/null") and list(tmp_path.iterdir()) == [link]


def test_a_terminal_gets_the_bytes(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    try:
        write_text(Path(os.ttyname(theirs)), "ACGT\n")
        assert os.read(ours, 100) == b"ACGT\r\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came = reading(pipe)
    write_text(pipe, "ACGT" * 50_000)
    assert came() == b"ACGT" * 50_000 and stat.S_ISFIFO(pipe.stat().st_mode) and list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("target", ["beside.fa", "other/there.fa", "missing/new.fa"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path, target: str, absolute: bool) -> None:
    (tmp_path / "other").mkdir()
    link, end = tmp_path / "link.fa", tmp_path / target
    link.symlink_to(end if absolute else target)
    again = tmp_path / "other" / "again.fa"
    again.symlink_to("../link.fa")
    for text in ("first", "second"):
        write_text(again, text)
        assert end.read_text() == text and link.is_symlink() and again.is_symlink() and not end.is_symlink()
    assert not list(tmp_path.rglob("*.tmp")), "nothing is left behind"


def test_a_reader_of_the_target_sees_the_old_or_the_new(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with target.open() as before:
        write_text(link, "new")
        assert before.read() == "old" and target.read_text() == "new"


def test_a_circle_of_links_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=r"a'$") as fault:
        write_text(tmp_path / "a", "x")
    assert fault.value.filename == str(tmp_path / "a")


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "shared.tsv"
    file.write_text("old")
    file.chmod(0o664)
    write_text(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o664


def test_descriptors_of_this_process_are_written_through(tmp_path: Path) -> None:
    """`--out /dev/stdout >> file` adds to the file that the shell has opened, and does not replace it."""
    file = tmp_path / "log"
    file.write_text("kept\n")
    code = "from pathlib import Path; from dnagoat.files import write_text; write_text(Path('/dev/stdout'), 'added')"
    with file.open("a") as handle:
        subprocess.run([sys.executable, "-c", code], stdout=handle, check=True)
    assert file.read_text() == "kept\nadded"
    assert is_passage(Path("/dev/stdout")) and is_passage(Path("-")) and not is_passage(file)


def test_minus_is_standard_output_and_input(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from dnagoat.files import hash_file, write_text\n"
        "print('before'); write_text(Path('-'), hash_file(Path('-')))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"ACGT\n", capture_output=True, check=True, cwd=tmp_path)
    (tmp_path / "same").write_bytes(b"ACGT\n")
    assert done.stdout.decode() == f"before\n{hash_file(tmp_path / 'same')}"
    assert [file.name for file in tmp_path.iterdir()] == ["same"], "no file is named -"


@pytest.mark.parametrize(
    ("name", "force", "said"),
    [
        ("folder", True, "is a folder; give the name of a file"),
        ("file", False, "exists already; give another --out, or --force"),
        ("file/below", True, "cannot be written"),
        ("link", False, "exists already"),
    ],
)
def test_what_cannot_be_written_is_said_before(tmp_path: Path, name: str, force: bool, said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OptionError, match=said):
        may_write(tmp_path / name, "--out", force=force)
    for free in ("new", "new/deep/er", "dangling"):
        may_write(tmp_path / free, "--out", force=False)


def test_a_folder_that_takes_no_file_is_found_by_trying() -> None:
    """Modes do not stop root; /proc takes no file from anybody."""
    assert why_not_writable(Path("/proc/self/none/such")) is not None


def test_one_stream_has_one_reader(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    file.write_text("")
    refuse_two_readers(("--a", Path("-")), ("--b", pipe), ("--c", file), ("--d", file), ("--e", None))
    with pytest.raises(OptionError, match=r"^standard input is read by --a and by --b, and can be read once"):
        refuse_two_readers(("--a", Path("-")), ("--b", Path("-")))
    with pytest.raises(OptionError, match="is read by --a and by --b"):
        refuse_two_readers(("--a", pipe), ("--b", pipe))


def test_one_file_has_one_writer(tmp_path: Path) -> None:
    link, null = tmp_path / "link", Path(os.devnull)
    link.symlink_to("new.fa")
    refuse_two_writers(("--a", Path("-")), ("--b", tmp_path / "new.fa"), ("--c", null), ("--d", null))
    with pytest.raises(OptionError, match=r"is written by --a and by --b; give each a file"):
        refuse_two_writers(("--a", link), ("--b", tmp_path / "new.fa"))
    with pytest.raises(OptionError, match="standard output is written by --a and by --b"):
        refuse_two_writers(("--a", Path("-")), ("--b", Path("-")))


def test_where_a_chain_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to("real")
    assert follow(tmp_path / "way" / "file") == (tmp_path / "real" / "file").resolve()
    assert follow(tmp_path / "way") == (tmp_path / "real").resolve()
    assert not is_stream(tmp_path / "none") and not is_stream(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_standard_output_is_told_by_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(Path("/dev/full").open("wb", buffering=0), write_through=True) as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(OSError, match="No space left") as told:
            write_text(Path("-"), "whole")
    assert told.value.filename == "standard output"
