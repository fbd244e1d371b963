"""How much of the held-out data has a near-copy in training, overall and outside repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dnagoat.genome.leaks.leakage import NEAR, SAME
from dnagoat.genome.leaks.sampled_words import K
from dnagoat.reporting.cells import share, word
from dnagoat.reporting.drawing.figure import Figure, canvas, legend_above, name_rows
from dnagoat.reporting.drawing.marks import mark
from dnagoat.reporting.numbers import percent, whole
from dnagoat.reporting.section import Question, Section
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import MUTED, TEXT, drawing
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = {"any": "any 32-mer", "near": "near-copy", "same": "copy"}
KINDS = {  # words, colour, marker, and where in its row
    "overall": ("all sequence", MUTED.light, "o", -0.18),
    "outside_repeats": ("outside repeats", TEXT.light, "s", 0.18),
}


def leaks(results: Results) -> Figure | None:
    """Dots at the share of windows that share anything, a half, or nearly all of their 32-mers with training."""
    report = results.leakage
    if report is None:
        return None
    splits = [
        split for split in ("test", "val") if (report["splits"].get(split) or {}).get("overall", {}).get("judged")
    ]
    if not splits:
        return None
    with drawing():
        figure, axes = canvas(1, len(splits), height=2.5, share_x=True, share_y=True)
        for panel, split in zip(axes, splits, strict=True):
            for kind in KINDS:
                _draw_shares(panel, report["splits"][split][kind], kind)
            panel.set_title({"test": "test windows", "val": "validation windows"}[split])
            panel.locator_params(axis="x", nbins=5)
            panel.set_xlabel("share of windows (%)")
        low, high = axes[0].get_xlim()  # of all panels; room for the words beside the farthest dot
        axes[0].set_xlim(min(low, -0.03 * high), 1.2 * high + 0.2)
        name_rows(axes[0], [(level, None) for level in LEVELS.values()])
        for panel in axes[1:]:
            panel.grid(axis="y", visible=False)
            panel.tick_params(axis="y", length=0)
        legend_above(figure, *axes[0].get_legend_handles_labels(), most=2)
    told = [
        f"{percent(report['splits'][split]['overall']['near'])} of {split} windows overall and "
        f"{percent(report['splits'][split]['outside_repeats']['near'])} outside repeats"
        for split in splits
    ]
    return Figure(
        "leakage",
        "Has the training split seen the test?",
        reading="Farther left is better, and what counts are windows outside repeats, which occur all over a genome by "
        "nature.",
        limits="A near-copy shares at least half of its 32-mers with training (about 98 % identity), a copy "
        f"{report['same']:.0%}. Exact 32-mers miss older, more diverged copies. Learning repeats is legitimate, but a "
        "model can look good by copying them: see the strata.",
        alt=f"Dots, the shares of held-out windows with near-copies in training: {'; '.join(told)}.",
        drawing=figure,
    )


def _draw_shares(panel: Axes, found: Result, kind: str) -> None:
    """Every window was looked at, so that a share is a count and has no interval."""
    words, colour, marker, place = KINDS[kind]
    parts = [found[level] or 0.0 for level in LEVELS]
    rows = [rank + place for rank in range(len(parts))]
    said = [f"{percent(part)} of windows, {words}: {level}" for part, level in zip(parts, LEVELS.values(), strict=True)]
    xs = [100 * part for part in parts]
    (dots,) = panel.plot(xs, rows, color=colour, marker=marker, markersize=6, linestyle="", label=words)
    mark(dots, None, words, said)
    for x, row, part in zip(xs, rows, parts, strict=True):
        panel.annotate(percent(part), (x, row), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8.5)


def tables(report: Result) -> list[Table]:
    """How much of each held-out split has near-copies in training, and the pairs that share most."""
    columns = [
        Column("judged", "Windows"),
        Column("any", "Any 32-mer"),
        Column("near", "Near-copies"),
        Column("same", "Copies"),
        Column("shared", "32-mers shared"),
    ]
    rows = [
        Row(f"{split}, {where.replace('_', ' ')}", _shares(found))
        for split, places in report["splits"].items()
        for where, found in places.items()
    ]
    note = (
        f"Near-copy: training holds at least {report['near']:.0%} of a window's {report['k']}-mers, on either strand "
        "(about 98 % identity). Outside repeats: without soft-masked bases."
    )
    whole_table = Table("leaks", "Held-out windows that training holds too", "Split", columns, rows, [note])
    return [whole_table, *filter(None, [pairs(report, most=len(report["pairs"]))])]


def before_after(before: Result, after: Result, left: int) -> Table:
    """How much of each held-out split had near-copies in training, and has since `left` training windows left it."""
    columns = [
        Column("any", "Any 32-mer"),
        Column("near", "Near-copies"),
        Column("same", "Copies"),
        Column("shared", "32-mers shared"),
    ]
    rows = [
        Row(f"{split}, {where.replace('_', ' ')}, {when}", [share(shares[split][where][key], 2) for key in FOUND])
        for split, places in before.items()
        for where in places
        for when, shares in (("before", before), ("after", after))
    ]
    gone = counted(left, "training window")
    notes = [
        f"Shares of held-out windows that training holds too. Before: with every training window. After: without the "
        f"{gone} that left, near-copies of held-out ones and what overlaps them.",
        f"Near-copy: training holds at least {NEAR:.0%} of a window's {K}-mers, on either strand; copy: {SAME:.0%}. "
        "Outside repeats: without soft-masked bases.",
    ]
    return Table("leaks-dropped", "What dropping copies did: before and after", "Split", columns, rows, notes)


def _shares(found: Result) -> list[Cell]:
    return [Cell(whole(found["judged"]), found["judged"]), *(share(found[key], 2) for key in FOUND)]


FOUND = ("any", "near", "same", "shared")


def pairs(report: Result, most: int = 10) -> Table | None:
    """The held-out windows that share most with training, with both places."""
    if not report["pairs"]:
        return None
    columns = [
        Column("train", "Nearest in training", numeric=False),
        Column("strand", "Strand", numeric=False),
        Column("shared", "32-mers shared"),
        Column("outside_repeats", "Outside repeats"),
    ]
    rows = [
        Row(
            f"{pair['split']} {pair['place'] or _in_contig(pair['contig'], pair['start'])}",
            [
                word(pair["train_place"] or _in_contig(pair["train_contig"], pair["train_start"])),
                word(pair["strand"]),
                share(pair["shared"], 0),
                share(pair["outside_repeats"], 0),
            ],
        )
        for pair in report["pairs"][:most]
    ]
    note = "Coordinates are 0-based: of the assembly where it is known, else of the dataset's contigs."
    return Table("leaking-pairs", "Held-out windows nearest to training", "Window", columns, rows, [note])


def _in_contig(contig: str, start: int) -> str:
    return f"{contig}:{start:,}"


LEAKS = Section(
    Question.TRUST,
    figures=lambda results, warnings: [leaks(results)],
    details=lambda results, warnings: [pairs(results.leakage)] if results.leakage else [],
)
