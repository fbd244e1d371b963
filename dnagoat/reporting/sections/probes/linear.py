"""Linear probes: how well embeddings tell two classes apart, against counts of k-mers."""

from __future__ import annotations

from dnagoat.reporting.drawing.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, interval, listed, whole
from dnagoat.reporting.sections.probes.kind import Kind, Result
from dnagoat.reporting.style import GRID, MUTED, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

MOST_SEQUENCES = 20  # of which each has a row
MEASURES = {"auroc": "AUROC", "average_precision": "Average precision"}


def sentence(result: Result) -> str:
    positive, other = result["classes"]
    arms = {run["arm"] for run in result["runs"]}
    told = []
    for run in result["runs"]:
        pairs = [pair for pair in result["pairs"] if pair["left"] == run["arm"] and pair["right"] not in arms]
        against = min(pairs, key=lambda pair: pair["auroc"]["value"])
        own = next(row["auroc"]["value"] for row in result["rows"] if row["features"] == run["arm"])
        told.append(
            f"{run['arm']} has an AUROC of {decimals(own, 3)}, {_signed(against['auroc'])} against {against['right']}"
        )
    return f"In telling {positive} from {other}, {listed(told)}."


def _signed(estimate: Result) -> str:
    beside = interval(estimate["interval"], 3, sign=True)
    return decimals(estimate["value"], 3, sign=True) + (f" ({beside})" if beside else "")


def tables(result: Result) -> list[Table]:
    columns = [Column("width", "Features"), *(Column(name, title) for name, title in MEASURES.items())]
    positive, other = result["classes"]
    arms = {run["arm"] for run in result["runs"]}
    rows = [
        Row(
            row["features"],
            [Cell(whole(row["width"]), row["width"]), *(_cell(row[name]) for name in MEASURES)],
            arm=row["features"] if row["features"] in arms else None,
            muted=row["features"] not in arms,
        )
        for row in result["rows"]
    ]
    how = {
        "split": "fitted on validation, tested on test",
        "contig": "folds of contigs of the held-out splits",
        "block": f"folds of blocks of {whole(result['block'])} bases of the held-out splits",
    }[result["by"]]
    notes = [
        f"{whole(result['positive'])} {positive} among {whole(result['tested'])} tested regions ({other} the rest), of "
        f"{result['regions']}; logistic regression, {how}; layer {result['layer']}, {result['pool']}, "
        f"{result['strands']} strands. A guess has an AUROC of 0.5, and an average precision of "
        f"{decimals(result['positive'] / result['tested'], 3)}.",
        "Intervals: 95 %, over resampled blocks of the tested regions; they do not cover the training seed.",
        *(f"⚠ {text}." for text in result["warnings"]),
    ]
    differences = [
        Row(f"{pair['left']} - {pair['right']}", [_cell(pair[name], sign=True) for name in MEASURES], arm=pair["left"])
        for pair in result["pairs"]
    ]
    return [
        Table("probe-linear", f"{positive} against {other}", "features", columns, rows, notes),
        Table(
            "probe-linear-pairs",
            "Differences, in the same resamples",
            "pair",
            columns[1:],
            differences,
            ["Above 0 the first is better."],
        ),
        *([_examples(result)] if "examples" in result else []),
    ]


def _examples(result: Result) -> Table:
    """Where the regions lie that were fitted and tested, and how many were left out."""
    positive, other = result["classes"]
    found = result["examples"]
    columns = [Column("positive", positive), Column("other", other)]
    shown, rest = found[:MOST_SEQUENCES], found[MOST_SEQUENCES:]
    rows = [
        Row(f"{one['split']}, {one['sequence']}", [Cell(whole(one[name]), one[name]) for name in ("positive", "other")])
        for one in shown
    ]
    if rest:
        sums = [sum(one[name] for one in rest) for name in ("positive", "other")]
        rows.append(Row(f"{counted(len(rest), 'other sequence')}", [Cell(whole(count), count) for count in sums]))
    left = ", ".join(f"{whole(count)} {why}" for why, count in result["left_out"].items() if count)
    return Table(
        "probe-linear-examples",
        "Where the regions lie",
        "Split, sequence",
        columns,
        rows,
        [f"Left out: {left or 'none'}.", "`dnagoat inspect DATASET --splits FILE` writes where the splits lie."],
    )


def _cell(estimate: Result, *, sign: bool = False) -> Cell:
    low, high = estimate["interval"] or (None, None)
    under = interval(estimate["interval"], 3, sign=sign) or ""
    return Cell(decimals(estimate["value"], 3, sign=sign), estimate["value"], low, high, under=under)


def linear(probe: Result) -> Figure:
    """A line a set of features: AUROC on the left, average precision on the right, with intervals."""
    rows = probe["rows"]
    styles = looks({run["arm"]: run.get("scheme") for run in probe["runs"]})
    chance = {"auroc": 0.5, "average_precision": probe["positive"] / probe["tested"]}
    with drawing():
        figure, axes = canvas(1, 2, height=1.2 + 0.35 * len(rows), share_y=True)
        for panel, (name, title) in zip(axes, MEASURES.items(), strict=True):
            panel.axvline(chance[name], color=GRID.light, linewidth=1.2, zorder=0)
            for place, row in enumerate(rows):
                known = row["features"] in styles
                colour = styles[row["features"]].colour if known else MUTED.light
                if row[name]["interval"] is not None:
                    panel.plot(row[name]["interval"], [place, place], color=colour)
                panel.plot(row[name]["value"], place, color=colour, marker="o" if known else "s", linestyle="")
            panel.set_title(title)
            panel.set_xlabel("upright line: a guess")
            panel.grid(axis="y", visible=False)
        axes[0].set_yticks(range(len(rows)), [row["features"] for row in rows])
        axes[0].invert_yaxis()
    told = [f"{row['features']} {decimals(row['auroc']['value'], 3)}" for row in rows]
    return Figure(
        "probe-linear",
        f"{probe['classes'][0].capitalize()} against {probe['classes'][1]}: embeddings and counts of k-mers",
        reading="Right is better; lines are 95 % intervals over blocks of the genome, and the upright line is a guess.",
        limits="Logistic regression on each set of features, tested on sequence that neither it nor the model was "
        "trained on. What a linear reader finds: a model may know more than lies open to it. A class that composition "
        "gives away says little about a model.",
        alt=f"Points with intervals of AUROC and average precision; AUROC {', '.join(told)}.",
        drawing=figure,
    )


def headline(result: Result) -> str:
    arms = {run["arm"] for run in result["runs"]}
    best = max((row for row in result["rows"] if row["features"] in arms), key=lambda row: row["auroc"]["value"])
    positive, other = result["classes"]
    return f"{best['features']} tells {positive} from {other} with an AUROC of {decimals(best['auroc']['value'], 2)}"


LINEAR = Kind(headline, sentence, tables, linear)
