"""How well a model predicts each base: nats a base, kept base by base so that every summary is of the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dnagoat.attention.cache import Cache
from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.pieces import Pieces
from dnagoat.genome.alphabet import Codes, N
from dnagoat.genome.batches import IGNORE, gather, to_inputs_targets
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.step.loss import base_losses

# B pieces in a batch, W bases of a piece, n pieces, M scored bases of all pieces end to end

Floats = NDArray[np.float32]
BASES = 4  # the classes that a prediction is about; a fifth, N, is left out and the others renormalised


@dataclass(frozen=True)
class Scores:
    """Nats of each scored base (M,), NaN at an N, and whether the likeliest base was the true one."""

    pieces: Pieces
    losses: Floats
    hits: NDArray[np.bool_]

    def sums(self) -> NDArray[np.float64]:
        """Nats of each piece, (n,)."""
        return piece_sums(self.pieces, np.nan_to_num(self.losses))

    def counts(self) -> NDArray[np.float64]:
        """Scored bases of each piece, (n,); an N is none."""
        return piece_sums(self.pieces, ~np.isnan(self.losses))


def piece_sums(pieces: Pieces, values: NDArray[np.float32] | NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sums of a quantity of each base (M,) over each piece, (n,)."""
    totals = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return np.asarray(totals[pieces.offsets[1:]] - totals[pieces.offsets[:-1]])


@flush_subnormals()
def score(
    model: DnaLM,
    tokens: Codes,
    pieces: Pieces,
    batch_bases: int | None,
    progress: Progress = silent,
    at_once: int | None = None,
) -> Scores:
    """Scores each piece of the token store with about `batch_bases` bases at once; batch mates change nothing.

    None are as many as are quick and fit.

    `at_once` bounds the bases of a piece that pass through the model together, the rest waiting in its cache: memory
    then grows with keys and values alone.
    """
    once = bases_at_once(model, batch_bases, int(pieces.widths.max(initial=1)), cached=at_once is not None)
    losses = np.empty(pieces.offsets[-1], dtype=np.float32)
    hits = np.empty(pieces.offsets[-1], dtype=bool)
    done = 0
    progress("scoring windows", 0, len(pieces))
    for batch in pieces.batches(once):
        nats, right = window_scores(model, gather(tokens, pieces.starts[batch], int(pieces.widths[batch[0]])), at_once)
        scored, places = pieces.places(batch)
        losses[places], hits[places] = nats[scored], right[scored]
        done += len(batch)
        progress("scoring windows", done, len(pieces))
    return Scores(pieces, losses, hits)


@flush_subnormals()
@torch.inference_mode()
def window_scores(model: DnaLM, codes: Codes, at_once: int | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """Nats of each base of codes (B, W) and whether the likeliest was right, each (B, W); NaN and False at an N.

    A model of five classes knows no start symbol, so that its first base is not scored; its class N is left out.
    """
    five = model.config.classes > BASES
    inputs, targets = to_inputs_targets(codes, score_n=five)
    targets = np.where(targets == N, IGNORE, targets)
    device = next(model.parameters()).device
    logits = _logits(model, torch.from_numpy(inputs).to(device), at_once)[..., :BASES]
    nats = base_losses(logits, torch.from_numpy(targets).to(device)).cpu().numpy()
    nats = np.where(targets == IGNORE, np.nan, nats).astype(np.float32)
    right = logits.argmax(-1).cpu().numpy() == targets
    if five:
        nats = np.pad(nats, ((0, 0), (1, 0)), constant_values=np.nan)
        right = np.pad(right, ((0, 0), (1, 0)))
    return nats, right


@flush_subnormals()
@torch.inference_mode()
def base_log_probabilities(model: DnaLM, codes: Codes) -> Floats:
    """log p of A, C, G, T before each base of codes (B, W) is read, (B, W, 4) in nats; NaN without any before.

    That is the first base for a model of five classes, whose class N is left out.
    """
    five = model.config.classes > BASES
    inputs, _ = to_inputs_targets(codes, score_n=five)
    logits = _logits(model, torch.from_numpy(inputs).to(model.embedding.weight.device), None)[..., :BASES]
    found = torch.log_softmax(logits, -1).cpu().numpy()
    return np.pad(found, ((0, 0), (1, 0), (0, 0)), constant_values=np.nan) if five else found


def _logits(model: DnaLM, inputs: Tensor, at_once: int | None) -> Tensor:
    """(B, T) -> (B, T, C) float32, in one pass or `at_once` symbols after each other."""
    batch, length = inputs.shape
    if not length:  # a single base, without a start symbol before it
        return torch.empty(batch, 0, model.config.classes, device=inputs.device)
    if at_once is None or length <= at_once:
        return model(inputs).float()  # type: ignore[no-any-return]
    cache = Cache(model.config, batch, length, inputs.device, model.embedding.weight.dtype)
    return torch.cat([model(part, cache).float() for part in torch.split(inputs, at_once, dim=1)], dim=1)
