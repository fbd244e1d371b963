"""What goes wrong while training ends in one sentence, with the last good checkpoint intact."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from dnagoat.config import RunConfig
from dnagoat.errors import OptionError, RunError, TrainingError
from dnagoat.genome.dataset import Dataset
from dnagoat.training import engine
from dnagoat.training.feed import Feed
from dnagoat.training.kept import checkpoint
from dnagoat.training.kept.lock import WORKERS
from dnagoat.training.kept.run import open_run
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.loop import train
from dnagoat.training.presets import SETTINGS, changed
from dnagoat.training.step.loss import summed_loss


def spoil(monkeypatch: pytest.MonkeyPatch, step: int, loss: bool) -> None:
    """From that step on the loss, or only its gradient, is not finite."""
    calls = [0]

    def spoiled(*args: Any) -> torch.Tensor:
        calls[0] += 1
        value = summed_loss(*args)
        if calls[0] < step:
            return value
        return value * float("nan") if loss else value + (value - value.detach()) * float("inf")

    monkeypatch.setattr(engine, "summed_loss", spoiled)


@pytest.mark.parametrize("loss", [True, False], ids=["loss", "gradient"])
def test_non_finite_names_step_and_windows_and_keeps_the_checkpoint(
    config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: bool
) -> None:
    spoil(monkeypatch, 5, loss)
    with pytest.raises(TrainingError, match=r"^step 5 stopped: .*nan.* c0:\d+-\d+.*checkpoint of step \d is intact"):
        list(train(config, tmp_path / "run", device="cpu"))
    monkeypatch.undo()
    list(train(config, tmp_path / "run", device="cpu", resume=True))
    list(train(config, tmp_path / "whole", device="cpu"))
    hashes = [checkpoint.model_sha256(open_run(tmp_path / name).checkpoint("last")) for name in ("run", "whole")]
    assert hashes[0] == hashes[1]


def test_the_windows_named_are_those_of_the_step(config: RunConfig, dataset: Dataset) -> None:
    feed = Feed.of(dataset, config.train.but(reverse_complement=False))
    contig, _, place = feed.places(3, most=1).partition(" and ")[0].partition(":")
    start, end = map(int, place.split("-"))
    (offset,) = [c.offset for c in dataset.contigs if c.name == contig]
    assert (dataset.codes(offset + start, offset + end) == feed.batch(3)[0]).all()
    assert feed.places(3, most=1).endswith("and 3 more")


@pytest.mark.parametrize("full", ["save_tensors", "write_json", "fsync"])
def test_a_full_disk_stops_and_leaves_the_earlier_checkpoint(
    config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    training = train(config, tmp_path / "run", device="cpu")
    list(islice(training, 4))
    before = checkpoint.present(tmp_path / "run")[-1]

    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os if full == "fsync" else checkpoint, full, no_space)
    with pytest.raises(TrainingError, match=r"No space left on device.* intact: make room, then continue"):
        list(training)
    monkeypatch.undo()
    assert checkpoint.fault(before) is None and checkpoint.present(tmp_path / "run")[-1] == before
    assert [step.step for step in train(config, tmp_path / "run", device="cpu", resume=True)][-1] == 12


def test_a_limit_on_file_size_is_met_by_the_real_writer(config: RunConfig, tmp_path: Path) -> None:
    """The same with the kernel as the one who refuses: a child that may write no file above 100 kB."""
    (tmp_path / "config.json").write_text(config.model_dump_json())
    child = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from dnagoat.config import RunConfig; from dnagoat.training.loop import train\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "config = RunConfig.model_validate_json(Path(sys.argv[1]).read_text())\n"
        "list(train(config, Path(sys.argv[2]), device='cpu'))\n"
    )
    arguments = [sys.executable, "-c", child, str(tmp_path / "config.json"), str(tmp_path / "run")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=600)
    assert "TrainingError: the checkpoint of step 3 could not be written" in done.stderr
    assert "File too large" in done.stderr and "there is no earlier checkpoint" in done.stderr
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


def test_out_of_memory_says_what_would_fit(config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(engine, "summed_loss", greedy)
    with pytest.raises(TrainingError, match=r"^step 1 .* 4 windows .*--micro-batch [123] .*effective batch stays 4"):
        list(train(config, tmp_path / "run", device="cpu"))


def test_what_cannot_be_a_model_leaves_no_folder(config: RunConfig, tmp_path: Path) -> None:
    impossible = changed(config, {SETTINGS + "rank": 100})
    with pytest.raises(OptionError, match="lanes"):
        list(train(impossible, tmp_path / "run", device="cpu"))
    assert not (tmp_path / "run").exists()


def test_a_run_is_not_replaced_by_who_would_resume_it(config: RunConfig, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="give one of them"):
        list(train(config, tmp_path / "run", device="cpu", resume=True, force=True))


def test_one_trainer_a_folder(config: RunConfig, tmp_path: Path) -> None:
    first = train(config, tmp_path / "run", device="cpu")
    next(first)
    for resume, force in ((True, False), (False, True), (False, False)):
        with pytest.raises(RunError, match=rf"is being trained by process {os.getpid()} on "):
            list(train(config, tmp_path / "run", device="cpu", resume=resume, force=force))
    first.close()
    assert len(list(train(config, tmp_path / "run", device="cpu", resume=True))) == 12


def test_an_orphaned_worker_keeps_the_folder(config: RunConfig, tmp_path: Path) -> None:
    """The main process was killed, another rank of its launch lives on: it holds the shared lock."""
    list(islice(train(config, tmp_path / "run", device="cpu"), 3))
    hold = (
        "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_SH)\n"
        "print(1, flush=True); time.sleep(60)"
    )
    holding = [sys.executable, "-c", hold, str(tmp_path / "run" / WORKERS)]
    with subprocess.Popen(holding, stdout=subprocess.PIPE) as orphan:
        assert orphan.stdout is not None and orphan.stdout.readline()
        with pytest.raises(RunError, match="still has workers"):
            list(train(config, tmp_path / "run", device="cpu", resume=True))
        orphan.kill()
    assert len(list(train(config, tmp_path / "run", device="cpu", resume=True))) == 9


def test_processes_that_do_not_divide_the_batch(config: RunConfig, dataset: Dataset) -> None:
    with pytest.raises(OptionError, match="--batch-size 4 does not divide over 3 processes"):
        Feed.of(dataset, config.train, 0, 3)
    with pytest.raises(OptionError, match="'sharded'"):
        Execution(parallel="sharded")
