"""Two steps at once give what one after the other gives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dnagoat.genome.read.ahead import ahead
from tests.genome.conftest import Prepared
from tests.genome.small import fasta, packed, random_bases


def test_items_come_in_order_and_faults_after_them() -> None:
    assert list(ahead(iter(range(100)))) == list(range(100))

    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("here")

    got = []
    with pytest.raises(ValueError, match="here"):
        for item in ahead(broken()):
            got.append(item)
    assert got == [1]


def test_the_thread_ends_when_nobody_listens_and_is_never_far_ahead() -> None:
    made: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            made.append(len(made))
            yield made[-1]

    before = threading.active_count()
    items = ahead(endless(), depth=3)
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert len(made) <= 6


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_threads_change_nothing(prepared: Prepared, tmp_path: Path, workers: int) -> None:
    records = {f"c{number}": random_bases(50_000, number, "ACGTacgtN") for number in range(8)}
    path = packed(fasta(records).encode(), "gzip", tmp_path / "genome.fa.gz")
    one = prepared(path, "one", window=64, workers=1, max_n=1.0)
    many = prepared(path, "many", window=64, workers=workers, max_n=1.0)
    assert one.content_hash == many.content_hash
    assert one.manifest.but(tool_version="") == many.manifest.but(tool_version="")
