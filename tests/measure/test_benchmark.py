"""Measurements in processes of their own: what ran is seen, arms take turns, and no memory is a row."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from dnagoat.attention.proof.kernel import DENSE
from dnagoat.config import ModelConfig, TrainConfig
from dnagoat.measure import benchmark as benching
from dnagoat.measure import peer
from dnagoat.measure import trial as trying
from dnagoat.measure import work as working
from dnagoat.measure.benchmark import PUBLISHED, Row, bench, run
from dnagoat.measure.job import PEER, Job, grid
from dnagoat.measure.trial import NO_MEMORY, OK, REFUSED, trial
from dnagoat.measure.work import Work
from dnagoat.model.transformer import DnaLM
from dnagoat_cli import app
from tests.goat_settings import goat_settings

MODEL = ModelConfig(width=64, heads=1, layers=1, mlp_width=64, context=32)


def jobs(**axes: object) -> list[Job]:
    chosen = {
        "whats": ["train"],
        "arms": ["rope"],
        "lengths": [32],
        "batches": [2],
        "precisions": ["fp32"],
        "kernels": ["auto"],
        "device": "cpu",
        "warmup": 1,
        "repeats": 2,
    }
    return list(grid(MODEL, TrainConfig(), **{**chosen, **axes}))  # type: ignore[arg-type]


def test_a_process_of_its_own_measures_a_training_step() -> None:
    (job,) = jobs(arms=["goat"])
    result = run(job)
    assert result["outcome"] == OK
    assert len(result["seconds"]) == 2
    assert min(result["seconds"]) > 0
    assert result["bases"] == 64
    assert "sdpa" in result["kernel_ran"]
    assert result["cuda_allocated_peak"] is None  # not 0: there is no such memory
    assert result["resident_peak"] > 50e6


@pytest.mark.parametrize("what", ["evaluate", "generate"])
def test_other_work(what: str) -> None:
    result = trial(jobs(whats=[what])[0])
    assert result["outcome"] == OK
    assert result["bases"] == 64


def test_the_kernel_that_ran_is_seen_not_assumed() -> None:
    assert trial(jobs(kernels=["dense"])[0])["kernel_ran"] == DENSE


def test_out_of_memory_is_a_row() -> None:
    (job,) = jobs(lengths=[10**6], batches=[1 << 20])
    assert trial(job) == {"outcome": NO_MEMORY}
    (row,) = bench([job], rounds=2)
    assert row["outcome"] == NO_MEMORY
    assert row["tokens_per_second"] is None
    assert row["rounds"] == 1  # not tried again


def test_a_process_that_the_system_ends_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    suicide = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda command, **how: real([command[0], "-c", suicide], **how))
    assert run(jobs()[0])["outcome"] == NO_MEMORY


def test_what_does_not_go_together_is_refused() -> None:
    result = trial(jobs(whats=["generate"], precisions=["bf16"])[0])
    assert result["outcome"] == REFUSED
    assert "fp32" in result["why"]


def test_arms_take_turns_and_rows_are_medians(monkeypatch: pytest.MonkeyPatch) -> None:
    order, seconds = [], iter([1.0, 10.0, 3.0, 30.0, 2.0, 20.0])

    def fake(job: Job) -> dict[str, object]:
        order.append(job.arm)
        constant = {"bases": 60, "parameters": 1, "kernel_ran": "x", "threads": 1, "device_name": "cpu", "torch": "2"}
        constant |= {"peer": None, "subnormals": "flushed"}
        memory = {"resident_peak": 10, "resident_before": 5, "resident_reset": True}
        cuda = {"cuda_allocated_peak": None, "cuda_reserved_peak": None}
        value = next(seconds)
        return {"outcome": OK, "seconds": [value], "process_seconds": [value], **constant, **memory, **cuda}

    monkeypatch.setattr(benching, "run", fake)
    rope, goat = bench(jobs(arms=["rope", "goat"]), rounds=3)
    assert order == ["rope", "goat"] * 3
    assert (rope["seconds"], goat["seconds"]) == (2.0, 20.0)
    assert rope["tokens_per_second"] == 30
    assert rope["tokens_per_second_spread"] == [20, 60]
    assert rope["cuda_allocated_peak"] is None


def test_the_command(tmp_path: Path) -> None:
    small = [
        "--preset",
        "tiny",
        "--length",
        "32",
        "--batch-size",
        "1",
        "--rounds",
        "1",
        "--repeats",
        "1",
        "--device",
        "cpu",
    ]
    words = ["bench", *small, "--arm", "rope", "--out", str(tmp_path / "bench.json"), "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads((tmp_path / "bench.json").read_text())
    assert json.loads(result.stdout)["rows"][0]["outcome"] == OK
    assert CliRunner().invoke(app, words).exit_code == 2
    refused = CliRunner().invoke(app, ["bench", "--arm", "sheep"])
    assert refused.exit_code == 2
    assert "goat" in refused.stderr


def test_warm_up_is_outside_the_clock_and_peaks_are_those_of_the_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that happens, in order; by a clock of its own, the n-th call takes n seconds."""
    happened: list[str] = []
    calls, now = 0, 0.0

    def call() -> None:
        nonlocal calls, now
        calls += 1
        now += calls
        happened.append("call")

    def work_of(job: Job) -> Work:
        happened.append("built")
        return Work(call, bases=64, parameters=1)

    def reset(device: object) -> dict[str, object]:
        happened.append("reset")
        return {"resident_before": calls, "resident_reset": True}

    def read(device: object) -> dict[str, int | None]:
        happened.append("read")
        return {"cuda_allocated_peak": None, "cuda_reserved_peak": None, "resident_peak": calls}

    for name, fake in (("work_of", work_of), ("reset_peaks", reset), ("read_peaks", read)):
        monkeypatch.setattr(trying, name, fake)
    for clock in ("perf_counter", "process_time"):
        monkeypatch.setattr(trying, clock, lambda: now)
    monkeypatch.setattr(trying, "kernel_of", lambda call: happened.append("profiled"))
    result = trial(jobs(arms=[PEER])[0].but(warmup=3, repeats=2))
    assert happened == ["reset", "built", *3 * ["call"], "reset", *2 * ["call"], "read", "profiled"]
    assert result["seconds"] == result["process_seconds"] == [4, 5]
    assert (result["resident_peak"], result["resident_before"]) == (5, 0)
    calls, now = 0, 0.0
    assert trial(jobs(arms=[PEER])[0].but(warmup=0, repeats=1, seconds=7.5))["seconds"] == [1, 2, 3, 4]


def test_a_profile_of_writing_is_of_two_bases_not_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def generate(model: object, prompts: object, length: int, options: object, **more: object) -> list[object]:
        asked.append(length)
        return []

    monkeypatch.setattr(working, "generate", generate)
    work = working.work_of(jobs(whats=["generate"], lengths=[300])[0])
    work.call()
    assert work.glimpse is not None
    work.glimpse()
    assert asked == [300, 2]


def test_a_compiled_model_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(DnaLM, "compile", lambda model: asked.append("compiled"))
    for what in ("train", "evaluate"):
        working.work_of(jobs(whats=[what], compiled=True)[0])
    assert asked == ["compiled"] * 2
    assert trial(jobs(whats=["generate"], compiled=True)[0])["outcome"] == REFUSED


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that the command would measure."""
    found: list[Job] = []

    def note(jobs: list[Job], rounds: int, progress: object) -> list[Row]:
        found.extend(jobs)
        return []

    monkeypatch.setattr(benching, "bench", note)
    return found


@pytest.mark.parametrize(("version", "arms"), [(peer.VERSION, ["rope", "goat", PEER]), (None, ["rope", "goat"])])
def test_paper_is_the_authors_configuration(
    asked: list[Job], version: str | None, arms: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    has_version(version, monkeypatch)
    told = CliRunner().invoke(app, ["bench", "--paper", "--json", "--device", "cpu"])
    assert json.loads(told.stdout)["published"] == list(PUBLISHED)
    assert [job.arm for job in asked] == arms
    assert [job.model.position.name for job in asked] == ["rope", "goat", "goat"][: len(arms)]
    for job in asked:
        assert (job.what, job.batch, job.length, job.precision, job.kernel) == ("train", 8, 1024, "bf16", "auto")
        assert (job.train.batch_size, job.train.precision, job.train.micro_batch) == (8, "bf16", None)
        model = job.model
        assert (model.width, model.heads, model.layers, model.mlp_width, model.context) == (512, 8, 8, 2048, 1024)
        if job.model.position.name == "goat":
            goat = goat_settings(model)
            assert (goat.rank, goat.sink_frequencies, goat.init) == (2, 8, "seeded")
            assert (goat.periods, goat.ladder_base) == (None, 10_000)
        assert model.normaliser == "softmax"


@pytest.mark.parametrize(
    "changed", [["--length", "512"], ["--batch-size", "4"], ["--preset", "tiny"], ["--precision", "fp32"]]
)
def test_published_figures_stand_beside_their_own_setting_alone(asked: list[Job], changed: list[str]) -> None:
    refused = CliRunner().invoke(app, ["bench", "--paper", *changed, "--device", "cpu"])
    assert refused.exit_code == 2
    assert f"leave out {changed[0]}" in " ".join(refused.stderr.split())
    assert not asked
    assert CliRunner().invoke(app, ["bench", *changed, "--json", "--device", "cpu"]).exit_code == 0
    assert len(asked) == 2


def has_version(version: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The authors' distribution is there in this version, or it is not."""

    def said(name: str) -> str:
        if version is None:
            raise PackageNotFoundError(name)
        return {peer.DISTRIBUTION: version}[name]

    monkeypatch.setattr(peer, "version", said)


@pytest.mark.parametrize("what", ["train", "evaluate"])
@pytest.mark.skipif(peer.installed() != peer.VERSION, reason="goat-attention 0.1.1 is not installed")
def test_the_authors_module_in_the_place_of_our_attention(what: str) -> None:
    result = trial(jobs(whats=[what], arms=[PEER])[0])
    assert result["outcome"] == OK
    assert "sdpa" in result["kernel_ran"]
    assert result["peer"] == "goat-attention 0.1.1"


@pytest.mark.parametrize(("version", "said"), [(None, "it is not installed"), ("0.2.0", "0.2.0 is installed")])
def test_the_authors_module_is_asked_for_where_another_is_there(
    version: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is only called goat is not theirs."""
    monkeypatch.setitem(sys.modules, "goat", ModuleType("goat"))
    has_version(version, monkeypatch)
    result = trial(jobs(arms=[PEER])[0])
    assert result["outcome"] == REFUSED
    assert said in result["why"]
    assert "goat-attention==0.1.1" in result["why"]
