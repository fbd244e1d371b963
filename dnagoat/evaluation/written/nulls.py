"""What GC trajectory something gets that knows less than a model: the three nulls that stand beside its correlation.

another locus    a true continuation, but of another prompt: what any real DNA gets
order-8 Markov   a chain of the training split's 9-mers (both strands) that goes on from the prompt
prompt GC        the prompt's own GC%, held flat: knows the isochore and nothing else
"""

# N prompts, P bases of a prompt, K samples, G bases of a continuation, k order of the chain

from __future__ import annotations

import numpy as np

from dnagoat.counts.markov import PSEUDO_COUNTS, MarkovTables
from dnagoat.generation.sampling import Floats, Streams, draw
from dnagoat.genome.alphabet import Codes

ORDER = 8


def another_locus(true: Codes, spare: Codes) -> Codes:
    """Continuations (N, G) of loci that are no prompt's: the first of the spare sets (F, N, G).

    Where the split has no other loci, that of the prompt half a list away (in genome order, so that it is far).
    """
    return spare[0] if len(spare) else np.roll(true, len(true) // 2, axis=0)


def conditional(markov: MarkovTables) -> Floats:
    """(4**k, 4): the chance of each base after each k bases, each order smoothed by the one below it."""
    chances = np.full((1, 4), 0.25)
    for table in markov.tables:
        counts = table.reshape(-1, 4).astype(np.float64)
        # A context's last k - 1 bases are its number modulo 4**(k-1).
        lower = chances if len(counts) == 1 else np.tile(chances, (4, 1))
        chances = (counts + PSEUDO_COUNTS * lower) / (counts.sum(axis=1, keepdims=True) + PSEUDO_COUNTS)
    return chances


def markov_continuations(markov: MarkovTables, prompts: Codes, length: int, samples: int, seed: int) -> Codes:
    """Continuations (N, K, G) of prompts (N, P) by the chain; a prompt of fewer than k bases begins with A's."""
    chances, order = conditional(markov), markov.order
    rows = [prompt for prompt in prompts for _ in range(samples)]
    streams = Streams(seed, rows, list(range(samples)) * len(prompts))
    context = np.zeros(len(rows), np.int64)
    for base in np.repeat(prompts, samples, axis=0)[:, -order:].T:
        context = (context * 4 + base) % 4**order
    written = np.empty((len(rows), length), np.uint8)
    for place in range(length):
        written[:, place] = draw(chances[context], streams.at(place))
        context = (context * 4 + written[:, place]) % 4**order
    return written.reshape(len(prompts), samples, length)
