"""Example runs with made-up numbers in the very form that training and evaluation write, for tests of the report."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.evaluation.measure import FORMAT
from dnagoat.files import write_json, write_text
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.prepare import PrepareOptions, prepare

HASH = "d" * 64
MARKOV = (1.372, 1.344, 1.335, 1.332, 1.327, 1.322, 1.313, 1.302, 1.297, 1.291, 1.289, 1.292, 1.301)
BLOCKS = 48
BLOCK_BASES = 2_000
PIECE = 500  # bases
CONTIGS = (0, 37_500)  # where they begin: the second does not begin with a block
MEASURES = ("nll-val", "nll-test", "generation", "strata-test", "lengths-test", "rc-test", "copying-test", "prior")


def config(
    position: str = "rope", *, seed: int = 0, steps: int = 300, dataset_hash: str = HASH, dataset: str = "data/demo"
) -> RunConfig:
    scheme = PositionConfig(name=position, settings=GoatConfig())
    return RunConfig(
        preset="tiny",
        model=ModelConfig(context=512, position=scheme),
        train=TrainConfig(steps=steps, seed=seed, lr=1e-3),
        dataset=dataset,
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
    losses = {split: _losses(split, value, rng) for split, value in (("val", nll - 0.004), ("test", nll))}
    for split in losses:
        _save_bases(folder / "evaluation" / f"bases-{split}-0a1b.npz", setting, losses[split])
    for name, content in {
        "nll-val": _nll(setting, "val", losses["val"]),
        "nll-test": _nll(setting, "test", losses["test"]),
        "generation": _generation(setting, 2.3 - 1.4 * nll, rng),
        "strata-test": _strata(setting, nll),
        "lengths-test": _lengths(setting, nll),
        "rc-test": _strands(setting, rng),
        "copying-test": _copying(setting),
        "prior": _prior(setting),
    }.items():
        if name not in missing and content is not None:
            write_json(folder / "evaluation" / f"{name}.json", content)
    return folder


def everything(folder: Path) -> tuple[list[Path], Path]:
    """RoPE and GOAT with every measure and a leak report of their dataset; and the file of a benchmark."""
    data, bench = folder / "data", folder / "bench.json"
    write_json(data / "leakage.json", _leakage())
    write_json(bench, _bench())
    arms = {"rope": 1.312, "goat": 1.305}
    return [run(folder / arm, config(arm, dataset=str(data)), nll) for arm, nll in arms.items()], bench


def _signed(setting: RunConfig, measure: str, split: str, unit: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
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


def _losses(split: str, value: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Nats of each base: blocks differ for every model alike, bases and models differ a little by themselves."""
    shared = np.random.default_rng([5, *split.encode()]).normal(0, 0.03, BLOCKS)
    own = shared - shared.mean() + rng.normal(0, 0.004, BLOCKS)
    losses = value + np.repeat(own, BLOCK_BASES) + np.random.default_rng(6).normal(0, 0.3, BLOCKS * BLOCK_BASES)
    return losses.astype(np.float32)


def _nll(setting: RunConfig, split: str, losses: NDArray[np.float32]) -> dict[str, Any]:
    value = float(losses.mean(dtype=np.float64))
    return _signed(setting, "nll", split, "nats per base") | {
        "value": value,
        "interval": [value - 0.009, value + 0.008],
        "level": 0.95,
        "bits": value / math.log(2),
        "bits_interval": [(value - 0.009) / math.log(2), (value + 0.008) / math.log(2)],
        "perplexity": math.exp(value),
        "accuracy": 0.39,
        "count": len(losses),
        "windows": len(losses) // PIECE,
        "pieces": "f" * 64,
        "context": PIECE,
        "stride": PIECE,
        "mean_context": (PIECE - 1) / 2,
        "blocks": BLOCKS + 1,
        "block_bases": BLOCK_BASES,
        "resamples": 2000,
        "warnings": [],
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


def _save_bases(file: Path, setting: RunConfig, losses: NDArray[np.float32]) -> None:
    key = {"checkpoint": "c" * 64, "dataset": setting.dataset_hash, "pieces": "f" * 64, "tool_version": "0.1.0"}
    starts = np.arange(0, len(losses), PIECE)
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        file,
        starts=starts,
        widths=np.full_like(starts, PIECE),
        skips=np.zeros_like(starts),
        origins=np.where(starts < CONTIGS[1], *CONTIGS),
        losses=losses,
        hits=losses < 1,
        key=json.dumps(key),
    )


def _generation(setting: RunConfig, r: float, rng: np.random.Generator) -> dict[str, Any]:
    """GC of 40 loci in 15 windows: generated values correlate with the true ones with about `r`."""
    positions = [32 * step + 32 for step in range(15)]
    true = np.random.default_rng(8).normal(0.4, 0.06, (40, 1)) + np.random.default_rng(9).normal(0, 0.05, (40, 15))
    noise = rng.normal(0, 0.078, true.shape)
    generated = 0.4 + r * (true - 0.4) + math.sqrt(1 - r * r) * noise
    nulls = {
        "another locus": np.roll(true, 1, 0),
        "markov": 0.4 + noise / 2,
        "prompt GC": true[:, :1] + 0 * true,
    }
    curves = {"true": true, "generated": generated, **nulls}

    def way(value: float) -> dict[str, Any]:
        return {
            "pooled": {"r": value, "interval": [value - 0.1, value + 0.1]},
            "averaged": {"r": value / 2, "interval": [value / 2 - 0.3, value / 2 + 0.3]},
            "per_prompt": {"r": value / 3, "interval": [value / 3 - 0.1, value / 3 + 0.1], "count": 40},
        }

    flat = way(0.3)
    flat["averaged"] = {"r": None, "interval": None}
    share = np.random.default_rng(10).dirichlet(np.full(1024, 3.0))
    return _signed(setting, "generation", "test", "Pearson r") | {
        "settings": {
            "trajectory": {
                "prompts": 40, "prompt_length": 512, "length": 512, "samples": 4, "gc_window": 64, "gc_stride": 32,
            }
        },
        "level": 0.95,
        "resamples": 2000,
        "count": 40,
        "samples": 4,
        "markov_order": 8,
        "gc": {**way(r), "nulls": {"another locus": way(0.02), "markov": way(0.1), "prompt GC": flat}},
        "positions": positions,
        "trajectories": [
            {
                "locus": {"contig": "chr21_test", "start": 50_000 * i, "end": 50_000 * i + 512},
                "prompt_gc": 0.4,
                "curves": {name: curve[i].round(5).tolist() for name, curve in curves.items()},
                "samples": [],
            }
            for i in range(6)
        ],
        "mean_trajectory": {name: curve.mean(0).tolist() for name, curve in curves.items()},
        "scatter": {"true": true.tolist(), "generated": generated.tolist()},
        "kmers": [
            {"k": k, "jsd": 6e-4 * 2.3**k, "floor": 0.0002 * 2.3**k, "markov": 0.0005 * 2.3**k, "floor_sets": 2}
            for k in range(1, 9)
        ],
        "spectrum": {
            "k": 5,
            "true": share.tolist(),
            "generated": (share * rng.lognormal(0, 0.2, 1024)).tolist(),
        },
        "longest_match": {
            "generated": {"longest": 21, "median": 13.0, "quantile_95": 16.0, "sequences": 160},
            "true": {"longest": 64, "median": 15.0, "quantile_95": 31.0, "sequences": 40},
        },
        "composition": {
            name: {"gc": 0.4, "cpg_ratio": ratio, "strand_symmetry": {"kmer_jsd": 0.001}}
            for name, ratio in (("true", 0.22), ("generated", 0.25), ("markov", 0.21))
        },
        "log_probability": -1.31,
        "warnings": [],
    }  # fmt: skip


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
                    "initial": (-0.04 / (layer + 1) * distances).tolist(),
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


def _stratum(
    name: str, value: float, share: float, low: float | None = None, high: float | None = None
) -> dict[str, Any]:
    count, interval = round(share * BLOCKS * BLOCK_BASES), [value - 0.008, value + 0.008]
    return {
        "name": name, "low": low, "high": high, "value": value, "interval": interval, "count": count, "share": share,
    }  # fmt: skip


def _strata(setting: RunConfig, nll: float) -> dict[str, Any]:
    gain = 0.02 if setting.model.position.name == "goat" else 0.0
    deciles = [(f"{edge:.1f}% to {edge + 2.4:.1f}%", edge / 100, (edge + 2.4) / 100) for edge in np.arange(30, 54, 2.4)]
    contexts = [("0", 0, 0), *((f"{2**n:,} to {2 ** (n + 1) - 1:,}", 2**n, 2 ** (n + 1) - 1) for n in range(9))]
    seen = [
        *(("fewer than 16 read", None, None), ("never", 0, 0), ("once", 1, 1), ("2 to 9", 2, 9), ("10 to 99", 10, 99)),
        *(("100 to 999", 100, 999), ("1,000 or more", 1000, None)),
    ]
    groups = {
        "repeats": [_stratum("unique", nll + 0.02, 0.53), _stratum("soft-masked", nll - 0.02 - gain, 0.47)],
        "seen": [
            _stratum(name, nll - 0.1 * place - gain * place, 0.6 / 3**place, *bounds)
            for place, (name, *bounds) in enumerate(seen)
        ],
        "gc": [
            _stratum(name, nll + 0.01 * (place - 5) ** 2 / 10, 0.1, *bounds)
            for place, (name, *bounds) in enumerate(deciles)
        ],
        "cpg": [
            _stratum("elsewhere", nll - 0.01, 0.98),
            _stratum("C of CpG", nll + 0.3, 0.01),
            _stratum("G of CpG", nll + 0.9, 0.01),
        ],
        "distance": [
            _stratum(name, nll + 0.1 / (1 + place) - gain, 0.1, *bounds)
            for place, (name, *bounds) in enumerate(contexts)
        ],
    }
    return _signed(setting, "strata", "test", "nats per base") | {
        "level": 0.95,
        "groups": [{"name": name, "question": "?", "strata": rows} for name, rows in groups.items()],
    }


def _lengths(setting: RunConfig, nll: float) -> dict[str, Any]:
    training, climb = setting.model.context, 0.01 if setting.model.position.name == "rope" else -0.002
    rows = [
        {
            "length": training * factor,
            "factor": factor,
            "value": nll + climb * step,
            "interval": [nll + climb * step - 0.01, nll + climb * step + 0.01],
            "gain": -climb * step,
            "gain_interval": None,
            "count": 8192,
        }
        for step, factor in enumerate((1, 2, 4, 8, 16))
    ]
    along = [
        {"from": start, "to": start + 256, "value": value, "interval": [value - 0.004, value + 0.004], "count": 256}
        for start in range(0, 16 * training, 256)
        if (value := nll + 0.01 * math.sin(start))
    ]
    return _signed(setting, "lengths", "test", "nats per base") | {
        "training_length": training,
        "windows": 32,
        "lengths": rows,
        "positions": along,
        "warnings": [],
    }


def _strands(setting: RunConfig, rng: np.random.Generator) -> dict[str, Any]:
    counts, edges = np.histogram(rng.normal(0, 0.01, 1000), bins=41, range=(-0.05, 0.05))
    return _signed(setting, "rc", "test", "nats per base") | {
        "value": 0.008,
        "interval": [0.0075, 0.0085],
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }


def _copying(setting: RunConfig) -> dict[str, Any]:
    gains = {
        (size, stretch, before): gain
        for size, scale in ((32, 4.0), (256, 1.0))
        for stretch, worth in (("real", 0.01), ("random", 0.002))
        for before, gain in (("another stretch", 0.0), ("its copy", scale * worth), ("its reverse complement", -0.001))
    }
    rows = [
        {
            "stretch": stretch, "length": size, "before": before, "value": 1.3 - gain,
            "interval": [1.29 - gain, 1.31 - gain], "gain": gain,
            "gain_interval": None if before == "another stretch" else [gain - 0.001, gain + 0.001],
            "count": 256 * size,
        }
        for (size, stretch, before), gain in gains.items()
    ]  # fmt: skip
    told = {"value": 0.01, "interval": [0.009, 0.011], "windows": 256, "warnings": [], "settings": {"windows": None}}
    return _signed(setting, "copying", "test", "nats per base") | told | {"rows": rows}


def _leakage() -> dict[str, Any]:
    def shares(near: float) -> dict[str, Any]:
        return {"windows": 976, "judged": 970, "any": 4 * near, "near": near, "same": near / 3, "shared": near}

    pair = {
        "split": "test", "contig": "chr21_test", "start": 1024, "end": 2048, "train_contig": "chr21_train",
        "train_start": 77_000, "train_end": 78_024, "place": None, "train_place": None, "strand": "-", "shared": 0.93,
        "kmers": 61, "outside_repeats": 0.05,
    }  # fmt: skip
    both = {"overall": shares(0.04), "outside_repeats": shares(0.002)}
    return {
        "format": 1, "measure": "leakage", "dataset_hash": HASH, "tool_version": "0.1.0", "k": 32, "one_in": 16,
        "near": 0.5, "same": 0.95, "splits": {"val": both, "test": both}, "pairs": [pair],
    }  # fmt: skip


def _bench() -> dict[str, Any]:
    rows = [
        {
            "what": "train", "arm": arm, "length": 1024, "batch": 8, "precision": "fp32", "kernel": "auto",
            "device": "cpu", "repeats": 5, "rounds": 3, "outcome": "ok", "threads": 2, "device_name": "cpu",
            "torch": "2.13.0", "kernel_ran": "sdpa, flash on CPU", "parameters": 812_032, "tokens_per_second": speed,
            "tokens_per_second_spread": [speed - 500, speed + 400], "cuda_allocated_peak": None,
            "cuda_reserved_peak": None, "resident_peak": 780_000_000,
        }
        for arm, speed in (("rope", 15_000.0), ("goat", 15_400.0))
    ]  # fmt: skip
    return {
        "format": 1, "measure": "bench", "unit": "bases per second; bytes", "tool_version": "0.1.0",
        "command": "dnagoat bench --out bench.json", "rows": rows, "published": [],
    }  # fmt: skip


def comparison(folder: Path, shift: float = -0.007) -> Path:
    """A comparison of RoPE and GOAT over three seeds; GOAT differs by about `shift` in each."""
    names = {"rope": 1.312, "goat": 1.312 + shift}
    for arm, nll in names.items():
        for seed in range(3):
            missing = (
                () if seed == 0 else ("nll-val", "nll-test", "generation", "strata-test", "lengths-test", "rc-test")
            )
            run(folder / f"{arm}-s{seed}", config(arm, seed=seed), nll + 0.001 * seed, missing=missing)
    arms = [_arm(name, names, "goat" if name == "goat" else None) for name in names]
    write_json(
        folder / "comparison.json",
        {
            "format": 1, "measure": "comparison", "unit": "nats per base", "reference": "rope", "seeds": [0, 1, 2],
            "dataset_hash": HASH, "tool_version": "0.1.0", "level": 0.95, "resamples": 2000, "block_bases": 20_000,
            "windows": 60, "arms": arms, "verdict": "On the test split: goat is better than rope.",
            "command": "dnagoat compare data/demo --arm rope --arm goat --out compare",
        },
    )  # fmt: skip
    return folder


def _arm(name: str, names: dict[str, float], judged: str | None) -> dict[str, Any]:
    shift = names[name] - names["rope"]
    found = {
        "value": shift, "by_seed": [shift - 0.001, shift, shift + 0.001], "over_seeds": [shift - 0.003, shift + 0.003],
        "over_blocks": [shift - 0.001, shift + 0.001], "verdict": "better", "models_differ": True,
        "warnings": ["only 12 blocks: the interval over the genome is too narrow below 30"],
    }  # fmt: skip
    here = {
        "value": names[name], "interval": [names[name] - 0.008, names[name] + 0.008],
        "by_seed": [names[name] + 0.001 * seed for seed in range(3)], "count": 61_440, "blocks": 12,
        "difference": found if judged else None,
    }  # fmt: skip
    return {
        "name": name, "runs": [f"elsewhere/{name}-s{seed}" for seed in range(3)], "lr": 1e-3,
        "parameters": {"all": 812_032, "position": 1_216, "content": 810_816}, "tokens_per_second": 15_000.0,
        "speed_ratio": 1.0, "cuda_allocated_peak": None, "cuda_reserved_peak": None, "resident_peak": 700_000_000,
        "splits": {
            split: dict.fromkeys(("all", "repeat", "unique", "early", "late"), here) for split in ("val", "test")
        },
        "reach": [{"nll": None, "by_seed": [2_000_000, 2_100_000, 1_900_000]}, {"nll": 1.26, "by_seed": [None] * 3}],
    }  # fmt: skip


def dataset(folder: Path) -> Dataset:
    """A dataset of random bases, 40 windows of 64, split by blocks."""
    bases = np.random.default_rng(0).choice(list("ACGT"), 64 * 40)
    source = folder.with_suffix(".fa")
    write_text(source, ">random\n" + "".join(bases) + "\n")
    return prepare(source, folder, PrepareOptions(window=64, split="blocks"))
