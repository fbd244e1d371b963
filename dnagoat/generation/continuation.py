"""How DNA is written: prompts are continued base by base, many sequences at once, each as if it were alone.

All sequences of a batch stand at the same position. Where prompts differ in length the shorter ones already write
while the longer ones are still read, so that there is no padding and nothing to mask.
"""

# B sequences of a batch, G bases to write

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.errors import OptionError, PromptError
from dnagoat.free_memory import free_memory
from dnagoat.generation.decoding import Decoder, bytes_a_sequence
from dnagoat.generation.sampling import EVERY, Floats, Rows, Sampler, SamplingOptions, log_softmax
from dnagoat.genome.alphabet import START, Codes, decode
from dnagoat.model.transformer import DnaLM
from dnagoat.wording import counted

MEMORY_SHARE = 0.5  # of what is free, for keys and values
UNASKED = 64 << 20  # bytes that are taken without asking how much is free
PROGRESS_EVERY = 32  # positions

Advance = Callable[[int], None]  # told how many bases were written since it was last called


@dataclass(frozen=True)
class Generated:
    """One continuation: `codes` (G,) and each base's log-probability (G,) under the model itself, in nats.

    The log-probability is that of temperature 1, without bans, cuts or tilt, with memory as strong as it was asked to
    be. `gc_tilt` is the mean tilt of G and C.
    """

    prompt: int
    sample: int
    codes: Codes
    log_probabilities: Floats
    gc_tilt: float | None = None

    @property
    def bases(self) -> str:
        """The written bases as letters, (G,)."""
        return decode(self.codes)


@dataclass(frozen=True)
class Batch:
    """Samples `samples` of each of `prompts`, generated together."""

    prompts: tuple[int, ...]
    samples: range


@dataclass(frozen=True)
class Batches:
    """Which sequences are generated together, on how many symbols each looks back, and what decided it."""

    batches: tuple[Batch, ...]
    room: int
    rows: int
    bytes_a_sequence: int
    notes: tuple[str, ...] = ()


def plan(
    model: DnaLM,
    prompts: Sequence[Codes],
    length: int,
    *,
    samples: int = 1,
    batch_size: int = 64,
    max_context: int | None = None,
    memory: int | None = None,
) -> Batches:
    """Batches of prompts of similar length that fit in `memory` bytes (half of what is free, where it is not given)."""
    if length < 1 or samples < 1 or batch_size < 1:
        raise OptionError("--length, --samples and --batch-size are at least 1")
    if max_context is not None and max_context < 2:
        raise OptionError(f"--max-context {max_context}: at least 2, the first symbol and the newest")
    lengths = [len(prompt) for prompt in prompts]
    if not started(model) and 0 in lengths:
        raise PromptError(
            "a model that was trained with `dnagoat train --score-n` knows no start symbol; give a prompt"
        )
    room = max(lengths, default=0) + length
    if max_context is not None:
        room = min(room, max_context)
    device, size = model.embedding.weight.device, bytes_a_sequence(model, room)
    wanted = min(batch_size, len(prompts) * samples)
    if memory is None:
        small = wanted * size < UNASKED
        memory = UNASKED if small else int(MEMORY_SHARE * free_bytes(device))
    fitting = memory // size
    if fitting < 1:
        raise OptionError(
            f"keys and values of one sequence of {room:,} symbols take {size / 1e9:.1f} GB, more than the "
            f"{memory / 1e9:.1f} GB that can be spared; write fewer bases, or look back on fewer "
            "(`dnagoat generate --max-context`)"
        )
    rows = min(wanted, fitting)
    notes = [*_past_training(model, max(lengths, default=0), length, max_context), *_unrecorded(model, device)]
    if rows < wanted:
        notes.append(
            f"{counted(rows, 'sequence')} at a time instead of {wanted:,}: "
            f"each takes {size / 1e6:.0f} MB of the {memory / 1e9:.1f} GB that can be spared"
        )
    return Batches(tuple(_batches(lengths, samples, rows, max(16, length // 4))), room, rows, size, tuple(notes))


def _past_training(model: DnaLM, prompt: int, length: int, max_context: int | None) -> Iterator[str]:
    """What a reader must know of sequences that are longer than those of training, where the scheme knows them not."""
    trained, whole = model.config.context, prompt + length
    name, unseen = model.config.position.name, next(model.attentions()).scheme.unseen
    if whole <= trained:
        return
    long = f"prompt and continuation have up to {whole:,} bases, and the model was trained on {trained:,}"
    if unseen == "positions":
        yield f"{long}: {name} has learned nothing of positions past them; shorten the prompt, or ask for fewer bases"
    elif unseen == "distances" and (max_context or whole) > trained:
        cure = f"`dnagoat generate --max-context {trained}` avoids them"
        yield f"{long}: {name} predicts worse over distances that it has not seen; {cure}"
    elif unseen == "nothing" and prompt > trained:
        yield f"{long}: {name} gains nothing from bases further back than that"


def _unrecorded(model: DnaLM, device: torch.device) -> Iterator[str]:
    """Why a GPU's steps are no CUDA graphs, where they are none."""
    if model.memory is not None and device.type == "cuda":
        yield "memory is looked up on the host, so that each step is launched operation by operation"


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
    planned: Batches | None = None,
    progress: Advance | None = None,
) -> Generator[Generated]:
    """Continues each prompt (P,) of codes by `length` bases, `samples` times; yields a batch at a time as it is done.

    Every sequence depends only on its own prompt, the seed and its sample number. With `max_context` the model sees the
    start symbol and the latest max_context - 1 symbols.
    """
    options = options or SamplingOptions()
    if options.memory_strength is not None and model.memory is None:
        raise OptionError(
            f"--memory-strength {options.memory_strength:g}: this model was trained without memory; leave it out"
        )
    planned = planned or plan(model, prompts, length, samples=samples, batch_size=batch_size, max_context=max_context)
    for batch in planned.batches:
        with flush_subnormals():
            made = _written(_begun(model, batch, prompts, length, options, planned.room), progress)
        yield from made


def _begun(
    model: DnaLM, batch: Batch, prompts: Sequence[Codes], length: int, options: SamplingOptions, room: int
) -> Writing:
    """On a GPU the bases are drawn there, and no step waits for the one before."""
    from dnagoat.generation.on_device import DeviceWriting

    kind = DeviceWriting if model.embedding.weight.is_cuda else Writing
    return kind(model, batch, prompts, length, options, room)


def _written(writing: Writing, progress: Advance | None) -> list[Generated]:
    """A batch, written to its end."""
    unreported = 0
    while not writing.done:
        unreported += writing.advance()
        if progress and (writing.position % PROGRESS_EVERY == 0 or writing.done):
            progress(unreported)
            unreported = 0
    return list(writing.finished())


class Writing:
    """A batch on its way: prompts are read as far as the shortest goes, `advance` takes all one position further."""

    def __init__(
        self,
        model: DnaLM,
        batch: Batch,
        prompts: Sequence[Codes],
        length: int,
        options: SamplingOptions,
        room: int,
    ) -> None:
        self.labels = [(prompt, sample) for prompt in batch.prompts for sample in batch.samples]
        own = [prompts[prompt] for prompt, _ in self.labels]
        starts = [len(prompt) + started(model) for prompt in own]  # position of each sequence's first written base
        self.symbols = _symbols(own) if started(model) else _symbols(own)[:, 1:]
        self.length, self.start, self.end = length, min(starts), max(starts) + length - 1
        self.first = np.array(starts)
        self._all_write = range(max(starts), min(starts) + length)
        self.device = model.embedding.weight.device
        strength = 1.0 if options.memory_strength is None else options.memory_strength
        self.decoder = self._decoder_of(model, min(room, self.end), strength)
        self.position = min(self.start, self.decoder.room)  # of the next symbol
        repeats = len(batch.samples)
        read = torch.from_numpy(self.symbols[::repeats, : self.position])
        self._logits = self.decoder.read(read.to(self.device), repeats)
        self._prepare(own, options)

    def _decoder_of(self, model: DnaLM, room: int, strength: float) -> Decoder:
        return Decoder(model, len(self.labels), room, strength)

    def _prepare(self, own: Sequence[Codes], options: SamplingOptions) -> None:
        """What the draw needs of the sequences' own prompts, and room for what is written."""
        self.sampler = Sampler(options, own, [sample for _, sample in self.labels], self.first.tolist())
        # By position, so that a step writes one row.
        self.codes = np.empty((self.end + 1 - self.start, len(own)), np.uint8)
        self.logits = np.empty((*self.codes.shape, 4), self._logits.cpu().numpy().dtype)

    @property
    def done(self) -> bool:
        return self.position > self.end

    def advance(self) -> int:
        """Draws the base at this position of every sequence that is past its prompt; how many those were."""
        at = self.position
        if at in self._all_write:
            following, count = self._drawn(at, EVERY), len(self.labels)
        else:
            rows = np.flatnonzero((self.first <= at) & (at < self.first + self.length))
            following, count = self.symbols[:, min(at, self.symbols.shape[1] - 1)].copy(), rows.size
            if count:
                following[rows] = self._drawn(at, rows)
        self.position += 1
        if not self.done:
            self._logits = self.decoder.step(torch.from_numpy(following).to(self.device))
        return count

    def _drawn(self, at: int, rows: Rows) -> npt.NDArray[np.int64]:
        """The bases of these sequences at a position, drawn and noted."""
        logits = self._logits.cpu().numpy()[rows, :4]
        bases = self.sampler.draw(logits.astype(np.float64), at, rows)
        self.logits[at - self.start, rows] = logits
        self.codes[at - self.start, rows] = bases
        return bases.astype(np.int64)

    def tilts(self) -> Sequence[float | None]:
        """The mean tilt of G and C of each sequence."""
        return self.sampler.tilt.mean().tolist() if self.sampler.tilt else [None] * len(self.labels)

    def finished(self) -> Iterator[Generated]:
        for row, ((prompt, sample), tilt) in enumerate(zip(self.labels, self.tilts(), strict=True)):
            own = slice(self.first[row] - self.start, self.first[row] - self.start + self.length)
            codes = self.codes[own, row].copy()
            log_p = np.take_along_axis(log_softmax(self.logits[own, row]), codes[:, None].astype(np.intp), 1)[:, 0]
            yield Generated(prompt, sample, codes, log_p, tilt)


def started(model: DnaLM) -> bool:
    """Whether sequences begin with the start symbol: a model of five classes was trained without it."""
    return model.config.classes == 4


def _symbols(prompts: Sequence[Codes]) -> npt.NDArray[np.int64]:
    """(B, longest + 1): the start symbol, then the prompt; what lies past a shorter prompt is never read."""
    symbols = np.zeros((len(prompts), max(map(len, prompts)) + 1), np.int64)
    symbols[:, 0] = START
    for row, prompt in zip(symbols, prompts, strict=True):
        row[1 : len(prompt) + 1] = prompt
    return symbols


def free_bytes(device: torch.device) -> int:
    """Memory that can still be taken on a device; on the CPU what the system or a container leaves."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return free_memory()
