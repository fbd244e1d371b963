"""How the numbers came about: versions, settings, seeds, hashes, and the commands that repeat them."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import dnagoat
from dnagoat.reporting.commands import commands
from dnagoat.reporting.numbers import UNKNOWN, large, percent, whole
from dnagoat.reporting.results import Result, Results, RunResults
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.reporting.tables import called

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
    test = next((nll for run in results.runs if (nll := run.nll("test"))), None)
    if test:
        paragraphs.append(
            "NLL is the negative log-likelihood in nats per scored base (bits = nats / ln 2). A window is fed as a "
            "start symbol and its bases, so every base is scored once, the first one without context; N and other "
            "ambiguous codes are never a target. Intervals are 95 % percentile intervals of "
            f"{whole(test.get('resamples'))} resamples of contiguous blocks of {whole(test.get('block_bases'))} bases. "
            "The checkpoint with the lowest validation NLL was scored on the test split, which no choice has seen."
        )
    generation = next((run.measures["generation"] for run in results.runs if "generation" in run.measures), None)
    if generation:
        options = generation.get("settings", {}).get("trajectory", {})
        paragraphs.append(
            f"GC % trajectories: {options.get('prompts', UNKNOWN)} prompts of {options.get('prompt_length', UNKNOWN)} "
            f"real bases from random {generation['split']} windows without N, {options.get('samples', UNKNOWN)} "
            f"sampled continuations of {options.get('length', UNKNOWN)} bases each, GC % in windows of "
            f"{options.get('gc_window', UNKNOWN)} bases every {options.get('gc_stride', UNKNOWN)}; "
            "intervals resample prompts."
        )
    return paragraphs + [_dataset(manifest) for manifest in results.manifests] + _beside(results)


def _dataset(manifest: Result) -> str:
    """A dataset's passport in a sentence or two."""
    source, rules, tally = manifest["source"], manifest["rules"], manifest["tally"]
    windows = ", ".join(f"{whole(count)} {split}" for split, count in tally["windows"].items())
    named = f" ({source['assembly']})" if source.get("assembly") else ""
    return (
        f"Dataset: {source['name']}{named}, sha256 {source['sha256'][:12]}, {whole(tally['bases'])} bases of which "
        f"{whole(tally['n'])} N and {whole(tally['masked'])} soft-masked; windows of {whole(rules['window'])} every "
        f"{whole(rules['stride'])} bases with at most {percent(rules['max_n'], 0)} N, split by {rules['split']}: "
        f"{windows}; content {manifest['content_hash'][:12]}."
    )


def _beside(results: Results) -> list[str]:
    """What the benchmark and the leak report say of themselves."""
    said = []
    for bench in results.bench:
        row = bench["rows"][0]
        said.append(
            f"Speed and memory: {row['rounds']} fresh processes an arm, in turn, {row['repeats']} repeats each after "
            f"warm-up, medians; torch {row.get('torch', UNKNOWN)}, device {row.get('device_name', row['device'])}, "
            f"{row.get('threads', UNKNOWN)} threads, kernel that ran: {row.get('kernel_ran', UNKNOWN)}."
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
            ("size", "Size"),
            ("training", "Training"),
            ("seed", "Seed"),
            ("checkpoint", "Checkpoint scored"),
            ("dataset", "Dataset content"),
            ("version", "Trained with"),
        )
    ]
    rows = [
        Row(called(results, run), [Cell(text, text) for text in _setting(run)], arm=run.arm) for run in results.runs
    ]
    return Table("settings", "Settings of each run", "Model", columns, rows)


def _setting(run: RunResults) -> list[str]:
    model, train = run.config.model, run.config.train
    checkpoint = (run.nll("test") or run.nll("val") or {}).get("checkpoint")
    scored = (
        f"{checkpoint['which']}, step {whole(checkpoint['step'])}, {checkpoint['sha256'][:12]}"
        if checkpoint
        else UNKNOWN
    )
    return [
        run.run.name,
        f"{run.config.preset}: width {model.width}, {model.heads} heads, {model.layers} layers, context "
        f"{whole(model.context)}, {large(run.parameters)} weights",
        f"{whole(train.steps)} steps of {train.batch_size} windows, AdamW {train.lr:g}, {train.schedule} decay, "
        f"warm-up {train.warmup}, {train.precision}, reverse complement {'on' if train.reverse_complement else 'off'}",
        str(run.seed),
        scored,
        run.config.dataset_hash[:12],
        run.config.tool_version,
    ]
