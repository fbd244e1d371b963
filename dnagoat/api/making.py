"""Making datasets and runs: prepare, open_dataset, train, compare, open_run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dnagoat.api.keywords import Place, Result, Rules, hear_nothing, never_stop
from dnagoat.progress import Progress, silent

if TYPE_CHECKING:
    from typing import Unpack

    from dnagoat.config import RunConfig
    from dnagoat.genome.dataset import Dataset
    from dnagoat.progress import Stage
    from dnagoat.training.kept.metrics import Step
    from dnagoat.training.kept.run import Run
    from dnagoat.training.launch.stop import Stop


def prepare(
    source: Place | Sequence[Place],
    out: Place,
    *,
    progress: Callable[[Stage], None] = hear_nothing,
    **rules: Unpack[Rules],
) -> Dataset:
    """Turns a FASTA or 2bit file, or a genome that is known by name, into the dataset folder `out`, and opens it.

    Of several sources each is a genome, contigs are called GENOME:CONTIG, and `val` and `test` may name genomes.
    `window` and `stride` are in bases (1,024, and the window), `val` and `test` name contigs, `split="blocks"` divides
    every contig by itself; `max_n` is the largest share of N in a window, from 0 to 1; `copies="drop"` takes training
    windows out that are near-copies of held-out ones. Errors: `SourceError` (not DNA, not to be fetched),
    `DatasetError` (the folder is taken, no such contig), `WindowError` (no window is left).
    """
    from dnagoat.genome.preparation import PrepareOptions
    from dnagoat.genome.preparation import prepare as write_dataset

    return write_dataset(source, Path(out), PrepareOptions(**rules), progress)


def open_dataset(path: Place) -> Dataset:
    """Opens a dataset folder; nothing heavy is read. `tokens` (bases,) uint8 are mapped from disk, bits 0 to 2 the
    code (A 0, C 1, G 2, T 3, N 4). A `DatasetError` says what is wrong with a folder that is none.
    """
    from dnagoat.genome.dataset import open_dataset as read_dataset

    return read_dataset(Path(path))


def train(
    dataset: Dataset | Place,
    out: Place,
    *,
    arm: str | None = None,
    preset: str | None = None,
    start: Run | Place | None = None,
    steps: int | None = None,
    batch_size: int | None = None,
    lr: float | None = None,
    seed: int = 0,
    settings: Mapping[str, object] | None = None,
    match_parameters: bool = False,
    resume: bool = False,
    force: bool = False,
    device: str = "auto",
    stop: Stop = never_stop,
    say: Callable[[str], None] = hear_nothing,
    watch: Callable[[Step], None] = hear_nothing,
) -> Run:
    """Trains a model into the run folder `out` and opens it; `resume` continues, `force` replaces what is there.

    `arm` names the position scheme as in `compare`: rope, goat:spectral+sink, goat@init=uniform; None is goat, at the
    size of preset `small`. `start` is a run whose best weights it starts from, with its model and its settings, so that
    no other `arm` or `preset` may be given. `batch_size` counts
    windows; None leaves what the preset says. `settings` maps any other field of the configuration by its path to a
    value: {"train.warmup": 50}. `watch` gets every step: loss in nats per base, speed in bases per second, memory in
    bytes. Errors: `RunError` (the folder), `OptionError`, `TrainingError` (non-finite loss, memory, disk),
    `DatasetError`; `Stopped` once `stop` names a signal and the state is saved.
    """
    from dnagoat.config import PositionConfig
    from dnagoat.evaluation.comparison.arms import of_arm
    from dnagoat.training.kept.run import open_run as read_run
    from dnagoat.training.loop import train as steps_of
    from dnagoat.training.start import refuse_other_model, started

    data = _opened(dataset)
    if start is None:
        base = _configuration(data, preset or "small", steps, batch_size, settings)
    else:
        options = {"train.steps": steps, "train.batch_size": batch_size, **(settings or {})}
        base = started(open_run(start) if isinstance(start, Path | str) else start, data, options, preset=preset)
    config = of_arm(
        base, arm or (PositionConfig().name if start is None else None), seed=seed, lr=lr, match=match_parameters
    )
    if base.origin is not None:
        refuse_other_model(base, config, base.origin.path)
    for step in steps_of(
        config, Path(out), resume=resume, force=force, device=device, dataset=data, stop=stop, say=say
    ):
        watch(step)
    return read_run(Path(out))


def compare(
    dataset: Dataset | Place,
    arms: Sequence[str] | Mapping[str, str],
    out: Place,
    *,
    seeds: int = 3,
    preset: str = "small",
    steps: int | None = None,
    batch_size: int | None = None,
    rates: Sequence[float] = (),
    settings: Mapping[str, object] | None = None,
    match_parameters: bool = False,
    windows: int | None = None,
    reach: Sequence[float] = (),
    jobs: int = 1,
    threads: int = 1,
    device: str = "auto",
    stop: Stop = never_stop,
    progress: Progress = silent,
) -> Result:
    """Trains every arm with every seed, judges each against the first arm, and returns what comparison.json holds.

    `arms` are settings as `--arm` takes them, "NAME=SETTING" where one is to have a name, or settings by their names.
    Runs are trained in fresh processes, `jobs` at once with `threads` CPU threads each, and continued where they were
    begun. With several learning `rates` each arm takes the one that is best for its first seed on validation. `windows`
    are scored of each split (all by default); `reach` are validation NLLs in nats per base, of which the result says
    after how many bases of training each run came down to them. The verdict is in result["verdict"], all numbers with
    their intervals in result["arms"], nats per base. Errors as of `train`.
    """
    from dnagoat.evaluation.comparison.arms import read_arms
    from dnagoat.evaluation.comparison.experiment import Comparison
    from dnagoat.evaluation.comparison.experiment import compare as judge

    data = _opened(dataset)
    base = _configuration(data, preset, steps, batch_size, settings)
    return judge(
        Comparison(data, base, read_arms(arms), Path(out), seeds, tuple(rates), match_parameters),
        windows=windows,
        reach=reach,
        jobs=jobs,
        threads=threads,
        device=device,
        stop=stop,
        progress=progress,
    )


def open_run(path: Place, *, results: Place | None = None) -> Run:
    """Opens a run folder: `config`, `metrics()`, `model()`, `dataset()`; a `RunError` says what is wrong with it.

    `results` is a folder that takes what is measured of a run that cannot be written, instead of RUN/evaluation.
    """
    from dnagoat.training.kept.run import open_run as read_run

    return read_run(Path(path), None if results is None else Path(results))


def _opened(dataset: Dataset | Place) -> Dataset:
    return open_dataset(dataset) if isinstance(dataset, Path | str) else dataset


def _configuration(
    data: Dataset, preset: str, steps: int | None, batch_size: int | None, settings: Mapping[str, object] | None
) -> RunConfig:
    from dnagoat.training.presets import configure

    options = {"train.steps": steps, "train.batch_size": batch_size, **(settings or {})}
    return configure(preset, str(data.path), data.content_hash, data.window, options)
