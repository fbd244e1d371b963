"""What generated DNA is made of: words beside those of the true continuations, GC, CpG, strands, what is recited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dnagoat.reporting.cells import called, number, row_of, share
from dnagoat.reporting.comparability import Warnings, same_prompts
from dnagoat.reporting.drawing.figure import CLOUD, Figure, canvas, draw_cloud, legend_above, thinned
from dnagoat.reporting.drawing.marks import draw_curve
from dnagoat.reporting.numbers import decimals, listed, whole
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import MUTED, TEXT, Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLOUDS = 4  # arms whose words are drawn over each other; more hide each other


def kmers(results: Results, made: list[tuple[RunResults, Result]]) -> Figure:
    """Divergence of the k-mer spectrum against k with its floor, and the words of one k, generated against true."""
    styles = looks(results.arms)
    floor = made[0][1]["kmers"]
    with drawing():
        figure, (left, right) = canvas(1, 2, height=3.3 + 0.1 * len(made))
        for run, generation in made:
            look = styles[run.arm]
            ks, apart = _series(generation["kmers"], "jsd")
            said = [f"{run.arm}, k = {k}: {value:.4f} bits" for k, value in zip(ks, apart, strict=True)]
            draw_curve(left, ks, apart, look, run.arm, said)
        chain = null_name(made[0][1], "markov")
        left.plot(*_series(floor, "markov"), color=MUTED.light, linestyle="-.", label=chain)
        left.plot(*_series(floor, "floor"), color=TEXT.light, linestyle="--", label="real DNA of other loci")
        left.set_yscale("log")
        left.set_xlabel("word length k (bases)")
        left.set_ylabel("Jensen-Shannon divergence (bits)")
        legend_above(figure, *left.get_legend_handles_labels(), most=3)
        for run, generation in made[:CLOUDS]:
            _words(right, generation["spectrum"], styles[run.arm], run.arm)
        right.set_xscale("log")
        right.set_yscale("log")
        right.axline((1e-4, 1e-4), (1e-2, 1e-2), color=MUTED.light, linewidth=0.9, linestyle="--")
        k = made[0][1]["spectrum"]["k"]
        right.set_xlabel(f"share of each {k}-mer in true DNA")
        right.set_ylabel("share in generated DNA")
    last = floor[-1]
    told = [f"{run.arm} {decimals(generation['kmers'][-1]['jsd'], 3)}" for run, generation in made[:6]]
    return Figure(
        "kmers",
        "Does generated DNA use words as often as real DNA?",
        reading="Left: lower is better, down to the dashed line, which is real DNA of other loci; right: on the dashed "
        "line a word is as frequent as in real DNA.",
        limits="Left: how far the words of length k are from those of the true continuations. "
        f"Right: {k}-mers, one point each (at most {CLOUD} an arm, evenly chosen from the alphabet of words"
        f"{f', for the first {CLOUDS} arms' if len(made) > CLOUDS else ''}). The divergence grows with k because a "
        "small sample misses rare words: compare with the floor, not "
        "with 0. It ignores where words stand, so a shuffled copy would score perfectly.",
        alt=f"Line chart of Jensen-Shannon divergence against word length, and a scatter of {k}-mer shares. At k = "
        f"{last['k']}: {listed(told)}, real DNA {decimals(last['floor'], 3)} bits.",
        drawing=figure,
    )


def _series(rows: list[Result], key: str) -> tuple[list[int], list[float]]:
    known = [row for row in rows if row.get(key)]
    return [row["k"] for row in known], [row[key] for row in known]


def _words(panel: Axes, spectrum: Result, look: Look, arm: str) -> None:
    true, generated = (np.array(spectrum[key]) for key in ("true", "generated"))
    both = np.flatnonzero((true > 0) & (generated > 0))
    kept = both[thinned(len(both), CLOUD)]
    draw_cloud(panel, true[kept], generated[kept], look, arm)


def composition(results: Results, warnings: Warnings) -> Table | None:
    """What generated DNA is made of, beside the true continuation and the Markov null."""
    made = [(run, generation) for run, generation in results.having("generation") if generation.get("composition")]
    if not made:
        return None
    models = [
        row_of(results, run, _composed(generation, "generated"), warnings.of(run, "generation"))
        for run, generation in made
    ]
    return profiles(made[0][1], models, foreign(results, made))


def of_one(generation: Result) -> Table:
    return profiles(generation, [Row("the model", _composed(generation, "generated"))])


def profiles(first: Result, models: list[Row], foreign: str = "") -> Table:
    """Models between the true continuations and the nulls, which are those of the first."""
    columns = [
        Column("gc", "GC"),
        Column("cpg", "CpG observed over expected"),
        Column("symmetry", "Strand asymmetry of 3-mers", "bits"),
        Column("longest", "Longest exact match to training", "bases"),
        Column("median", "Median of the longest match", "bases"),
        Column("log_probability", "Mean log-probability", "nats per base"),
    ]
    nulls = [name for name in first["composition"] if name not in ("true", "generated")]
    rows = [
        Row(f"true continuation{foreign}", _composed(first, "true"), muted=True),
        *models,
        *(Row(f"null: {null_name(first, name)}{foreign}", _composed(first, name), muted=True) for name in nulls),
    ]
    note = (
        f"{counted(first['count'], 'prompt')}, {counted(first['samples'], 'continuation')} each; all against the "
        "training split, on either strand. A longest match far beyond that of true DNA would mean that the model "
        "recites."
    )
    return Table("composition", "What generated DNA is made of", "Sequence", columns, rows, [note])


def null_name(generation: Result, name: str) -> str:
    """What stands beside generated DNA, as a reader is told it: `markov` is the chain of some order."""
    return f"order-{generation['markov_order']} Markov" if name == "markov" else name


def foreign(results: Results, made: list[tuple[RunResults, Result]]) -> str:
    """What is said of yardsticks that hold for the first run alone, since the others continued other prompts."""
    runs = [run for run, _ in made]
    return "" if same_prompts(runs) else f", prompts of {called(results, runs[0])}"


def _composed(generation: Result, which: str) -> list[Cell]:
    profile = generation["composition"][which]
    match = generation.get("longest_match", {}).get(which, {})
    return [
        share(profile["gc"]),
        number(profile["cpg_ratio"], 2),
        number(profile["strand_symmetry"]["kmer_jsd"]),
        Cell(whole(match.get("longest")), match.get("longest")),
        Cell(whole(match.get("median")), match.get("median")),
        number(generation.get("log_probability") if which == "generated" else None),
    ]
