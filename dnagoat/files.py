"""How a file comes to be: written whole under a temporary name, then renamed, so that nobody sees half of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`; on success it is synced and takes the name, on failure it is removed."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield aside
        with aside.open("rb") as handle:
            os.fsync(handle.fileno())
        aside.replace(path)
    except OSError as fault:
        if str(fault.filename) == str(aside):
            fault.filename = str(path)  # a person knows the name that was to be
        raise
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with written_whole(path) as aside:
        aside.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """JSON without NaN: what is unknown is null, never a number."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """The value of a file that `write_json` wrote; a `ValueError` where it is none, NaN and infinities included."""
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def hash_file(path: Path) -> str:
    """sha256 of a file's bytes, in hexadecimal."""
    digest = sha256()
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
