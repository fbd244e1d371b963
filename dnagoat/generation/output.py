"""How generated DNA is kept: FASTA with headers that say where it came from, and tables of log-probabilities."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

from Bio.Seq import Seq
from Bio.SeqIO import write
from Bio.SeqRecord import SeqRecord

from dnagoat.files import BYTES, written_whole
from dnagoat.generation.continuation import Generated
from dnagoat.generation.prompts import Prompt
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.genome.alphabet import BASES, decode


def header(prompt: Prompt, made: Generated, options: SamplingOptions) -> str:
    """`key=value` words: where the prompt is from, how the sequence was drawn, and its mean log-probability in nats."""
    words = {"prompt": prompt.name, "source": prompt.source.replace(" ", "_"), "prompt_bases": len(prompt.codes)}
    if prompt.contig is not None:
        words["coordinates"] = f"{prompt.contig}:{prompt.start}-{prompt.end}"
    words |= {"strand": prompt.strand, "sample": made.sample, "seed": options.seed, "temperature": options.temperature}
    given = {name: getattr(options, name) for name in ("top_k", "top_p", "memory_strength")}
    words |= {name: value for name, value in given.items() if value is not None}
    if options.ban_motifs:
        words["banned"] = ",".join(options.ban_motifs)
    if made.gc_tilt is not None:
        words |= {"gc_target": options.gc_target, "gc_tilt": f"{made.gc_tilt:+.4f}"}
    words["mean_log_probability"] = f"{made.log_probabilities.mean():.6f}"
    return " ".join(f"{name}={value}" for name, value in words.items())


def identifier(made: Generated) -> str:
    return f"generated_{made.prompt + 1}_{made.sample + 1}"


def write_fasta(out: Path, prompts: Sequence[Prompt], sequences: Iterable[Generated], options: SamplingOptions) -> None:
    """Wrapped FASTA in the order of prompts and samples; a path in .gz is compressed, `-` is standard output."""
    records = [
        SeqRecord(Seq(decode(made.codes)), id=identifier(made), description=header(prompts[made.prompt], made, options))
        for made in sequences
    ]
    _write(out, lambda handle: write(records, handle, "fasta"))


def write_scores(out: Path, sequences: Iterable[Generated]) -> None:
    """A table with a line a base: sequence, position (0-based, after the prompt), base, log-probability in nats."""

    def lines(handle: TextIO) -> None:
        handle.write("sequence\tposition\tbase\tlog_probability\n")
        for made in sequences:
            name = identifier(made)
            handle.writelines(
                f"{name}\t{at}\t{BASES[code]}\t{score:.6f}\n"
                for at, (code, score) in enumerate(zip(made.codes, made.log_probabilities, strict=True))
            )

    _write(out, lines)


def write_table(out: Path, prompts: Sequence[Prompt], sequences: Iterable[Generated], options: SamplingOptions) -> None:
    """A table with a line a sequence: what the headers say, in columns, and the bases."""
    import pandas as pd

    rows = [
        {
            "sequence": identifier(made),
            "prompt": (prompt := prompts[made.prompt]).name,
            "source": prompt.source,
            "contig": prompt.contig,
            "start": prompt.start,
            "end": prompt.end,
            "strand": prompt.strand,
            "prompt_bases": len(prompt.codes),
            "sample": made.sample,
            "seed": options.seed,
            "memory_strength": options.memory_strength,
            "gc_tilt": made.gc_tilt,
            "mean_log_probability": round(float(made.log_probabilities.mean()), 6),
            "bases": decode(made.codes),
        }
        for made in sequences
    ]
    frame = pd.DataFrame(rows).convert_dtypes()
    _write(out, lambda handle: frame.to_csv(handle, sep="\t", index=False))


def _write(out: Path, fill: Callable[[TextIO], object]) -> None:
    with written_whole(out) as aside:
        if out.suffix == ".gz":
            # No name and no time inside, so that the same sequences give the same bytes.
            with aside.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                text = io.TextIOWrapper(packed, encoding="utf-8", errors=BYTES)
                fill(text)
                text.flush()
        else:
            with aside.open("w", encoding="utf-8", errors=BYTES) as handle:
                fill(handle)
