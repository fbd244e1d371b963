"""How good the weights are now: NLL on a fixed, evenly spread handful of validation windows."""

# B windows at once, W window width

from __future__ import annotations

import numpy as np
import torch

from dnagoat.config import RunConfig
from dnagoat.genome.batches import IGNORE, gather
from dnagoat.genome.dataset import Dataset
from dnagoat.model.transformer import DnaLM
from dnagoat.training.feed import spread
from dnagoat.training.launch.processes import Processes
from dnagoat.training.step.loss import count_scored, inputs_targets, summed_loss
from dnagoat.training.step.precision import computing


class Validation:
    """Always the same windows, whatever the seed, the step and the number of processes."""

    def __init__(self, dataset: Dataset, config: RunConfig, group: Processes) -> None:
        self.dataset, self.group, self.classes = dataset, group, config.model.classes
        self.precision = config.train.precision
        starts = spread(dataset.starts("val"), config.train.eval_windows)
        self.windows = len(starts)
        # Every process makes as many passes (FSDP gathers weights in each): where one is lacking, a window counts 0.
        lacking = -len(starts) % group.count
        self.starts = np.concatenate([starts, starts[:1].repeat(lacking)])[group.rank :: group.count]
        self.counted = (np.arange(len(starts) + lacking) < len(starts))[group.rank :: group.count]
        self.batch = min(config.train.micro_batch or config.train.batch_size, 32)

    @torch.no_grad()
    def nll(self, model: DnaLM) -> float | None:
        """Nats per scored base; None where the dataset has no validation window."""
        if not self.windows:
            return None
        model.eval()
        nats = torch.zeros((), dtype=torch.float64, device=self.group.device)
        bases = 0
        for first in range(0, len(self.starts), self.batch):
            part = slice(first, first + self.batch)
            codes = gather(self.dataset.tokens, self.starts[part], self.dataset.window)
            counted = self.counted[part]
            inputs, targets = inputs_targets(codes, self.classes, self.group.device)
            targets[counted.sum() :] = IGNORE  # those that only fill up are the last ones
            with computing(self.precision, self.group.device):
                nats += summed_loss(model(inputs), targets).double()
            bases += count_scored(codes[counted], self.classes)
        total, bases_read = self.group.total(float(nats), bases)
        return total / bases_read if bases_read else None
