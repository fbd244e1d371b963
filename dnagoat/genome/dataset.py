"""What a prepared dataset holds and how it is opened: bases, contigs, windows, splits and the rules they came from.

manifest.json  tokens.u8  windows.parquet  genome.fai  (windows.bed, genome.gzi)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from pydantic import model_validator

from dnagoat.errors import DatasetError
from dnagoat.files import read_json
from dnagoat.frozen import Frozen
from dnagoat.genome.alphabet import CODE, Codes, Ints
from dnagoat.genome.place import OverlapRule, Strand
from dnagoat.genome.store.folder import MANIFEST, TOKENS, WINDOWS
from dnagoat.genome.store.tokens import map_tokens
from dnagoat.genome.windows import SPLITS, Span, Split
from dnagoat.wording import counted

if TYPE_CHECKING:
    import pandas as pd

# That are read. 2 adds strands, lengths of chromosomes, what was left out, and notes; 3 several sources, and
# near-copies that left training.
DATASET_FORMATS: Final = (1, 2, 3)


class Contig(Frozen):
    """One record: its bases are tokens[offset : offset + length].

    Where the record is itself a piece of a chromosome, `chromosome`, `start` (0-based) and `strand` say which, and
    `chromosome_length` how long the whole is; None = unknown. `genome` is the one that it is of
    where there are several: names, and those of chromosomes, begin with it.
    """

    name: str
    offset: int
    length: int
    n: int = 0
    masked: int = 0
    gc: int = 0
    description: str = ""
    chromosome: str | None = None
    start: int | None = None
    strand: Strand = "+"
    chromosome_length: int | None = None
    genome: str | None = None
    spans: tuple[tuple[int, int, Split], ...] = ()

    @property
    def home(self) -> str:
        """The sequence of the source assembly that the contig lies on."""
        return self.chromosome or self.name

    @property
    def bare_home(self) -> str:
        """The same without the name of its genome."""
        return self.home if self.genome is None else self.home.removeprefix(apart(self.genome, ""))

    @property
    def home_length(self) -> int | None:
        """Bases of that sequence, where they are known."""
        return self.length if self.start is None else self.chromosome_length

    def to_home(self, start: int, end: int) -> tuple[int, int]:
        """[start, end) of the contig, on its home's forward strand."""
        shift = self.start or 0
        return (start + shift, end + shift) if self.strand == "+" else self._turned(start, end)

    def from_home(self, start: int, end: int) -> tuple[int, int]:
        """[start, end) of the contig's home, in the contig's own coordinates; below 0 or above its length outside."""
        shift = self.start or 0
        return (start - shift, end - shift) if self.strand == "+" else self._turned(start, end)

    def _turned(self, start: int, end: int) -> tuple[int, int]:
        """The same bases counted on the other strand: of the contig on its home, or of its home on the contig."""
        mirror = (self.start or 0) + self.length
        return mirror - end, mirror - start

    def place(self, start: int, end: int) -> str:
        """[start, end) of the contig for a person: on the chromosome where that is known; 0-based, half-open."""
        first, last = self.to_home(start, end)
        return f"{self.home}:{first:,}-{last:,}"


def apart(genome: str | None, name: str) -> str:
    """What a sequence of a genome is called beside those of others: GENOME:NAME."""
    return name if genome is None else f"{genome}:{name}"


class SourceRecord(Frozen):
    """A file that bases came from; `genome` is what names of its contigs begin with, where there are several."""

    name: str
    kind: str
    bytes: int
    sha256: str
    genome: str | None = None
    assembly: str | None = None
    address: str | None = None


class Rules(Frozen):
    """Everything that decided which windows there are."""

    window: int
    stride: int
    max_n: float
    split: Literal["contig", "blocks"]
    val: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    guard: int = 0
    gaps: Literal["refuse", "drop"] = "refuse"
    regions: str | None = None
    contigs: Literal["all", "primary"] = "all"
    overlaps: OverlapRule = "refuse"
    copies: Literal["keep", "drop"] = "keep"


class Tally(Frozen):
    """Counts over the whole store, in bases, and over windows."""

    bases: int
    n: int
    masked: int
    gc: int
    ambiguous: int
    uracil: int
    gaps_dropped: int
    windows: dict[Split, int]
    windows_too_many_n: int
    partial_tiles: int
    contigs_skipped: int = 0
    windows_copies: int = 0


class Manifest(Frozen):
    """The passport of a dataset."""

    format: Literal[1, 2, 3] = 3
    kind: Literal["dnagoat dataset"] = "dnagoat dataset"
    tool_version: str
    content_hash: str
    tokens_sha256: str
    windows_sha256: str
    token_codes: dict[str, int]
    sources: tuple[SourceRecord, ...]
    rules: Rules
    tally: Tally
    contigs: tuple[Contig, ...]
    left_out: tuple[str, ...] = ()
    uneven: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    leaks_before: dict[str, Any] | None = None  # shares of each held-out split, where near-copies left training
    leaks_after: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_source(cls, values: Any) -> Any:
        """Formats 1 and 2 had one source."""
        if isinstance(values, dict) and "source" in values and "sources" not in values:
            values = {**values, "sources": [values["source"]]}
            del values["source"]
        return values


@dataclass(frozen=True)
class Dataset:
    """An opened dataset; tokens are mapped and windows read only when asked for."""

    path: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def content_hash(self) -> str:
        return self.manifest.content_hash

    @property
    def window(self) -> int:
        return self.manifest.rules.window

    @property
    def contigs(self) -> list[Contig]:
        return list(self.manifest.contigs)

    @cached_property
    def tokens(self) -> np.memmap[tuple[int, ...], np.dtype[np.uint8]]:
        """The store (bases,): bits 0-2 code, bit 3 soft-masked."""
        return map_tokens(self.path / TOKENS)

    @cached_property
    def windows(self) -> pd.DataFrame:
        """All windows in genome order: contig, start, end, split, gc, n_fraction, masked_fraction."""
        import pandas as pd

        try:
            with (self.path / WINDOWS).open("rb") as handle:
                return pd.read_parquet(handle)
        except (OSError, ValueError) as fault:
            raise DatasetError(f"{self.path / WINDOWS} cannot be read ({fault}); prepare it again") from None

    @cached_property
    def _offsets(self) -> dict[str, int]:
        return {contig.name: contig.offset for contig in self.manifest.contigs}

    def windows_of(self, split: Split) -> pd.DataFrame:
        """The windows of one split in genome order."""
        if split not in SPLITS:
            raise DatasetError(f"split {split!r}: there are {', '.join(SPLITS)}")
        return self.windows[self.windows["split"] == split].reset_index(drop=True)

    def starts(self, split: Split) -> Ints:
        """Absolute token positions (windows,) at which that split's windows begin, in genome order."""
        windows = self.windows_of(split)
        offsets = windows["contig"].map(self._offsets).to_numpy(dtype=np.int64)
        starts: Ints = offsets + windows["start"].to_numpy(dtype=np.int64)
        return starts

    def room(self, split: Split) -> Ints:
        """For each window of a split, the lowest and the highest absolute start (windows, 2) within its own span."""
        starts = self.starts(split)
        spans = self.spans(split)
        if not len(starts):
            return np.zeros((0, 2), dtype=np.int64)
        place = np.searchsorted(spans[:, 0], starts, side="right") - 1
        return np.stack([spans[place, 0], spans[place, 1] - self.window], axis=1)

    def spans(self, split: Split) -> Ints:
        """Absolute [start, end) (spans, 2) of a split, in genome order."""
        return np.array(
            [
                (contig.offset + start, contig.offset + end)
                for contig in self.manifest.contigs
                for start, end, of in contig.spans
                if of == split
            ],
            dtype=np.int64,
        ).reshape(-1, 2)

    def codes(self, start: int, end: int) -> Codes:
        """Codes (end - start,) of absolute positions [start, end), without the mask bit."""
        return self.tokens[start:end] & np.uint8(CODE)

    @cached_property
    def _ends(self) -> Ints:
        return np.array([contig.offset + contig.length for contig in self.manifest.contigs], dtype=np.int64)

    def locate(self, position: int) -> tuple[Contig, int]:
        """The contig that holds an absolute position, and the 0-based place in it."""
        place = int(np.searchsorted(self._ends, position, side="right"))
        if position < 0 or place == len(self._ends):
            raise DatasetError(
                f"position {position:,} is outside the {self.manifest.tally.bases:,} bases of {self.path}"
            )
        contig = self.manifest.contigs[place]
        return contig, position - contig.offset


def open_dataset(path: Path) -> Dataset:
    """Opens a dataset folder; a `DatasetError` says what is wrong with one that is none."""
    file = path / MANIFEST
    if not path.is_dir():
        raise DatasetError(f"{path} is not a folder; give the folder that `dnagoat prepare --out` wrote")
    if not file.exists():
        raise DatasetError(f"{path} holds no manifest.json and so is not a dataset; make one with `dnagoat prepare`")
    try:
        manifest = Manifest(**read_json(file))
    except Exception as fault:
        raise DatasetError(f"{file} cannot be read as a dataset's manifest: {fault}") from None
    size = _size(path / TOKENS)
    if size != manifest.tally.bases:
        held = "is missing" if size is None else f"holds {counted(size, 'base')}"
        raise DatasetError(f"{path / TOKENS} {held}, the manifest says {manifest.tally.bases:,}; prepare it again")
    return Dataset(path, manifest)


def content_of(path: Path) -> str | None:
    """The content hash that a dataset's manifest names, empty where it cannot be read; None where there is none."""
    file = path / MANIFEST
    if not file.is_file():
        return None
    try:
        return str(read_json(file)["content_hash"])
    except (ValueError, KeyError, TypeError, OSError):
        return ""  # open_dataset says what is wrong with it


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def content_hash(tokens_sha256: str, windows_sha256: str, window: int, contigs: list[Contig]) -> str:
    """sha256 of what a model can see: bases, contigs, windows, splits; not names of files or versions of tools."""
    content: dict[str, Any] = {
        "tokens": tokens_sha256,
        "windows": windows_sha256,
        "window": window,
        "contigs": [[contig.name, contig.length, [list(Span(*span)) for span in contig.spans]] for contig in contigs],
    }
    return sha256(json.dumps(content, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
