"""What the best open DNA compressor and two general ones need for the very bases that models are scored on.

    python benchmarks/compressors.py --dataset data/chr20_21 --source geco3/src [--run runs/cmp/goat-s0] [--windows 700]

The reference is the training split, the target the test windows, one after the other, A, C, G and T alone. GeCo3
(github.com/cobilab/geco3, GPL-3) is built from the source that is given, with gcc and make, in a folder that goes away;
nothing of it is part of dnagoat. So that its network learns to mix, the last 3,000,000 bases of the reference go before
the target; what is counted is the target alone. It goes on learning within the target, and its contexts run across
windows; a model reads each window by itself. `xz` and `zstd --long` compress the target after the whole reference. With
--run the model's own likelihood, as `dnagoat evaluate` stored it, must be below GeCo3's. Minutes of one core and 5 GB.
"""

from __future__ import annotations

import argparse
import lzma
import math
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from rows import Row, finish

from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.scoring.scored import pieces_of
from dnagoat.files import read_json
from dnagoat.genome.dataset import Dataset, open_dataset

GUESS = math.log(4)  # nats a base of a guess among four
LEARNING = 3_000_000  # bases of the reference that the network learns to mix on
LETTERS = np.frombuffer(b"ACGT", dtype=np.uint8)
# The models of GeCo3's level 16, its strongest for a sequence of this size, as models of the reference, and three that
# learn from the target.
REFERENCE_MODELS = (
    *("1:1:0:0:0.9/0:0:0", "2:1:0:0:0.78/0:0:0", "3:1:0:0:0.9/0:0:0", "4:1:1:0:0.78/0:0:0", "5:10:1:1:0.90/0:0:0"),
    *("6:1:1:0:0.85/0:0:0", "7:1:1:0:0.85/0:0:0", "8:1:1:0:0.91/0:0:0", "9:10:0:0:0.9/0:0:0", "10:10:0:0:0.9/0:0:0"),
    *("11:10:0:0:0.9/0:0:0", "12:20:1:1:0.94/0:0:0", "13:10:1:0:0.95/0:0:0", "14:50:1:1:0.95/0:0:0"),
    *("16:200:1:10:0.95/1:50:0.95", "17:100:1:20:0.9/3:10:0.9", "20:500:1:30:0.95/2:20:0.95"),
)
TARGET_MODELS = ("3:1:1:0:0.9/0:0:0", "12:20:1:1:0.94/0:0:0", "20:500:1:30:0.95/2:20:0.95")


def letters(tokens: np.ndarray) -> bytes:
    """The bases as text; N is left out."""
    codes = tokens & 7
    return bytes(LETTERS[codes[codes < 4]])


def texts(dataset: Dataset, windows: int | None) -> tuple[bytes, bytes]:
    """The training split's contigs end to end, and the scored test windows."""
    tokens = np.concatenate([dataset.tokens[start:end] for start, end in dataset.spans("train")])
    pieces = pieces_of(dataset, MeasureOptions(split="test", windows=windows))
    scored = [dataset.tokens[start : start + width] for start, width in zip(pieces.starts, pieces.widths, strict=True)]
    return letters(tokens), letters(np.concatenate(scored))


def geco3(source: Path, reference: bytes, target: bytes) -> tuple[float, float]:
    """(nats a target base, seconds) of GeCo3, which writes the bits of each base into target.iae."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "src"
        shutil.copytree(source, built)
        subprocess.run(["make"], cwd=built, check=True, capture_output=True)
        (Path(folder) / "reference").write_bytes(reference[:-LEARNING])
        (Path(folder) / "target").write_bytes(reference[-LEARNING:] + target)
        models = [word for model in REFERENCE_MODELS for word in ("-rm", model)]
        models += [word for model in TARGET_MODELS for word in ("-tm", model)]
        command = [str(built / "GeCo3"), "-e", *models, "-lr", "0.03", "-hs", "64", "-r", "reference", "target"]
        start = perf_counter()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        seconds = perf_counter() - start
        bits = np.loadtxt(Path(folder) / "target.iae", skiprows=0)[-len(target) :]
    return float(bits.mean() * math.log(2)), seconds


def xz(reference: bytes, target: bytes) -> tuple[float, float]:
    """(nats a target base, seconds): what the target adds to the reference, with a window that holds both."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 2**27}]
    start = perf_counter()
    sizes = [len(lzma.compress(text, lzma.FORMAT_RAW, filters=filters)) for text in (reference, reference + target)]
    return (sizes[1] - sizes[0]) * 8 * math.log(2) / len(target), perf_counter() - start


def zstd(reference: bytes, target: bytes) -> tuple[float, float]:
    """(nats a target base, seconds) of `zstd --ultra -22 --long=27` with the reference as what was read before."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("reference", "target", "packed")]
        files[0].write_bytes(reference)
        files[1].write_bytes(target)
        start = perf_counter()
        command = ["zstd", "--ultra", "-22", "--long=27", "--patch-from", *map(str, files[:2]), "-o", str(files[2])]
        subprocess.run(command, check=True, capture_output=True)
        return files[2].stat().st_size * 8 * math.log(2) / len(target), perf_counter() - start


def rows(dataset: Dataset, windows: int | None, source: Path | None, run: Path | None) -> Iterator[Row]:
    reference, target = texts(dataset, windows)
    about = f"dataset {dataset.content_hash[:16]}, {len(target):,} test bases after {len(reference):,}"
    best = None
    if source is None or shutil.which("gcc") is None:
        yield Row("GeCo3", None, "nats", GUESS, "<=", 1, "not run: give --source GECO3/src, and have gcc and make")
    else:
        best, seconds = geco3(source, reference, target)
        yield Row("GeCo3", best, "nats", GUESS, "<=", 1, f"{about}; {seconds:.0f} s")
    value, seconds = xz(reference, target)
    yield Row("xz -9e", value, "nats", 2 * GUESS, "<=", 1, f"{about}; {seconds:.0f} s")
    if shutil.which("zstd") is None:
        yield Row("zstd --ultra -22 --long", None, "nats", 2 * GUESS, "<=", 1, "not run: zstd is not installed")
    else:
        value, seconds = zstd(reference, target)
        yield Row("zstd --ultra -22 --long", value, "nats", 2 * GUESS, "<=", 1, f"{about}; {seconds:.0f} s")
    if run is not None:
        result = read_json(run / "evaluation" / "nll-test.json")
        same = result["count"] == len(target) and result["dataset_hash"] == dataset.content_hash
        told = f"{result['count']:,} bases" if same else "scored on other bases: evaluate it with the same --windows"
        yield Row(run.name, result["value"] if same else None, "nats", best or GUESS, "<=", 1, told)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--dataset", type=Path, required=True, help="folder that `dnagoat prepare` wrote")
    parser.add_argument("--windows", type=int, default=700, help="test windows, spread evenly")
    parser.add_argument("--source", type=Path, help="GeCo3's source folder")
    parser.add_argument("--run", type=Path, help="a run whose test likelihood was stored for the same windows")
    asked = parser.parse_args()
    finish(rows(open_dataset(asked.dataset), asked.windows, asked.source, asked.run), asked.json)
