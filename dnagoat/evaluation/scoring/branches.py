"""How likely are sequences that share what comes before them? It is read once, and each goes on from there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from dnagoat.attention.cache import Cache
from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.likelihood import BASES
from dnagoat.genome.alphabet import START, Codes
from dnagoat.model.transformer import DnaLM

# B stems in a batch, n branches of each, P symbols that are read before, S symbols of the longest branch

Nats = NDArray[np.float64]


class Stem(NamedTuple):
    """What is read first, (b,) with b >= 1, and the ways in which it goes on; N is no base of a branch."""

    before: Codes
    branches: tuple[Codes, ...]


@flush_subnormals()
def score_branches(model: DnaLM, stems: Sequence[Stem], batch_bases: int) -> list[Nats]:
    """log p(branch | start symbol, before) of each branch, in nats, (n,) a stem; batch mates change nothing.

    About `batch_bases` bases are read at once.
    """
    batch_bases = bases_at_once(model, batch_bases, model.config.context, cached=True)
    found: list[Nats] = [np.empty(0)] * len(stems)
    for batch in _batches(stems, batch_bases):
        for place, nats in zip(batch, _score(model, [stems[place] for place in batch]), strict=True):
            found[place] = nats
    return found


def _batches(stems: Sequence[Stem], bases: int) -> Iterator[list[int]]:
    """Stems of one length and one number of branches, those with branches of similar lengths together."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, stem in enumerate(stems):
        alike[len(stem.before), len(stem.branches)].append(place)
    for (length, count), places in alike.items():
        order = sorted(places, key=lambda place: _longest(stems[place]))
        first = 0
        while first < len(order):
            last = first + 1
            while last < len(order) and (last + 1 - first) * (length + count * _longest(stems[order[last]])) <= bases:
                last += 1
            yield order[first:last]
            first = last


def _longest(stem: Stem) -> int:
    return max(map(len, stem.branches))


@torch.inference_mode()
def _score(model: DnaLM, stems: Sequence[Stem]) -> Nats:
    """(B, n). The last base before is read with the branches, since the first prediction is made there."""
    device, dtype = model.embedding.weight.device, model.embedding.weight.dtype
    before = np.stack([stem.before for stem in stems]).astype(np.int64)
    if model.config.classes == BASES:  # one of five classes knows no start symbol
        before = np.pad(before, ((0, 0), (1, 0)), constant_values=START)
    count, longest = len(stems[0].branches), max(map(_longest, stems))
    targets = np.zeros((len(stems) * count, longest), dtype=np.int64)
    known = np.zeros(targets.shape, dtype=bool)
    for row, branch in enumerate(branch for stem in stems for branch in stem.branches):
        targets[row, : len(branch)], known[row, : len(branch)] = branch, True
    cache = Cache(model.config, len(stems), before.shape[1] - 1, device, dtype)
    if cache.capacity:
        model.read(torch.from_numpy(before[:, :-1]).to(device), cache)
    inputs = np.concatenate([before[:, -1:].repeat(count, 0), targets[:, :-1]], axis=1)
    wide = cache.branched(count, longest)
    if model.memory is not None and cache.memory is not None:
        wide.memory = model.memory.repeated(cache.memory, count)
    logits = model(torch.from_numpy(inputs).to(device), wide)[..., :BASES]
    log_p = torch.log_softmax(logits.cpu().double(), -1).gather(-1, torch.from_numpy(targets)[..., None])[..., 0]
    nats: Nats = np.where(known, log_p.numpy(), 0.0).sum(1).reshape(len(stems), count)
    return nats
