"""The draw where the logits are: the bases that `sampling` would draw, and nobody waits for them.

The same counter-based generator (Philox 4 x 64, Salmon et al. 2011) in 64-bit integers of PyTorch, which wrap around,
and the same operations in float64. Only what is asked of a sequence at its end goes back to the host.
"""

# B sequences, G positions to write, M bases of a motif

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from dnagoat.errors import OptionError
from dnagoat.generation.bucketed import BucketDecoder
from dnagoat.generation.continuation import Generated, Writing
from dnagoat.generation.decoding import Decoder
from dnagoat.generation.sampling import BLOCK, Codes, SamplingOptions, matrix_of, stream_key
from dnagoat.model.replay import CudaGraphs, Recorder, Replay
from dnagoat.model.transformer import DnaLM
from dnagoat.wording import counted

MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
WEYL = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
ROUNDS = 10
LOW = (1 << 32) - 1


def signed(x: int) -> int:
    """The int64 of the same 64 bits."""
    x &= (1 << 64) - 1
    return x - (1 << 64) if x >> 63 else x


def upper(x: Tensor) -> Tensor:
    """The upper 32 bits, as if x had no sign."""
    return (x >> 32) & LOW


def product(x: Tensor, factor: int) -> tuple[Tensor, Tensor]:
    """The upper and the lower 64 bits of a product, all without a sign."""
    x_high, x_low, high, low = upper(x), x & LOW, factor >> 32, factor & LOW
    across, along = x_low * high, x_high * low
    middle = upper(x_low * low) + (across & LOW) + (along & LOW)
    return x_high * high + upper(across) + upper(along) + (middle >> 32), x * signed(factor)


def uniform(keys: Tensor, numbers: Tensor) -> Tensor:
    """Number n >= 0 of each stream: keys (B, 2) int64, numbers (B, N) -> (B, N) float64 in [0, 1)."""
    first = (numbers >> 2) + 1  # four numbers a count, and counts begin with 1
    block = [first, torch.zeros_like(first), torch.zeros_like(first), torch.zeros_like(first)]
    left, right = keys[:, :1], keys[:, 1:]
    for _ in range(ROUNDS):
        high_0, low_0 = product(block[0], MULTIPLIERS[0])
        high_1, low_1 = product(block[2], MULTIPLIERS[1])
        block = [high_1 ^ block[1] ^ left, low_1, high_0 ^ block[3] ^ right, low_0]
        left, right = left + signed(WEYL[0]), right + signed(WEYL[1])
    raw = torch.stack(block, -1).gather(-1, (numbers & 3).unsqueeze(-1)).squeeze(-1)
    return ((raw >> 11) & ((1 << 53) - 1)).double() * 2.0**-53


class DeviceStreams:
    """As `sampling.Streams`, with the numbers on the device."""

    def __init__(
        self, seed: int, prompts: Sequence[Codes], samples: Sequence[int], first: Tensor, device: torch.device
    ) -> None:
        keys = [stream_key(seed, prompt, sample) for prompt, sample in zip(prompts, samples, strict=True)]
        halves = [(signed(key), signed(key >> 64)) for key in keys]
        self._keys, self._first = torch.tensor(halves, device=device), first
        self._block = torch.empty(BLOCK, len(keys), dtype=torch.float64, device=device)
        self._filled = -BLOCK
        self._begin = torch.zeros(1, dtype=torch.int64, device=device)

    def prepare(self, position: int) -> None:
        """Makes the numbers of this position and of those after it, where they are not made yet."""
        if position < self._filled + BLOCK:
            return
        self._filled = position
        self._begin.fill_(position)
        following = torch.arange(position, position + BLOCK, device=self._keys.device)
        self._block.copy_(uniform(self._keys, (following - self._first[:, None]).clamp(min=0)).T)

    def at(self, position: Tensor) -> Tensor:
        """Each sequence's number at this position (1,), (B,); that of one which has not begun means nothing."""
        return self._block.index_select(0, position - self._begin)[0]


class DeviceBan:
    """As `sampling.Ban`."""

    def __init__(self, motif: str, prompts: Sequence[Codes], device: torch.device) -> None:
        allowed, recent = matrix_of(motif, prompts)
        self._allowed = torch.from_numpy(allowed[-1]).to(device)
        matches = np.concatenate([allowed, np.zeros((len(motif), 1), bool)], axis=1)
        self._matches = torch.from_numpy(matches[:-1]).to(device)
        self._recent = torch.from_numpy(recent.astype(np.int64)).to(device)

    def forbidden(self) -> Tensor:
        """(B, 4): true where writing the base would complete the motif."""
        almost = self._matches.gather(1, self._recent.T).all(0)
        return almost[:, None] & self._allowed

    def wrote(self, bases: Tensor, active: Tensor) -> None:
        if self._recent.shape[1]:
            moved = torch.cat([self._recent[:, 1:], bases[:, None]], 1)
            self._recent.copy_(torch.where(active[:, None], moved, self._recent))


class DeviceSampler:
    """As `sampling.Sampler`, for all sequences at once: `active` (B,) says which of them write."""

    def __init__(
        self,
        options: SamplingOptions,
        prompts: Sequence[Codes],
        samples: Sequence[int],
        first: Tensor,
        device: torch.device,
    ) -> None:
        self.options = options
        self.streams = DeviceStreams(options.seed, prompts, samples, first, device)
        self.bans = [DeviceBan(motif, prompts, device) for motif in options.ban_motifs]
        self.dead = torch.zeros(len(prompts), dtype=torch.bool, device=device)
        self._gc, self._steps, self._tilts = torch.zeros(3, len(prompts), dtype=torch.float64, device=device)

    def draw(self, logits: Tensor, position: Tensor, active: Tensor) -> Tensor:
        """Bases (B,) int64 from the model's logits (B, 4) float64 at a position (1,); `streams` is prepared for it."""
        own = logits
        for ban in self.bans:
            logits = logits.masked_fill(ban.forbidden(), -torch.inf)
        if self.bans:
            self.dead |= active & logits.isneginf().all(1)
        if self.options.gc_target is not None:
            logits = self._tilted(logits, own.log_softmax(-1), active)
        edges = self._chances(logits).cumsum(1)
        bases = (self.streams.at(position)[:, None] * edges[:, -1:] >= edges).sum(1)
        for ban in self.bans:
            ban.wrote(bases, active)
        return bases

    def refuse_dead(self) -> None:
        """An `OptionError` where the bans have left a sequence no base; it has to be waited for."""
        if self.bans and (dead := int(self.dead.sum())):
            raise OptionError(f"the banned motifs leave no base to write for {counted(dead, 'sequence')}; ban fewer")

    def tilt(self) -> Sequence[float | None]:
        """The mean tilt of each sequence in nats."""
        if self.options.gc_target is None:
            return [None] * len(self._tilts)
        return (self._tilts / self._steps.clamp(min=1)).tolist()  # type: ignore[no-any-return]

    def _tilted(self, logits: Tensor, log_p: Tensor, active: Tensor) -> Tensor:
        assert self.options.gc_target is not None
        target = float(np.log(self.options.gc_target) - np.log1p(-self.options.gc_target))
        self._gc += active * log_p[:, 1:3].exp().sum(1)
        self._steps += active
        own = (self._gc / self._steps.clamp(min=1)).clamp(1e-6, 1 - 1e-6)
        tilt = target - (own.log() - (-own).log1p())
        self._tilts += active * tilt
        return torch.cat([logits[:, :1], logits[:, 1:3] + tilt[:, None], logits[:, 3:]], 1)

    def _chances(self, logits: Tensor) -> Tensor:
        options = self.options
        if options.temperature == 0:
            likeliest = logits == logits.amax(1, keepdim=True)
            return (likeliest & (likeliest.cumsum(1) == 1)).double()  # a tie goes to the first
        p = ((logits - logits.amax(1, keepdim=True)) / options.temperature).exp()
        if options.top_k is None and options.top_p is None:
            return p
        p = p / p.sum(1, keepdim=True)
        ranked, order = torch.sort(p, dim=1, descending=True, stable=True)
        keep = ranked.cumsum(1) - ranked < (options.top_p or 1.0)
        keep[:, options.top_k or 4 :] = False
        return p * torch.empty_like(keep).scatter_(1, order, keep)


def recorder_for(device: torch.device) -> Recorder | None:
    """What records steps on this device; None where nothing does."""
    return CudaGraphs(device) if device.type == "cuda" else None


class DeviceWriting(Writing):
    """A batch on its way, whose bases stay on the device until it is done: no step waits for the one before.

    A model without memory has a step that can be recorded and replayed, the draw included: where it stands, only the
    device knows.
    """

    def _decoder_of(self, model: DnaLM, room: int, strength: float) -> Decoder:
        kind = BucketDecoder if model.memory is None else Decoder
        return kind(model, len(self.labels), room, strength)

    def _prepare(self, own: Sequence[Codes], options: SamplingOptions) -> None:
        device, count = self.device, len(own)
        self._first = torch.from_numpy(self.first).to(device)
        samples = [sample for _, sample in self.labels]
        self._sampler = DeviceSampler(options, own, samples, self._first, device)
        self._symbols = torch.from_numpy(self.symbols.T.copy()).to(device)
        positions = self.end + 1 - self.start
        self._codes = torch.empty(positions, count, dtype=torch.uint8, device=device)
        self._written = torch.empty(positions, count, 4, dtype=self._logits.dtype, device=device)
        self._at = torch.full((1,), self.position, device=device)
        self._step = Replay(self._go, recorder_for(device))
        if isinstance(self.decoder, BucketDecoder):
            self._logits = self.decoder.logits  # which every step writes over

    @torch.inference_mode()
    def advance(self) -> int:
        """Draws the base at this position of every sequence that is past its prompt; how many those were."""
        count = int(((self.first <= self.position) & (self.position < self.first + self.length)).sum())
        self._sampler.streams.prepare(self.position)
        self.position += 1
        if self.done:
            self._drawn_on_device()
        elif isinstance(self.decoder, BucketDecoder):
            bucket = self.decoder.bucket
            self.decoder.prepare()
            self._step(bucket)
        else:
            self._logits = self.decoder.step(self._drawn_on_device())
        return count

    def _go(self, bucket: int) -> None:
        """The draw and the decoder's step, from what is on the device alone."""
        assert isinstance(self.decoder, BucketDecoder)
        self.decoder.symbols.copy_(self._drawn_on_device())
        self.decoder.go(bucket)

    def _drawn_on_device(self) -> Tensor:
        """The next symbols (B,): what is drawn and noted, or the prompt where a sequence still reads or has ended."""
        active = (self._first <= self._at) & (self._at < self._first + self.length)
        logits = self._logits[:, :4]
        bases = self._sampler.draw(logits.double(), self._at, active)
        place = (self._at - self.start).clamp(min=0)  # before the first is written, nothing of value lies there
        self._written.index_copy_(0, place, logits.unsqueeze(0))
        self._codes.index_copy_(0, place, bases.to(torch.uint8).unsqueeze(0))
        read = self._symbols.index_select(0, self._at.clamp(max=len(self._symbols) - 1))[0]
        self._at.add_(1)
        return torch.where(active, bases, read)

    def finished(self) -> Iterator[Generated]:
        self._sampler.refuse_dead()
        self.codes, self.logits = self._codes.cpu().numpy(), self._written.cpu().numpy()
        yield from super().finished()

    def tilts(self) -> Sequence[float | None]:
        return self._sampler.tilt()


__all__ = ["DeviceSampler", "DeviceStreams", "DeviceWriting", "uniform"]
