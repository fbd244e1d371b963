"""Asking what a run can do: generate, evaluate, score, report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dnagoat.api.keywords import Asked, Linear, Place, Result, Sampling, hear_nothing
from dnagoat.api.making import open_run
from dnagoat.progress import Progress, silent

if TYPE_CHECKING:
    from typing import Unpack

    from dnagoat.evaluation.outputs.base_scores import BaseScores
    from dnagoat.evaluation.outputs.sequences import Record
    from dnagoat.generation.continuation import Generated
    from dnagoat.training.kept.run import Run, Which


def generate(
    run: Run | Place,
    prompts: Sequence[str] = ("",),
    length: int = 256,
    *,
    samples: int = 1,
    checkpoint: Which = "best",
    device: str = "auto",
    batch_size: int = 64,
    max_context: int | None = None,
    say: Callable[[str], None] = hear_nothing,
    **sampling: Unpack[Sampling],
) -> list[Generated]:
    """Continues each prompt by `length` bases, `samples` times; in the order of prompts and samples.

    An empty prompt begins at the start symbol. Of each continuation `bases` is the text, `codes` (length,) the same as
    numbers, `log_probabilities` (length,) in nats under the model itself, whatever `temperature`, `top_k`, `top_p`,
    `ban_motifs` or `gc_target` made of it. `memory_strength` 0 to 1 weakens what a memory adds. Errors: `PromptError`
    (not DNA), `OptionError` (settings, memory).
    """
    from dnagoat.generation.continuation import generate as write
    from dnagoat.generation.prompts import from_text, nothing
    from dnagoat.generation.sampling import SamplingOptions
    from dnagoat.training.launch.processes import pick_device

    read = [(from_text(prompt, say) if prompt else nothing()).codes for prompt in prompts]
    model = _of(run).model(checkpoint, pick_device(device))
    made = write(
        model,
        read,
        length,
        SamplingOptions(**sampling),
        samples=samples,
        batch_size=batch_size,
        max_context=max_context,
    )
    return sorted(made, key=lambda one: (one.prompt, one.sample))


def evaluate(
    run: Run | Place,
    measure: str = "nll",
    *,
    results: Place | None = None,
    force: bool = False,
    progress: Progress = silent,
    **asked: Unpack[Asked],
) -> Result:
    """A measure of a run, computed once and kept in RUN/evaluation: nll, strata, lengths, rc, copying, generation,
    prior, inspect, memory or protocol-paper.

    The result says its unit, split, checkpoint, dataset and settings beside its numbers; intervals are 95 %, from
    resampling blocks of the genome. `results` takes the result of a run whose folder cannot be written. A result with
    other settings lies beside the first, which reports show, unless `force` puts it in its place. Errors: `RunError`
    (no checkpoint), `DatasetError` (the dataset has moved or changed), `WindowError` (empty split).
    """
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.results import ensure
    from dnagoat.training.launch.processes import pick_device

    options = MeasureOptions(**{**asked, "device": str(pick_device(asked.get("device", "auto")))})
    return ensure(_of(run, results), measure, options, force=force, progress=progress)


def score(
    run: Run | Place,
    sequences: Path | Mapping[str, str] | Iterable[str],
    *,
    context: int | None = None,
    stride: int | None = None,
    checkpoint: Which = "best",
    device: str = "auto",
    batch_size: int = 64,
    progress: Progress = silent,
) -> list[Record]:
    """Log-probabilities, in nats, of your own sequences on both strands: of a FASTA file (a `Path`), or of texts.

    Of each record `length` and `scored` count bases (N is never scored), `forward` and `reverse` are sums over the
    scored ones, `both` is the mean of the two. A sequence longer than `context` (the training length) is read in pieces
    that move by `stride` (half of it), each base scored once. `SourceError` where a letter is none of DNA.
    """
    from dnagoat.errors import OptionError
    from dnagoat.evaluation.outputs.sequences import score_records, score_sequences
    from dnagoat.genome.alphabet import encode
    from dnagoat.training.launch.processes import pick_device

    if isinstance(sequences, str):
        raise OptionError("one text could be a file or a sequence; give Path(file), or a list of sequences")
    model = _of(run).model(checkpoint, pick_device(device))
    bases = batch_size * model.config.context
    if isinstance(sequences, Path):
        return list(score_records(model, sequences, bases, context, stride, progress))
    named = sequences if isinstance(sequences, Mapping) else {str(i): text for i, text in enumerate(sequences)}
    codes = [(name, encode(text)) for name, text in named.items()]
    return list(score_sequences(model, codes, bases, context, stride, progress))


def score_bases(
    run: Run | Place,
    fasta: Place,
    *,
    context: int | None = None,
    stride: int | None = None,
    checkpoint: Which = "best",
    device: str = "auto",
    batch_size: int = 64,
    progress: Progress = silent,
) -> Iterator[BaseScores]:
    """What a model expects at each base of a FASTA or 2bit file, in order, in parts of a few million bases at most.

    Of each part `name` and `start` say where it begins, `codes` (n,) are its bases, `log_p` (n, 4) nats of A, C, G, T
    before each is read, `nats()` (n,) those of the true base, NaN at an N. Pieces are read as `score` reads them.
    """
    from dnagoat.evaluation.outputs.base_scores import score_bases as score_parts
    from dnagoat.training.launch.processes import pick_device

    model = _of(run).model(checkpoint, pick_device(device))
    return score_parts(model, Path(fasta), batch_size * model.config.context, context, stride, progress)


def probe_linear(
    runs: Sequence[Run | Place],
    regions: str,
    *,
    column: int = 4,
    positive: str | None = None,
    length: int | None = None,
    dataset: Place | None = None,
    out: Place | None = None,
    force: bool = False,
    say: Callable[[str], None] = hear_nothing,
    progress: Progress = silent,
    **how: Unpack[Linear],
) -> Result:
    """Do embeddings of runs tell two classes apart better than counts of 4-mers and 6-mers? Logistic regression.

    `regions` is a BED file whose `column` says the class, or "softmask"; examples lie in the held-out splits of the
    runs' dataset. Values and 95 % intervals over blocks are in result["rows"], paired differences in result["pairs"].
    `out` is a folder that `report` shows. Errors: `MissingError` without scikit-learn, `OptionError`, `SourceError`
    (no held-out region, one class), `DatasetError` (runs of several datasets).
    """
    import dnagoat
    from dnagoat.evaluation.comparison.labels import labels
    from dnagoat.evaluation.probes.linear import regression
    from dnagoat.evaluation.probes.linear.classes import Asked
    from dnagoat.reporting.sections.probes import kinds
    from dnagoat.training.launch.processes import pick_device

    regression.require_sklearn()
    opened = [_of(run) for run in runs]
    named = regression.name_arms(labels([run.config for run in opened]), opened)
    options = regression.LinearOptions(**{**how, "device": str(pick_device(how.get("device", "auto")))})
    data = opened[0].dataset(None if dataset is None else Path(dataset))
    asked = Asked(str(regions), column, positive, length)
    found = {"format": 1, **regression.probe_linear(named, data, asked, options, progress, say)}
    result = {**found, "tool_version": dnagoat.__version__}
    if out is not None:
        with kinds.new_result(Path(out), force=force):
            kinds.write(result, Path(out))
    return result


def report(
    paths: Sequence[Place],
    out: Place,
    *,
    bench: Sequence[Place] = (),
    skip: Sequence[str] = (),
    windows: int | None = None,
    prompts: int | None = None,
    dataset: Path | None = None,
    results: Path | None = None,
    device: str = "auto",
    batch_size: int | None = None,
    force: bool = False,
    say: Callable[[str], None] = hear_nothing,
    progress: Progress = silent,
) -> Path:
    """Writes one page about runs, a comparison or probes (the folders `paths`), and returns where it is.

    What a run has not measured yet is computed and kept in its folder (in `results`, where that cannot be written),
    save the measures that `skip` names; `windows` of each split are scored (all by default) and `prompts` continued
    (128). Beside the page: Markdown, JSON, CSV tables and figures. Errors: `RunError` (a folder cannot be read, `out`
    is taken), `OptionError`.
    """
    from dnagoat.reporting.document import PAGE, new_report
    from dnagoat.reporting.document import report as put_together
    from dnagoat.reporting.missing import measure_missing, options_for
    from dnagoat.reporting.sources import read, sources

    folders, target, benches = [Path(path) for path in paths], Path(out), [Path(path) for path in bench]
    words = ["dnagoat", "report", *folders, "--out", target]
    words += [
        word for option, values in (("--bench", benches), ("--skip", skip)) for v in values for word in (option, v)
    ]
    words += [word for option, n in (("--windows", windows), ("--prompts", prompts)) if n for word in (option, n)]
    words += ["--results", results] if results is not None else []
    with new_report(target, force=force) as folder:
        found = sources(folders)
        options = options_for(
            found, windows=windows, prompts=prompts, dataset=dataset, device=device, batch_size=batch_size
        )
        measure_missing(found.open_runs(results), options, skip, results=results, progress=progress, say=say)
        shown = read(folders, bench=benches, results=results, dataset=dataset)
        put_together(shown, shlex.join(map(str, words))).fill(folder)
    return target / PAGE


def _of(run: Run | Place, results: Place | None = None) -> Run:
    if isinstance(run, Path | str):
        return open_run(run, results=results)
    return run if results is None else open_run(run.path, results=results)
