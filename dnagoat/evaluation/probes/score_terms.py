"""Which part of a sheared score finds the answer: q.k, g p.k, g q.p' or g^2 p.p', where p is the last step of q."""

# B sequences, T positions, H heads, C content width

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.momentum import Momentum
from dnagoat.evaluation.microscope.anatomy import causal
from dnagoat.evaluation.probes.fit import TokenLM
from dnagoat.evaluation.probes.repetition import Repetitions

TERMS = ("q.k", "p.k", "q.p", "p.p")


@torch.inference_mode()
def score_terms(model: TokenLM, sequences: Repetitions) -> list[dict[str, Any]]:
    """Of the first layer, for each term: `magnitude` (root mean square over allowed keys), and `signal`, how far the
    key that holds the answer stands above the other allowed keys, in their standard deviations.

    Scores are in nats; averages are over sequences, heads and the queries that have an answer.
    """
    count, length = sequences.tokens.shape
    rows = torch.arange(count, device=sequences.tokens.device)[:, None]
    allowed = causal(length, length, sequences.tokens.device)[sequences.queries]
    right = torch.zeros_like(allowed)
    right[rows, torch.arange(sequences.stretch - 1), sequences.answers] = True
    terms = split_scores(model, sequences.tokens)[:, rows, :, sequences.queries].movedim(2, 0)
    return [_described(name, term, allowed, right) for name, term in zip(TERMS, terms, strict=True)]


def split_scores(model: TokenLM, inputs: Tensor) -> Tensor:
    """The four terms (4, B, H, T, S) of the first layer's content scores; they add up to what the kernel computes."""
    attention = next(model.attentions())
    scheme = attention.scheme
    inner, strength = (scheme.inner, float(scheme.strength)) if isinstance(scheme, Momentum) else (scheme, 0.0)
    at = At.whole(inputs.shape[1], inputs.device)
    x = model.blocks[0].attention_norm(inner.embed(model.embedding(inputs), at))  # type: ignore[operator]
    heads = [side(x).unflatten(-1, (attention.heads, -1)).transpose(1, 2) for side in (attention.query, attention.key)]
    q, k, _ = inner.rotate(heads[0], heads[1], at)
    p, p_key = (strength * torch.nn.functional.pad(side.diff(dim=-2), (0, 0, 1, 0)) for side in (q, k))
    pairs = ((q, k), (p, k), (q, p_key), (p, p_key))
    return torch.stack([query @ key.mT / scheme.root for query, key in pairs])


def _described(name: str, term: Tensor, allowed: Tensor, right: Tensor) -> dict[str, Any]:
    """`term` (B, T, H, S) of the queries, masks (B, T, S)."""
    allowed, right = allowed.unsqueeze(-2), right.unsqueeze(-2)
    others = allowed & ~right
    count = others.sum(-1)
    mean = (term * others).sum(-1) / count
    spread = (((term - mean.unsqueeze(-1)) * others).square().sum(-1) / count).sqrt()
    lead = (term * right).sum(-1) - mean
    square = (term.square() * allowed).sum() / (allowed.sum() * term.shape[2])
    return {
        "term": name,
        "magnitude": float(square.sqrt()),
        "lead": float(lead.mean()),
        "signal": float((lead / spread)[spread > 0].mean()) if (spread > 0).any() else None,
    }
