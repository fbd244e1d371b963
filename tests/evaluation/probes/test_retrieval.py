"""Passkey and needle: the second key repeats the first, the marker tells where, depth and length do what they say."""

from __future__ import annotations

import numpy as np
import pytest

from dnagoat.errors import OptionError
from dnagoat.evaluation.probes.retrieval import MARKER, REPEAT, Task, TaskName, episodes
from dnagoat.genome.alphabet import decode

TASKS = [Task("passkey", marker=10, key=5), Task("needle", marker=12, key=8)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_key_behind_the_first_marker_is_the_key_behind_the_last(task: Task) -> None:
    depths = np.linspace(0, 1, 7)
    for depth, codes in zip(depths, episodes(task, 100, depths, seed=1, purpose="test", number=0), strict=True):
        text, marker = decode(codes), MARKER[: task.marker]
        first = text.index(marker)
        assert first == round(depth * task.room(100))
        assert text[first : first + task.marker + task.key] == text[-task.marker - task.key :]
        assert text[-task.marker - task.key :].startswith(marker)


def test_depth_0_comes_first_and_depth_1_touches_the_question() -> None:
    task = TASKS[0]
    first, last = (decode(codes) for codes in episodes(task, 60, np.array([0.0, 1.0]), 0, "test", 0))
    assert first.startswith(MARKER[:10])
    assert last.rindex(MARKER[:10]) - last.index(MARKER[:10]) == 15


def test_the_passkeys_filler_is_one_repeat_and_the_needles_is_random() -> None:
    passkey, needle = (decode(episodes(task, 400, np.array([0.0]), 0, "test", 0)[0]) for task in TASKS)
    assert passkey[15:385] in REPEAT * 100
    assert needle.count(REPEAT) < 4


def test_keys_differ_and_depend_on_seed_purpose_and_number_alone() -> None:
    task, depths = TASKS[1], np.zeros(200)
    made = episodes(task, 60, depths, 0, "test", 0)
    keys = {decode(codes[-8:]) for codes in made}
    assert len(keys) > 190
    assert np.array_equal(made, episodes(task, 60, depths, 0, "test", 0))
    for seed, purpose, number in [(1, "test", 0), (0, "train", 0), (0, "test", 1)]:
        assert not np.array_equal(made, episodes(task, 60, depths, seed, purpose, number))


@pytest.mark.parametrize("name", ["passkey", "needle"])
@pytest.mark.parametrize(("marker", "key"), [(2, 4), (6, 4), (8, 12)])
def test_the_marker_never_stands_anywhere_by_chance(name: TaskName, marker: int, key: int) -> None:
    """Not in the filler, not in the key, not across their ends; 2 and 8 bases end as the marker begins or nearly so."""
    task = Task(name, marker, key)
    for length in (2 * (marker + key), 2 * (marker + key) + 1, 1024):
        for number in range(3):
            made = episodes(task, length, np.linspace(0, 1, 100), 0, "test", number)
            texts = [decode(codes) for codes in made]
            counts = {sum(text.startswith(MARKER[:marker], at) for at in range(length)) for text in texts}
            assert counts == {2}
            assert all(text[-key:] == text[text.index(MARKER[:marker]) + marker :][:key] for text in texts)


def test_a_marker_of_one_base_would_stand_in_every_filler() -> None:
    with pytest.raises(OptionError, match="markers of 2 to 20 bases"):
        Task("passkey", marker=1, key=4)


def test_too_short_a_sequence_is_refused_with_the_length_that_would_do() -> None:
    with pytest.raises(OptionError, match="at least --length 30"):
        TASKS[0].room(29)
    assert TASKS[0].room(30) == 0


def test_a_guess_is_right_once_in_four_to_the_key() -> None:
    assert TASKS[0].chance == 4.0**-5
