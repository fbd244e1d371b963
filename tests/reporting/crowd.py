"""An example as crowded as comparisons get: many arms, long names, four heads, three seeds, failures in a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dnagoat.config import RunConfig
from dnagoat.files import read_json, write_json
from tests.reporting import example, inspected

ARMS = {
    "rope": "rope",
    "goat@init=seeded@rank=4": "goat",
    "rope@convolution=4": "rope",
    "goat+rope@init=distances": "goat+rope",
    "alibi@heads=4": "alibi",
    "goat@init=spectrum@rank=16": "goat",
    "sinusoidal@lr=0.0003": "sinusoidal",
    "goat@init=uniform@rank=2": "goat",
}
INSPECTED = 2  # arms, in the eight layers and eight heads of the authors' model
LATER = tuple(name for name in example.MEASURES)


def crowd(folder: Path, arms: int = 4, *, steps: int = 900) -> tuple[Path, Path]:
    """A comparison of the first `arms` arms over three seeds, the first of each measured; and a benchmark of them."""
    names = list(ARMS)[:arms]
    for place, name in enumerate(names):
        for seed in range(3):
            path = folder / f"{name}-s{seed}"
            example.run(path, _config(ARMS[name], seed, steps), 1.31 - 0.004 * place, missing=LATER if seed else ())
            if ARMS[name].startswith("goat") and not seed:
                _begun(path / "evaluation" / "prior.json")
            if place < INSPECTED and not seed:
                write_json(path / "evaluation" / "inspect.json", inspected.result(ARMS[name], layers=8, heads=8))
    write_json(folder / "comparison.json", _comparison(names))
    write_json(folder / "bench.json", bench(names))
    return folder, folder / "bench.json"


def _begun(prior: Path) -> None:
    """Gives the heads' priors a start, as those of a spectral part have: a second curve a panel."""
    found = read_json(prior)
    for layer in found["layers"]:
        for head in layer["heads"]:
            head["initial"] = [0.8 * value for value in head["log_prior"]]
    write_json(prior, found)


def _config(position: str, seed: int, steps: int) -> RunConfig:
    plain = example.config(position, seed=seed, steps=steps)
    return plain.but(model=plain.model.but(width=256, heads=4))


def _comparison(names: list[str]) -> dict[str, Any]:
    arms = []
    for place, name in enumerate(names):
        shift = -0.004 * place
        found = {
            "value": shift, "by_seed": [shift - 0.0001, shift, shift + 0.0001],
            "over_seeds": [shift - 0.0002, shift + 0.0002], "over_blocks": [shift - 0.001, shift + 0.001],
            "verdict": "better", "models_differ": True, "warnings": [],
        }  # fmt: skip
        here = {
            "value": 1.31 + shift, "interval": [1.30 + shift, 1.32 + shift], "by_seed": [1.31 + shift] * 3,
            "count": 61_440, "blocks": 48, "difference": found if place else None,
        }  # fmt: skip
        arms.append(
            {
                "name": name, "runs": [f"elsewhere/{name}-s{seed}" for seed in range(3)], "lr": 1e-3,
                "parameters": {"all": 812_032, "position": 1_216, "content": 810_816}, "tokens_per_second": 15_000.0,
                "speed_ratio": 1.0, "cuda_allocated_peak": None, "cuda_reserved_peak": None,
                "resident_peak": 700_000_000,
                "splits": {
                    split: dict.fromkeys(("all", "repeat", "unique", "early", "late"), here)
                    for split in ("val", "test")
                },
                "reach": [{"nll": None, "by_seed": [2_000_000, 2_100_000, 1_900_000]}],
            }
        )  # fmt: skip
    return {
        "format": 1, "measure": "comparison", "unit": "nats per base", "reference": names[0], "seeds": [0, 1, 2],
        "dataset_hash": example.HASH, "tool_version": "0.1.0", "level": 0.95, "resamples": 2000,
        "block_bases": 20_000, "windows": 60, "arms": arms, "verdict": "On the test split: arms differ.",
        "command": "dnagoat compare data/demo --out compare",
    }  # fmt: skip


def bench(names: list[str]) -> dict[str, Any]:
    """Rows of two kernels on a GPU: all is well, a later round out of memory, no memory at all, refused."""
    base = {
        "what": "train", "length": 8192, "batch": 8, "precision": "bf16", "device": "cuda", "repeats": 5, "rounds": 3,
    }  # fmt: skip
    good = {
        "outcome": "ok", "threads": 2, "device_name": "NVIDIA A100", "torch": "2.13.0",
        "kernel_ran": "sdpa, flash on CUDA", "parameters": 812_032, "tokens_per_second": 138_000.0,
        "tokens_per_second_spread": [137_500.0, 138_400.0], "cuda_allocated_peak": 2_860_000_000,
        "cuda_reserved_peak": 3_000_000_000, "resident_peak": 780_000_000,
    }  # fmt: skip
    none = dict.fromkeys(("tokens_per_second", "cuda_allocated_peak", "cuda_reserved_peak", "resident_peak"))
    rows: list[dict[str, Any]] = [{**base, **good, "arm": name, "kernel": "auto"} for name in names]
    rows[-1] |= {"outcome": "out of memory", "rounds": 2}
    rows += [{**base, **good, "arm": names[0], "kernel": "dense", "kernel_ran": "dense"}]
    rows += [{**base, **none, "arm": names[1], "kernel": "dense", "rounds": 1, "outcome": "out of memory"}]
    refused = {"outcome": "refused", "why": "rope with a convolution has no dense kernel; use auto"}
    rows += [{**base, **none, "arm": names[2], "kernel": "dense", "rounds": 1, **refused}]
    return {
        "format": 1, "measure": "bench", "unit": "bases per second; bytes", "tool_version": "0.1.0",
        "command": "dnagoat bench --paper --out bench.json", "rows": rows,
        "published": [
            {"arm": "rope", "tokens_per_second": 138_171, "cuda_peak": 2.86e9},
            {"arm": "goat", "tokens_per_second": 139_886, "cuda_peak": 1.83e9},
        ],
    }  # fmt: skip
