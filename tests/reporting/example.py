"""Example runs with made-up numbers in the very form that training and evaluation write, for tests of the report."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from dnagoat.config import GoatConfig, ModelConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.files import write_json, write_text

HASH = "d" * 64
MARKOV = (1.372, 1.344, 1.335, 1.332, 1.327, 1.322, 1.313, 1.302, 1.297, 1.291, 1.289, 1.292, 1.301)
BLOCKS = 48
BLOCK_BASES = 20_000


def config(position: str = "rope", *, seed: int = 0, steps: int = 300, dataset_hash: str = HASH) -> RunConfig:
    scheme = PositionConfig(name=position, goat=GoatConfig())  # type: ignore[arg-type]
    return RunConfig(
        preset="tiny",
        model=ModelConfig(context=512, position=scheme),
        train=TrainConfig(steps=steps, seed=seed, lr=1e-3),
        dataset="data/demo",
        dataset_hash=dataset_hash,
        tool_version="0.1.0",
    )


def run(folder: Path, setting: RunConfig, nll: float, *, missing: tuple[str, ...] = ()) -> Path:
    """A run folder whose test NLL is about `nll` nats per base; measures named in `missing` are left out."""
    rng = np.random.default_rng([setting.train.seed, *setting.model.position.name.encode()])
    write_json(folder / "config.json", setting.model_dump(mode="json"))
    write_text(folder / "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in _metrics(setting, nll, rng)))
    write_json(
        folder / "summary.json",
        {
            "format": 1,
            "parameters": {"all": 812_032, "position": 1_216, "content": 810_816},
            "device": "cpu",
            "precision": "fp32",
        },
    )
    for name, content in {
        "nll-val": _nll(setting, "val", nll - 0.004, rng),
        "nll-test": _nll(setting, "test", nll, rng),
        "prior": _prior(setting),
    }.items():
        if name not in missing and content is not None:
            write_json(folder / "evaluation" / f"{name}.json", content)
    return folder


def _signed(setting: RunConfig, measure: str, split: str, unit: str) -> dict[str, Any]:
    return {
        "format": 1,
        "measure": measure,
        "unit": unit,
        "split": split,
        "seed": 0,
        "checkpoint": {"which": "best", "step": setting.train.steps, "sha256": "c" * 64},
        "dataset_hash": setting.dataset_hash,
        "tool_version": "0.1.0",
        "command": f"dnagoat evaluate RUN --what {measure} --split {split} --seed 0",
        "settings": {"split": split},
    }


def _metrics(setting: RunConfig, nll: float, rng: np.random.Generator) -> list[dict[str, Any]]:
    steps, window = setting.train.steps, setting.train.batch_size * setting.model.context
    rows = []
    for step in range(1, steps + 1):
        level = nll + 0.09 * math.exp(-step / (steps / 4))
        rows.append(
            {
                "step": step,
                "bases": step * window,
                "loss": level + float(rng.normal(0, 0.008)),
                "lr": 1e-3,
                "grad_norm": 0.3,
                "tokens_per_second": 15_000 + float(rng.normal(0, 300)),
                "seconds": step * window / 15_000,
                "val_nll": level - 0.003 if step % 50 == 0 else None,
                "cuda_allocated_peak": None,
                "cuda_reserved_peak": None,
                "resident_peak": 700_000_000 + step,
            }
        )
    return rows


def _nll(setting: RunConfig, split: str, value: float, rng: np.random.Generator) -> dict[str, Any]:
    counts = [BLOCK_BASES] * BLOCKS
    shared = np.random.default_rng(5).normal(0, 0.03, BLOCKS)  # how hard each block is, for any model
    own = (value + shared - shared.mean() + rng.normal(0, 0.004, BLOCKS)) * BLOCK_BASES
    value = float(own.sum()) / sum(counts)
    return _signed(setting, "nll", split, "nats per base") | {
        "value": value,
        "interval": [value - 0.009, value + 0.008],
        "level": 0.95,
        "bits": value / math.log(2),
        "bits_interval": [(value - 0.009) / math.log(2), (value + 0.008) / math.log(2)],
        "perplexity": math.exp(value),
        "accuracy": 0.39,
        "count": sum(counts),
        "windows": 1875,
        "blocks": BLOCKS,
        "block_bases": BLOCK_BASES,
        "resamples": 2000,
        "warnings": [],
        "per_block": {"sums": own.tolist(), "counts": counts},
        "baselines": [
            {
                "name": f"order-{k}",
                "value": level,
                "interval": [level - 0.009, level + 0.009],
                "gain": level - value,
                "gain_interval": [level - value - 0.003, level - value + 0.003],
            }
            for k, level in enumerate(MARKOV)
        ],
    }


def _prior(setting: RunConfig) -> dict[str, Any] | None:
    model = setting.model
    if not model.position.name.startswith("goat"):
        return None
    distances = np.unique(np.concatenate([np.arange(512), np.geomspace(512, model.context - 1, 9).astype(int)]))
    layers = [
        {
            "layer": layer,
            "heads": [
                {
                    "head": head,
                    "log_prior": (
                        0.3 * (np.cos(2 * np.pi * distances / (3 + 7.5 * head)) - 1) - 0.02 / (layer + 1) * distances
                    ).tolist(),
                    "row": [],
                    "spectral": None,
                    "sink": (1.5 / (1 + distances) * (layer + 1) / 4).tolist(),
                    "slope": 0.02 / (layer + 1),
                }
                for head in range(model.heads)
            ],
        }
        for layer in range(model.layers)
    ]
    return _signed(setting, "prior", "test", "nats") | {
        "context": model.context,
        "position": model.position.name,
        "distances": distances.tolist(),
        "positions": distances.tolist(),
        "layers": layers,
    }
