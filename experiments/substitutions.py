"""Every substitution in 2,000 test bases, and what a model makes of them by kind (substitutions.md).

python experiments/substitutions.py write DATASET CALLS      100 bases at each of 20 places, evenly over the test split
python experiments/substitutions.py draw DATASET TABLE FIGURE
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import dnagoat

PLACES, BASES, RESAMPLES = 20, 100, 2_000
PAIRS = (
    ("transitions", "transversions"),
    ("transitions of CpG", "transitions of other C, G"),
    ("transversions of CpG", "transversions of other C, G"),
)


def write(dataset: str, calls: str) -> None:
    data = dnagoat.open_dataset(dataset)
    starts = data.starts("test")
    lines = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    for start in starts[np.linspace(0, len(starts) - 1, PLACES + 2).astype(int)[1:-1]].tolist():
        contig, at = data.locate(start)
        for place, code in enumerate(data.codes(start, start + BASES), at + 1):
            alts = "ACGT".replace("ACGTN"[code], "") if code < 4 else ""
            lines += [f"{contig.home}\t{place}\t.\t{'ACGT'[code]}\t{alt}\t.\t.\t." for alt in alts]
    lines.insert(1, f"##contig=<ID={contig.home}>")
    Path(calls).write_text("\n".join(lines) + "\n", encoding="utf-8")


def kinds(dataset: str, table: pd.DataFrame) -> dict[str, pd.Series]:
    """Which rows are of which kind; a C or G is of a CpG by the genome around it."""
    data = dnagoat.open_dataset(dataset)
    contig = next(contig for contig in data.contigs if contig.home == table.sequence[0])
    codes, at = data.codes(contig.offset, contig.offset + contig.length), table.position.to_numpy() - 1
    transition = (table.ref + table.alt).isin(["AG", "GA", "CT", "TC"])
    cpg = ((table.ref == "C") & (codes[at + 1] == 2)) | ((table.ref == "G") & (codes[at - 1] == 1))
    other = table.ref.isin(["C", "G"]) & ~cpg
    masks = (transition, ~transition, cpg & transition, other & transition, cpg & ~transition, other & ~transition)
    return dict(zip((kind for pair in PAIRS for kind in pair), masks, strict=True))


def draw(dataset: str, table: str, figure: str) -> None:
    """Prints means with intervals over the places, and saves boxes of 5 to 95 %."""
    rows = pd.read_csv(table, sep="\t")
    masks = kinds(dataset, rows)
    place = np.cumsum(np.diff(rows.position, prepend=rows.position[0]) > BASES)
    drawn = np.random.default_rng(0).choice(PLACES, (RESAMPLES, PLACES))
    found = {}
    for kind, mask in masks.items():
        sums = np.bincount(place, rows.llr.where(mask, 0), PLACES)
        counts = np.bincount(place, mask, PLACES)
        found[kind] = sums.sum() / counts.sum(), sums[drawn].sum(1) / counts[drawn].sum(1)
        print(f"{kind:<28} {mask.sum():>6,} {told(*found[kind])}  above 0: {(rows.llr[mask] > 0).mean():.1%}")
    for one, other in PAIRS:
        (value, values), (less, lesser) = found[one], found[other]
        print(f"{one} - {other}: {told(value - less, values - lesser)}")
    plt.rcParams["svg.fonttype"] = "none"
    drawing, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    axes.boxplot(
        [rows.llr[mask] for mask in masks.values()],
        orientation="horizontal",
        whis=(5, 95),
        showfliers=False,
        tick_labels=[f"{kind} ({mask.sum():,})" for kind, mask in masks.items()],
        medianprops={"color": "#d55e00"},
    )
    axes.axvline(0, color="0.6", lw=0.8)
    axes.set_xlabel("log-likelihood ratio, alt over ref, in nats")
    axes.invert_yaxis()
    drawing.savefig(figure, metadata={"Date": None})


def told(value: float, drawn: np.ndarray) -> str:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{value:+.2f} ({low:+.2f} to {high:+.2f})"


if __name__ == "__main__":
    {"write": write, "draw": draw}[sys.argv[1]](*sys.argv[2:])
