"""Example runs: what the product's own producers make of planted scores, and of small models that they measured.

Nothing of a result is typed here: likelihoods are `summarise`d from scores that lie where a test wants them, a
comparison is judged from such scores, a benchmark is summed up from trials; the rest is measured (`world`).
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dnagoat
from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.config import ModelConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.evaluation.comparison.arms import COMPARISON
from dnagoat.evaluation.comparison.judgement import Arm, ArmScores, judge_scores
from dnagoat.evaluation.measures import nll as likelihood
from dnagoat.evaluation.measures import strata
from dnagoat.evaluation.results import MEASURES as REGISTERED
from dnagoat.evaluation.results import sign
from dnagoat.evaluation.scoring.ladder import Ladder, Rung
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.scored import identity, keep_scores
from dnagoat.files import read_json, write_json, write_text
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.leaks.leakage import leakage
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.measure.benchmark import row_of
from dnagoat.measure.job import Job
from dnagoat.training.kept.metrics import Metrics, Step
from dnagoat.training.kept.run import Run, open_run
from tests.reporting import world

HASH = "d" * 64
MARKOV = (1.372, 1.344, 1.335, 1.332, 1.327, 1.322, 1.313, 1.302, 1.297, 1.291, 1.289, 1.292, 1.301)
BLOCKS, BLOCK_BASES, PIECE = world.BLOCKS, world.BLOCK_BASES, world.PIECE
MEASURES = ("nll-val", "nll-test", "generation", "strata-test", "lengths-test", "rc-test", "copying-test", "prior")

Floats = NDArray[np.float64]


def config(
    position: str = "rope", *, seed: int = 0, steps: int = 300, dataset_hash: str = HASH, dataset: str = "data/demo"
) -> RunConfig:
    return RunConfig(
        preset="tiny",
        model=ModelConfig(context=PIECE, position=PositionConfig(name=position)),
        train=TrainConfig(steps=steps, seed=seed, lr=1e-3),
        dataset=dataset,
        dataset_hash=dataset_hash,
        tool_version=dnagoat.__version__,
    )


def run(folder: Path, setting: RunConfig, nll: float, *, missing: tuple[str, ...] = ()) -> Path:
    """A run folder whose test NLL is about `nll` nats per base; measures named in `missing` are left out."""
    rng = np.random.default_rng([setting.train.seed, *setting.model.position.name.encode()])
    write_json(folder / "config.json", setting.model_dump(mode="json"))
    model = world.measured(setting.model.position.name)
    _train(folder, setting, nll, rng, {**_described(model), "parameters": world.parameters(setting.model)})
    made = open_run(folder)
    if set(missing) >= set(MEASURES):
        return folder
    for kept in ("checkpoints", "best", "last"):
        origin = model.path / kept
        shutil.copytree(origin, folder / kept) if origin.is_dir() else shutil.copy(origin, folder / kept)
    scores = {split: planted_scores(split, value, rng) for split, value in (("val", nll - 0.004), ("test", nll))}
    for split, found in scores.items():
        _keep(made, split, found)
        _store(made, f"nll-{split}", likelihood_of(made, split, found), missing)
    options = world.OPTIONS
    divided = strata.summarise(made, world.divisions(), scores["test"], world.blocks("test"), options)
    _store(made, "strata-test", divided, missing)
    for stem in world.ASKED:
        _store(made, stem, _body(model, stem), missing)
    if SCHEMES[setting.model.position.name].learned:
        prior = world.with_prior(setting.model.position.name, setting.model.heads, setting.model.layers)
        _store(made, "prior", _body(prior, "prior"), missing)
    return folder


def _described(model: Run) -> dict[str, Any]:
    """What the engine says of itself in a summary, without what the run took."""
    summary: dict[str, Any] = read_json(model.path / "summary.json")
    names = ("device", "processes", "threads", "subnormals", "precision", "kernel")
    return {name: summary[name] for name in names}


def _body(model: Run, stem: str) -> dict[str, Any]:
    found: dict[str, Any] = read_json(model.path / "evaluation" / f"{stem}.json")
    return found


def _store(made: Run, stem: str, body: dict[str, Any], missing: tuple[str, ...]) -> None:
    """Writes a result as the run's own: signed by it, and with its settings."""
    if stem not in missing:
        measure = REGISTERED[stem.removesuffix("-test").removesuffix("-val")]
        options = world.ASKED.get(stem, world.OPTIONS).but(split="val" if stem.endswith("-val") else "test")
        write_json(made.path / "evaluation" / f"{stem}.json", body | sign(made, measure, options))


def _train(folder: Path, setting: RunConfig, nll: float, rng: np.random.Generator, described: dict[str, Any]) -> None:
    """metrics.jsonl and summary.json of a training that comes down to `nll`."""
    steps, window = setting.train.steps, setting.train.batch_size * setting.model.context
    metrics = Metrics(folder, 0)
    for step in range(1, steps + 1):
        level = nll + 0.09 * math.exp(-step / (steps / 4))
        metrics.write(
            Step(
                step=step,
                steps=steps,
                bases=step * window,
                loss=level + float(rng.normal(0, 0.008)),
                lr=setting.train.lr,
                grad_norm=0.3,
                tokens_per_second=15_000 + float(rng.normal(0, 300)),
                seconds=step * window / 15_000,
                val_nll=level - 0.003 if step % 50 == 0 or step == steps else None,
                resident_peak=700_000_000 + step,
            )
        )
    metrics.finish(described)
    metrics.close()


def planted_scores(split: str, value: float, rng: np.random.Generator) -> Scores:
    """Nats of each base about `value`: blocks differ for every model alike, bases and models a little by themselves."""
    pieces, blocks = world.pieces(split), world.blocks(split)
    names, places = np.unique(blocks, return_inverse=True)
    own = _shared(split, len(names)) + rng.normal(0, 0.004, len(names))
    noise = np.repeat(own[places], pieces.lengths) + np.random.default_rng(6).normal(0, 0.3, int(pieces.offsets[-1]))
    losses = (value + noise - noise.mean()).astype(np.float32)
    return Scores(pieces, losses, losses < np.quantile(losses, 0.39))


def _shared(split: str, blocks: int) -> Floats:
    shared = np.random.default_rng([5, *split.encode()]).normal(0, 0.03, blocks)
    return np.asarray(shared - shared.mean())


def _ladder(split: str) -> Ladder:
    """Nats of each piece under tables of counts, at the levels of MARKOV to the last digit."""
    lengths = world.pieces(split).lengths
    names, places = np.unique(world.blocks(split), return_inverse=True)
    ladder: Ladder = {}
    for order, level in enumerate(MARKOV):
        own = _shared(split, len(names)) + np.random.default_rng(order).normal(0, 0.0098, len(names))
        sums = lengths * own[places]
        ladder[Rung("markov", order)] = level * lengths + sums - lengths * sums.sum() / lengths.sum()
    return ladder


def likelihood_of(made: Run, split: str, scores: Scores) -> dict[str, Any]:
    options = world.OPTIONS.but(split=split)
    return likelihood.summarise(made, scores, _ladder(split), world.blocks(split), options)


def _keep(made: Run, split: str, scores: Scores) -> None:
    signed = sign(made, REGISTERED["nll"], world.OPTIONS.but(split=split))
    key = {
        "checkpoint": signed["checkpoint"]["sha256"],
        "dataset": made.config.dataset_hash,
        "pieces": identity(scores.pieces),
        "tool_version": dnagoat.__version__,
    }
    offsets = np.array([contig.offset for contig in world.dataset().contigs])
    origins = offsets[np.searchsorted(offsets, scores.pieces.starts, side="right") - 1]
    keep_scores(made.path / "evaluation" / f"bases-{split}-0a1b.npz", key, scores, origins)


def everything(folder: Path) -> tuple[list[Path], Path]:
    """RoPE and GOAT with every measure and a leak report of their dataset; and the file of a benchmark."""
    data, bench = folder / "data", folder / "bench.json"
    shutil.copytree(world.dataset().path, data)
    copied = world.dataset().content_hash
    leakage(_open(data))
    write_json(bench, benchmark([_job("rope", 15_000.0), _job("goat", 15_400.0)], "dnagoat bench --out bench.json"))
    arms = {"rope": 1.312, "goat": 1.305}
    settings = {arm: config(arm, dataset=str(data), dataset_hash=copied) for arm in arms}
    return [run(folder / arm, settings[arm], nll) for arm, nll in arms.items()], bench


def _open(path: Path) -> Dataset:
    from dnagoat.genome.dataset import open_dataset

    return open_dataset(path)


def _job(arm: str, speed: float) -> dict[str, Any]:
    job = Job(
        what="train", arm=arm, model=ModelConfig(), train=TrainConfig(), length=1024, batch=8, device="cpu", repeats=5
    )
    return row_of(job, [trial(job, speed, kernel="sdpa, flash on CPU")] * 3)


def trial(
    job: Job, speed: float, *, kernel: str, device: str = "cpu", cuda: tuple[int, int] | None = None
) -> dict[str, Any]:
    """What a process that measured says, at about so many bases a second."""
    bases = job.batch * job.length
    allocated, reserved = cuda or (None, None)
    return {
        "outcome": "ok",
        "seconds": [bases / rate for rate in (speed - 500, speed, speed, speed, speed + 400)],
        "process_seconds": [bases / speed] * 5,
        "cuda_allocated_peak": allocated,
        "cuda_reserved_peak": reserved,
        "resident_peak": 780_000_000,
        "resident_before": 500_000_000,
        "resident_reset": True,
        "bases": bases,
        "parameters": 812_032,
        "kernel_ran": kernel,
        "threads": 2,
        "subnormals": "flushed",
        "device_name": device,
        "torch": "2.13.0",
        "peer": None,
    }


def benchmark(
    rows: list[dict[str, Any]], command: str, published: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """The file that `bench --out` writes."""
    return {
        "format": 1,
        "measure": "bench",
        "unit": "bases per second; bytes",
        "tool_version": dnagoat.__version__,
        "command": command,
        "rows": rows,
        "published": published or [],
    }


def comparison(folder: Path, shift: float = -0.007) -> Path:
    """A comparison of RoPE and GOAT over three seeds; GOAT differs by about `shift` in each."""
    levels = {"rope": 1.312, "goat": 1.312 + shift}
    later = tuple(stem for stem in MEASURES if stem not in ("copying-test", "prior"))
    runs = {
        arm: [
            run(folder / f"{arm}-s{seed}", config(arm, seed=seed), nll + 0.001 * seed, missing=later if seed else ())
            for seed in range(3)
        ]
        for arm, nll in levels.items()
    }
    compare = "dnagoat compare data/demo --arm rope --arm goat --out compare"
    write_json(folder / COMPARISON, judged(runs, levels, blocks=12, reach=(1.2,)) | {"command": compare})
    return folder


def judged(
    runs: dict[str, list[Path]], levels: dict[str, float], *, blocks: int, reach: tuple[float, ...] = ()
) -> dict[str, Any]:
    """What a comparison judges of arms that lie at these levels, each seed a little apart from the others."""
    arms = [Arm(name, paths, 1e-3) for name, paths in runs.items()]
    scored = {}
    for split in ("val", "test"):
        for place, (name, level) in enumerate(levels.items()):
            found = _arm_scores(level, blocks, len(runs[name]), place)
            strata_of = dict.fromkeys(("all", "repeat", "unique", "early", "late"))
            sums, counts = (dict.fromkeys(strata_of, values) for values in found)
            scored[name, split] = ArmScores(sums, counts, np.repeat(np.arange(blocks), PIECES // blocks))
    return judge_scores(arms, scored, reach) | {  # type: ignore[arg-type]  # splits as plain words
        "dataset_hash": HASH,
        "block_bases": 20_000,
        "windows": 60,
    }


PIECES = 240  # of a comparison


def _arm_scores(level: float, blocks: int, seeds: int, place: int) -> tuple[Floats, Floats]:
    """Nats (S, n) and bases (n,) of pieces: the mean over seeds lies at the level, each seed a tenth of a hundredth
    apart, blocks differ for every arm alike."""
    counts = np.full(PIECES, 256.0)
    shared = np.repeat(_shared("test", blocks), PIECES // blocks)
    own = np.random.default_rng([7, place]).normal(0, 0.002, PIECES)
    apart = np.linspace(-0.0005, 0.0005, seeds) * (1 + place)
    sums = counts * (level + shared + own - own.mean() + apart[:, None])
    return sums, counts


def dataset(folder: Path) -> Dataset:
    """A dataset of random bases, 40 windows of 64, split by blocks."""
    bases = np.random.default_rng(0).choice(list("ACGT"), 64 * 40)
    source = folder.with_suffix(".fa")
    write_text(source, ">random\n" + "".join(bases) + "\n")
    return prepare(source, folder, PrepareOptions(window=64, split="blocks"))
