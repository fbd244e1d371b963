"""What a trained model loses when one part of its position scheme is switched off: causal evidence, at inference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dnagoat.model.transformer import DnaLM


def parts_of(model: DnaLM) -> list[str]:
    """What can be switched off in a model, as its schemes say; empty for one that has no positions."""
    return list(dict.fromkeys(part for attention in model.attentions() for part in attention.scheme.removable()))


@contextmanager
def without(model: DnaLM, part: str) -> Iterator[None]:
    """Inside the block the model works without `part`, one of `parts_of`; afterwards it is as it was."""
    schemes = [attention.scheme for attention in model.attentions()]
    for attention in model.attentions():
        if part in attention.scheme.removable():
            attention.scheme = attention.scheme.without(part)
    try:
        yield
    finally:
        for attention, scheme in zip(model.attentions(), schemes, strict=True):
            attention.scheme = scheme
