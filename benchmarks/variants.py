"""How fast variants are scored beside plain passes: one for each allele and strand, alone and in batches.

    python benchmarks/variants.py [--rounds 5] [--many] [--json FILE]

One process, one thread, process time, least over interleaved rounds. The model is the preset `tiny` (d 128, 4 heads, 4
layers) with GOAT, its weights three times as large as drawn, so that predictions are as sharp as a trained model's;
variants are substitutions and short indels on random bases, 1,024 bases read for each, 64 of them after the allele.

--many scores files of 10,000 and of 100,000 variants instead, each in a process of its own, with a model that is next
to nothing (one layer of width 16, 32 bases read): what is left is reading, planning, keeping, writing, and its memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import torch
from rows import Row, finish, interleaved, options

from dnagoat.config import PositionConfig
from dnagoat.evaluation.outputs.variants.alleles import Change, Frame, compare
from dnagoat.evaluation.outputs.variants.ratios import score_changes
from dnagoat.evaluation.outputs.variants.scored_file import Places, Scorer, score_variants
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.genome.alphabet import Codes, reverse_complement
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.metrics import resident_peak
from dnagoat.training.presets import preset

COUNT, SHARPER = 24, 3.0
FRAME = Frame(context=1_024)


def model() -> DnaLM:
    made = DnaLM(preset("tiny")[0].but(position=PositionConfig(name="goat")), seed=0).eval()
    with torch.no_grad():
        for block in made.blocks:
            for weight in block.parameters():
                weight.mul_(SHARPER if weight.dim() == 2 else 1)
    return made


def changes() -> list[Change]:
    """As many substitutions as indels are rare: 3 of 4."""
    rng = np.random.default_rng(0)
    found: list[Change] = []
    while len(found) < COUNT:
        text = rng.integers(0, 4, 2 * FRAME.margin + 8).astype(np.uint8)
        ref = text[FRAME.margin : FRAME.margin + 1]
        new = rng.integers(0, 4, int(rng.integers(1, 6))).astype(np.uint8)
        alt = (ref + 1) % 4 if len(found) % 4 else np.concatenate([ref, new])
        change = compare(text, FRAME.margin, ref, alt, FRAME)
        assert isinstance(change, Change)
        found.append(change)
    return found


def haplotypes(change: Change) -> Iterator[tuple[Codes, int]]:
    """Whole sequences of REF and ALT on + and on -, each with how many of its last bases count."""
    for allele in (change.ref, change.alt):
        tail = len(allele) + FRAME.after
        yield np.concatenate([change.left, allele, change.right[: FRAME.after]]), tail
        yield reverse_complement(np.concatenate([change.left[-FRAME.after :], allele, change.right])), tail


def plainly(made: DnaLM, given: list[Change]) -> np.ndarray:
    """Two passes an allele, one a strand."""
    ratios = []
    for change in given:
        sums = [
            -window_scores(made, codes[None])[0][0, -tail:].sum(dtype=np.float64) for codes, tail in haplotypes(change)
        ]
        ratios.append((sums[2] - sums[0], sums[3] - sums[1]))
    return np.array(ratios)


def in_batches(made: DnaLM, given: list[Change]) -> None:
    """The same passes, four sequences of one length at once, as many as a CPU reads best."""
    whole = sorted((codes for change in given for codes, _ in haplotypes(change)), key=len)
    first = 0
    while first < len(whole):
        last = first
        while last < min(first + 4, len(whole)) and len(whole[last]) == len(whole[first]):
            last += 1
        window_scores(made, np.stack(whole[first:last]))
        first = last


FEW, MANY = 10_000, 100_000


def many_rows() -> Iterator[Row]:
    """Rate and memory of whole files, from a VCF to an indexed VCF."""
    found = {}
    for count in (FEW, MANY):
        code = f"import variants; variants.score_a_file({count})"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
        found[count] = json.loads(done.stdout.splitlines()[-1])
    few, many = found[FEW], found[MANY]
    told = (
        f"{many['seconds']:.0f} s of process time, peak {many['peak'] / 1e6:.0f} MB, {few['peak'] / 1e6:.0f} of {FEW:,}"
    )
    yield Row(f"peak memory of {MANY:,} / {FEW:,}", many["peak"] / few["peak"], "ratio", 1.1, "<=", 1, told)
    a_variant = many["seconds"] / MANY / (few["seconds"] / FEW)
    yield Row(f"time a variant, {MANY:,} / {FEW:,}", a_variant, "ratio", 1.2, "<=", 1)


def score_a_file(count: int) -> None:
    """Scores `count` substitutions on random bases; prints process time and peak memory as JSON. A process's whole
    work."""
    torch.set_num_threads(1)
    small = preset("tiny")[0].but(width=16, heads=1, layers=1, mlp_width=16, context=32)
    made = DnaLM(small.but(position=PositionConfig(name="nope")), seed=0).eval()
    rng = np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        bases = "".join(rng.choice(list("ACGT"), 4 * count))
        (place / "g.fa").write_text(">one\n" + "\n".join(bases[at : at + 60] for at in range(0, len(bases), 60)) + "\n")
        with (place / "c.vcf").open("w") as out:
            out.write(f"##fileformat=VCFv4.2\n##contig=<ID=one,length={len(bases)}>\n")
            out.write("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
            for at in range(1, count + 1):
                ref = bases[4 * at - 1]
                out.write(f"one\t{4 * at}\t.\t{ref}\t{'CGTA'['ACGT'.index(ref)]}\t.\t.\t.\n")
        start = process_time()
        score_variants(
            Scorer(made, "next to nothing", "0" * 64, 4_096),
            place / "c.vcf",
            place / "g.fa",
            Frame(context=32, after=8),
            Places(place / "s.vcf.gz"),
            say=lambda _: None,
        )
        print(json.dumps({"seconds": process_time() - start, "peak": resident_peak()}))


def rows(rounds: int) -> Iterator[Row]:
    made, given = model(), changes()
    times = interleaved(
        {
            "ours": lambda: score_changes(made, given, FRAME, 4_096),
            "plain": lambda: plainly(made, given),
            "batches": lambda: in_batches(made, given),
        },
        rounds,
    )
    rate = {name: COUNT / seconds for name, seconds in times.items()}
    told = ", ".join(f"{name} {value:.1f}" for name, value in rate.items())
    yield Row("plain passes / ours", times["plain"] / times["ours"], "ratio", 1.8, ">=", rounds, f"variants/s: {told}")
    yield Row("plain passes in batches / ours", times["batches"] / times["ours"], "ratio", 1.8, ">=", rounds)
    plain = plainly(made, given)
    apart = np.abs(score_changes(made, given, FRAME, 4_096) - plain)
    size = f"ratios from {plain.min():.2f} to {plain.max():.2f} nats"
    yield Row("furthest from plain passes", float(apart.max()), "nats", 1e-5, "<=", 1, size)


if __name__ == "__main__":
    torch.set_num_threads(1)
    given = options(__doc__ or "", rounds=5, switches={"many": "rate and memory of files of many variants instead"})
    finish(many_rows() if given.many else rows(given.rounds), given.json)
