"""How the numbers came about: versions, settings, seeds, hashes, and the commands that repeat them."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import dnagoat
from dnagoat.errors import RunError
from dnagoat.evaluation.comparison.arms import setting_of
from dnagoat.files import read_json
from dnagoat.reporting.cells import called, row_of, word
from dnagoat.reporting.commands import commands
from dnagoat.reporting.numbers import UNKNOWN, decimals, large, listed, percent, whole
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.table import Column, Table
from dnagoat.training.kept.run import STATE
from dnagoat.training.step.schedule import apply_recipe
from dnagoat.wording import counted

BASES = 4  # classes of a model that scores A, C, G and T alone
OPTIMIZERS = {"adamw": "AdamW", "muon": "Muon for matrices and AdamW"}
PACKAGES = ("torch", "numpy", "scipy", "pandas", "matplotlib")


@dataclass(frozen=True)
class Methods:
    """`paragraphs` for a reader, `settings` one column a run, `commands` for the shell."""

    paragraphs: list[str]
    settings: Table
    commands: list[str]


def methods(results: Results, command: str) -> Methods:
    return Methods(_paragraphs(results), _settings(results), [*commands(results), command])


def versions() -> dict[str, str]:
    """Versions of this tool, Python and the packages that a number can depend on, on the machine that reports."""
    found = {"dnagoat": dnagoat.__version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _paragraphs(results: Results) -> list[str]:
    said = ", ".join(f"{name} {number}" for name, number in versions().items())
    paragraphs = [f"This page was written with {said}."]
    paragraphs += _likelihood(results)
    generation = next((run.measures["generation"] for run in results.runs if "generation" in run.measures), None)
    if generation:
        options = generation.get("settings", {}).get("trajectory", {})
        paragraphs.append(
            f"GC % trajectories: {counted(options.get('prompts'), 'prompt')} of "
            f"{counted(options.get('prompt_length'), 'real base')} from random {generation['split']} windows without "
            "N, "
            f"{counted(options.get('samples'), 'sampled continuation')} of {counted(options.get('length'), 'base')} "
            f"each, GC % in windows of {counted(options.get('gc_window'), 'base')} every "
            f"{whole(options.get('gc_stride'))}; "
            "intervals resample prompts."
        )
    return paragraphs + _priors(results) + [_dataset(manifest) for manifest in results.manifests] + _beside(results)


def _priors(results: Results) -> list[str]:
    """What the runs' schemes say of their settings, and what of a published run's is not theirs."""
    said: dict[str, list[str]] = {}
    for run in results.runs:
        if text := run.config.model.position.settings.method():
            from dnagoat.evaluation.measures.protocol_paper import other_content  # which needs torch, and lanes

            other = "".join(f"; {more}" for more in other_content(run.config))
            said.setdefault(f"{text}{other}.", []).append(called(results, run))
    return [f"{listed(list(dict.fromkeys(names)))}: {text}" for text, names in said.items()]


def _likelihood(results: Results) -> list[str]:
    """How the test bases were scored, as the results themselves say: once for all models, or for each that differs."""
    said: dict[str, list[str]] = {}
    for run in results.runs:
        if nll := run.nll("test"):
            said.setdefault(" ".join(_scoring(run, nll)), []).append(called(results, run))
    if not said:
        return []
    first = (
        "NLL is the negative log-likelihood in nats per scored base (bits = nats / ln 2); N and other ambiguous codes "
        "are never a target."
    )
    if len(said) == 1:
        return [" ".join([first, *said])]
    return [first, *(f"{listed(names)}: {text}" for text, names in said.items())]


def _scoring(run: RunResults, nll: Result) -> Iterator[str]:
    """What was read and scored, by which checkpoint, with which versions; what a result does not say is left out."""
    context, stride, mean = nll.get("context"), nll.get("stride"), nll.get("mean_context")
    if context and stride:
        chosen = "evenly spread over" if nll.get("settings", {}).get("windows") else "which cover"
        pieces = f"{counted(nll.get('windows'), 'piece')} of at most {counted(context, 'base')}"
        moved = f"; they move on by {counted(stride, 'base')}, and each scores what none before it has"
        yield f"The model read {pieces}, {chosen} the test windows{moved if stride < context else ''}."
        if run.config.model.classes > BASES:
            yield "It knows no start symbol: a base without context is not scored, and the class N is left out."
        else:
            yield "A start symbol comes first, so that a base without context is scored too."
    if mean is not None:
        yield f"A scored base has {decimals(mean, 1)} bases of context on average."
    yield (
        f"Intervals are 95 % percentile intervals of {whole(nll.get('resamples'))} resamples of contiguous blocks of "
        f"{counted(nll.get('block_bases'), 'base')}."
    )
    yield CHECKPOINTS[nll["checkpoint"]["which"]]
    made = f" with torch {nll['torch']}" if nll.get("torch") else ""
    yield f"Scored by dnagoat {nll['tool_version']}{made}."


CHECKPOINTS = {
    "best": "The checkpoint with the lowest NLL of the validations in training was scored; the test split had no part "
    "in that choice.",
    "last": "The last checkpoint was scored, which no validation has chosen.",
}


def _dataset(manifest: Result) -> str:
    """A dataset's passport in a sentence or two."""
    rules, tally = manifest["rules"], manifest["tally"]
    sources = manifest.get("sources") or [manifest["source"]]  # formats 1 and 2 had one
    windows = ", ".join(f"{whole(count)} {split}" for split, count in tally["windows"].items())
    named = "; ".join(
        f"{source['name']}{' (' + source['assembly'] + ')' if source.get('assembly') else ''}, "
        f"sha256 {source['sha256'][:12]}"
        for source in sources
    )
    dropped = ""
    if rules.get("copies") == "drop":
        dropped = f"; {whole(tally['windows_copies'])} training windows left as near-copies of held-out ones"
    return (
        f"Dataset: {named}, {whole(tally['bases'])} bases of which "
        f"{whole(tally['n'])} N and {whole(tally['masked'])} soft-masked; windows of {whole(rules['window'])} every "
        f"{whole(rules['stride'])} bases with at most {percent(rules['max_n'], 0)} N, split by {rules['split']}: "
        f"{windows}{dropped}; content {manifest['content_hash'][:12]}."
    )


def _beside(results: Results) -> list[str]:
    """What the benchmark and the leak report say of themselves."""
    said = []
    for bench in results.bench:
        row = bench["rows"][0]
        said.append(
            f"Speed and memory: {counted(row['rounds'], 'fresh process')} an arm, in turn, "
            f"{counted(row['repeats'], 'repeat')} each after warm-up, medians; "
            f"torch {row.get('torch', UNKNOWN)}, device {row.get('device_name', row['device'])}, "
            f"{counted(row.get('threads'), 'thread')}, subnormal numbers {row.get('subnormals', 'kept')}, "
            f"kernel that ran: {row.get('kernel_ran', UNKNOWN)}."
        )
    if results.leakage:
        said.append(
            f"Leak report: exact {results.leakage['k']}-mers of held-out windows, on either strand, looked up in the "
            f"training split; one in {results.leakage['one_in']} is taken. dnagoat {results.leakage['tool_version']}."
        )
    return said


def _settings(results: Results) -> Table:
    columns = [
        Column(key, head, numeric=False)
        for key, head in (
            ("run", "Run"),
            ("setting", "Arm"),
            ("size", "Size"),
            ("training", "Training"),
            ("seed", "Seed"),
            ("checkpoint", "Checkpoint scored"),
            ("dataset", "Dataset content"),
            ("version", "Trained with"),
        )
    ]
    rows = [row_of(results, run, [word(text) for text in _setting(run)]) for run in results.runs]
    return Table("settings", "Settings of each run", "Model", columns, rows)


def _setting(run: RunResults) -> list[str]:
    model, train = run.config.model, apply_recipe(run.config.train)
    recipe = "" if train.recipe == "none" else f" (recipe {train.recipe})"
    checkpoint = (run.nll("test") or run.nll("val") or {}).get("checkpoint") or _best(run)
    scored = (
        f"{checkpoint['which']}, step {whole(checkpoint['step'])}, {checkpoint['sha256'][:12]}"
        if checkpoint
        else UNKNOWN
    )
    return [
        run.run.name,
        setting_of(run.config),
        f"{run.config.preset}: width {model.width}, {counted(model.heads, 'head')}, {counted(model.layers, 'layer')}, "
        f"context {whole(model.context)}, {large(run.parameters)} weights",
        f"{counted(train.steps, 'step')} of {counted(train.batch_size, 'window')}, {OPTIMIZERS[train.optimizer]} "
        f"{train.lr:g}, {train.schedule} decay, warm-up {train.warmup}{recipe}, {train.precision}, reverse complement "
        f"{'on' if train.reverse_complement else 'off'}",
        str(run.seed),
        scored,
        run.config.dataset_hash[:12],
        run.config.tool_version + (f", torch {run.summary['torch']}" if run.summary.get("torch") else ""),
    ]


def _best(run: RunResults) -> Result | None:
    """The checkpoint that a comparison scores, as the run's folder names it; it writes no result of a single run."""
    try:
        state = read_json(run.run.checkpoint("best") / STATE)
        return {"which": "best", "step": state["step"], "sha256": state["model_sha256"]}
    except (RunError, OSError, ValueError, KeyError):
        return None
