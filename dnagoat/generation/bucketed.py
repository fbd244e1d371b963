"""The decoder of a GPU: a step whose operations and shapes are the same from position to position of a bucket.

Where it stands, only the device knows: the host gives the same orders again and again, so that they can be recorded
once a bucket and replayed. Keys and values are read as far as the bucket goes; slots that are still empty
are hidden.
"""

# B sequences, S slots read, R room

from __future__ import annotations

import torch
from torch import Tensor

from dnagoat.attention.fast.values import RowValues
from dnagoat.attention.lanes.device_rows import DeviceRows
from dnagoat.attention.schemes.base import At, Pair
from dnagoat.generation.decoding import Decoder
from dnagoat.model.transformer import DnaLM

SMALLEST = 128  # slots of a bucket


def bucket_of(seen: int) -> int:
    """How many slots are read where so many are filled: 128, 256, 384, 512, then four sizes an octave.

    At most a quarter more than needed, or 127; a long sequence goes through few buckets.
    """
    step = max(SMALLEST, 1 << max(0, (seen - 1).bit_length() - 3))
    return -(-seen // step) * step


class BucketDecoder(Decoder):
    """As `Decoder`, without memory. `symbols` (B,) are read by `go`, which leaves `logits` (B, classes)."""

    layout = RowValues
    rows = DeviceRows
    prior: DeviceRows

    def __init__(self, model: DnaLM, batch: int, room: int, memory_strength: float = 1.0) -> None:
        super().__init__(model, batch, room, memory_strength)
        device = self.embedding.device
        self.k.zero_()  # what is hidden is multiplied all the same
        self.values.held.zero_()
        self.position = torch.zeros(1, dtype=torch.int64, device=device)  # of the next symbol
        self.symbols = torch.zeros(batch, dtype=torch.int64, device=device)
        self.logits = self.embedding.new_zeros(batch, model.config.classes)
        self._slot = self.position

    @property
    def bucket(self) -> int:
        """Slots that the next step reads."""
        return min(bucket_of(self.length + 1), self.room)

    def read(self, symbols: Tensor, repeats: int = 1) -> Tensor:
        logits = super().read(symbols, repeats)
        self.position.fill_(self.length)
        self.logits.copy_(logits)
        return logits

    @torch.inference_mode()
    def step(self, symbols: Tensor) -> Tensor:
        self.symbols.copy_(symbols)
        bucket = self.bucket
        self.prepare()
        self.go(bucket)
        return self.logits.clone()

    @torch.inference_mode()
    def prepare(self) -> None:
        """What the host has to do before a step is gone or replayed."""
        self.prior.prepare(self.length)
        self.length += 1

    @torch.inference_mode()
    def go(self, bucket: int) -> None:
        """One symbol further: no number of it is the host's but the bucket's size."""
        self._slot = (self.position - 1).remainder_(max(1, self.room - 1)).add_(1)
        priors = self.prior.at(self.position, self._slot, bucket)
        self.values.at(0, bucket)
        self._here = self.length, At(self.position)
        x = self._through_blocks(self._embedded(self.symbols, None), priors, bucket)
        self.logits.copy_(self._logits(x, None))
        self.position.add_(1)

    def _at(self) -> At:
        return self._here[1]

    def _keep_newest(self, i: int) -> None:
        to = self._scratch
        self.k[i].index_copy_(-1, self._slot, to.key.unsqueeze(-1))
        self.values.held[i].index_copy_(-2, self._slot, to.value.unsqueeze(-2))

    def _keep_before(self, i: int, held: Pair | None) -> None:
        before = self.before[i]
        if held is not None and before is not None:
            before[0].copy_(held[0])
            before[1].copy_(held[1])
