"""What `generate` reads, how its progress looks, and which files it leaves."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dnagoat.errors import OptionError
from dnagoat_cli.terminal.bar import show_progress

if TYPE_CHECKING:
    from dnagoat.generation.continuation import Generated
    from dnagoat.generation.prompts import Prompt
    from dnagoat.generation.sampling import SamplingOptions
    from dnagoat.model.transformer import DnaLM
    from dnagoat.training.kept.run import Run


@dataclass
class Finished:
    """The sequences that are done, in the order of prompts and samples, and what stopped it before the last."""

    sequences: list[Generated]
    end: KeyboardInterrupt | None = None


def say(note: str) -> None:
    sys.stderr.write(f"note: {note}\n")


def check_places(inputs: dict[str, Path | None], outputs: dict[str, Path | None], force: bool) -> None:
    """Everything that can be said of the files before a base is written."""
    from dnagoat.files import may_write
    from dnagoat.streams import refuse_two_readers, refuse_two_writers

    refuse_two_readers(*inputs.items())
    refuse_two_writers(*outputs.items())
    for option, path in outputs.items():
        if path is not None:
            may_write(path, option, force=force)


def loaded(run: Run, checkpoint: str, device: str) -> DnaLM:
    """The model of the best or the last checkpoint on a device."""
    from dnagoat.training.launch.processes import pick_device

    if checkpoint not in ("best", "last"):
        raise OptionError(f"--checkpoint {checkpoint}: give best or last")
    return run.model("best" if checkpoint == "best" else "last", pick_device(device))


def gathered(
    run: Run,
    prompt: list[str] | None,
    prompts: Path | None,
    regions: Path | None,
    from_split: str | None,
    dataset: Path | None,
    *,
    count: int,
    length: int,
    seed: int,
) -> list[Prompt]:
    """The prompts of all sources that were given, in the order of the help page."""
    from dnagoat.generation import prompts as read
    from dnagoat.genome.windows import SPLITS

    found: list[Prompt] = []
    for text in prompt or []:
        found.append(read.from_text(text, say))
    if prompts is not None:
        found += read.from_fasta(prompts, say)
    if regions is not None:
        found += read.from_regions(regions, run.dataset(dataset, other=dataset is not None), say)
    if from_split is not None:
        split = next((name for name in SPLITS if name == from_split), None)
        if split is None:
            raise OptionError(f"--from-split {from_split}: there are {', '.join(SPLITS)}")
        opened = run.dataset(dataset, other=dataset is not None)
        found += read.from_split(opened, split, count, length, seed)
    asked = any(source is not None for source in (prompt, prompts, regions, from_split))
    return found if asked else [read.nothing()]


def written(
    model: DnaLM,
    prompts: Sequence[Prompt],
    options: SamplingOptions,
    *,
    length: int,
    samples: int,
    batch_size: int,
    max_context: int | None,
) -> Finished:
    """Generates under a bar; Ctrl-C ends it with what is finished."""
    from dnagoat.generation.continuation import generate, plan
    from dnagoat.progress import counter

    codes = [prompt.codes for prompt in prompts]
    planned = plan(model, codes, length, samples=samples, batch_size=batch_size, max_context=max_context)
    for note in planned.notes:
        say(note)
    finished = Finished([])
    with show_progress() as progress:
        heard = counter(progress, "generating bases", len(prompts) * samples * length)
        try:
            for made in generate(model, codes, length, options, samples=samples, planned=planned, progress=heard):
                finished.sequences.append(made)
        except KeyboardInterrupt as end:
            finished.end = end
    finished.sequences.sort(key=lambda made: (made.prompt, made.sample))
    return finished


def save(
    finished: Finished,
    prompts: Sequence[Prompt],
    options: SamplingOptions,
    *,
    out: Path | None,
    scores: Path | None,
    table: Path | None,
) -> None:
    """Writes what was asked for; nothing where no sequence is finished."""
    from dnagoat.generation.output import write_fasta, write_scores, write_table
    from dnagoat.streams import STANDARD

    if not finished.sequences:
        return
    write_fasta(out or STANDARD, prompts, finished.sequences, options)
    if scores is not None:
        write_scores(scores, finished.sequences)
    if table is not None:
        write_table(table, prompts, finished.sequences, options)


def end(finished: Finished, asked: int) -> None:
    """Says so where the user or a signal stopped it, and ends as what stopped it would have."""
    if finished.end is not None:
        say(f"interrupted; {len(finished.sequences):,} of {asked:,} sequences were finished and kept")
        raise finished.end
