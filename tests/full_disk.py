"""A disk that is full once a file has so many bytes: the kernel refuses the rest, as a quota does."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_file_above(most: int) -> Iterator[None]:
    """Writing past `most` bytes of any file fails with EFBIG, in this process; Python ignores the signal beside it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
