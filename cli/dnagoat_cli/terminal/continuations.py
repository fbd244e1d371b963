"""Continuations while they are written: under a bar, and kept where Ctrl-C or a signal ends it early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dnagoat.wording import counted
from dnagoat_cli.terminal.bar import say, show_progress

if TYPE_CHECKING:
    from dnagoat.generation.continuation import Generated
    from dnagoat.generation.prompts import Prompt
    from dnagoat.generation.sampling import SamplingOptions
    from dnagoat.model.transformer import DnaLM


@dataclass
class Finished:
    """The sequences that are done, in the order of prompts and samples, and what stopped it before the last."""

    sequences: list[Generated] = field(default_factory=list)
    end: KeyboardInterrupt | None = None

    def conclude(self, asked: int) -> None:
        """Says so where the user or a signal stopped it, and ends as what stopped it would have."""
        if self.end is not None:
            say(f"interrupted; finished and kept: {len(self.sequences):,} of {counted(asked, 'sequence')}")
            raise self.end


def continue_prompts(
    model: DnaLM,
    prompts: Sequence[Prompt],
    options: SamplingOptions,
    length: int,
    *,
    samples: int = 1,
    batch_size: int = 64,
    max_context: int | None = None,
) -> Finished:
    """Generates under a bar; Ctrl-C ends it with what is finished."""
    from dnagoat.generation.continuation import generate, plan

    codes = [prompt.codes for prompt in prompts]
    planned = plan(model, codes, length, samples=samples, batch_size=batch_size, max_context=max_context)
    for note in planned.notes:
        say(note)
    finished, total, written = Finished(), len(prompts) * samples * length, 0
    longest = max((len(prompt) for prompt in codes), default=0)
    # One pass over a long prompt calls nobody back: until a base is written it is the prompt that is read.
    with show_progress(f"reading {counted(longest, 'base')} of prompt" if longest else "starting") as progress:

        def advance(more: int) -> None:
            nonlocal written
            written += more
            progress("generating bases", written, total)

        try:
            for made in generate(model, codes, length, options, samples=samples, planned=planned, progress=advance):
                finished.sequences.append(made)
        except KeyboardInterrupt as end:
            finished.end = end
    finished.sequences.sort(key=lambda made: (made.prompt, made.sample))
    return finished
