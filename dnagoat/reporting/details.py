"""Tables for those who want to know more: composition of generated DNA, the leak report's worst pairs, single runs."""

from __future__ import annotations

from dnagoat.reporting.numbers import UNKNOWN, decimals, interval, percent, whole
from dnagoat.reporting.results import Result, Results
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.reporting.tables import called


def likelihood(results: Results) -> Table | None:
    """Perplexity and accuracy on both splits, which the first table has no room for."""
    splits = ("test", "val")
    made = [run for run in results.scored if any("perplexity" in (run.nll(split) or {}) for split in splits)]
    if not made:
        return None
    columns = [
        Column(f"{split}_{key}", f"{word} {head}", unit)
        for split, word in zip(splits, ("Test", "Validation"), strict=True)
        for key, head, unit in (
            ("perplexity", "perplexity", "of 4 bases"),
            ("accuracy", "accuracy", "likeliest base is right"),
            ("count", "scored bases", ""),
        )
    ]
    rows = [
        Row(called(results, run), [cell for split in splits for cell in _scored(run.nll(split) or {})], arm=run.arm)
        for run in made
    ]
    note = "Perplexity is exp(NLL): 4 is a guess among four bases, 1 is certainty. A guess has an accuracy of 25 %."
    return Table("likelihood", "Perplexity and accuracy", "Model", columns, rows, [note])


def _scored(nll: Result) -> list[Cell]:
    perplexity, accuracy, count = (nll.get(key) for key in ("perplexity", "accuracy", "count"))
    return [Cell(decimals(perplexity, 3), perplexity), Cell(percent(accuracy), accuracy), Cell(whole(count), count)]


def composition(results: Results) -> Table | None:
    """What generated DNA is made of, beside the true continuations and the Markov null."""
    made = [(run, run.measures["generation"]) for run in results.scored if "generation" in run.measures]
    made = [(run, generation) for run, generation in made if generation.get("composition")]
    if not made:
        return None
    columns = [
        Column("gc", "GC"),
        Column("cpg", "CpG observed over expected"),
        Column("symmetry", "Strand asymmetry of 3-mers", "bits"),
        Column("longest", "Longest exact match to training", "bases"),
        Column("median", "Median of the longest match", "bases"),
        Column("log_probability", "Mean log-probability", "nats per base"),
    ]
    first = made[0][1]
    rows = [Row("true continuation", _composed(first, "true"), muted=True)]
    rows += [Row(called(results, run), _composed(generation, "generated"), arm=run.arm) for run, generation in made]
    rows += [
        Row(f"null: {name}", _composed(first, name), muted=True)
        for name in first["composition"]
        if name not in ("true", "generated")
    ]
    note = (
        f"{whole(first['count'])} prompts, {first['samples']} continuations each; all against the training split, on "
        "either strand. A longest match far beyond that of true DNA would mean that the model recites."
    )
    return Table("composition", "What generated DNA is made of", "Sequence", columns, rows, [note])


def _composed(generation: Result, which: str) -> list[Cell]:
    profile = generation["composition"][which]
    match = generation.get("longest_match", {}).get(which, {})
    symmetry = profile["strand_symmetry"]["kmer_jsd"]
    log_probability = generation.get("log_probability") if which == "generated" else None
    return [
        Cell(percent(profile["gc"]), profile["gc"]),
        Cell(decimals(profile["cpg_ratio"], 2), profile["cpg_ratio"]),
        Cell(decimals(symmetry, 4), symmetry),
        Cell(whole(match.get("longest")), match.get("longest")),
        Cell(whole(match.get("median")), match.get("median")),
        Cell(decimals(log_probability), log_probability),
    ]


def trajectories(results: Results) -> Table | None:
    """Every way to correlate GC %, for models and nulls."""
    made = [(run, run.measures["generation"]) for run in results.scored if "generation" in run.measures]
    if not made:
        return None
    columns = [
        Column("pooled", "Pooled windows", "Pearson r"),
        Column("averaged", "Mean trajectory", "Pearson r"),
        Column("per_prompt", "Mean over prompts", "Pearson r"),
    ]
    rows = [Row(called(results, run), _ways(generation["gc"]), arm=run.arm) for run, generation in made]
    rows += [Row(f"null: {name}", _ways(gc), muted=True) for name, gc in made[0][1]["gc"]["nulls"].items()]
    note = "n/a: one of the two is constant, so there is no correlation. Intervals resample prompts."
    return Table("gc-trajectory", "GC % trajectory, three ways", "Sequence", columns, rows, [note])


def _ways(gc: Result) -> list[Cell]:
    cells = []
    for way in ("pooled", "averaged", "per_prompt"):
        low, high = gc[way].get("interval") or (None, None)
        cells.append(Cell(decimals(gc[way]["r"], 3), gc[way]["r"], low, high, interval((low, high), 3)))
    return cells


def leaking_pairs(results: Results) -> Table | None:
    """The held-out windows that share most with training, with both places."""
    pairs = (results.leakage or {}).get("pairs", [])
    if not pairs:
        return None
    columns = [
        Column("train", "Nearest in training", numeric=False),
        Column("strand", "Strand", numeric=False),
        Column("shared", "32-mers shared"),
        Column("outside_repeats", "Outside repeats"),
    ]
    rows = [
        Row(
            f"{pair['split']} {pair['contig']}:{pair['start']:,}",
            [
                Cell(f"{pair['train_contig']}:{pair['train_start']:,}", pair["train_place"] or pair["train_contig"]),
                Cell(pair["strand"], pair["strand"]),
                Cell(percent(pair["shared"], 0), pair["shared"]),
                Cell(percent(pair["outside_repeats"], 0), pair["outside_repeats"]),
            ],
        )
        for pair in pairs[:10]
    ]
    note = "Coordinates are 0-based, in the dataset's contigs."
    return Table("leaking-pairs", "Held-out windows nearest to training", "Window", columns, rows, [note])


def by_length(results: Results, split: str = "test") -> Table | None:
    """NLL of the same bases at each context length."""
    made = [(run, run.measures[f"lengths-{split}"]) for run in results.scored if f"lengths-{split}" in run.measures]
    if not made:
        return None
    lengths = made[0][1]["lengths"]
    columns = [
        Column(f"b{row['length']}", f"{row['length']:,} ({row['factor']:g}x)", "nats per base") for row in lengths
    ]
    rows = []
    for run, result in made:
        found = {row["length"]: row for row in result["lengths"]}
        rows.append(Row(called(results, run), [_length(found.get(row["length"])) for row in lengths], arm=run.arm))
    note = f"The same {whole(lengths[0]['count'])} bases in every column; only the context before them changes."
    warnings = [f"⚠ {text}" for text in dict.fromkeys(text for _, made_of in made for text in made_of["warnings"])]
    return Table("context-length", "NLL by context length", "Model", columns, rows, [note, *warnings])


def _length(row: Result | None) -> Cell:
    if row is None:
        return Cell(UNKNOWN)
    low, high = row["interval"] or (None, None)
    return Cell(decimals(row["value"]), row["value"], low, high, interval((low, high)))


def protocol(results: Results) -> Table | None:
    """The GOAT authors' protocol, in a table of its own: its numbers stand beside no other's."""
    made = [(run, run.measures["protocol-paper"]) for run in results.runs if "protocol-paper" in run.measures]
    if not made:
        return None
    columns = [
        Column("value", "NLL, N scored", "nats per symbol"),
        Column("best", "Best of the evaluations", "nats per symbol"),
        Column("published", "Published", "nats per symbol"),
    ]
    rows = []
    for run, found in made:
        published = found["published"].get(run.config.model.position.name)
        numbers = (found["value"], found["best_of_evaluations"], published)
        cells = [Cell(decimals(number), number) for number in numbers]
        rows.append(Row(called(results, run), cells, arm=run.arm))
    notes = [f"⚠ {text}." for text in dict.fromkeys(text for _, found in made for text in found["warnings"])]
    return Table("protocol-paper", "The GOAT authors' own protocol", "Model", columns, rows, notes)


def strata(results: Results, split: str = "test") -> Table | None:
    """Every stratum of every model: what the figures of places draw."""
    made = [(run, run.measures[f"strata-{split}"]) for run in results.scored if f"strata-{split}" in run.measures]
    if not made:
        return None
    columns = [Column("share", "Share of bases"), Column("count", "Scored bases")]
    columns += [Column(f"nll_{run.slug}", called(results, run), "nats per base") for run, _ in made]
    rows = []
    for group in made[0][1]["groups"]:
        for place, stratum in enumerate(group["strata"]):
            each = [_stratum(result, group["name"], place) for _, result in made]
            counted = [
                Cell(percent(stratum["share"]), stratum["share"]),
                Cell(whole(stratum["count"]), stratum["count"]),
            ]
            rows.append(Row(f"{group['name']}: {stratum['name']}", [*counted, *each], muted=True))
    return Table("strata", "NLL by stratum", "Stratum", columns, rows)


def _stratum(result: Result, group: str, place: int) -> Cell:
    found: list[Result] = next((each["strata"] for each in result["groups"] if each["name"] == group), [])
    if place >= len(found) or found[place]["value"] is None:
        return Cell(UNKNOWN)
    low, high = found[place]["interval"] or (None, None)
    return Cell(decimals(found[place]["value"]), found[place]["value"], low, high, interval((low, high)))
