"""What schedulers, shells and Ctrl-C send: the run is saved, the exit code names the signal, nobody waits for ever."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from dnagoat.errors import OptionError, Stopped, TrainingError
from dnagoat.genome.dataset import Dataset
from dnagoat.training.kept import checkpoint
from dnagoat.training.kept.run import open_run
from dnagoat.training.launch.meeting import meet
from dnagoat.training.launch.processes import lone, place, rendezvous
from dnagoat.training.launch.stop import SIGNALS, heard, never, stop_asked


def test_signals_are_noted_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stop_asked() as stop:
        assert stop() is None
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop() == "SIGTERM"
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_is_ignored_stays_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)  # as nohup does, and a shell for what it starts in the background
    try:
        assert number not in heard() and len(heard()) == len(SIGNALS) - 1
        with stop_asked() as stop:
            os.kill(os.getpid(), number)
            assert stop() is None
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def trainer(dataset: Dataset, out: Path, nohup: bool = False) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dnagoat_cli", "train", str(dataset.path), "--out", str(out), "--preset", "tiny"]
    command += ["--steps", "100000", "--batch-size", "2", "--eval-windows", "2", "--device", "cpu"]
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    heard = ["env", "--default-signal", *command]  # whatever the tests' own launcher ignores
    return subprocess.Popen(["nohup", *command] if nohup else heard, **pipes)  # type: ignore[call-overload]


def wait_for_steps(process: subprocess.Popen[str], metrics: Path, more_than: int = 0) -> None:
    patience = time.monotonic() + 600
    while not metrics.exists() or metrics.stat().st_size <= more_than:
        assert process.poll() is None and time.monotonic() < patience
        time.sleep(0.05)


@pytest.mark.parametrize("number", SIGNALS)
def test_training_saves_and_its_exit_code_says_that_it_is_unfinished(
    dataset: Dataset, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "run"
    with trainer(dataset, out) as process:
        wait_for_steps(process, out / "metrics.jsonl")
        process.send_signal(number)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 128 + number
    assert f"{number.name}: saved at step" in said and "continue with --resume" in said and "Traceback" not in said
    saved = checkpoint.present(out)[-1]
    assert checkpoint.fault(saved) is None
    assert checkpoint.step_of(saved) == open_run(out).metrics()[-1]["step"]


def test_under_nohup_a_closed_terminal_is_not_heard(dataset: Dataset, tmp_path: Path) -> None:
    metrics = tmp_path / "run" / "metrics.jsonl"
    with trainer(dataset, tmp_path / "run", nohup=True) as process:
        wait_for_steps(process, metrics)
        process.send_signal(signal.SIGHUP)
        for _ in range(3):  # it goes on
            wait_for_steps(process, metrics, metrics.stat().st_size)
        process.terminate()
        _, said = process.communicate(timeout=600)
    assert process.returncode == 128 + signal.SIGTERM and "SIGTERM: saved" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1])
def test_a_comparison_saves_its_runs(dataset: Dataset, tmp_path: Path, number: signal.Signals) -> None:
    """Told as a scheduler or a terminal does it: the command and the runs that it trains, all at once."""
    out = tmp_path / "compared"
    command = [sys.executable, "-m", "dnagoat_cli", "compare", str(dataset.path), "--out", str(out)]
    command += ["--arm", "rope", "--arm", "nope", "--preset", "tiny", "--steps", "100000", "--batch-size", "2"]
    alone = {**os.environ, "SLURM_STEP_NUM_TASKS": "2"}  # a shell in srun: each run trains alone all the same
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, env=alone) as process:
        wait_for_steps(process, out / "rope-s0" / "metrics.jsonl")
        os.killpg(process.pid, number)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 128 + number, said
    assert f"{number.name}: every run is saved; the same command continues" in said and "Traceback" not in said
    run = open_run(out / "rope-s0")
    assert checkpoint.step_of(checkpoint.present(run.path)[-1]) == run.metrics()[-1]["step"]


HALF = {
    "RANK alone": ({"RANK": "0"}, "WORLD_SIZE is missing"),
    "WORLD_SIZE alone": ({"WORLD_SIZE": "2"}, "RANK is missing"),
    "no number": ({"RANK": "first", "WORLD_SIZE": "2"}, "RANK=first is no whole number"),
    "empty": ({"RANK": "", "WORLD_SIZE": "2"}, "RANK= is no whole number"),
    "too high": ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2, WORLD_SIZE=2"),
    "negative": ({"RANK": "-1", "WORLD_SIZE": "2"}, "RANK=-1"),
    "nobody": ({"RANK": "0", "WORLD_SIZE": "0"}, "WORLD_SIZE=0"),
    "local": ({"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "x"}, "LOCAL_RANK=x is no whole number"),
    "no address": ({"RANK": "0", "WORLD_SIZE": "2"}, "MASTER_ADDR is missing"),
    "no port": ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "here"}, "MASTER_PORT is missing"),
    "port": ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "99999"}, "MASTER_PORT=99999"),
    "slurm": ({"SLURM_STEP_NUM_TASKS": "2"}, "SLURM_PROCID is missing"),
    "slurm tasks": ({"SLURM_STEP_NUM_TASKS": "two"}, "SLURM_STEP_NUM_TASKS=two is no whole number"),
    "slurm rank": ({"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "7", "SLURM_LOCALID": "0"}, "SLURM_PROCID=7"),
    "slurm nodes": ({"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}, "MASTER_ADDR is missing"),
}


@pytest.mark.parametrize(("variables", "fault"), HALF.values(), ids=HALF)
def test_half_of_a_launchers_variables_is_a_sentence(variables: Mapping[str, str], fault: str) -> None:
    with pytest.raises(OptionError) as told:
        place(variables)
        rendezvous(variables)
    assert fault in str(told.value) and "\n" not in str(told.value)
    assert place(lone(variables)) == (0, 1, 0)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(("rank", "where"), [(0, "1 of 2 processes"), (1, "process 1 of 2 finds nobody")])
def test_who_stays_alone_is_told_and_gives_up(rank: int, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dnagoat.training.launch.meeting.SOON", 0.2)
    monkeypatch.setattr("dnagoat.training.launch.meeting.LATER", 0.2)
    said: list[str] = []
    with pytest.raises(TrainingError, match=where):
        meet(rank, 2, "localhost", free_port(), stop=never, say=said.append, patience=0.5)
    assert len(said) == 1 and where in said[0] and "waiting up to" in said[0]


def test_who_waits_hears_a_signal() -> None:
    with pytest.raises(Stopped) as end:
        meet(0, 2, "localhost", free_port(), stop=lambda: "SIGUSR2", say=lambda _: None)
    assert end.value.signal is signal.SIGUSR2


def test_a_port_that_is_taken_is_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        with pytest.raises(OptionError, match="give another MASTER_PORT"):
            meet(0, 2, "localhost", taken.getsockname()[1], stop=never, say=lambda _: None)


def test_a_shell_inside_srun_says_what_it_waits_for_and_can_be_stopped(dataset: Dataset, tmp_path: Path) -> None:
    """`srun -n2 --pty bash`: the variables of two processes, and one process."""
    step = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_STEP_NODELIST": "localhost"}
    command = [sys.executable, "-m", "dnagoat_cli", "train", str(dataset.path), "--out", str(tmp_path / "run")]
    shell = {**os.environ, **step, "MASTER_ADDR": "localhost", "MASTER_PORT": str(free_port())}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=shell) as process:
        assert process.stderr is not None
        said = next(line for line in process.stderr if "processes are there" in line)
        process.terminate()
        more = process.communicate(timeout=600)[1]
    assert process.returncode == 128 + signal.SIGTERM, more
    assert "1 of 2 processes are there; waiting up to 300 s" in said and "unset SLURM_STEP_NUM_TASKS" in said
    assert "Traceback" not in more and not (tmp_path / "run").exists()
