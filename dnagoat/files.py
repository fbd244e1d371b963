"""How a file comes to be: written whole under a temporary name, then renamed, so that nobody sees half of it.

A symbolic link stays, and the file that it leads to is replaced. What is no plain file (`-`, a pipe, a device) is
written through, see `dnagoat.streams`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from dnagoat.errors import OptionError
from dnagoat.folders import FULL, why_not_writable
from dnagoat.streams import follow, is_passage, open_input, pour


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yields a temporary path; on success what lies there is synced and takes the name, on failure it is removed."""
    if is_passage(path):
        with tempfile.TemporaryDirectory(prefix="dnagoat-") as folder:
            yield Path(folder) / "whole"
            pour(Path(folder) / "whole", path)
        return
    target = follow(path)
    aside = target.with_name(f".{target.name[:200]}.{token_hex(6)}.tmp")
    made = [folder for folder in (target.parent, *target.parent.parents) if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield aside
        if target.is_file():
            shutil.copymode(target, aside)
        with aside.open("rb") as handle:
            os.fsync(handle.fileno())
        aside.replace(target)
    except OSError as fault:
        # A person knows the name that was to be; a full disk says none.
        if str(fault.filename) == str(aside) or (fault.filename is None and fault.errno in FULL):
            fault.filename = str(path)
        raise
    finally:
        aside.unlink(missing_ok=True)
        with suppress(OSError):  # not empty: the file is there, or another's
            for empty in made:
                empty.rmdir()


@contextmanager
def plain_name(path: Path) -> Iterator[str]:
    """Yields an ASCII name that leads to the file, there or not yet, for C libraries that take names as UTF-8.

    The bytes of a name may be no UTF-8, and Python's text for them may encode to others where the locale is not UTF-8.
    """
    with tempfile.TemporaryDirectory(prefix="dnagoat-") as folder:
        named = Path(folder) / "named"
        named.symlink_to(path.absolute())
        yield str(named)


def may_write(path: Path, option: str, *, force: bool) -> None:
    """An `OptionError` where `option` names what cannot be written, or may not be: said before there is work to lose.

    Pipes and devices are written through, so that nothing is replaced and `force` is not asked for.
    """
    if is_passage(path):
        return
    target = follow(path)
    if target.is_dir():
        raise OptionError(f"{option} {path} is a folder; give the name of a file")
    if target.exists() and not force:
        raise OptionError(f"{path} exists already; give another {option}, or --force to replace it")
    if target.exists() and not os.access(target, os.W_OK):
        raise OptionError(f"{path} is protected from writing; give another {option}")
    if (why := why_not_writable(target.parent)) is not None:
        raise OptionError(f"{path} cannot be written ({why}); give another {option}")


# A path whose bytes are no text in the locale (é where it is ASCII) is written as the bytes that it is, and read so.
BYTES = "surrogateescape"


def as_utf8(text: str) -> str:
    """Text that holds such a name, for formats that are strict about UTF-8: bytes that are none are replaced."""
    return text.encode("utf-8", BYTES).decode("utf-8", "replace")


def write_text(path: Path, text: str) -> None:
    with written_whole(path) as aside:
        aside.write_text(text, encoding="utf-8", errors=BYTES)


def write_json(path: Path, value: Any) -> None:
    """JSON without NaN: what is unknown is null, never a number."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """The value of a file that `write_json` wrote; a `ValueError` where it is none, NaN and infinities included."""
    with open_input(path) as handle:
        return json.loads(handle.read().decode("utf-8", BYTES), parse_constant=_refuse)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def hash_file(path: Path) -> str:
    """sha256 of a file's bytes, in hexadecimal."""
    digest = sha256()
    with open_input(path) as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
