"""Day one on a GPU node, `make gpu`: everything that a machine without a GPU cannot show, and one page of it all.

gpu.py [--out FOLDER] [PART ...]      all parts by default; each names what it needs and skips with a reason

FOLDER (reports/gpu) gets rows.json and report.md. The exit code is 1 where a part failed or a bar was missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from gpu_page import Fact, fact, page, whole

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
STEPS = 50
FIFTY = ("--preset", "tiny", "--steps", str(STEPS), "--batch-size", "8", "--eval-windows", "8", "--precision", "fp32")


@dataclass(frozen=True)
class Machine:
    """What the parts may need: GPUs, flash-attn, the authors' module; `None` is no fault, a text says why it lacks."""

    gpus: int
    gpu_fault: str | None
    flash_fault: str | None
    peer_fault: str | None
    words: str = ""  # what it is, for a reader

    @classmethod
    def here(cls) -> Machine:
        import torch

        from dnagoat.attention.kernels import flash_fault
        from dnagoat.measure.peer import VERSION, installed
        from dnagoat.training.launch.devices import idle_gpu

        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return cls(
            gpus,
            None if gpus else idle_gpu() or "there is no CUDA device here",
            flash_fault(),
            None if installed() == VERSION else f"goat-attention {VERSION} is not installed",
            described(gpus),
        )


def described(gpus: int) -> str:
    """GPUs, driver, torch and cores of this machine, in a sentence."""
    import torch

    from dnagoat.training.launch.devices import nvidia_driver

    names = [torch.cuda.get_device_name(index) for index in range(gpus)]
    kinds = ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names)) or "No GPU"
    build = f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU alone"
    driver = nvidia_driver() or "none"
    return f"{kinds}; NVIDIA driver: {driver}; torch {torch.__version__}, built for {build}; {os.cpu_count()} cores."


@dataclass(frozen=True)
class Part:
    """One thing that is shown: why it cannot be here (or None), and the facts that it finds, a row each."""

    name: str
    question: str
    fault: Callable[[Machine], str | None]
    find: Callable[[Path, Machine], Iterator[Fact]]


class Failed(Exception):
    """A command of a part ended with a fault; the end of what it said."""


def run(*command: str, allowed: Sequence[int] = (0,), **environment: str) -> str:
    """Standard output of a command in the checkout."""
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    if ended.returncode not in allowed:
        said = (ended.stderr or ended.stdout).strip().splitlines()[-8:]
        raise Failed(f"`{' '.join(command[:6])} ...` ended with {ended.returncode}: " + " / ".join(said))
    return ended.stdout


def dnagoat(*words: str, allowed: Sequence[int] = (0,)) -> str:
    return run(PYTHON, "-m", "dnagoat_cli", *words, allowed=allowed)


def tests(scratch: Path, machine: Machine, *choice: str) -> Iterator[Fact]:
    yield from tests_told(run(PYTHON, "-m", "pytest", "-m", "gpu", "-q", *choice, allowed=(0, 1)))


def tests_told(output: str) -> Iterator[Fact]:
    """Counts of pytest's last line."""
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", output)}
    yield fact("passed", counts.get("passed", 0), "tests", 1, ">=")
    yield fact("failed", counts.get("failed", 0) + counts.get("error", 0), "tests", 0)
    yield fact("skipped", counts.get("skipped", 0), "tests")


def flash_tests(scratch: Path, machine: Machine) -> Iterator[Fact]:
    return tests(scratch, machine, "-k", "fused or kernel_holds")


def self_test(scratch: Path, machine: Machine) -> Iterator[Fact]:
    yield from parities_told(json.loads(dnagoat("info", "--self-test", "--device", "cuda", "--json", allowed=(0, 1))))


def parities_told(told: Mapping[str, Any]) -> Iterator[Fact]:
    """The driver, and for each precision the comparison that came nearest to its bar."""
    yield fact("driver", told.get("driver"))
    yield fact("CUDA of torch", told["cuda"])
    rows = told["self_test"]
    for precision in dict.fromkeys(row["precision"] for row in rows):
        share, worst = max((row["error"] / row["bar"], row["subject"]) for row in rows if row["precision"] == precision)
        yield fact(f"worst error over its bar, {precision} ({worst})", share, "", 1)


def fifty_steps(scratch: Path, machine: Machine) -> Iterator[Fact]:
    curves = {}
    for device in ("cpu", "cuda"):
        out = scratch / f"fifty-{device}"
        dnagoat("train", str(data(scratch)), "--out", str(out), "--device", device, "--force", *FIFTY)
        curves[device] = losses(out)
    yield from curves_told(curves["cpu"], curves["cuda"], "the CPU's")


def curves_told(left: Sequence[float], right: Sequence[float], whose: str) -> Iterator[Fact]:
    """How far two curves of losses are apart: float32 in another order, amplified by the steps."""
    apart = [abs(a - b) for a, b in zip(left, right, strict=True)]
    yield fact(f"first step's loss from {whose}", apart[0], "nats", 1e-5)
    yield fact(f"largest difference from {whose} in {len(left)} steps", max(apart), "nats", 1e-3)


def compiled(scratch: Path, machine: Machine) -> Iterator[Fact]:
    rows = {}
    for how in ("eager", "compiled"):
        switch = ("--compile",) if how == "compiled" else ()
        told = dnagoat(
            "bench", "--preset", "paper", "--arm", "nope", "--arm", "rope", "--arm", "goat", "--json", *switch
        )
        rows[how] = json.loads(told)["rows"]
    yield from compiled_told(rows["eager"], rows["compiled"])


def compiled_told(eager: Sequence[Fact], compiled: Sequence[Fact]) -> Iterator[Fact]:
    """Bases a second of each arm, and how much faster a compiled model is."""
    for plain, fast in zip(eager, compiled, strict=True):
        yield fact(f"{plain['arm']}, eager", plain["tokens_per_second"], "bases/s")
        yield fact(f"{fast['arm']}, compiled", fast["tokens_per_second"], "bases/s")
        if plain["tokens_per_second"] and fast["tokens_per_second"]:
            yield fact(f"{fast['arm']}, compiled over eager", fast["tokens_per_second"] / plain["tokens_per_second"])
    by_arm = {row["arm"]: row["tokens_per_second"] for row in eager}
    for arm in ("rope", "goat"):
        if by_arm.get(arm) and by_arm.get("nope"):
            yield fact(f"time of {arm} over nope, eager", by_arm["nope"] / by_arm[arm])


def several(scratch: Path, machine: Machine) -> Iterator[Fact]:
    """DDP and FSDP2 on every GPU, killed after some steps and resumed, beside one GPU's curve."""
    alone = scratch / "alone"
    batch = ("--batch-size", str(8 * machine.gpus))
    dnagoat("train", str(data(scratch)), "--out", str(alone), "--device", "cuda", "--force", *FIFTY, *batch)
    for parallel in ("ddp", "fsdp"):
        out = scratch / parallel
        launch = (PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(machine.gpus))
        train = (*launch, "-m", "dnagoat_cli", "train", "--out", str(out), "--parallel", parallel, "--device", "cuda")
        killed(
            (*train, str(data(scratch)), "--force", "--checkpoint-every", "5", *FIFTY, *batch), out / "metrics.jsonl"
        )
        before = len(losses(out))
        run(*train, "--resume")
        yield fact(f"{parallel}: steps before the kill", before, "steps", STEPS - 1)
        for row in curves_told(losses(alone), losses(out), "one GPU's"):
            yield {**row, "name": f"{parallel}: {row['name']}"}


def killed(command: Sequence[str], metrics: Path, after: int = 12) -> None:
    """Starts a training and kills it once it has made so many steps."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        patience = perf_counter() + 600
        while process.poll() is None and perf_counter() < patience:
            if metrics.exists() and len(metrics.read_bytes().splitlines()) >= after:
                break
        process.kill()


def paper(scratch: Path, machine: Machine) -> Iterator[Fact]:
    yield from paper_told(json.loads(dnagoat("bench", "--paper", "--json")))


def paper_told(told: Mapping[str, Any]) -> Iterator[Fact]:
    """Bases a second and peaks of memory, beside what the authors publish of an A100."""
    published = {row["arm"]: row for row in told["published"]}
    for row in told["rows"]:
        arm, theirs = row["arm"], published.get(row["arm"], {})
        yield fact(f"{arm}: speed ({row.get('kernel_ran', row['outcome'])})", row["tokens_per_second"], "bases/s")
        yield fact(f"{arm}: allocated at the peak", row["cuda_allocated_peak"], "bytes")
        yield fact(f"{arm}: reserved at the peak", row["cuda_reserved_peak"], "bytes")
        if theirs:
            yield fact(f"{arm}: the authors' speed, one A100", theirs["tokens_per_second"], "bases/s")
            yield fact(f"{arm}: the authors' peak, one A100", theirs["cuda_peak"], "bytes")


def limit(scratch: Path, machine: Machine) -> Iterator[Fact]:
    """What the matrix products and the attention of the authors' preset take alone, forward and backward."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    from dnagoat.training.presets import preset

    model, train = preset("paper")
    rows, width, inside = train.batch_size * model.context, model.width, model.mlp_width

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    x, wide = drawn(rows, width), drawn(rows, inside)
    square, up, down = drawn(width, width), drawn(width, inside), drawn(inside, width)
    q, k, v = (drawn(train.batch_size, model.heads, model.context, model.head_width) for _ in range(3))

    def step() -> None:
        for _ in range(model.layers):
            parts = [*(x @ square for _ in range(4)), x @ up, wide @ down]
            parts.append(scaled_dot_product_attention(q, k, v, is_causal=True))
            torch.autograd.backward(parts, [torch.ones_like(part) for part in parts])

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    began, steps = perf_counter(), 0
    while perf_counter() - began < 3:
        step()
        torch.cuda.synchronize()
        steps += 1
    yield fact("products and attention alone", steps * rows / (perf_counter() - began), "bases/s")


def writing(scratch: Path, machine: Machine) -> Iterator[Fact]:
    """Bases a second of 64 sequences with each base one CUDA graph, and with each operation launched by itself."""
    import torch

    from dnagoat.generation import on_device
    from dnagoat.generation.continuation import generate
    from dnagoat.model.replay import CudaGraphs
    from dnagoat.model.transformer import DnaLM
    from dnagoat.training.presets import configure

    length, together = 1024, 64
    for arm in ("rope", "goat"):
        config = configure("paper", "", "", length, {"model.position.name": arm})
        model, written = DnaLM(config.model).cuda().eval(), []
        for how, recorder in (("CUDA graphs", CudaGraphs), ("launch by launch", lambda device: None)):
            on_device.recorder_for = recorder
            for bases in (64, length - 1):  # the first warms up
                torch.cuda.synchronize()
                began = perf_counter()
                made = list(generate(model, [np.empty(0, np.uint8)], bases, samples=together, batch_size=together))
                seconds = perf_counter() - began
            written.append([one.bases for one in made])
            yield fact(f"{arm}, {how}", together * (length - 1) / seconds, "bases/s")
        same = sum(a == b for a, b in zip(*written, strict=True))
        yield fact(f"{arm}: the same sequences both ways", same, f"of {together}", together, ">=")


def data(scratch: Path) -> Path:
    """The demo's dataset, prepared once."""
    out = scratch / "data"
    if not out.exists():
        dnagoat("prepare", "demo", "--out", str(out), "--window", "512")
    return out


def losses(run: Path) -> list[float]:
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["loss"] for line in lines]


def a_gpu(machine: Machine) -> str | None:
    return machine.gpu_fault


def two_gpus(machine: Machine) -> str | None:
    return machine.gpu_fault or ("there is one GPU, and two are needed" if machine.gpus < 2 else None)


PARTS = (
    Part("tests", "Do the tests that need a GPU pass?", a_gpu, tests),
    Part("flash", "And with the flash-attn package?", lambda m: m.gpu_fault or m.flash_fault, flash_tests),
    Part("self-test", "Is every scheme and kernel exact on this GPU?", a_gpu, self_test),
    Part("fifty", "Are 50 steps the CPU's?", a_gpu, fifty_steps),
    Part("compile", "What does --compile gain?", a_gpu, compiled),
    Part("writing", "What does a CUDA graph gain in writing?", a_gpu, writing),
    Part("several", "DDP and FSDP2: killed, resumed, the curve of one?", two_gpus, several),
    Part("paper", "Speed and memory beside the published figures", a_gpu, paper),
    Part("limit", "What products and attention alone would allow", a_gpu, limit),
)


def collect(parts: Sequence[Part], scratch: Path, machine: Machine) -> Iterator[Fact]:
    """For each part its rows, or why there are none: `skipped` or `failed`."""
    for part in parts:
        told = {"part": part.name, "question": part.question}
        if fault := part.fault(machine):
            yield {**told, "skipped": fault}
            continue
        try:
            yield {**told, "rows": list(part.find(scratch, machine))}
        except Failed as why:
            yield {**told, "failed": str(why)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", metavar="PART", help=", ".join(part.name for part in PARTS))
    parser.add_argument("--out", type=Path, default=ROOT / "reports" / "gpu")
    asked = parser.parse_args()
    if unknown := set(asked.part) - {part.name for part in PARTS}:
        parser.error(f"there is no part {min(unknown)}")
    scratch = asked.out / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    found, machine = [], Machine.here()
    for part in collect([part for part in PARTS if not asked.part or part.name in asked.part], scratch, machine):
        found.append(part)
        said = part.get("skipped") or part.get("failed") or f"{len(part['rows'])} rows"
        word = "not done: " if "skipped" in part else "FAILED: " if "failed" in part else ""
        print(f"{part['part']:<10} {word}{said}", flush=True)
    (asked.out / "rows.json").write_text(
        json.dumps({"machine": machine.words, "parts": found}, indent=2) + "\n", encoding="utf-8"
    )
    (asked.out / "report.md").write_text(page(found, machine.words), encoding="utf-8")
    print(asked.out / "report.md")
    sys.exit(0 if whole(found) else 1)


if __name__ == "__main__":
    main()
