"""Which variants does a VCF or BCF file hold, and which of their alleles can be scored on a genome?

Files are read by pysam, more than once: in constant memory nothing of them is kept. Positions are 0-based here.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

import numpy as np

from dnagoat.errors import MissingError, SourceError
from dnagoat.evaluation.outputs.variants.alleles import Change, Frame, Skipped, compare
from dnagoat.genome.alphabet import MASKED, TABLE, Codes, N
from dnagoat.genome.read.assembly import ABSENT, Assembly
from dnagoat.progress import Progress, silent
from dnagoat.streams import is_stream, name_input, open_input
from dnagoat.wording import counted

if TYPE_CHECKING:
    import pysam

Plan = list[Change | Skipped]  # of each ALT; one entry where there is none
EVERY = 10_000  # records between two reports


def load_pysam() -> ModuleType:
    """The package that reads and writes VCF and BCF; a `MissingError` where it is not installed."""
    try:
        import pysam
    except ImportError:
        raise MissingError(
            "VCF and BCF need the package pysam; install dnagoat[variants] (`pip install 'dnagoat[variants]'`)"
        ) from None
    pysam.set_verbosity(0)  # what htslib would write on standard error is raised here
    return pysam


class Calls:
    """A file of variants that can be read again and again."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name

    @contextmanager
    def open(self) -> Iterator[pysam.VariantFile]:
        try:
            file = load_pysam().VariantFile(str(self.path))
        except (ValueError, OSError, NotImplementedError):
            raise SourceError(
                f"{self.name} is no VCF or BCF file, or a damaged one: it must begin with ##fileformat=VCF and have a "
                "line of columns (#CHROM); plain, bgzip and BCF are read"
            ) from None
        with file:
            yield file

    def records(self, file: pysam.VariantFile) -> Iterator[pysam.VariantRecord]:
        """The records of an open file; a `SourceError` says after which one it can be read no further."""
        number, last = 0, "the header"
        records = iter(file)
        while True:
            try:
                record = next(records)
            except StopIteration:
                return
            except (OSError, ValueError) as fault:
                raise SourceError(
                    f"{self.name} cannot be read past record {number:,} ({last}): {fault}; it was cut short, or the "
                    "next line is no variant"
                ) from None
            number, last = number + 1, where(record)
            yield record


@contextmanager
def open_calls(path: Path) -> Iterator[Calls]:
    """The variants of a file, or of a stream, which is copied to a temporary file first.

    Text that begins with a byte order mark, as spreadsheets save it, is copied without: htslib reads none.
    """
    if not (is_stream(path) or path.is_file()):
        raise SourceError(f"{path} is no file; give a VCF or BCF file")
    with tempfile.TemporaryDirectory(prefix="dnagoat-") as folder:
        file = path
        if is_stream(path):
            file = Path(folder) / "calls"
            with open_input(path) as source, file.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        if (unpack := _marked(file)) is not None:
            with unpack(file, "rb") as source, (Path(folder) / "unmarked").open("wb") as sink:
                source.read(len(BOM_UTF8))
                shutil.copyfileobj(source, sink)
            file = Path(folder) / "unmarked"
        yield Calls(file, name_input(path))


def _marked(file: Path) -> Callable[[Path, Literal["rb"]], BinaryIO] | None:
    """What opens a file whose text begins with a byte order mark; None of any other."""
    for unpack in (open, gzip.open):
        with suppress(OSError, EOFError, zlib.error), unpack(file, "rb") as handle:
            if handle.read(len(BOM_UTF8)) == BOM_UTF8:
                return cast("Callable[[Path, Literal['rb']], BinaryIO]", unpack)
    return None


def where(record: pysam.VariantRecord) -> str:
    """A record's place for a person, as its file has it: 1-based."""
    return f"{record.chrom}:{record.pos}"


def codes_of(allele: str | None) -> Codes | None:
    """Codes of an allele of A, C, G and T in either case; None of any other."""
    tokens = np.frombuffer((allele or ".").encode("utf-8").translate(TABLE), dtype=np.uint8)
    codes = tokens & np.uint8(0xFF ^ MASKED)
    return codes if codes.size and int(codes.max()) < N else None


class Planner:
    """Says of each record which of its alleles can be scored on an assembly, and how."""

    def __init__(self, assembly: Assembly, frame: Frame, calls: str) -> None:
        self.assembly, self.frame, self._calls = assembly, frame, calls
        self.meant: dict[str, str | None] = {}  # names of the file, as the assembly has them
        self.misfit: str | None = None  # how the latest record contradicts the assembly

    def plan(self, record: pysam.VariantRecord) -> Plan:
        """What is compared for each ALT, or why nothing is."""
        self.misfit = None
        alts: tuple[str, ...] = record.alts or (".",)
        ref = codes_of(record.ref)
        text: Codes | Skipped = Skipped.NOT_ACGT if ref is None else self._around(record, ref)
        at = self.frame.margin
        plan: Plan = []
        for alt in alts:
            kind = _kind(alt)
            if kind is not None:
                plan.append(kind)
            elif isinstance(text, Skipped):
                plan.append(text)
            else:
                codes = codes_of(alt)
                assert codes is not None and ref is not None
                plan.append(compare(text, at, ref, codes, self.frame))
        return plan

    def _around(self, record: pysam.VariantRecord, ref: Codes) -> Codes | Skipped:
        """The genome around a record's REF, or why the record has no place on it."""
        name = self._find(record.chrom)
        if name is None:
            return Skipped.UNKNOWN_SEQUENCE
        start, end, margin = record.pos - 1, record.pos - 1 + len(ref), self.frame.margin
        length = self.assembly.length(name)
        if length is not None and (start >= length or end > length):
            self.misfit = f"{where(record)} lies past the end of {name}, which has {counted(length, 'base')}"
            return Skipped.OUTSIDE
        text = self.assembly.codes(name, start - margin, end + margin)
        here = text[margin : margin + len(ref)]
        if (here == ABSENT).any():
            return Skipped.OUTSIDE
        differs = (here != ref) & (here != N)
        if differs.any():
            self.misfit = f"at {where(record)} REF is {_short(record.ref or '')}, the genome {_letters(here)}"
            return Skipped.REF_MISMATCH
        return Skipped.NEAR_N if (here == N).any() else text

    def _find(self, name: str) -> str | None:
        if name not in self.meant:
            self.meant[name] = self.assembly.find(name, self._calls)
        return self.meant[name]


def _kind(alt: str) -> Skipped | None:
    """Why an ALT is no sequence of bases; None of one that is."""
    if alt in (".", ""):
        return Skipped.NO_ALT
    if alt == "*":
        return Skipped.STAR
    if alt.startswith("<"):
        return Skipped.SYMBOLIC
    if "[" in alt or "]" in alt or alt.startswith(".") or alt.endswith("."):
        return Skipped.BREAKEND
    return Skipped.NOT_ACGT if codes_of(alt) is None else None


def _short(bases: str) -> str:
    return bases if len(bases) <= 20 else f"{bases[:20]}…"


def _letters(codes: Codes) -> str:
    return _short("".join("ACGTN"[code] for code in codes[:21].tolist()))


@dataclass
class Survey:
    """What a file of variants holds, before any is scored; an allele is an ALT."""

    records: int = 0
    alleles: int = 0
    skipped: Counter[Skipped] = field(default_factory=Counter)
    misfits: int = 0
    first_misfit: str = ""
    in_order: bool = True
    header: pysam.VariantHeader | None = None  # with what records use and the file does not declare
    notes: list[str] = field(default_factory=list)

    @property
    def scored(self) -> int:
        return self.alleles - self.skipped.total()


def survey_calls(calls: Calls, planner: Planner, progress: Progress = silent) -> Survey:
    """Reads a whole file once and counts; no model is asked."""
    survey = Survey()
    seen: set[str] = set()
    before: tuple[str, int] = "", 0
    with calls.open() as file:
        for record in calls.records(file):
            plan = planner.plan(record)
            survey.records += 1
            survey.alleles += len(plan)
            survey.skipped.update(entry for entry in plan if isinstance(entry, Skipped))
            if planner.misfit is not None:
                survey.misfits += 1
                survey.first_misfit = survey.first_misfit or planner.misfit
            here = record.chrom, record.pos
            survey.in_order &= here[1] >= before[1] if here[0] == before[0] else here[0] not in seen
            seen.add(here[0])
            before = here
            if survey.records % EVERY == 0:
                progress("reading variants", survey.records, 0)
        survey.header = file.header.copy()
    _refuse_strangers(survey, planner, calls.name)
    survey.notes = [f"{calls.name}: {note}" for note in planner.assembly.names.notes(planner.meant)]
    return survey


def _refuse_strangers(survey: Survey, planner: Planner, calls: str) -> None:
    """A `SourceError` where no record lies on a sequence of the genome."""
    if survey.records and not any(planner.meant.values()):
        theirs, ours = ", ".join(list(planner.meant)[:3]), ", ".join(list(planner.assembly.genome.lengths)[:3])
        raise SourceError(
            f"no variant of {calls} is about a sequence of {planner.assembly}: the one has {theirs}, the other {ours}; "
            "give the genome that the variants were called on"
        )


def refuse_misfits(survey: Survey, calls: str, genome: str) -> None:
    """A `SourceError` where records contradict the genome: a ratio to another base would be made up."""
    if survey.misfits:
        raise SourceError(
            f"{calls} does not fit {genome} in {survey.misfits:,} of {counted(survey.records, 'record')} "
            f"({survey.first_misfit}); give the genome that they were called on, or --skip-mismatches to leave them "
            "unscored"
        )
