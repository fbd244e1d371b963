"""What does a model expect at each base of a user's sequences? Probabilities of A, C, G, T, and nats of the true base.

Records are read, scored and written in parts, so that memory is that of a few million bases, whatever their length.
"""

# n bases of a part, B pieces in a batch, W bases of a piece

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import OptionError
from dnagoat.evaluation.outputs import readings
from dnagoat.evaluation.outputs.readings import context_and_stride, hold
from dnagoat.evaluation.outputs.tracks import Segment, open_bedgraph
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.likelihood import Floats, base_log_probabilities
from dnagoat.evaluation.scoring.pieces import sliding
from dnagoat.files import written_whole
from dnagoat.genome.alphabet import BASES, Codes, N
from dnagoat.genome.batches import gather
from dnagoat.genome.read.in_order import read_pieces
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, counter, silent
from dnagoat.streams import is_passage

ROWS: Final = 1 << 18  # rows of a Parquet group
COLUMNS: Final = ("name", "position", "base", "nats", "p_a", "p_c", "p_g", "p_t")


class Part(NamedTuple):
    """Bases of a record from `start` on; the first `room` of `codes` stand before them and are context alone."""

    name: str
    start: int
    codes: Codes
    room: int

    @property
    def size(self) -> int:
        return len(self.codes)


class BaseScores(NamedTuple):
    """Of consecutive bases of a record, from `start` on: codes (n,), and log p (n, 4) of A, C, G, T in nats.

    log p is what was expected before the base was read, at an N too; NaN where the model had nothing to read before.
    """

    name: str
    start: int
    codes: Codes
    log_p: Floats

    def nats(self) -> Floats:
        """-log p of the true base (n,); NaN at an N."""
        true = np.take_along_axis(self.log_p, np.minimum(self.codes, N - 1)[:, None].astype(np.int64), 1)[:, 0]
        return np.where(self.codes < N, 0.0 - true, np.nan).astype(np.float32)


def parts_of(named: Iterable[tuple[str, Codes | None]], context: int, stride: int) -> Iterator[Part]:
    """Cuts records so that the pieces of the parts are those of the whole.

    `named` gives (name, None) where a record begins, and then its bases as they come.
    """
    name, start, room = "", 0, 0
    held, count = list[Codes](), 0
    for here, codes in named:
        if codes is None:
            if count > room:
                yield Part(name, start, np.concatenate(held), room)
            name, start, room, held, count = here, 0, 0, [], 0
            continue
        held.append(codes)
        count += len(codes)
        part = context + -(-readings.AT_ONCE // stride) * stride
        # A cut lies where a piece ends, and leaves a whole stride for the next one.
        while count >= part + stride:
            text = np.concatenate(held)
            yield Part(name, start, text[:part], room)
            start, room = start + part - room, context - stride
            held, count = [text[part - room :]], count - part + room
    if count > room:
        yield Part(name, start, np.concatenate(held), room)


def score_bases(
    model: DnaLM,
    path: Path,
    batch_bases: int,
    context: int | None = None,
    stride: int | None = None,
    progress: Progress = silent,
) -> Iterator[BaseScores]:
    """The bases of each record of a FASTA (plain, gzip) or 2bit file, or of a stream, in order and in parts.

    A base is read with what lies before it in its record, context - stride bases or more where there are so many.
    """
    context, stride = context_and_stride(model, context, stride)
    more = counter(progress, "scoring bases", 0)
    for held in hold(parts_of(read_pieces(path), context, stride), lambda part: part.size):
        for part, log_p in zip(held, _log_p(model, held, context, stride, batch_bases, more), strict=True):
            yield BaseScores(part.name, part.start, part.codes[part.room :], log_p)


def _log_p(
    model: DnaLM, held: list[Part], context: int, stride: int, batch_bases: int, more: Callable[[int], None]
) -> list[Floats]:
    """Of each part (n, 4); `more` hears how many bases of a batch are scored."""
    batch_bases = bases_at_once(model, batch_bases, context)
    tokens, ends = np.concatenate([part.codes for part in held]), np.cumsum([part.size for part in held])
    regions = [(int(end) - part.size + part.room, int(end)) for end, part in zip(ends, held, strict=True)]
    pieces = sliding(regions, context, stride, [part.room for part in held])
    found = np.empty((int(pieces.offsets[-1]), 4), dtype=np.float32)
    for batch in pieces.batches(batch_bases):
        read = gather(tokens, pieces.starts[batch], int(pieces.widths[batch[0]]))
        scored, places = pieces.places(batch)
        found[places] = base_log_probabilities(model, read)[scored]
        more(int(scored.sum()))
    return np.split(found, np.cumsum([part.size - part.room for part in held])[:-1])


def refuse_format(out: Path) -> None:
    """An `OptionError` where the name of a file says no format that bases are written in."""
    if not is_passage(out) and out.suffix not in (".parquet", ".bedGraph", ".bedgraph"):
        raise OptionError(f"--per-base {out}: give a name that ends in .parquet or .bedGraph")


def write_bases(out: Path, found: Iterable[BaseScores], name: str) -> None:
    """A row a base in Parquet; or bedGraph of the nats of each known base, which a stream gets and `name` heads."""
    refuse_format(out)
    if out.suffix == ".parquet" and not is_passage(out):
        _write_parquet(out, found)
        return
    with open_bedgraph(out, name) as write:
        for part in found:
            nats = part.nats()
            known = np.flatnonzero(np.isfinite(nats))
            for run in np.split(known, np.flatnonzero(np.diff(known) != 1) + 1):
                if run.size:
                    write(Segment(part.name, part.start + int(run[0]), nats[run]))


def _write_parquet(out: Path, found: Iterable[BaseScores]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.dictionary(pa.int32(), pa.string())
    kinds = [text, pa.int64(), text, *[pa.float32()] * 5]
    schema = pa.schema(dict(zip(COLUMNS, kinds, strict=True)))

    def floats(values: NDArray[np.float32]) -> pa.Array:
        return pa.array(values, mask=np.isnan(values))

    with written_whole(out) as aside, pq.ParquetWriter(aside, schema) as writer:
        for part in found:
            for at in range(0, len(part.codes), ROWS):
                codes, log_p = part.codes[at : at + ROWS], part.log_p[at : at + ROWS]
                nats = part._replace(codes=codes, log_p=log_p).nats()
                names = pa.DictionaryArray.from_arrays(np.zeros(len(codes), np.int32), [part.name])
                letters = pa.DictionaryArray.from_arrays(codes.astype(np.int32), list(BASES))
                positions = pa.array(np.arange(part.start + at, part.start + at + len(codes)))
                likely = [floats(column) for column in np.exp(log_p).T]
                columns = [names, positions, letters, floats(nats), *likely]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
