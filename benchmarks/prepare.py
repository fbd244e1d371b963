"""How fast and how lean is `dnagoat prepare`?

    python benchmarks/prepare.py [--genome FILE ...] [--bases 1e9]

Without --genome: the demo and a synthetic genome of --bases. Every measurement is a process of its own. `throughput`
counts the processor seconds of all threads together, so that neighbours on the machine do not disturb it: it is what
one core does; the wall time, with an unpacking thread ahead, is beside it. So is the time of the tiny contigs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from isal import igzip
from rows import Row, finish

MEASURE = """
import json, resource, sys, time
from pathlib import Path
from dnagoat.genome.dataset import open_dataset
from dnagoat.genome.leaks.leakage import leakage
from dnagoat.genome.preparation import PrepareOptions, prepare
import pandas, pyarrow.parquet  # what every command imports is no part of the work
what, source, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
wall, cpu = time.perf_counter(), time.process_time()
if what == "prepare":
    dataset = prepare(source, out, PrepareOptions(split="blocks", force=True))
else:
    dataset = open_dataset(out)
    leakage(dataset)
print(json.dumps({
    "wall": time.perf_counter() - wall,
    "cpu": time.process_time() - cpu,
    "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "bases": dataset.manifest.tally.bases,
    "contigs": len(dataset.contigs),
}))
"""


def measured(what: str, source: Path | str, out: Path, rounds: int = 1) -> dict[str, float]:
    """One process a round; the least wall and processor seconds, the most resident memory."""
    results = []
    for _ in range(rounds):
        (out / "leakage.json").unlink(missing_ok=True)
        command = [sys.executable, "-c", MEASURE, what, str(source), str(out)]
        results.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    least = {name: min(result[name] for result in results) for name in results[0]}
    return {**least, "resident": max(result["resident"] for result in results)}


def random_lines(bases: int, width: int, rng: np.random.Generator) -> Iterator[bytes]:
    """Sequence lines of `width` bases (0: one line), a few megabases at a time, about half of them soft-masked."""
    letters = np.frombuffer(b"ACGTacgt", dtype=np.uint8)
    step = (1 << 22) // (width or 1) * (width or 1)
    for start in range(0, bases, step):
        count = min(step, bases - start)
        repeat = np.repeat(rng.integers(0, 2, count // 300 + 1, dtype=np.uint8) * 4, 300)[:count]
        some = letters[rng.integers(0, 4, count, dtype=np.uint8) + repeat]
        if not width:
            yield some.tobytes()
            continue
        whole = count // width * width
        lines = np.full((whole // width, width + 1), 10, dtype=np.uint8)
        lines[:, :width] = some[:whole].reshape(-1, width)
        yield lines.tobytes() + (some[whole:].tobytes() + b"\n" if whole < count else b"")


def write_genome(path: Path, lengths: list[int], width: int = 60) -> Path:
    """A random genome, gzip where the name ends in .gz."""
    rng = np.random.default_rng(0)
    opener = igzip.open if path.suffix == ".gz" else open
    with opener(path, "wb") as handle:
        for number, length in enumerate(lengths):
            handle.write(b">c%d\n" % number)
            for block in random_lines(length, width, rng):
                handle.write(block)
            if not width:
                handle.write(b"\n")
    return path


def joined(files: list[Path], path: Path) -> Path:
    """Several FASTA files as one gzip: members one after the other, as `cat` would leave them."""
    with path.open("wb") as whole:
        for file in files:
            data = file.read_bytes()
            whole.write(data if data[:2] == b"\x1f\x8b" else igzip.compress(data))
    return path


def told(one: dict[str, float]) -> str:
    return (
        f"{one['bases'] / 1e6:,.0f} Mb in {one['contigs']:,.0f} contigs: {one['cpu']:.1f} s of processor, "
        f"{one['wall']:.1f} s wall ({one['bases'] / 1e6 / one['wall']:,.0f} Mb/s), {one['resident'] / 1e6:,.0f} MB"
    )


def rows(genome: list[Path], bases: int, rounds: int, folder: Path) -> Iterator[Row]:
    out = folder / "dataset"
    named: Path | str = joined(genome, folder / "genome.fa.gz") if genome else "demo"
    one = measured("prepare", named, out, rounds)
    real = "real" if genome else "demo"
    yield Row(f"throughput, {real}", one["bases"] / 1e6 / one["cpu"], "Mb/s", 60, ">=", rounds, told(one))
    leak = measured("leakage", named, out)
    yield Row(f"leak report, {real}", leak["wall"], "s", 60, "<=", 1, told(leak))
    yield Row(f"leak report memory, {real}", leak["resident"] / 1e6, "MB", 600, "<=", 1)

    source = write_genome(folder / "synthetic.fa.gz", [bases // 4] * 4)
    one = measured("prepare", source, out, rounds)
    yield Row("throughput, synthetic", one["bases"] / 1e6 / one["cpu"], "Mb/s", 60, ">=", rounds, told(one))
    source.unlink()

    for name, lengths, width in (
        ("a 250 Mb contig", [250_000_000], 60),
        ("a 250 Mb line", [250_000_000], 0),
        ("50,000 contigs", [1_100 + number % 1_000 for number in range(50_000)], 60),
    ):
        source = write_genome(folder / "one.fa", lengths, width)
        one = measured("prepare", source, out)
        yield Row(f"peak resident, {name}", one["resident"] / 1e6, "MB", 600, "<=", 1, told(one))
        source.unlink()
    yield Row("50,000 tiny contigs", one["cpu"], "s", 20, "<=", 1, f"of processor; {one['wall']:.1f} s wall")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--genome", type=Path, nargs="+", default=[], help="FASTA files that are prepared as one genome"
    )
    parser.add_argument("--bases", type=float, default=1e9, help="of the synthetic genome")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        finish(rows(chosen.genome, int(chosen.bases), chosen.rounds, Path(temporary)), chosen.json)
