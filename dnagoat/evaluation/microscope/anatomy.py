"""What a row of attention is made of: content and prior, how far one can push the other, and who wins by how much."""

# T queries, S keys; leading dimensions (batch, heads) are free and broadcast. Scores and log-priors are in nats.

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Margin(NamedTuple):
    """By how much a key beats its strongest competitor, split in two parts that add up to it; each (..., T)."""

    content: Tensor
    prior: Tensor
    competitor: Tensor  # the key that both differences are taken against

    @property
    def total(self) -> Tensor:
        return self.content + self.prior


def causal(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """(T, S) mask of the allowed keys; the last query stands at the last key."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def normalised(log_prior: Tensor, allowed: Tensor) -> Tensor:
    """The prior as a distribution over the allowed keys: (..., T, S), rows sum to one."""
    return log_prior.masked_fill(~allowed, -torch.inf).softmax(-1)


def log_normalised(log_prior: Tensor, allowed: Tensor) -> Tensor:
    """Its logarithm, finite at allowed keys however steep the prior is; -inf elsewhere."""
    return log_prior.masked_fill(~allowed, -torch.inf).log_softmax(-1)


def divergence(weights: Tensor, log_prior: Tensor, allowed: Tensor) -> Tensor:
    """KL(attention || prior) in nats, (..., T): how far content has moved the weights of a row."""
    change = weights.log() - log_normalised(log_prior, allowed)
    return (weights * change).masked_fill(~allowed | (weights == 0), 0.0).sum(-1)


def content_range(scores: Tensor, allowed: Tensor, tau: float = 1.0) -> Tensor:
    """omega_i = (largest - smallest allowed score) / tau, (..., T): how much content there is to move a row."""
    highest = scores.masked_fill(~allowed, -torch.inf).amax(-1)
    lowest = scores.masked_fill(~allowed, torch.inf).amin(-1)
    return (highest - lowest) / tau


def tightness(weights: Tensor, log_prior: Tensor, scores: Tensor, allowed: Tensor, tau: float = 1.0) -> Tensor:
    """max_j |log(p_ij / pi_ij)| / omega_i, (..., T): the share of the theorem's room that a row uses, 0 to 1.

    Rows with one allowed key, or without any content range, use nothing: 0.
    """
    omega = content_range(scores, allowed, tau)
    change = weights.log() - log_normalised(log_prior, allowed)
    moved = change.masked_fill(~allowed | (weights == 0), 0.0).abs().amax(-1)
    return torch.where(omega > 0, moved / omega.clamp_min(torch.finfo(omega.dtype).tiny), torch.zeros_like(omega))


def margin(content: Tensor, prior: Tensor, key: int, allowed: Tensor) -> Margin:
    """By how much `key` leads the strongest other key in every row; positive where it is a sink.

    `content` (scores over tau) and `prior` (log) are (..., T, S). Both parts are differences to the SAME competitor,
    the one with the largest sum: the minimum of a sum is not the sum of two minima. Rows that may not look at `key`,
    or at nothing else, are NaN.
    """
    both = content + prior
    others = allowed.clone()
    others[..., key] = False
    competitor = both.masked_fill(~others, -torch.inf).argmax(-1)
    defined = allowed[..., key] & others.any(-1)

    def lead(part: Tensor) -> Tensor:
        part = part.expand_as(both)
        difference = part[..., key] - part.gather(-1, competitor.unsqueeze(-1)).squeeze(-1)
        return difference.masked_fill(~defined, torch.nan)

    return Margin(lead(content), lead(prior), competitor)


def divergence_from_uniform(log_prior: Tensor, allowed: Tensor) -> Tensor:
    """KL(prior || uniform over the allowed keys) in nats, (..., T): 0 for plain attention."""
    prior = normalised(log_prior, allowed)
    entropy: Tensor = torch.special.entr(prior).sum(-1)
    return allowed.sum(-1).to(prior.dtype).log() - entropy


def effective_reach(log_prior: Tensor, allowed: Tensor, mass: float) -> Tensor:
    """The least distance within which the prior of the last query holds `mass` of its weight; (...,) in keys.

    Distance 0 is the query's own position; the last of T queries stands at the last of S keys.
    """
    nearest_first = normalised(log_prior, allowed)[..., -1, :].flip(-1)
    return (nearest_first.cumsum(-1) < mass - 1e-12).sum(-1)
