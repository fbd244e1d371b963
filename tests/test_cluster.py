"""What a cluster meets, without one: job files that requeue and resume, caches of one's own, the image's recipe."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from dnagoat.folders import CACHES, place_caches

ROOT = Path(__file__).resolve().parents[1]
JOBS = sorted((ROOT / "examples" / "slurm").glob("*.sbatch"))
RECIPE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")


def submitted(job: Path, tmp_path: Path, code: int, *words: str) -> tuple[int, list[str]]:
    """The exit code of a job file and what it called, on a machine where `srun` ends with `code`."""
    log, tools = tmp_path / "calls", tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    for name, ends in (("srun", code), ("scontrol", 0)):
        (tools / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {log}\nexit {ends}\n')
        (tools / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_JOB_ID": "41"}
    done = subprocess.run(["bash", str(job), *words], env=environment, cwd=tmp_path, check=False)
    return done.returncode, log.read_text().splitlines()


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_job_begins_saves_is_requeued_and_resumes(job: Path, tmp_path: Path) -> None:
    begin = ("data/hg38", "runs/big", "--preset", "125m")
    train = "srun --kill-on-bad-exit=1 dnagoat train --out runs/big"
    assert submitted(job, tmp_path, 0, *begin) == (0, [f"{train} data/hg38 --preset 125m"])
    (tmp_path / "runs/big").mkdir(parents=True)
    (tmp_path / "runs/big/config.json").touch()
    (tmp_path / "calls").unlink()
    assert submitted(job, tmp_path, 128 + 10, *begin) == (0, [f"{train} --resume", "scontrol requeue 41"])
    (tmp_path / "calls").unlink()
    assert submitted(job, tmp_path, 2, *begin) == (2, [f"{train} --resume"])


@pytest.mark.parametrize("script", [*JOBS, ROOT / "benchmarks" / "image.sh"], ids=lambda script: script.name)
def test_scripts_are_shell(script: Path) -> None:
    """By bash itself, and by shellcheck where it is installed."""
    subprocess.run(["bash", "-n", str(script)], check=True)
    if shutil.which("shellcheck"):
        told = subprocess.run(["shellcheck", str(script)], capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stdout


def test_the_kubernetes_job_holds_together() -> None:
    """What is mounted is a volume, the user is a number and not root, and a pod that failed is followed by another."""
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((ROOT / "examples" / "kubernetes" / "train.yaml").read_text(encoding="utf-8"))
    pod = job["spec"]["template"]["spec"]
    assert (job["apiVersion"], job["kind"], pod["restartPolicy"]) == ("batch/v1", "Job", "OnFailure")
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 10001
    (container,) = pod["containers"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    assert {"/lab/data", "/lab/runs", "/dev/shm"} == {mount["mountPath"] for mount in container["volumeMounts"]}
    processes = re.search(r"--nproc-per-node (\d+)", container["args"][0])
    assert processes and int(processes[1]) == container["resources"]["limits"]["nvidia.com/gpu"]
    subprocess.run(["sh", "-n", "-c", container["args"][0]], check=True)


def test_there_is_a_job_for_one_node_and_for_two() -> None:
    nodes = [re.search(r"--nodes=(\d)", job.read_text(encoding="utf-8")) for job in JOBS]
    assert [found and found[1] for found in nodes] == ["1", "2"]


def test_caches_are_ones_own_where_the_home_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"TRITON_CACHE_DIR": "/mine"}
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    place_caches(given)
    assert set(given) == set(CACHES) and given["TRITON_CACHE_DIR"] == "/mine"
    own = Path(tempfile.gettempdir()) / f"dnagoat-{os.getuid()}"
    assert {Path(given[name]).parent for name in CACHES if name != "TRITON_CACHE_DIR"} == {own}
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    place_caches(kept := dict[str, str]())
    assert not kept


def test_the_image_is_plain_unless_a_compiler_is_asked_for() -> None:
    assert "ARG FLASH_ATTN=0\n" in RECIPE and "RUNTIME=${BASE:-ubuntu:" in RECIPE
    assert re.search(r"FLASH_ATTN_CUDA_ARCHS=\"\$ARCHS\"", RECIPE)
    runtime = RECIPE.rpartition("\nFROM ")[2]
    assert "g++" in runtime and "CACHE_DIR" not in runtime and "/tmp" not in runtime


def test_the_images_script_runs_every_docker_command_of_the_guide(tmp_path: Path) -> None:
    """On a machine whose tools only say what they were asked: small sizes, and all else as the guide has it."""
    log, tools = tmp_path / "calls", tmp_path / "bin"
    tools.mkdir()
    says = {"debootstrap": "", "chown": "", "find": "", "buildah": '[ "$1" = inspect ] && echo entry || echo box'}
    for name, answer in says.items():
        (tools / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {log}\n{answer}\n')
        (tools / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    subprocess.run(["bash", str(ROOT / "benchmarks/image.sh"), "--volume", "/a:/b"], env=environment, check=True)
    ran = [line for line in log.read_text().splitlines() if line.startswith("buildah run")]
    assert all(
        line.startswith("buildah run --volume /a:/b --env HOME=/ --hostname localhost --user 4321:4321") for line in ran
    )
    given = [line.partition(" box -- ")[2] for line in ran]
    for line in docker_runs():
        first = "torchrun" if "torchrun" in line else "entry"
        words = re.sub("8 -m", "2 -m", line.partition(" dnagoat ")[2].replace("hg38", "demo"))
        assert any(call.startswith(f"{first} {words}") for call in given), words
    assert sum("--compile" in call for call in given) == 2
    assert len(list(tmp_path.iterdir())) == 2  # nothing is left of what it made


def docker_runs() -> list[str]:
    """A line each, with single spaces."""
    lines = [" ".join(line.split()) for line in GUIDE.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line.startswith("docker run")]


def test_every_docker_command_is_run_as_oneself() -> None:
    runs = docker_runs()
    assert len(runs) >= 5 and all('--user "$(id -u):$(id -g)"' in line for line in runs)
    assert all("--ipc=host" in line for line in runs if "torchrun" in line)
