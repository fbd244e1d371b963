"""How much likelier does an allele make its surroundings? The log-likelihood ratio of ALT over REF, on both strands.

    LLR = log p(alt, after | before) - log p(ref, after | before)      in nats; docs/variants.md

`before` lies on the left for the + strand and on the right for the - strand.
"""

# n changes

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.outputs.variants.alleles import Change, Frame
from dnagoat.evaluation.scoring.branches import Stem, score_branches
from dnagoat.genome.alphabet import reverse_complement
from dnagoat.model.transformer import DnaLM


def score_changes(model: DnaLM, changes: Sequence[Change], frame: Frame, batch_bases: int) -> NDArray[np.float64]:
    """Log-likelihood ratios (n, 2), in nats, on the + and on the - strand.

    What alleles of one place have in common is read once for all of them; both strands pass through the model together.
    """
    places: dict[tuple[bytes, bytes, bytes], list[int]] = defaultdict(list)
    for number, change in enumerate(changes):
        places[change.left.tobytes(), change.ref.tobytes(), change.right.tobytes()].append(number)
    stems = [stem for numbers in places.values() for stem in _stems([changes[n] for n in numbers], frame.after)]
    scores = score_branches(model, stems, batch_bases)
    ratios = np.empty((len(changes), 2))
    for place, numbers in enumerate(places.values()):
        for strand in (0, 1):
            nats = scores[2 * place + strand]
            ratios[numbers, strand] = nats[1:] - nats[0]
    return ratios


def _stems(changes: Sequence[Change], after: int) -> tuple[Stem, Stem]:
    """REF and each ALT of one place, read on the + and on the - strand."""
    first = changes[0]
    alleles = [first.ref, *(change.alt for change in changes)]
    forward = tuple(np.concatenate([allele, first.right[:after]]) for allele in alleles)
    reverse = tuple(reverse_complement(np.concatenate([first.left[-after:], allele])) for allele in alleles)
    return Stem(first.left, forward), Stem(reverse_complement(first.right), reverse)
