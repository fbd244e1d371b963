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
    from dnagoat.progress import counter

    codes = [prompt.codes for prompt in prompts]
    planned = plan(model, codes, length, samples=samples, batch_size=batch_size, max_context=max_context)
    for note in planned.notes:
        say(note)
    finished = Finished()
    with show_progress() as progress:
        advance = counter(progress, "generating bases", len(prompts) * samples * length)
        try:
            for made in generate(model, codes, length, options, samples=samples, planned=planned, progress=advance):
                finished.sequences.append(made)
        except KeyboardInterrupt as end:
            finished.end = end
    finished.sequences.sort(key=lambda made: (made.prompt, made.sample))
    return finished
