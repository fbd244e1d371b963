"""What is looked up in the training split, weighed by the transformer that reads along: a component of the model.

    x_t = embedding(b_t) + W (surprise_t, what copies say)
    logits = h E^T + sum_s gate_s says_s + network(says, h, counts, records)

Sources s are the word experts and the copies, whose votes become distributions too, in several ways of weighing their
levels of agreement: p_d = (sum_v w_dv votes_v + alpha_d) / (sum of all + 4 alpha_d). The network is the same for each
of the four bases: it sees what speaks for that base, and what is common to all.
"""

# B batch, T symbols, E word experts, D ways to weigh copies, S = E + D sources, V levels of a vote, F fades

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from dnagoat.config import ModelConfig
from dnagoat.counts.memory.experts import experts_of
from dnagoat.counts.memory.features import AGREED, FADES, LEVELS, STREAK, Features, blank
from dnagoat.model.sending import send

if TYPE_CHECKING:
    from dnagoat.counts.memory.reading import Reader

WAYS, HIDDEN = 8, 64
SHARPEST = 1.5  # by how many nats a level of agreement counts more than the one below, in the sharpest way at the start


def levels_at_start() -> Tensor:
    """Logarithms of the weights (V, D): from all copies alike to the best ones alone."""
    agreed, streak = torch.meshgrid(torch.arange(len(AGREED)), torch.arange(len(STREAK)), indexing="ij")
    better = (agreed - len(AGREED) + 1) + 0.3 * (streak - len(STREAK) + 1)
    return better.flatten()[:, None] * torch.linspace(0.1, SHARPEST, WAYS)


class Weighed(NamedTuple):
    """What each source says in nats above a guess (B, T, S, 4), how far it is trusted (B, T, S), and what decides that
    (B, T, ...): the transformer's state, counts, votes and records."""

    says: Tensor
    gates: Tensor
    common: Tensor


class Memory(nn.Module):
    """Weighs what memory says. `reader` opens what looks it up; it is attached to a model that is to read by itself."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.reader: Callable[[], Reader] | None = None
        self.experts = len(experts_of(config.memory).lengths)
        copies = "copies" in config.memory
        self.ways, self.vote_levels = (WAYS, LEVELS) if copies else (0, 0)
        sources = self.experts + self.ways
        common = config.width + sources + len(FADES) * self.experts
        if copies:
            self.levels, self.prior = nn.Parameter(levels_at_start()), nn.Parameter(torch.full((WAYS,), -1.0))
        self.gates = nn.Parameter(torch.full((sources,), 1 / sources))
        self.gate = nn.Linear(common, sources)
        self.embedding = nn.Linear(self.experts + 4 * self.ways, config.width, bias=False)
        self.inner, self.inner_base = nn.Linear(common, HIDDEN), nn.Linear(sources, HIDDEN, bias=False)
        self.outer = nn.Linear(HIDDEN, 1, bias=False)

    def look_up(self, codes: Tensor, state: Any = None) -> tuple[Features, Any]:
        """Features of codes (B, T), as tensors on their device, and the state to read on from; None begins anew."""
        reader = self._opened()
        state = reader.begin(len(codes)) if state is None else state
        return tensors(reader.read(state, codes.cpu().numpy()), codes.device), state

    def repeated(self, state: Any, repeats: int) -> Any:
        """The state of each sequence, `repeats` times over."""
        return self._opened().repeated(state, repeats)

    def joined(self, states: list[Any]) -> Any:
        """The state of several batches as one."""
        return self._opened().joined(states)

    def _opened(self) -> Reader:
        if self.reader is None:
            raise RuntimeError("a model with memory reads with the tables of its dataset: set model.memory.reader")
        return self.reader()

    def blank(self, batch: int, count: int, device: torch.device) -> Features:
        """Features of a memory that knows nothing: where only shapes or speed matter."""
        return tensors(blank(self.experts, self.vote_levels, batch, count), device)

    def embed(self, features: Features) -> Tensor:
        """(B, T, width) float32, to be added to the embedding of the symbols."""
        with torch.autocast(features.says.device.type, enabled=False):
            known = torch.cat([features.surprise, self._copies(features)[0].flatten(2)], -1)
            return self.embedding(known.to(self.embedding.weight.dtype))  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor, features: Features) -> Tensor:
        """(B, T, 4) float32, to be added to those of the transformer, whose last state is hidden (B, T, width)."""
        with torch.autocast(hidden.device.type, enabled=False):  # a gate in bfloat16 would round a log-probability
            says, gates, common = self.weigh(hidden, features)
            for_base = says.transpose(-1, -2)
            inner = self.inner(common)[:, :, None] + self.inner_base(for_base)
            network = self.outer(nn.functional.gelu(inner))
            return (for_base @ gates[..., None] + network)[..., 0]  # type: ignore[no-any-return]

    def weigh(self, hidden: Tensor, features: Features) -> Weighed:
        """Every source and its gate, where the transformer's last state is hidden (B, T, width)."""
        copied, votes = self._copies(features)
        dtype = self.gates.dtype
        says = torch.cat([features.says.to(dtype), copied], 2)
        common = torch.cat([hidden.to(dtype), features.seen / 5, votes, 2 * features.records.flatten(2)], -1).to(dtype)
        return Weighed(says, self.gates + self.gate(common), common)

    def _copies(self, features: Features) -> tuple[Tensor, Tensor]:
        """What the copies say (B, T, D, 4) in nats above a guess, and log(1 + weight of their votes) (B, T, D)."""
        votes = features.votes.to(self.gates.dtype)
        if not self.ways:
            return votes, votes[..., 0]
        weighed = (votes.transpose(-1, -2) @ self.levels.exp()).transpose(-1, -2)
        alpha, every = self.prior.exp(), weighed.sum(-1)
        says = torch.log((weighed + alpha[:, None]) / (every + 4 * alpha)[..., None]) + math.log(4)
        return says, torch.log1p(every)


def tensors(features: Features, device: torch.device) -> Features:
    """NumPy's arrays as tensors on a device."""
    return Features(*(send(array, device) for array in features))
