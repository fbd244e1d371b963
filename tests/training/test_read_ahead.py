"""The next step's windows are read while this one is trained, and are those that would be read now."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dnagoat.config import RunConfig
from dnagoat.genome.dataset import Dataset
from dnagoat.training.feed import Feed
from dnagoat.training.read_ahead import read_ahead


@pytest.fixture
def feed(dataset: Dataset, config: RunConfig) -> Feed:
    return Feed.of(dataset, config.train.but(steps=5, micro_batch=2))


def test_windows_are_the_same_whatever_is_asked_for(feed: Feed) -> None:
    reading = read_ahead(feed)
    for step in (1, 2, 3, 5, 4, 5):  # in order, and not
        for got, want in zip(reading.of(step), feed.micro_batches(step), strict=True):
            assert np.array_equal(got, want)
    reading.close()


def test_the_next_step_is_read_in_a_thread_and_none_after_the_last(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, bool]] = []
    own = Feed.micro_batches

    def noted(self: Feed, step: int) -> Any:
        read.append((step, threading.current_thread() is threading.main_thread()))
        return own(self, step)

    monkeypatch.setattr(Feed, "micro_batches", noted)
    reading = read_ahead(replace(feed))
    reading.of(4)
    assert reading.coming is not None
    reading.coming[1].result()
    assert read == [(4, False), (5, False)]
    reading.of(5)
    reading.close()
    assert read == [(4, False), (5, False)]
