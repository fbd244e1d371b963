"""A sweep: what is done is kept and never done again, and side by side it finds what it finds one by one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from dnagoat.config import ModelConfig, TrainConfig
from dnagoat.errors import RunError, TrainingError
from dnagoat.evaluation.probes.finished import FILE, Row
from dnagoat.evaluation.probes.recall import RecallOptions, recall
from dnagoat.evaluation.probes.sweep import Sweep
from dnagoat.progress import Progress, silent


class Fit(NamedTuple):
    arm: str
    seed: int


UNITS = [Fit("rope", 0), Fit("rope", 1), Fit("goat", 0)]
SETTINGS = {"probe": "needle", "train": {"steps": 2}}


class Work:
    """Finds the seed, remembers what it was asked, and is killed when it comes to `last`."""

    def __init__(self, last: Fit | None = None) -> None:
        self.last, self.asked = last, list[Fit]()

    def __call__(self, unit: Fit, progress: Progress) -> Row:
        if unit == self.last:
            raise KeyboardInterrupt
        self.asked.append(unit)
        return {"seed": unit.seed}


def run(out: Path, work: Work, *, steps: int = 2, force: bool = False) -> dict[Fit, Row]:
    settings = {"probe": "needle", "train": {"steps": steps}}
    return Sweep(out, force=force).run(settings, UNITS, work, silent)


def test_after_a_kill_only_what_is_missing_is_done(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Work(last=UNITS[2]))
    again = Work()
    assert run(tmp_path, again) == {unit: {"seed": unit.seed} for unit in UNITS}
    assert again.asked == UNITS[2:]
    head, *rows = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()]
    assert head == SETTINGS
    assert rows[0] == {"unit": ["rope", 0], "found": {"seed": 0}}


def test_a_line_that_a_kill_has_cut_short_does_not_count(tmp_path: Path) -> None:
    run(tmp_path, Work())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[:-5])
    again = Work()
    assert run(tmp_path, again) == {unit: {"seed": unit.seed} for unit in UNITS}
    assert again.asked == UNITS[2:]
    assert len(file.read_text().splitlines()) == 4


def test_rows_of_other_settings_are_never_mixed_in(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Work(last=UNITS[1]))
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(RunError, match=r"begun with --steps 2, not 3; give another --out, or --force"):
        run(tmp_path, Work(), steps=3)
    assert (tmp_path / FILE).read_bytes() == before
    forced = Work(last=UNITS[2])
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, forced, steps=3, force=True)
    assert forced.asked == UNITS[:2]


def test_force_goes_on_where_it_was_killed_and_begins_anew_what_is_finished(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Work(last=UNITS[2]), force=True)
    first, second = Work(), Work()
    run(tmp_path, first, force=True)
    run(tmp_path, second, force=True)
    assert (first.asked, second.asked) == (UNITS[2:], UNITS)


def test_two_sweeps_never_write_to_one_folder(tmp_path: Path) -> None:
    holding = [sys.executable, "-c", HOLDING, str(tmp_path)]
    with subprocess.Popen(holding, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        late = Work()
        with pytest.raises(RunError, match=rf"is being trained by process {holder.pid} on .*give another --out$"):
            run(tmp_path, late, force=True)
        assert not late.asked
        head, *rows = (tmp_path / FILE).read_text().splitlines()
        assert json.loads(head) == SETTINGS and len(rows) == 1
        holder.kill()
    assert run(tmp_path, late) == {unit: {"seed": unit.seed} for unit in UNITS}
    assert late.asked == UNITS[1:], "the lock fell with its holder, and what it had finished stayed"


HOLDING = """
import sys, time
from pathlib import Path
from dnagoat.progress import silent
from dnagoat.evaluation.probes.sweep import Sweep

def work(unit, progress):
    if unit == ("rope", 1):
        print("held", flush=True)
        time.sleep(600)
    return {"seed": unit[1]}

settings = {"probe": "needle", "train": {"steps": 2}}
Sweep(Path(sys.argv[1])).run(settings, [("rope", 0), ("rope", 1)], work, silent)
"""


def test_a_folder_of_another_probe_is_told_by_its_name_alone(tmp_path: Path) -> None:
    run(tmp_path, Work())
    with pytest.raises(RunError, match=r"was begun with probe needle, not induction; give another --out"):
        Sweep(tmp_path).run({"probe": "induction", "strengths": [0, 1]}, UNITS, Work(), silent)


@pytest.mark.parametrize("lack", [MemoryError, torch.OutOfMemoryError], ids=["numpy", "torch"])
def test_a_model_without_room_is_named(lack: type[Exception]) -> None:
    def greedy(unit: Fit, progress: Progress) -> Row:
        raise lack("more than there is")

    with pytest.raises(TrainingError, match="no memory for rope, 0; give a smaller --batch-size"):
        Sweep().run(SETTINGS, UNITS, greedy, silent)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    run(tmp_path, Work())
    file = tmp_path / FILE
    file.write_text(file.read_text().replace('{"unit": ["rope", 1]', "rope, 1"))
    with pytest.raises(RunError, match="is damaged"):
        run(tmp_path, Work())


SMALL = RecallOptions(
    marker=4,
    key=3,
    length=24,
    times=(1,),
    depths=2,
    trials=5,
    arms=("nope", "alibi"),
    model=ModelConfig(width=16, heads=1, layers=1, mlp_width=16),
    train=TrainConfig(steps=2, batch_size=2, warmup=1),
)


def test_a_probe_that_was_killed_ends_as_one_that_was_not(tmp_path: Path) -> None:
    def killed(what: str, done: int, total: int) -> None:
        if what.startswith("alibi"):
            raise KeyboardInterrupt

    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        recall(SMALL, progress=killed, sweep=Sweep(tmp_path))
    result = recall(SMALL, progress=lambda what, *_: seen.append(what), sweep=Sweep(tmp_path))
    assert set(seen) == {"alibi, seed 0"}
    assert result == recall(SMALL)


def test_side_by_side_is_the_same_as_one_by_one(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    apart = recall(SMALL, progress=lambda _, *counts: told.append(counts), sweep=Sweep(tmp_path, jobs=2))
    for one, other in zip(recall(SMALL)["arms"], apart["arms"], strict=True):
        losses = [[loss for fit in arm.pop("fits") for _, loss in fit["loss"]] for arm in (one, other)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-5)  # sums in another order where threads differ
        assert one == other
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert len((tmp_path / FILE).read_text().splitlines()) == 3


def faulty(unit: Fit, progress: Progress) -> Row:
    if unit.arm == "goat":
        raise TrainingError("the loss is lost")
    os._exit(9)


def test_a_fault_or_a_death_of_one_model_is_told() -> None:
    for unit, told in ((UNITS[2], "the loss is lost"), (UNITS[0], "that trained rope, 0 has died")):
        with pytest.raises(TrainingError, match=told):
            Sweep(jobs=2).run(SETTINGS, [unit], faulty, silent)
