"""What memory is worth to a model: each family left out, memory without its transformer, each source by itself."""

# n pieces, B of them in a batch, W bases of a piece, S sources, C columns: ways to predict the same bases

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dnagoat.counts.memory.features import Features
from dnagoat.errors import OptionError
from dnagoat.evaluation.measure import SCORED, Measure, MeasureOptions, Result
from dnagoat.evaluation.microscope.remembered import Trust, known, pass_through, sources, without_family
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.intervals import LEVEL, block_bootstraps, listed
from dnagoat.evaluation.scoring.pieces import Pieces, blocks_of
from dnagoat.evaluation.scoring.scored import about, pieces_of
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.batches import gather, to_inputs_targets
from dnagoat.model.memory import Memory
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run

WHOLE, TRANSFORMER, ALONE = "as trained", "transformer", "memory"
Sums = NDArray[np.float64]


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """NLL as trained and of each part, all on the same bases, with the cost of what is left out."""
    families = run.config.model.memory
    if not families:
        raise OptionError(
            f"--what memory: {run.path} was trained without memory; name a run of `dnagoat train --memory`"
        )
    dataset = options.dataset_of(run)
    pieces = pieces_of(dataset, options)
    model = run.model(options.which, options.device)
    scored = Parts(model, options.batch_bases(dataset.window))
    scored.score(dataset.tokens, pieces, progress)
    blocks = blocks_of(dataset, pieces, options.block)
    progress("resampling blocks", 0, 0)
    sums, counts = scored.sums, scored.counts
    table = np.concatenate([sums, sums - sums[:, :1]], axis=1)
    intervals = block_bootstraps(table, counts, blocks, options.resamples, options.seed, LEVEL)
    bases, size = counts.sum(), sums.shape[1]
    columns = [
        {
            "value": float(sums[:, c].sum() / bases),
            "interval": listed(intervals[c]),
            "cost": float((sums[:, c] - sums[:, 0]).sum() / bases),
            "cost_interval": listed(intervals[size + c]),
        }
        for c in range(size)
    ]
    named = [{"part": name, "without": name in families} for name in scored.parts]
    alone = [{**source, **column} for source, column in zip(sources(families), columns[len(named) :], strict=True)]
    return {
        "value": columns[0]["value"],
        "interval": columns[0]["interval"],
        "families": list(families),
        "parts": [{**name, **column} for name, column in zip(named, columns, strict=False)],
        "sources": alone,
        "best_source": min(range(len(alone)), key=lambda s: alone[s]["value"]),
        "trust": scored.trust.rows(),
        **about(run, pieces, counts, blocks, options),
    }


class Parts:
    """Nats of each piece (n, C) under the model as trained and under each of its parts: the transformer's own logits,
    memory with a state of zeros in its place, the model without each family, and each source by itself."""

    def __init__(self, model: DnaLM, batch_bases: int | None) -> None:
        assert isinstance(model.memory, Memory)
        self.model, self.memory, self.families = model, model.memory, model.config.memory
        self.device = model.embedding.weight.device
        self.batch_bases = bases_at_once(model, batch_bases, model.config.context)
        self.parts = [WHOLE, TRANSFORMER, ALONE, *self.families]
        self.trust = Trust(self.families)
        self.sums: Sums = np.zeros((0, 0))
        self.counts: Sums = np.zeros(0)

    @torch.inference_mode()
    def score(self, tokens: Codes, pieces: Pieces, progress: Progress = silent) -> None:
        """Scores the pieces; fills `sums` (n, C), `counts` (n,) and `trust`."""
        self.sums = np.zeros((len(pieces), len(self.parts) + len(self.trust.sources)))
        self.counts, done = np.zeros(len(pieces)), 0
        for batch in pieces.batches(self.batch_bases):
            codes = gather(tokens, pieces.starts[batch], int(pieces.widths[batch[0]]))
            symbols, targets = (torch.from_numpy(each).to(self.device) for each in to_inputs_targets(codes))
            wanted = known(targets) & torch.from_numpy(pieces.places(batch)[0]).to(self.device)
            self.counts[batch] = wanted.sum(1).cpu().numpy()
            true = targets.clamp(0, 3)
            for column, log_p in enumerate(self._predictions(symbols, wanted)):
                nats = -log_p.double().gather(-1, true[..., None])[..., 0]
                self.sums[batch, column] = torch.where(wanted, nats, 0.0).sum(1).cpu().numpy()
            done += len(batch)
            progress("scoring parts of windows", done, len(pieces))

    def _predictions(self, symbols: Tensor, wanted: Tensor) -> Iterator[Tensor]:
        """Log-probabilities (B, W, 4) of each column."""
        features, _ = self.memory.look_up(symbols)
        own = pass_through(self.model, symbols, features)
        weighed = self.memory.weigh(own.hidden, features)
        self.trust.add(weighed, features, wanted)
        yield _log_p(own.logits + self.memory.logits(own.hidden, features))
        yield _log_p(own.logits)
        yield _log_p(self.memory.logits(torch.zeros_like(own.hidden), features))
        for family in self.families:
            yield _log_p(self._whole(symbols, without_family(features, self.families, family)))
        for says in weighed.says.unbind(2):
            yield says - math.log(4)

    def _whole(self, symbols: Tensor, features: Features) -> Tensor:
        return self.model(symbols, None, features)  # type: ignore[no-any-return]


def _log_p(logits: Tensor) -> Tensor:
    return torch.log_softmax(logits.float(), -1)


MEASURE = Measure(
    "memory",
    "What is memory worth: without each family, without the transformer, and which source is trusted where?",
    unit="nats per base",
    compute=measure,
    settings=SCORED,
    per_split=True,
    applies=lambda run: bool(run.config.model.memory),
)
