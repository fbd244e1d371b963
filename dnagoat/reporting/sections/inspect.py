"""What `inspect` found in a run, as tables and figures: shape of the prior, content against it, waves, ablations."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.reporting.cells import estimate, number, share
from dnagoat.reporting.drawing.figure import Figure, canvas, legend_above
from dnagoat.reporting.numbers import UNKNOWN, whole
from dnagoat.reporting.section import Need, Question, Section, under_own_name
from dnagoat.reporting.sections.heads import Head, draw_priors, draw_sinks
from dnagoat.reporting.sections.memory import trust
from dnagoat.reporting.sources import Result
from dnagoat.reporting.style import KNOWN_ARMS, MUTED, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

MANY = 16  # heads: of more, priors are drawn at the start and the last checkpoint alone, and reach is a layer's median
PRIOR_COLUMNS = (
    Column("reach_half", "half of the prior within", "bases"),
    Column("reach_95", "95 % within", "bases"),
    Column("divergence", "KL from uniform", "nats"),
    Column("sink_lead", "sink, first over median", "nats"),
)
JOURNEY_COLUMNS = (
    Column("peak_start", "peak at start", "bases"),
    Column("peak", "peak now", "bases"),
    Column("strongest", "strongest wave", "bases"),
    Column("slope_start", "slope at start", "nats/base"),
    Column("slope", "slope now", "nats/base"),
)
CONTENT_COLUMNS = (
    Column("omega", "content range omega", "nats"),
    Column("tightness", "of the bound used", "share"),
    Column("moved", "KL attention from prior", "nats"),
    Column("first_weight", "weight of the first key", "share"),
    Column("first_prior", "prior's share of it", "share"),
)


def tables(result: Result) -> list[Table]:
    """Heads, ablations, and what only some schemes have: peaks and slopes, waves of a spectral part, momentum."""
    made = [
        priors(result),
        journeys(result),
        contents(result),
        ablations(result),
        waves(result),
        momentum(result),
        trust(result),
    ]
    return [table for table in made if table is not None]


def priors(result: Result) -> Table:
    """One row a head: its prior at the last checkpoint kept, for the last query of the training length."""
    last = result["checkpoints"][-1]
    rows = [_head(layer["layer"], head, PRIOR_COLUMNS) for layer in last["layers"] for head in layer["heads"]]
    note = f"Prior of the last of {whole(result['context'])} queries, at step {whole(last['step'])}."
    return Table("inspect-priors", "Where each head looks before it reads", "head", list(PRIOR_COLUMNS), rows, [note])


def journeys(result: Result) -> Table | None:
    """One row a head: peak and slope at the start and at the last checkpoint kept; None where no head has either."""
    start, last = result["checkpoints"][0], result["checkpoints"][-1]
    rows = [
        _head(layer["layer"], {**head, "peak_start": first.get("peak"), "slope_start": first["slope"]}, JOURNEY_COLUMNS)
        for layer, before in zip(last["layers"], start["layers"], strict=True)
        for head, first in zip(layer["heads"], before["heads"], strict=True)
    ]
    if all(cell.value is None for row in rows for cell in row.cells):
        return None
    notes = [
        "Peak: the distance at which the waves alone give most, recency and sink left out. Of equal peaks it is the "
        "nearest: waves whose periods have a common multiple peak again after it, those of 2, 3, 4, 6, 10.5 and 24 "
        "bases every 168.",
        "Strongest wave: the period with the largest amplitude in this head.",
    ]
    title = "Where each head's prior started and where it went"
    return Table("inspect-journeys", title, "head", list(JOURNEY_COLUMNS), rows, notes)


def contents(result: Result) -> Table:
    """One row a head: content against prior on real windows."""
    normaliser = result.get("normaliser", "softmax")
    bounded = normaliser == "softmax"
    columns = [column for column in CONTENT_COLUMNS if bounded or column.key != "tightness"]
    rows = [_head(row["layer"], row, columns) for row in result["rows"]]
    centred = "omega and tightness are medians" if bounded else "omega is a median"
    theorem = (
        "Attention is between prior x exp(-omega) and prior x exp(omega)."
        if bounded
        else f"These bounds of softmax are left out: {normaliser} gives weights of exactly 0, below any bound."
    )
    note = (
        f"{counted(result['windows'], 'real window')} of {whole(result['window'])} bases; {centred} over queries, the "
        f"others means. {theorem}"
    )
    return Table("inspect-content", "How far content moves attention", "head", columns, rows, [note])


def momentum(result: Result) -> Table | None:
    """One row a checkpoint: the strength of the shear in each layer, which grows while training goes on."""
    if all(strength is None for strength in _strengths(result["checkpoints"][-1])):
        return None
    layers = [layer["layer"] for layer in result["checkpoints"][-1]["layers"]]
    rows = [
        Row(
            f"step {whole(checkpoint['step'])}",
            [Cell("none" if g is None else f"{g:.3g}", g) for g in _strengths(checkpoint)],
        )
        for checkpoint in result["checkpoints"]
    ]
    columns = [Column(f"layer_{layer + 1}", f"layer {layer + 1}") for layer in layers]
    return Table("inspect-momentum", "How strongly queries and keys are sheared", "checkpoint", columns, rows)


def _strengths(checkpoint: Result) -> list[float | None]:
    return [layer["momentum"] for layer in checkpoint["layers"]]


def _head(layer: int, head: Result, columns: Sequence[Column]) -> Row:
    cells = [_cell(column, head.get(column.key)) for column in columns]
    return Row(f"layer {layer + 1}, head {head['head'] + 1}", cells)


def _cell(column: Column, value: float | None) -> Cell:
    if column.unit == "bases":
        return Cell(UNKNOWN if value is None else f"{value:,.1f}".removesuffix(".0"), value)
    if column.unit == "share":
        return share(value)
    return number(value, 4 if column.unit == "nats/base" else 3)


def ablations(result: Result) -> Table:
    """NLL as trained and without each part."""
    columns = [Column("value", "NLL", "nats per base"), Column("cost", "more than as trained", "nats per base")]
    rows = [
        Row(
            "as trained" if row["without"] is None else f"without {row['without']}",
            [number(row["value"]), estimate(row.get("cost"), row.get("interval"), sign=True)],
        )
        for row in result["ablations"]
    ]
    note = (
        f"At inference on {whole(result['ablations'][0]['count'])} bases, paired by window; a part that was trained in "
        "is missed more than one that was never there."
    )
    notes = [note, *(f"⚠ {warning}." for warning in result.get("warnings", []))]
    return Table("inspect-ablations", "What each part is worth to this model", "model", columns, rows, notes)


def waves(result: Result) -> Table | None:
    """One row a wave of the spectral part, over all heads, those that moved most first; None where there are none."""
    moved_most = sorted(result["checkpoints"][-1]["waves"], key=lambda wave: -wave["moved"])
    if not moved_most:
        return None
    columns = [
        Column("amplitude", "amplitude", "nats"),
        Column("moved", "moved in training", "nats"),
        Column("mean_rank", "mean rank of movement"),
        Column("p", "p of that rank"),
    ]
    rows = [Row(_period(wave), [number(wave[c.key], 3) for c in columns]) for wave in moved_most]
    note = (
        "p: how often the waves of shuffled heads reach this mean rank, paid for looking at all waves. A wave may move "
        "for reasons that have nothing to do with its period in DNA: long ones can stand in for a slope."
    )
    return Table("inspect-waves", "Which waves moved in head after head", "period", columns, rows, [note])


def _period(wave: Result) -> str:
    """`10.5 bases`; where periods are learned, also where the layers have it now."""
    started = f"{wave['period']:.4g} bases"
    low, high = (f"{end(wave.get('periods', [wave['period']])):.4g}" for end in (min, max))
    if {low, high} == {f"{wave['period']:.4g}"}:
        return started
    return f"{started}, now {low}" + ("" if low == high else f" to {high}")


def figures(result: Result, colour: str | None = None) -> list[Figure]:
    """How the heads' priors went over training: reach and divergence, and the curves of the checkpoints told, in the
    colour of their scheme where none is given."""
    return [over_training(result), *curves(result, colour or KNOWN_ARMS[result["position"]].light)]


def curves(result: Result, colour: str) -> list[Figure]:
    """Log-prior and sink of each head at the start, in earlier checkpoints and in the last, where they are learned."""
    told = [checkpoint for checkpoint in result["checkpoints"] if checkpoint.get("curves")]
    if not told or not SCHEMES[result["position"]].learned:
        return []
    if sum(len(layer["heads"]) for layer in told[-1]["curves"]) > MANY:
        told = [told[0], told[-1]]
    heads = [
        Head(
            layer["layer"],
            head["head"],
            head["slope"],
            [before["log_prior"] for before in along],
            [before["sink"] for before in along if before["sink"]],
        )
        for place, layer in enumerate(told[-1]["curves"])
        for head, *along in zip(layer["heads"], *(one["curves"][place]["heads"] for one in told), strict=True)
    ]
    drawn = result["distances"], heads, colour
    found = [draw_priors("inspect-prior", "Where each head looks before it reads, over training", *drawn)]
    if heads[0].sinks:
        found.append(draw_sinks("inspect-sink", "Which keys each head favours whoever asks, over training", *drawn))
    return found


def over_training(result: Result) -> Figure:
    """Reach and divergence against the step; a run with one checkpoint has its start and its end."""
    with drawing():
        steps = [checkpoint["step"] for checkpoint in result["checkpoints"]]
        styles = looks(dict.fromkeys(f"layer {layer['layer'] + 1}" for layer in result["checkpoints"][0]["layers"]))
        many = sum(len(layer["heads"]) for layer in result["checkpoints"][0]["layers"]) > MANY
        figure, axes = canvas(1, 2, height=3.2 + 0.04 * len(styles))
        for place, (name, look) in enumerate(styles.items()):
            heads = [checkpoint["layers"][place]["heads"] for checkpoint in result["checkpoints"]]
            for panel, key in zip(axes, ("reach_half", "divergence"), strict=True):
                for along in _told_along([[head[key] for head in each] for each in heads], many):
                    panel.plot(
                        steps, along, color=look.colour, linestyle=look.dash, linewidth=1, marker=look.marker,
                        markersize=4, label=name,
                    )  # fmt: skip
        axes[0].set_ylabel("half of the prior within (bases)")
        axes[1].set_ylabel("KL of the prior from uniform (nats)")
        axes[0].axhline(result["context"] / 2, color=MUTED.light, linestyle=":")
        for panel in axes:
            panel.set_xlabel("training step")
        lines = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
        legend_above(figure, list(lines.values()), list(lines), most=8)
    last = result["checkpoints"][-1]["layers"]
    nearest = min(head["reach_half"] for layer in last for head in layer["heads"])
    farthest = max(head["reach_half"] for layer in last for head in layer["heads"])
    return Figure(
        "inspect-training",
        "How far the heads' priors reach, over training",
        reading=f"One line a {'layer, the median of its heads' if many else 'head'}, from where training started at "
        "step 0; the dotted line is a uniform prior's.",
        limits="The prior alone: content moves attention away from it by up to omega nats in either direction.",
        alt=f"Line charts over training; at the end half of the prior lies within {nearest} to {farthest} bases.",
        drawing=figure,
    )


def _told_along(values: Sequence[Sequence[float]], many: bool) -> Sequence[Sequence[float]]:
    """A line a head, each over all checkpoints; of many heads their median alone."""
    return [[median(each) for each in values]] if many else list(zip(*values, strict=True))


INSPECT = Section(
    Question.LEARNED,
    may_show=(Need("inspect", "test", "inspect"),),
    figures=lambda results, warnings: [
        under_own_name(figure, run.slug, run.arm)
        for run, result in results.firsts_having("inspect")
        for figure in figures(result, looks(results.arms)[run.arm].colour)
    ],
    details=lambda results, warnings: [
        under_own_name(table, run.slug, run.arm)
        for run, result in results.firsts_having("inspect")
        for table in tables(result)
    ],
    of_results=lambda results: [table for result in results for table in tables(result)],
)
