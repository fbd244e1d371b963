"""How scored variants are kept: the file that was read with INFO fields added, or a table with a row an allele."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from dnagoat.errors import OptionError, SourceError
from dnagoat.evaluation.outputs.rows import Cell, write_rows
from dnagoat.evaluation.outputs.variants.alleles import Skipped
from dnagoat.evaluation.outputs.variants.calls import Calls, Survey, load_pysam, where
from dnagoat.evaluation.outputs.variants.kept import Rows
from dnagoat.files import written_whole
from dnagoat.streams import is_passage

if TYPE_CHECKING:
    import pysam

FIELDS: Final = {
    "LLR": ("A", "Float", "log p of ALT minus log p of REF in nats, mean of both strands; above 0, ALT is likelier"),
    "LLR_FWD": ("A", "Float", "the same, read on the + strand"),
    "LLR_REV": ("A", "Float", "the same, read on the - strand"),
    "SKIPPED": (".", "String", "why an ALT has no score, in the order of ALT; . where it has one"),
}
END: Final = '##INFO=<ID=END,Number=1,Type=Integer,Description="End of the variant">'
# Of a table; positions are 1-based, as in VCF, and scores are in nats.
COLUMNS: Final = {
    "sequence": str,
    "position": int,
    "id": str,
    "ref": str,
    "alt": str,
    "llr": float,
    "llr_forward": float,
    "llr_reverse": float,
    "skipped": str,
}
LONGEST_TBI: Final = 1 << 29  # bases that a .tbi index can address


class Labels(NamedTuple):
    """What scores are called in a file: `prefix`_LLR and so on, and the line of its header that says whose they are."""

    prefix: str
    about: str


def mode_for(path: Path) -> str:
    """How pysam writes a file of that name: text, bgzip or BCF; an `OptionError` of another name."""
    modes = {".vcf": "w", ".gz": "wz", ".bgz": "wz", ".bcf": "wb"}
    if is_passage(path):
        return "w"
    if path.suffix not in modes or (path.suffix in (".gz", ".bgz") and Path(path.stem).suffix != ".vcf"):
        raise OptionError(f"--out {path}: the name ends in .vcf, .vcf.gz or .bcf, which says what is written")
    return modes[path.suffix]


def refuse_taken_fields(calls: Calls, prefix: str) -> None:
    """An `OptionError` where the file has fields of that name: two meanings in one column would be worse than none."""
    if not (prefix.isidentifier() and prefix.isascii()):
        raise OptionError(f"--name {prefix}: INFO fields are named with letters, digits and _, and begin with no digit")
    with calls.open() as file:
        taken = [f"{prefix}_{name}" for name in FIELDS if f"{prefix}_{name}" in file.header.info]
    if taken:
        raise OptionError(f"{calls.name} has {', '.join(taken)} already; call the new ones otherwise with --name")


def write_calls(out: Path, calls: Calls, survey: Survey, rows: Rows, labels: Labels) -> Path | None:
    """The records of `calls` in their order, with their scores in INFO; returns the index, where there is one.

    VCF, bgzipped VCF or BCF, as the name says; text where it is a stream.
    """
    pysam, mode = load_pysam(), mode_for(out)
    with written_whole(out) as aside, calls.open() as file:
        _declare(file.header, survey, labels)
        with pysam.VariantFile(str(aside), mode, header=file.header) as sink:
            at = 0
            for record in calls.records(file):
                count = max(1, len(record.alts or ()))
                _annotate(record, rows[at : at + count], labels.prefix)
                _write_record(sink, record, calls.name)
                at += count
    indexed = mode != "w" and survey.in_order and survey.records > 0
    return _index(out, survey, binary=mode == "wb") if indexed else None


def _declare(header: pysam.VariantHeader, survey: Survey, labels: Labels) -> None:
    """Adds our fields, and what records use undeclared."""
    assert survey.header is not None
    # htslib takes what is undeclared as text, and pysam writes a number there for every symbolic allele.
    if "END" not in header.info and ("END" in survey.header.info or survey.skipped[Skipped.SYMBOLIC]):
        header.add_line(END)
    header.merge(survey.header)
    for name, (number, kind, description) in FIELDS.items():
        header.add_line(f'##INFO=<ID={labels.prefix}_{name},Number={number},Type={kind},Description="{description}">')
    header.add_line(f"##{labels.about}")


def _write_record(sink: pysam.VariantFile, record: pysam.VariantRecord, calls: str) -> None:
    try:
        sink.write(record)
    except OSError as fault:
        if fault.errno in (None, 0, errno.EINVAL):  # htslib's word for a record that does not agree with its header
            raise SourceError(f"{calls}: the record at {where(record)} does not agree with the file's header") from None
        raise


def _annotate(record: pysam.VariantRecord, rows: Rows, prefix: str) -> None:
    skipped = rows["skipped"].tolist()
    if any(skipped):
        record.info[f"{prefix}_SKIPPED"] = tuple(Skipped(why).word if why else "." for why in skipped)
    if all(skipped):
        return
    both = (rows["forward"] + rows["reverse"]) / 2
    for name, values in (("LLR", both), ("LLR_FWD", rows["forward"]), ("LLR_REV", rows["reverse"])):
        numbers = (None if why else value for value, why in zip(values.tolist(), skipped, strict=True))
        record.info[f"{prefix}_{name}"] = tuple(numbers)


def _index(out: Path, survey: Survey, *, binary: bool) -> Path:
    """Where a base is found in the file: .tbi, or .csi for BCF and for sequences that .tbi cannot address."""
    assert survey.header is not None
    long = any((contig.length or 0) >= LONGEST_TBI for contig in survey.header.contigs.values())
    index = out.with_name(f"{out.name}.csi" if binary or long else f"{out.name}.tbi")
    load_pysam().tabix_index(
        str(out),
        preset="bcf" if binary else "vcf",
        force=True,
        csi=binary or long,
        index=str(index),
        keep_original=True,
    )
    return index


def write_table(out: Path, calls: Calls, rows: Rows) -> None:
    """A row an allele, in the order of the file: TSV, or Parquet where the name ends so."""
    with calls.open() as file:
        write_rows(out, COLUMNS, _lines(calls.records(file), rows))


def _lines(records: Iterator[pysam.VariantRecord], rows: Rows) -> Iterator[tuple[Cell, ...]]:
    at = 0
    for record in records:
        for alt in record.alts or (None,):
            forward, reverse, skipped = rows[at].item()
            scores = (None,) * 3 if skipped else ((forward + reverse) / 2, forward, reverse)
            why = Skipped(skipped).word if skipped else None
            yield record.chrom, record.pos, record.id, record.ref, alt, *scores, why
            at += 1
