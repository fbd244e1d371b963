"""How much memory this process may still take: what the system has available, or less where its container says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

UNLIMITED: Final = 1 << 60  # version 1 writes a number near 2^63 where there is no limit


class _Files(NamedTuple):
    """Where a version of cgroups keeps the limit and the use of a group, and what of the use the kernel gives back."""

    folder: str
    limit: str
    used: str
    cached: str  # a line of memory.stat: file pages that nobody has touched lately


_V1 = _Files("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Files("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")


def free_memory(root: Path = Path("/")) -> int:
    """Bytes that can still be taken; `root` is where proc and sys lie, without them it is the machine's memory."""
    return max(0, min([_available(root), *_left_by_groups(root)]))


def _available(root: Path) -> int:
    """What Linux calls available; elsewhere, where nobody tells, all that the machine has."""
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _left_by_groups(root: Path) -> Iterator[int]:
    """What each group leaves that this process is in: its own and those around it, in both versions of cgroups.

    Inside a container the path may be the host's, which is not to be seen here: what is there of it counts.
    """
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        files = _V1 if controllers else _V2
        place = PurePosixPath(path)
        for group in (place, *place.parents):
            left = _left(root / files.folder / str(group).lstrip("/"), files)
            if left is not None:
                yield left


def _left(group: Path, files: _Files) -> int | None:
    limit, used = _read(group / files.limit).strip(), _read(group / files.used).strip()
    if not limit.isdigit() or not used.isdigit() or int(limit) >= UNLIMITED:
        return None
    stat = (line.partition(" ") for line in _read(group / "memory.stat").splitlines())
    return int(limit) - int(used) + next((int(value) for name, _, value in stat if name == files.cached), 0)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
