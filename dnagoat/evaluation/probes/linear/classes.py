"""Which stretches of held-out splits belong to which of two classes: regions of a BED file, or soft-masked tiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import OptionError, SourceError
from dnagoat.evaluation.outputs.embeddings.texts import Text, of_codes
from dnagoat.evaluation.scoring.pieces import contig_index
from dnagoat.genome.alphabet import CODE, MASKED, Ints, N, reverse_complement
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.read.bed import Bed, Interval, Located, Stretch, locate, read_bed, unknown_names
from dnagoat.genome.windows import HELD_OUT, SPLITS, Split
from dnagoat.wording import counted

SOFTMASK: Final = "softmask"
# Why a region is left out.
UNKNOWN: Final = "on sequences that the dataset has not"
TRAINED: Final = "in the training split"
ACROSS: Final = "across the edge of a split"
OUTSIDE: Final = "with bases that the dataset has not"
MOSTLY: Final = 0.9  # of a tile's bases: masked from here on, unmasked up to the rest of it
LENGTH: Final = 256  # bases of a tile, or the training length where that is shorter


class Classes(NamedTuple):
    """n stretches in genome order: absolute [start, end) (n, 2), whether on the other strand, of the positive class,
    and in the test split (else in validation); what the two classes are called, and how many were left out, and why."""

    spans: Ints
    turned: NDArray[np.bool_]
    positive: NDArray[np.bool_]
    tested: NDArray[np.bool_]
    names: tuple[str, str]
    left_out: dict[str, int]

    def take(self, chosen: NDArray[np.int64] | NDArray[np.bool_], why: str = "") -> Classes:
        """Those that are chosen; the others are left out, where it is said why."""
        left = len(self.spans) - len(self.spans[chosen])
        return Classes(
            self.spans[chosen],
            self.turned[chosen],
            self.positive[chosen],
            self.tested[chosen],
            self.names,
            self.left_out | ({why: left} if left and why else {}),
        )

    def spread(self, most: int) -> Classes:
        """At most so many of each split, evenly over it."""
        chosen = []
        for tested in (False, True):
            here = np.flatnonzero(self.tested == tested)
            if len(here) > most:
                here = here[np.linspace(0, len(here) - 1, most).round().astype(np.int64)]
            chosen.append(here)
        return self.take(np.sort(np.concatenate(chosen)), f"beyond the {most:,} taken of each split")

    def where(self, dataset: Dataset) -> list[dict[str, Any]]:
        """How many of each class there are in each split, on each sequence of the source assembly."""
        homes = [dataset.contigs[number].home for number in contig_index(dataset, self.spans[:, 0])]
        splits = [HELD_OUT[int(tested)] for tested in self.tested]
        counts = Counter(zip(splits, homes, self.positive.tolist(), strict=True))
        places = sorted(dict.fromkeys(zip(splits, homes, strict=True)), key=lambda place: HELD_OUT.index(place[0]))
        classes = (("positive", True), ("other", False))
        return [
            {"split": split, "sequence": home, **{name: counts[split, home, kind] for name, kind in classes}}
            for split, home in places
        ]

    def texts(self, dataset: Dataset) -> list[Text]:
        """Their bases, with nothing around them, along their own strands."""
        contigs = contig_index(dataset, self.spans[:, 0])
        made = []
        for (start, end), number, turned in zip(self.spans.tolist(), contigs, self.turned, strict=True):
            codes = dataset.tokens[start:end] & np.uint8(CODE)
            contig = dataset.contigs[number]
            row = (contig.home, *contig.to_home(start - contig.offset, end - contig.offset), ".", "+-"[int(turned)])
            made.append(of_codes(row, reverse_complement(codes) if turned else codes))
        return made


@dataclass(frozen=True)
class Asked:
    """What tells the classes apart: `softmask`, or a BED file whose `column` says the class.

    `positive` is one class told from all others; None needs exactly two, of which the rarer is the positive one.
    """

    regions: str
    column: int = 4
    positive: str | None = None
    length: int | None = None

    def read(self, dataset: Dataset, context: int, say: Callable[[str], None]) -> Classes:
        if self.regions == SOFTMASK:
            if self.positive is not None:
                raise OptionError("--positive names a class of a BED file, and softmask has its own")
            return _soft_masked(dataset, self.length or min(LENGTH, context))
        if self.length is not None:
            raise OptionError("--length is that of the tiles of softmask; regions of a BED file have their own")
        return _regions(Path(self.regions), self.column, self.positive, dataset, say)


def _soft_masked(dataset: Dataset, length: int) -> Classes:
    """Tiles of the held-out spans that are soft-masked nearly whole, or nearly not at all."""
    starts, tested = [], []
    for split in HELD_OUT:
        for first, last in dataset.spans(split).tolist():
            here = np.arange(first, last - length + 1, length)
            starts.append(here)
            tested.append(np.full(len(here), split == "test"))
    begins = np.concatenate([np.zeros(0, dtype=np.int64), *starts])
    shares = [_shares(dataset, at, length) for at in begins.tolist()]
    masked, known = (np.array(column) for column in zip(*shares, strict=True)) if shares else (np.zeros(0), np.zeros(0))
    kept = ((masked >= MOSTLY) | (masked <= 1 - MOSTLY)) & (known >= MOSTLY)
    if not kept.any() or len(np.unique(masked[kept] >= MOSTLY)) < 2:
        raise SourceError(
            f"no two classes: of {counted(len(begins), 'tile')} of {counted(length, 'base')} in the held-out splits of "
            f"{dataset.path}, {int((masked[kept] >= MOSTLY).sum())} are soft-masked and "
            f"{int((masked[kept] < MOSTLY).sum())} are not; prepare a genome with lower case, or give --length"
        )
    order = np.argsort(begins[kept])
    found = Classes(
        np.stack([begins, begins + length], axis=1)[kept],
        np.zeros(int(kept.sum()), dtype=bool),
        masked[kept] >= MOSTLY,
        np.concatenate(tested)[kept],
        ("soft-masked", "not masked"),
        {f"tiles between {1 - MOSTLY:.0%} and {MOSTLY:.0%} soft-masked, or with N": int((~kept).sum())},
    )
    return found.take(order)


def _shares(dataset: Dataset, at: int, length: int) -> tuple[float, float]:
    tokens = np.asarray(dataset.tokens[at : at + length])
    return float((tokens >= MASKED).mean()), float(((tokens & np.uint8(CODE)) < N).mean())


def _regions(path: Path, column: int, positive: str | None, dataset: Dataset, say: Callable[[str], None]) -> Classes:
    bed = read_bed(path)
    labels = dict(zip(bed.intervals, bed.column(column), strict=True))
    located = locate(bed, dataset.contigs, str(dataset.path))
    for note in located.notes:
        say(note)
    if unknown := unknown_names(located, "the dataset"):
        say(unknown)
    held_out, left_out = _held_out(bed, located, dataset)
    told = ", ".join(f"{count:,} {why}" for why, count in left_out.most_common())
    whole = counted(len(bed.intervals), "region")
    where = f"`dnagoat inspect {dataset.path} --splits FILE` writes where the splits lie"
    if not held_out:
        raise SourceError(
            f"none of {whole} of {bed.name} lies wholly in validation or test of {dataset.path} ({told}); {where}"
        )
    if left_out:
        say(f"{bed.name}: {left_out.total():,} of {whole} left out: {told}; {where}")
    names = [labels[interval] for interval, *_ in held_out]
    chosen, other = _two_classes(bed.name, column, positive, names)
    table = np.array([place for _, *place in held_out], dtype=np.int64)
    turned, tested = table[:, 2].astype(bool), table[:, 3].astype(bool)
    found = Classes(table[:, :2], turned, np.array(names) == chosen, tested, (chosen, other), dict(left_out))
    return found.take(np.argsort(table[:, 0], kind="stable"))


def _held_out(
    bed: Bed, located: Located, dataset: Dataset
) -> tuple[list[tuple[Interval, int, int, bool, bool]], Counter[str]]:
    """Intervals of validation and test, each with its absolute start and end, whether it is on the other strand and in
    the test split; and how many others there are, by the reason."""
    spans = {split: dataset.spans(split) for split in SPLITS}
    pieces: dict[Interval, list[Stretch]] = {one: [] for one in bed.intervals if one.name not in located.unknown}
    for stretch in located.stretches:
        pieces[stretch.interval].append(stretch)
    found, left_out = [], Counter({UNKNOWN: located.unknown.total()})
    for interval, stretches in pieces.items():
        held = [(stretch, split) for stretch in stretches if (split := _split_of(stretch, spans)) in HELD_OUT]
        if not held:
            left_out[_why_left_out(stretches, spans)] += 1
        for stretch, split in held:
            start, end = (stretch.contig.offset + place for place in (stretch.start, stretch.end))
            found.append((interval, start, end, bed.strand_of(interval) != stretch.plus, split == "test"))
    return found, +left_out


def _split_of(stretch: Stretch, spans: dict[Split, Ints]) -> Split | None:
    """The split that has the whole of an interval; None where none has."""
    if stretch.end - stretch.start < stretch.interval.end - stretch.interval.start:
        return None
    start, end = (stretch.contig.offset + place for place in (stretch.start, stretch.end))
    for split, edges in spans.items():
        place = int(np.searchsorted(edges[:, 0], start, side="right")) - 1 if len(edges) else -1
        if place >= 0 and end <= edges[place, 1]:
            return split
    return None


def _why_left_out(stretches: Sequence[Stretch], spans: dict[Split, Ints]) -> str:
    """Of an interval that lies in no held-out split."""
    splits = [_split_of(stretch, spans) for stretch in stretches]
    whole = [one.end - one.start == one.interval.end - one.interval.start for one in stretches]
    return TRAINED if "train" in splits else ACROSS if any(whole) else OUTSIDE


def _two_classes(name: str, column: int, positive: str | None, labels: Sequence[str]) -> tuple[str, str]:
    """The positive class, and what the other one is called."""
    counts = Counter(labels)
    listed = ", ".join(f"{label} {count:,}" for label, count in counts.most_common(5))
    if len(counts) < 2:
        raise OptionError(
            f"{name}: column {column} says {next(iter(counts))!r} of every held-out region, and two classes are "
            "needed; give another --column, or regions of both"
        )
    if positive is not None:
        if positive not in counts:
            raise OptionError(f"--positive {positive}: column {column} of {name} has {listed}")
        rest = [label for label in counts if label != positive]
        return positive, rest[0] if len(rest) == 1 else f"not {positive}"
    if len(counts) > 2:
        raise OptionError(
            f"{name}: column {column} has {len(counts):,} classes in held-out regions ({listed}); say with --positive "
            "which one is told from the rest"
        )
    first, second = sorted(counts, key=lambda label: (counts[label], label))
    return first, second
