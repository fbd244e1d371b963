"""What does a dataset look like: where its splits lie, and how GC, N and soft-masking are spread over its windows?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dnagoat.genome.chromosomes import kind_of
from dnagoat.genome.dataset import Contig, Dataset, Manifest, Rules, apart
from dnagoat.genome.windows import SPLITS, Split
from dnagoat.wording import counted

MEASURES: Final = {"gc": "GC", "n_fraction": "N", "masked_fraction": "soft-masked"}


def histograms(dataset: Dataset, bins: int = 40) -> dict[str, dict[Split, dict[str, Any]]]:
    """For each measure and split: counts of windows in equal bins from 0 to 1, and the mean; None without windows."""
    result: dict[str, dict[Split, dict[str, Any]]] = {}
    for measure in MEASURES:
        result[measure] = {}
        for split in SPLITS:
            values = dataset.windows_of(split)[measure].to_numpy(dtype=np.float64)
            counts, _ = np.histogram(values, bins=bins, range=(0, 1))
            mean = float(values.mean()) if len(values) else None
            result[measure][split] = {"counts": counts.tolist(), "mean": mean}
    return result


def map_cells(contig: Contig, cells: int, longest: int) -> list[Split | None]:
    """A contig as a bar: which split most of each cell belongs to (None: guard gap), `cells` for the longest contig."""
    width = max(1, round(cells * contig.length / max(longest, 1))) if contig.length else 0
    bar: list[Split | None] = []
    for cell in range(width):
        first, last = contig.length * cell / width, contig.length * (cell + 1) / width
        shares: dict[Split | None, float] = dict.fromkeys((*SPLITS, None), 0.0)
        for start, end, split in contig.spans:
            shares[split] += max(0.0, min(end, last) - max(start, first))
        shares[None] = last - first - sum(shares.values())
        bar.append(max(shares, key=lambda split: shares[split]))
    return bar


def split_lines(dataset: Dataset) -> Iterator[str]:
    """Lines of BED: where each stretch of a split lies on the source assembly, with the split's name in column 4."""
    for contig in dataset.contigs:
        for start, end, split in contig.spans:
            first, last = contig.to_home(start, end)
            yield f"{contig.home}\t{first}\t{last}\t{split}\n"


def remarks(manifest: Manifest) -> list[str]:
    """What a person should know of a dataset, one sentence each: what was changed, dropped, or is missing."""
    tally, rules = manifest.tally, manifest.rules
    said = []
    if tally.uracil:
        said.append(f"{tally.uracil:,} U read as T")
    if tally.ambiguous:
        said.append(f"{counted(tally.ambiguous, 'IUPAC code')} stored as N (and counted in N)")
    if tally.gaps_dropped:
        said.append(f"{counted(tally.gaps_dropped, 'gap')} dropped; positions are those of the ungapped sequence")
    if tally.contigs_skipped:
        genomes = [apart(source.genome, "") for source in manifest.sources if source.genome]
        kinds = Counter(kind_of(_without(name, genomes)) for name in manifest.left_out)
        listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        some = ", ".join(name[:40] for name in manifest.left_out[:3]) + (" …" if len(manifest.left_out) > 3 else "")
        which = f": {listed} ({some});" if manifest.left_out else ";"
        said.append(
            f"{counted(tally.contigs_skipped, 'contig')} beside the chromosomes left out{which} "
            "`dnagoat prepare --all-contigs` keeps them"
        )
    if tally.windows_too_many_n:
        said.append(
            f"{counted(tally.windows_too_many_n, 'window')} dropped: over {rules.max_n:.0%} N, or nothing but N"
        )
    if rules.copies == "drop":
        said.append(f"{counted(tally.windows_copies, 'training window')} dropped: near-copies of held-out ones")
    if tally.partial_tiles:
        said.append(f"{counted(tally.partial_tiles, 'last partial tile')} dropped: shorter than a window")
    if manifest.uneven:
        some = ", ".join(name[:40] for name in manifest.uneven[:3])
        said.append(f"{counted(len(manifest.uneven), 'contig')} with uneven lines left out of genome.fai ({some})")
    said += manifest.notes
    names: dict[Split, str] = {"val": "validation", "test": "test"}
    empty = [split for split in names if not tally.windows[split]]
    return said + [f"the {names[split]} split is empty{_of_empty(rules, split)}" for split in empty]


def _without(name: str, genomes: list[str]) -> str:
    """A contig's name without that of its genome."""
    return next((name.removeprefix(genome) for genome in genomes if name.startswith(genome)), name)


def _of_empty(rules: Rules, split: Split) -> str:
    """Why a held-out split has no window, and what fills it."""
    if rules.split == "blocks":
        return f": its blocks leave no window of {rules.window:,} bases; `dnagoat prepare` with a lower --window"
    if named := getattr(rules, split):
        return f": no window of {', '.join(named)} was kept; `dnagoat prepare --{split}` with other contigs"
    return f"; name contigs of it (--{split}), or give --split-blocks, to `dnagoat prepare`"
