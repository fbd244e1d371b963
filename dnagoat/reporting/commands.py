"""Which commands repeat a report: training written out in full, so that it does not hang on a preset's defaults."""

from __future__ import annotations

import shlex
from typing import Any

from dnagoat.genome.dataset import Rules, SourceRecord
from dnagoat.genome.preparation import command as preparing
from dnagoat.reporting.sources import Results, RunResults


def commands(results: Results) -> list[str]:
    """Preparation, training (or the comparison that trained), probes, benchmarks, then every measure; each once."""
    comparison = (results.comparison or {}).get("command")
    said = _preparing(results)
    said += [comparison] if comparison else [training(run) for run in results.runs]
    said += [probe["command"] for probe in results.probes if probe.get("command")]
    said += [bench["command"] for bench in results.bench]
    for run in results.runs:
        said += [measure["command"] for _, measure in sorted(run.measures.items()) if measure.get("command")]
    return list(dict.fromkeys(said))


def _preparing(results: Results) -> list[str]:
    """What made the datasets that are still there, each where its runs look for it."""
    folders = {run.config.dataset_hash: run.config.dataset for run in results.runs}
    made = [
        preparing(
            [SourceRecord(**source) for source in manifest.get("sources") or [manifest["source"]]],
            Rules(**manifest["rules"]),
            folders[manifest["content_hash"]],
        )
        for manifest in results.manifests
    ]
    return [command for command in made if command is not None]


def training(run: RunResults) -> str:
    """`dnagoat train ...` with every setting that the weights depend on, save a width of the MLP that was matched."""
    config = run.config
    words: list[Any] = ["dnagoat", "train", config.dataset, "--preset", config.preset]
    words += ["--from", config.origin.path] if config.origin else []
    for flag, value in _settings(run).items():
        words += [flag] if value is True else [] if value is None or value is False else [flag, value]
    words += ["--reverse-complement" if config.train.reverse_complement else "--no-reverse-complement"]
    words += ["--score-n"] if config.train.score_n else []
    return shlex.join([*map(str, words), "--out", str(run.run.path)])


def _settings(run: RunResults) -> dict[str, Any]:
    train, model = run.config.train, run.config.model
    return {
        "--position": model.position.name,
        **{f"--{flag}": value for flag, value in model.position.settings.written().items()},
        **_momentum(run),
        "--convolution": model.position.convolution,
        "--gate": model.position.gate,
        "--heads": model.heads,
        "--content": model.content,
        "--normaliser": None if model.normaliser == "softmax" else model.normaliser,
        "--steps": train.steps,
        "--batch-size": train.batch_size,
        "--optimizer": train.optimizer,
        "--lr": f"{train.lr:g}",
        "--warmup": train.warmup if train.warmup <= train.steps else None,  # a longer one is the preset's
        "--schedule": train.schedule,
        "--recipe": None if train.recipe == "none" else train.recipe,
        "--weight-decay": f"{train.weight_decay:g}",
        "--clip": f"{train.clip:g}",
        "--prior-lr-scale": f"{train.prior_lr_scale:g}",
        "--jitter": train.jitter or None,
        "--eval-every": train.eval_every,
        "--eval-windows": train.eval_windows,
        "--precision": train.precision,
        "--seed": train.seed,
    }


def _momentum(run: RunResults) -> dict[str, Any]:
    momentum = run.config.model.position.momentum
    if momentum is None:
        return {}
    return {
        "--momentum": f"{momentum.strength:g}",
        "--momentum-ramp": momentum.ramp_steps or None,
        "--momentum-layers": ",".join(map(str, momentum.layers)) if momentum.layers else None,
    }
