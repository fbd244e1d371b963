"""Do the numeric tests hold whichever instructions PyTorch, MKL and oneDNN choose, and how near do they come?

    python benchmarks/kernels_matrix.py [--quick] [--json FILE] [TESTS ...]

Runs them once as the machine chooses, then under each set of instructions that it has: ATEN_CPU_CAPABILITY,
MKL_ENABLE_INSTRUCTIONS and ONEDNN_MAX_CPU_ISA. A row says which share of its tolerance the nearest test took (see
margins.py) and names what lies above a quarter. MKL heeds its variable on Intel's CPUs alone and has code of its own
for others; there a library of one function, made with `cc` and preloaded, answers for it that the CPU is Intel's.
`--quick`, seconds, is what CI runs: AVX2 and the tests that differ most.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rows import Row, finish

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    *("tests/attention", "tests/theory", "tests/model", "tests/counts/test_markov.py"),
    *(
        "tests/generation/test_decoding.py",
        "tests/generation/test_continuation.py",
        "tests/generation/test_sampling.py",
    ),
    *("tests/evaluation/scoring", "tests/evaluation/microscope", "tests/evaluation/outputs"),
    *("tests/training/step", "-k", "not length_by_length"),  # which counts elements, at length
)
QUICK = (
    "tests/attention/lanes",
    "tests/attention/fast",
    "tests/attention/test_kernels.py::test_the_order_of_magnitudes_keeps_the_digits",
    "tests/attention/proof/test_parity.py::test_the_self_test_covers_every_scheme_and_holds",
)
INTEL = "int mkl_serv_intel_cpu_true(void) { return 1; }\nint mkl_serv_intel_cpu(void) { return 1; }\n"
ROOM = 0.25  # a tolerance that was measured is four times the worst error


@dataclass(frozen=True)
class Instructions:
    """What each library is told; `needs` is the CPU's own word for it, None where nobody is told anything."""

    name: str
    aten: str = ""
    mkl: str = ""
    onednn: str = ""
    needs: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        told = {
            "ATEN_CPU_CAPABILITY": self.aten,
            "MKL_ENABLE_INSTRUCTIONS": self.mkl,
            "ONEDNN_MAX_CPU_ISA": self.onednn,
        }
        return {name: value for name, value in told.items() if value}


AVX2 = Instructions("avx2", "avx2", "AVX2", "AVX2", "avx2")
EVERY = (
    Instructions("as the machine chooses"),
    Instructions("default", "default", "SSE4_2", "SSE41", "sse4_1"),
    AVX2,
    Instructions("avx512", "avx512", "AVX512", "AVX512_CORE", "avx512f"),
    Instructions("avx512, MKL avx2", "avx512", "AVX2", "AVX512_CORE", "avx512f"),
)


def cpu() -> tuple[str, set[str]]:
    """Its maker and what it can, as Linux tells; nothing elsewhere."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return facts.get("vendor_id", ""), set(facts.get("flags", "").split())


def shim(folder: Path) -> Path | None:
    """The library that answers for MKL, or None where the CPU is Intel's already or there is no compiler."""
    compiler = shutil.which("cc")
    if cpu()[0] == "GenuineIntel" or compiler is None:
        return None
    source, library = folder / "intel.c", folder / "intel.so"
    source.write_text(INTEL)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def run(instructions: Instructions, tests: Sequence[str], preload: Path | None, folder: Path) -> Row:
    """One pytest under `instructions`; its failures are the row's detail."""
    environment = {
        "OMP_NUM_THREADS": "1",  # several wait for each other where the machine is shared
        **os.environ,
        **instructions.environment,
        "PYTHONPATH": str(ROOT / "benchmarks"),
        "MARGINS": str(folder / "margins.json"),
        **({"LD_PRELOAD": str(preload)} if preload and instructions.mkl else {}),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "margins", "-p", "no:cacheprovider"]
    command += ["-o", "enable_assertion_pass_hook=true", "--show-capture=no", *tests]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    failed = [line.split(" - ")[0] for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if ended.returncode not in (0, 1):
        sys.exit(f"error: pytest ended with {ended.returncode} under {instructions.name}:\n{ended.stdout[-2000:]}")
    margins = json.loads((folder / "margins.json").read_text())
    near = sorted(((share, what) for share, what in margins.values() if share > ROOM), reverse=True)
    lines = failed + [f"{share:.2f} {what}" for share, what in near]
    most = max((share for share, _ in margins.values()), default=0.0)
    name = f"{instructions.name}{', MKL as on Intel' if preload and instructions.mkl else ''}"
    detail = "\n    ".join([f"{len(failed)} failed, {len(margins)} lines compare numbers", *lines])
    return Row(name, max(most, 1.01) if failed else most, "of bar", 1.0, "<=", 1, detail)


def rows(chosen: argparse.Namespace) -> Iterator[Row]:
    _, flags = cpu()
    with TemporaryDirectory() as folder:
        preload = shim(Path(folder))
        for instructions in (AVX2,) if chosen.quick else EVERY:
            if instructions.needs and instructions.needs not in flags:
                yield Row(instructions.name, None, "of bar", 1.0, "<=", 0, f"this CPU has no {instructions.needs}")
                continue
            tests = chosen.tests or (QUICK if chosen.quick else TESTS)
            yield run(instructions, tests, preload, Path(folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", help="files or folders of tests; those with numbers by default")
    parser.add_argument("--quick", action="store_true", help="one set of instructions, a few tests")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    options = parser.parse_args()
    finish(rows(options), options.json)
