"""How DNA is written: prompts are continued base by base, many sequences at once, each as if it were alone.

All sequences of a batch stand at the same position. Where prompts differ in length the shorter ones already write
while the longer ones are still read, so that there is no padding and nothing to mask.
"""

# B sequences of a batch, G bases to write

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from dnagoat.decoding import Decoder, bytes_a_sequence
from dnagoat.errors import OptionError
from dnagoat.genome.alphabet import START, Codes
from dnagoat.model import DnaLM
from dnagoat.sampling import Floats, Sampler, SamplingOptions

MEMORY_SHARE = 0.5  # of what is free, for keys and values
PROGRESS_EVERY = 32  # positions

Progress = Callable[[int], None]  # told how many bases were written since it was last called


@dataclass(frozen=True)
class Generated:
    """One continuation: `codes` (G,) and each base's log-probability (G,) under the model itself, in nats.

    The log-probability is that of temperature 1, without bans, cuts or tilt. `gc_tilt` is the mean tilt of G and C.
    """

    prompt: int
    sample: int
    codes: Codes
    log_probabilities: Floats
    gc_tilt: float | None = None


@dataclass(frozen=True)
class Batch:
    """Samples `samples` of each of `prompts`, generated together."""

    prompts: tuple[int, ...]
    samples: range


@dataclass(frozen=True)
class Plan:
    """Which sequences are generated together, on how many symbols each looks back, and what decided it."""

    batches: tuple[Batch, ...]
    room: int
    rows: int
    bytes_a_sequence: int
    note: str | None = None


def plan(
    model: DnaLM,
    prompts: Sequence[Codes],
    length: int,
    *,
    samples: int = 1,
    batch_size: int = 64,
    max_context: int | None = None,
    memory: int | None = None,
) -> Plan:
    """Batches of prompts of similar length that fit in `memory` bytes (half of what is free, where it is not given)."""
    if length < 1 or samples < 1 or batch_size < 1:
        raise OptionError("--length, --samples and --batch-size are at least 1")
    if max_context is not None and max_context < 2:
        raise OptionError(f"--max-context {max_context}: at least 2, the first symbol and the newest")
    lengths = [len(prompt) for prompt in prompts]
    room = max(lengths, default=0) + length
    if max_context is not None:
        room = min(room, max_context)
    size = bytes_a_sequence(model, room)
    memory = memory if memory is not None else int(MEMORY_SHARE * free_bytes(model.embedding.weight.device))
    fitting = memory // size
    if fitting < 1:
        raise OptionError(
            f"keys and values of one sequence of {room:,} symbols take {size / 1e9:.1f} GB, more than the "
            f"{memory / 1e9:.1f} GB that can be spared; lower --length or give --max-context"
        )
    wanted = min(batch_size, len(prompts) * samples)
    rows = min(wanted, fitting)
    note = None
    if rows < wanted:
        note = (
            f"{rows:,} sequences at a time instead of {wanted:,}: "
            f"each takes {size / 1e6:.0f} MB of the {memory / 1e9:.1f} GB that can be spared"
        )
    return Plan(tuple(_batches(lengths, samples, rows, max(16, length // 4))), room, rows, size, note)


def _batches(lengths: Sequence[int], samples: int, rows: int, spread: int) -> Iterator[Batch]:
    """Prompts in the order of their lengths; in one batch those differ by at most `spread` bases."""
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    together = max(1, rows // samples)
    at_once = min(samples, rows)
    first = 0
    while first < len(order):
        last = first + 1
        while last < min(first + together, len(order)) and lengths[order[last]] - lengths[order[first]] <= spread:
            last += 1
        for sample in range(0, samples, at_once):
            yield Batch(tuple(order[first:last]), range(sample, min(sample + at_once, samples)))
        first = last


def generate(
    model: DnaLM,
    prompts: Sequence[Codes],
    length: int,
    options: SamplingOptions | None = None,
    *,
    samples: int = 1,
    batch_size: int = 64,
    max_context: int | None = None,
    planned: Plan | None = None,
    progress: Progress | None = None,
) -> Iterator[Generated]:
    """Continues each prompt (P,) of codes by `length` bases, `samples` times; yields a batch at a time as it is done.

    Every sequence depends only on its own prompt, the seed and its sample number. With `max_context` the model sees the
    start symbol and the latest max_context - 1 symbols.
    """
    options = options or SamplingOptions()
    planned = planned or plan(model, prompts, length, samples=samples, batch_size=batch_size, max_context=max_context)
    for batch in planned.batches:
        yield from _written(model, batch, prompts, length, options, planned.room, progress or (lambda count: None))


def _written(
    model: DnaLM,
    batch: Batch,
    prompts: Sequence[Codes],
    length: int,
    options: SamplingOptions,
    room: int,
    progress: Progress,
) -> Iterator[Generated]:
    repeats = len(batch.samples)
    labels = [(prompt, sample) for prompt in batch.prompts for sample in batch.samples]
    own = [prompts[prompt] for prompt, _ in labels]
    lengths = np.array([len(prompt) for prompt in own])
    symbols = _symbols(own)
    sampler = Sampler(options, own, [sample for _, sample in labels])
    decoder = Decoder(model, len(labels), min(room, int(lengths.max()) + length))
    device = model.embedding.weight.device
    codes, logs = np.empty((len(labels), length), np.uint8), np.empty((len(labels), length))

    position = min(int(lengths.min()) + 1, decoder.room)
    logits = decoder.read(torch.from_numpy(symbols[::repeats, :position]).to(device), repeats)
    last, unreported = int(lengths.max()) + length, 0
    while True:
        rows = np.flatnonzero((position > lengths) & (position <= lengths + length))
        following = symbols[:, position].copy() if position < symbols.shape[1] else np.zeros(len(labels), np.int64)
        if rows.size:
            log_p = log_softmax(logits[:, :4].cpu().numpy()[rows])
            bases = sampler.draw(log_p, rows)
            place = position - lengths[rows] - 1
            codes[rows, place], logs[rows, place] = bases, log_p[np.arange(rows.size), bases]
            following[rows] = bases
            unreported += rows.size
        if position % PROGRESS_EVERY == 0 or position == last:
            progress(unreported)
            unreported = 0
        if position == last:
            break
        logits = decoder.step(torch.from_numpy(following).to(device))
        position += 1

    tilts = sampler.tilt.mean().tolist() if sampler.tilt else [None] * len(labels)
    for row, (prompt, sample) in enumerate(labels):
        yield Generated(prompt, sample, codes[row], logs[row], tilts[row])


def _symbols(prompts: Sequence[Codes]) -> npt.NDArray[np.int64]:
    """(B, longest + 1): the start symbol, then the prompt; what lies past a shorter prompt is never read."""
    symbols = np.zeros((len(prompts), max(map(len, prompts)) + 1), np.int64)
    symbols[:, 0] = START
    for row, prompt in zip(symbols, prompts, strict=True):
        row[1 : len(prompt) + 1] = prompt
    return symbols


def log_softmax(logits: npt.NDArray[np.floating]) -> Floats:
    """Along the last axis, in float64."""
    shifted: Floats = logits.astype(np.float64)
    shifted -= shifted.max(axis=-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return shifted


def free_bytes(device: torch.device) -> int:
    """Memory that can still be taken on a device; on the CPU what the system, or this container's limit, leaves."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    free = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemAvailable")
    )
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and (most := limit.read_text().strip()) != "max":
        free = min(free, int(most) - int(used.read_text()))
    return max(free, 0)
