"""What is continued: bases and where they come from (text, FASTA, BED regions, a split, or nothing but the start)."""

from __future__ import annotations

import io
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from Bio.SeqIO.FastaIO import SimpleFastaParser

from dnagoat.errors import PromptError
from dnagoat.genome.alphabet import AMBIGUOUS, CODE, GAP, TABLE, URACIL, Codes, N, letter_name, reverse_complement
from dnagoat.genome.place import Strand
from dnagoat.genome.read.bed import locate_whole, read_bed
from dnagoat.genome.read.in_order import read_records
from dnagoat.genome.read.source import Source, refuse_other
from dnagoat.streams import name_input
from dnagoat.wording import counted

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset
    from dnagoat.genome.windows import Split

Say = Callable[[str], None]


@dataclass(frozen=True)
class Prompt:
    """Bases in reading direction. `start` and `end` are 0-based, half-open, on the forward strand of `contig`."""

    codes: Codes
    name: str
    source: str
    contig: str | None = None
    start: int | None = None
    end: int | None = None
    strand: Strand = "+"

    def turned(self) -> Prompt:
        """The other strand of the same bases, so that the continuation runs the other way."""
        strand: Strand = "-" if self.strand == "+" else "+"
        name = f"{self.name.removesuffix(f'({self.strand})')}({strand})"
        codes = reverse_complement(self.codes)
        return Prompt(codes, name, self.source, self.contig, self.start, self.end, strand)


def nothing() -> Prompt:
    """No bases: generation begins at the start symbol."""
    return Prompt(np.zeros(0, np.uint8), "start", "start symbol")


def from_text(text: str, say: Say) -> Prompt:
    """Letters A, C, G, T in either case, blanks ignored; IUPAC codes become N and U becomes T, which `say` is told."""
    letters = "".join(text.split()).encode("utf-8", errors="surrogateescape")
    if not letters:
        raise PromptError("--prompt is empty; give it bases, or leave it out to begin from the start symbol")
    return Prompt(_codes(letters, "the prompt", say), "prompt", "command line")


def _codes(letters: bytes, what: str, say: Say) -> Codes:
    tokens = np.frombuffer(letters.translate(TABLE), np.uint8)
    wrong = np.flatnonzero(tokens >= GAP)
    if wrong.size:
        place = int(wrong[0])
        raise PromptError(
            f"{what} has {letter_name(letters[place])} at base {place + 1:,}, which is not a letter of DNA; "
            "use A, C, G, T, and N where a base is unknown"
        )
    if ambiguous := int(np.count_nonzero(tokens & AMBIGUOUS)):
        say(f"{what} has {ambiguous:,} IUPAC letters for several bases; they are read as N")
    if uracil := int(np.count_nonzero(tokens & URACIL)):
        say(f"{what} has {uracil:,} U; they are read as T")
    return tokens & np.uint8(CODE)


def from_fasta(path: Path, say: Say) -> list[Prompt]:
    """One prompt a record of a FASTA file, plain or gzip, or of a 2bit file; one without bases is the start symbol."""
    source = Source(path)
    found = _of_text(source, say) if source.format is None else read_records(path)
    return [Prompt(codes, name, name_input(Path(path.name))) for name, codes in found]


def _of_text(source: Source, say: Say) -> Iterator[tuple[str, Codes]]:
    """Names and bases of a FASTA file's records."""
    text = _text(source)
    if not text.lstrip().startswith(">"):
        raise PromptError(f"{source} is not FASTA: it does not begin with '>'; give the prompt itself with --prompt")
    for title, sequence in SimpleFastaParser(io.StringIO(text)):  # type: ignore[no-untyped-call]
        name = (title.split() or ["unnamed"])[0]
        yield name, _codes(sequence.encode("utf-8"), f"record {name!r} of {source}", say)


def _text(source: Source) -> str:
    content = b"".join(source.blocks())
    refuse_other(source.path, content)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PromptError(f"{source} is not text; give FASTA in ASCII or UTF-8") from None


def from_regions(path: Path, dataset: Dataset, say: Say) -> list[Prompt]:
    """One prompt a line of a BED file: contig or chromosome, start, end, and in column 6 the strand that is read."""
    bed = read_bed(path)
    located = locate_whole(bed, dataset.contigs, str(dataset.path))
    for note in located.notes:
        say(note)
    prompts = []
    for contig, start, end, interval, plus in located.stretches:
        prompt = _region(dataset, contig.offset + start, end - start, bed.title)
        prompts.append(prompt if bed.strand_of(interval) == plus else prompt.turned())
    return prompts


def from_split(dataset: Dataset, split: Split, count: int, length: int, seed: int) -> list[Prompt]:
    """The first `length` bases of `count` random windows of a split, none with an N, in genome order."""
    starts = random_loci(dataset, split, count, length, seed)
    if len(starts) < count:
        raise PromptError(
            f"the {split} split of {dataset.path} has {counted(len(starts), 'window')} with "
            f"{counted(length, 'known base')} before its end, fewer than --count {count:,}; lower --count or "
            "--prompt-length"
        )
    return [_region(dataset, start, length, f"{split} split") for start in sorted(starts)]


def random_loci(dataset: Dataset, split: Split, count: int, span: int, seed: int) -> list[int]:
    """Absolute starts of up to `count` random windows with `span` known bases that stay in their split.

    They do not overlap. More of them begin with the same ones.
    """
    starts, spans = dataset.starts(split), dataset.spans(split)
    if not len(starts):
        return []
    ends = spans[np.searchsorted(spans[:, 0], starts, side="right") - 1, 1]
    fitting = starts[starts + span <= ends]
    chosen: list[int] = []
    ordered: list[int] = []
    for start in map(int, np.random.default_rng(seed).permutation(fitting)):
        if len(chosen) == count:
            break
        place = bisect(ordered, start)
        apart = all(abs(start - other) >= span for other in ordered[max(place - 1, 0) : place + 1])
        if apart and N not in dataset.codes(start, start + span):
            chosen.append(start)
            ordered.insert(place, start)
    return chosen


def _region(dataset: Dataset, start: int, length: int, source: str) -> Prompt:
    contig, place = dataset.locate(start)
    end = place + length
    name = f"{contig.name}:{place}-{end}(+)"
    return Prompt(dataset.codes(start, start + length), name, source, contig.name, place, end)
