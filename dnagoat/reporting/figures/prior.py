"""What a GOAT run has learned before it sees any content: log-prior against distance per head, and the sink u(j)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dnagoat.reporting.figures.figure import Figure, canvas
from dnagoat.reporting.results import Results, RunResults
from dnagoat.reporting.style import GRID, MUTED, drawing, looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

# Periods with a meaning in DNA: one codon, one turn of the helix, one alpha satellite repeat.
MARKED = {3.0: "3", 10.5: "10.5", 171.0: "171"}


LEAST_SINK = 0.05  # nats; the scale of the sink is never finer, since less than this changes no attention
FLOOR = -6.0  # nats below the top, where panels end: a weight of 1/400 of the largest is as good as none


def log_prior(results: Results, run: RunResults) -> Figure | None:
    """One panel a head (a layer a row): the learned log-prior against distance on a logarithmic axis."""
    prior = run.measures.get("prior")
    heads = _heads(run)
    if not prior or not heads:
        return None
    colour = looks(results.arms)[run.arm].colour
    layers = max(head["layer"] for head in heads) + 1
    columns = max(head["head"] for head in heads) + 1
    with drawing():
        figure, axes = canvas(layers, columns, height=0.7 + 1.3 * layers, share_x=True, share_y=True)
        for head in heads:
            panel = axes[head["layer"] * columns + head["head"]]
            _draw(panel, prior["distances"], head, colour)
        for panel in axes[-columns:]:
            panel.set_xlabel("distance to the key (bases)")
        lowest = min(min(_from_top(head["log_prior"])) for head in heads)
        axes[0].set_ylim(max(lowest, FLOOR) * 1.08 - 0.1, 0.35)
        figure.supylabel("log-prior (nats, largest = 0)", fontsize=9.5)
    started = "; the grey dashes are where training started" if any(head.get("initial") for head in heads) else ""
    return Figure(
        f"prior-{run.slug}",
        f"Where each head of {run.arm} looks before it reads: the learned log-prior",
        "Prior",
        reading="Each panel is one head. A higher curve at a distance means that keys so far back get more attention "
        f"when the content says nothing{started}. Upright lines mark 3 (codon), "
        f"10.5 (helix turn) and 171 (alpha satellite) bases. Panels end at {FLOOR:g} nats, 1/400 of the largest "
        "weight.",
        limits="A bump shows what the prior prefers, not that the model gains from it: content scores can override any "
        "prior, and a seeded period that stayed where it began is not a discovery.",
        alt=f"{len(heads)} small line charts, {layers} layers by {columns} heads, of log-prior against distance. "
        + _summary(heads),
        drawing=figure,
    )


def _heads(run: RunResults) -> list[dict[str, Any]]:
    """Every head of a GOAT run with its layer; empty for other schemes, whose priors are not learned."""
    if not run.config.model.position.name.startswith("goat"):
        return []
    layers = run.measures.get("prior", {}).get("layers", [])
    return [{**head, "layer": layer["layer"]} for layer in layers for head in layer["heads"]]


def _draw(panel: Axes, distances: Sequence[float], head: dict[str, Any], colour: str) -> None:
    for period in MARKED:
        panel.axvline(period, color=GRID.light, linewidth=1.2, zorder=0)
    if head.get("initial"):
        panel.plot(distances, _from_top(head["initial"]), color=MUTED.light, linestyle="--", linewidth=1)
    panel.plot(distances, _from_top(head["log_prior"]), color=colour, linewidth=1.4)
    panel.set_xscale("symlog", linthresh=2)
    panel.grid(visible=False)
    slope = head.get("slope")
    place = f"layer {head['layer'] + 1}, head {head['head'] + 1}"
    panel.set_title(place if slope is None else f"{place}, slope {slope:.3g}", fontsize=8.5, fontweight="normal")
    ticks = [0, *MARKED, *(tick for tick in (1000, 5000, 20000) if tick <= max(distances))]
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    panel.minorticks_off()


def _from_top(values: Sequence[float]) -> list[float]:
    # A row constant means nothing to a softmax; the largest value at 0 lets heads be compared.
    top = max(values)
    return [value - top for value in values]


def _summary(heads: list[dict[str, Any]]) -> str:
    slopes = [head["slope"] for head in heads if head.get("slope") is not None]
    return f"Recency slopes run from {min(slopes):.3g} to {max(slopes):.3g} nats per base." if slopes else ""


def sink(results: Results, run: RunResults) -> Figure | None:
    """u(j) of every head against the key's position j."""
    prior = run.measures.get("prior")
    heads = [head for head in _heads(run) if head.get("sink")]
    if not prior or not heads:
        return None
    look = looks(results.arms)[run.arm]
    layers = max(head["layer"] for head in heads) + 1
    with drawing():
        columns = min(layers, 4)
        rows = -(-layers // columns)
        figure, axes = canvas(rows, columns, height=0.7 + 1.7 * rows, share_x=True, share_y=True)
        for head in heads:
            panel = axes[head["layer"]]
            panel.plot(prior["positions"], head["sink"], color=look.colour, alpha=0.85, linewidth=1.1)
            panel.set_title(f"layer {head['layer'] + 1}", fontsize=8.5, fontweight="normal")
            panel.set_xscale("symlog", linthresh=1)
            panel.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"], fontsize=8)
            panel.minorticks_off()
        figure.supxlabel("position of the key j (bases)", fontsize=9.5)
        for panel in axes[layers:]:
            panel.set_visible(False)
        axes[0].set_ylabel("sink u(j) (nats)")
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(min(low, -LEAST_SINK), max(high, LEAST_SINK))
    first = max(abs(head["sink"][0] - head["sink"][-1]) for head in heads)
    return Figure(
        f"sink-{run.slug}",
        f"Which positions {run.arm} favours whoever asks: the sink u(j)",
        "Prior",
        reading="One line a head. A peak at j = 0 is a sink: a place where a head can put its attention when it has "
        "nothing to say.",
        limits="Only differences along a line matter. A high u(0) says that the prior offers a sink, not that the head "
        "uses it; `dnagoat inspect` measures that.",
        alt=f"Line charts of the sink term against key position for {layers} layers; the largest difference between "
        f"the first and the last position is {first:.2f} nats.",
        drawing=figure,
    )
