"""What a model takes from its memory: which source it trusts where, and what is left without one of the families."""

# B sequences, T symbols, E word experts, D ways to weigh copies, S = E + D sources, K classes of how often a word came

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dnagoat.attention.schemes.base import At
from dnagoat.config import Family
from dnagoat.counts.memory.experts import experts_of, family_of
from dnagoat.counts.memory.features import Features
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.model.memory import WAYS, Memory, Weighed
from dnagoat.model.transformer import DnaLM

SEEN = (0, 1, 2, 10, 100)  # where each class of how often a word was seen begins
AT_ONCE = 8  # windows


class Passed(NamedTuple):
    """A pass through the transformer: its own logits (B, T, 4) and its last state (B, T, width)."""

    logits: Tensor
    hidden: Tensor


def pass_through(model: DnaLM, symbols: Tensor, features: Features) -> Passed:
    """The transformer, which reads what memory says, without what memory adds at the end."""
    at = At.whole(symbols.shape[1], symbols.device)
    x = model.embed(symbols, at, features)
    for block in model.blocks:
        x = block(x, at, None)
    return Passed(model.logits(x, None), model.norm(x))


def sources(families: tuple[Family, ...]) -> list[dict[str, Any]]:
    """What can be trusted, (S,): an expert by family, word length and gap, a way of weighing copies by its number."""
    experts = experts_of(families)
    rows: list[dict[str, Any]] = [
        {"family": family, "length": int(length), "gap": int(gap)}
        for family, length, gap in zip(family_of(families), experts.lengths, experts.gaps, strict=True)
    ]
    return rows + [{"family": "copies", "way": way + 1} for way in range(WAYS if "copies" in families else 0)]


def without_family(features: Features, families: tuple[Family, ...], family: Family) -> Features:
    """As if no word of a family had ever been seen, or no copy been found: its experts say what those say that back
    them. Gapped words keep the order that backs them, whatever becomes of the words."""
    if family == "copies":
        return features._replace(votes=torch.zeros_like(features.votes))
    backing, of = experts_of(families).backing.tolist(), family_of(families)
    says, surprise, records, seen = (
        each.clone() for each in (features.says, features.surprise, features.records, features.seen)
    )
    for e in (e for e in range(len(of)) if of[e] == family):
        under = backing[e]
        while under >= 0 and of[under] == family:
            under = backing[under]
        for each in (says[:, :, e], surprise[:, :, e], records[..., e], seen[:, :, e]):
            each.zero_()
        if under >= 0:
            says[:, :, e], surprise[:, :, e] = features.says[:, :, under], features.surprise[:, :, under]
            records[..., e] = features.records[..., under]
    return Features(surprise, records, says, seen, features.votes)


class Trust:
    """Sums over predicted bases of each source's gate, and of the nats by which it moves the four bases apart."""

    def __init__(self, families: tuple[Family, ...]) -> None:
        self.sources = sources(families)
        self.sums: NDArray[np.float64] = np.zeros((3, len(self.sources), len(SEEN)))

    def add(self, weighed: Weighed, features: Features, known: Tensor) -> None:
        """Takes in the bases where `known` (B, T)."""
        says, gates = weighed.says[known], weighed.gates[known]
        moved = gates * (says.amax(-1) - says.amin(-1))
        copies = features.votes[known].sum((1, 2), dtype=torch.float32)[:, None].expand(-1, gates.shape[1])
        seen = torch.cat([features.seen[known].expm1().round(), copies[:, features.seen.shape[-1] :]], 1)
        label = torch.bucketize(seen, torch.tensor(SEEN[1:], device=seen.device), right=True)
        for k in range(len(SEEN)):
            here = label == k
            for row, values in enumerate((torch.ones_like(gates), gates, moved)):
                self.sums[row, :, k] += (values * here).sum(0, dtype=torch.float64).cpu().numpy()

    def rows(self) -> list[dict[str, Any]]:
        """One a source: mean gate and nats, over all bases and by how often its word was seen (copies: how many)."""
        return [
            {**source, **_means(self.sums[:, s].sum(-1)), "share": 1.0, "seen": self._by_seen(s)}
            for s, source in enumerate(self.sources)
        ]

    def _by_seen(self, s: int) -> list[dict[str, Any]]:
        edges = [*pairwise(SEEN), (SEEN[-1], None)]
        every = self.sums[0, s].sum()
        return [
            {"low": low, "high": high and high - 1, "share": float(sums[0] / every) if every else None, **_means(sums)}
            for (low, high), sums in zip(edges, self.sums[:, s].T, strict=True)
        ]


def _means(sums: NDArray[np.float64]) -> dict[str, float | None]:
    count = sums[0]
    return {"gate": float(sums[1] / count) if count else None, "nats": float(sums[2] / count) if count else None}


@torch.inference_mode()
def trust_on(model: DnaLM, codes: Codes) -> list[dict[str, Any]] | None:
    """Which sources a model trusts on windows (n, W), and where; None for a model without memory."""
    memory = model.memory
    if not isinstance(memory, Memory):
        return None
    trust = Trust(model.config.memory)
    symbols, targets = (torch.from_numpy(each).to(model.embedding.weight.device) for each in to_inputs_targets(codes))
    for some, expected in zip(torch.split(symbols, AT_ONCE), torch.split(targets, AT_ONCE), strict=True):
        features, _ = memory.look_up(some)
        trust.add(memory.weigh(pass_through(model, some, features).hidden, features), features, known(expected))
    return trust.rows()


def known(targets: Tensor) -> Tensor:
    """Where a base is to be predicted, and it is none that nobody knows."""
    return (targets >= 0) & (targets < 4)
