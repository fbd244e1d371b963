"""Tables for those who want to know more: composition of generated DNA, the leak report's worst pairs, single runs."""

from __future__ import annotations

from collections.abc import Sequence

from dnagoat.reporting.comparability import Warnings, same_bases, same_prompts
from dnagoat.reporting.numbers import UNKNOWN, decimals, interval, listed, percent, whole
from dnagoat.reporting.results import Result, Results, RunResults
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.reporting.tables import called, null_name, row_of
from dnagoat.wording import counted

Made = list[tuple[RunResults, Result]]


def likelihood(results: Results, warnings: Warnings) -> Table | None:
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
        row_of(
            results, run, [cell for split in splits for cell in _scored(run.nll(split) or {}, warnings.of(run, split))]
        )
        for run in made
    ]
    note = "Perplexity is exp(NLL): 4 is a guess among four bases, 1 is certainty. A guess has an accuracy of 25 %."
    return Table("likelihood", "Perplexity and accuracy", "Model", columns, rows, [note])


def _scored(nll: Result, warning: str) -> list[Cell]:
    perplexity, accuracy, count = (nll.get(key) for key in ("perplexity", "accuracy", "count"))
    numbers = [Cell(decimals(perplexity, 3), perplexity), Cell(percent(accuracy), accuracy)]
    return [*(cell.warned(warning) for cell in numbers), Cell(whole(count), count)]


def composition(results: Results, warnings: Warnings) -> Table | None:
    """What generated DNA is made of, beside the true continuations and the Markov null."""
    made = [(run, generation) for run, generation in results.having("generation") if generation.get("composition")]
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
    first, foreign = made[0][1], _foreign(results, made)
    rows = [Row(f"true continuation{foreign}", _composed(first, "true"), muted=True)]
    rows += [
        row_of(results, run, _composed(generation, "generated"), warnings.of(run, "generation"))
        for run, generation in made
    ]
    rows += [
        Row(f"null: {null_name(first, name)}{foreign}", _composed(first, name), muted=True)
        for name in first["composition"]
        if name not in ("true", "generated")
    ]
    note = (
        f"{counted(first['count'], 'prompt')}, {counted(first['samples'], 'continuation')} each; all against the "
        "training split, on either strand. A longest match far beyond that of true DNA would mean that the model "
        "recites."
    )
    return Table("composition", "What generated DNA is made of", "Sequence", columns, rows, [note])


def _foreign(results: Results, made: Made) -> str:
    """What is said of yardsticks that hold for the first run alone, since the others continued other prompts."""
    runs = [run for run, _ in made]
    return "" if same_prompts(runs) else f", prompts of {called(results, runs[0])}"


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


def trajectories(results: Results, warnings: Warnings) -> Table | None:
    """Every way to correlate GC %, for models and nulls."""
    made = results.having("generation")
    if not made:
        return None
    columns = [
        Column("pooled", "Pooled windows", "Pearson r"),
        Column("averaged", "Mean trajectory", "Pearson r"),
        Column("per_prompt", "Mean over prompts", "Pearson r"),
    ]
    foreign = _foreign(results, made)
    rows = [row_of(results, run, _ways(generation["gc"]), warnings.of(run, "generation")) for run, generation in made]
    first = made[0][1]
    nulls = first["gc"]["nulls"].items()
    rows += [Row(f"null: {null_name(first, name)}{foreign}", _ways(gc), muted=True) for name, gc in nulls]
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


def by_length(results: Results, warnings: Warnings, split: str = "test") -> Table | None:
    """NLL of the same bases at each context length that any run was scored on."""
    made = results.having(f"lengths-{split}")
    if not made:
        return None
    once = {result["training_length"] for _, result in made}
    lengths = sorted({row["length"] for _, result in made for row in result["lengths"]})
    columns = [
        Column(f"b{length}", f"{length:,}{f' ({length / min(once):g}x)' if len(once) == 1 else ''}", "nats per base")
        for length in lengths
    ]
    rows = []
    for run, result in made:
        found = {row["length"]: row for row in result["lengths"]}
        cells = [_length(found.get(length)) for length in lengths]
        rows.append(row_of(results, run, cells, warnings.of(run, "lengths")))
    shared = same_bases([run for run, _ in made], split, "lengths")
    same = counted(made[0][1]["lengths"][0]["count"], "base") if shared else "bases of a model's own"
    note = f"The same {same} in every column; only the context before them changes."
    return Table("context-length", "NLL by context length", "Model", columns, rows, [note, *_told(results, made)])


def _told(results: Results, made: Made) -> list[str]:
    """What the results warn of themselves, each once, with the models that it concerns where it is not all."""
    said: dict[str, list[str]] = {}
    for run, result in made:
        for text in result.get("warnings", []):
            said.setdefault(text, []).append(called(results, run))
    return [
        f"⚠ {text}." if len(models) == len(made) else f"⚠ {listed(models)}: {text}." for text, models in said.items()
    ]


def _length(row: Result | None) -> Cell:
    if row is None:
        return Cell(UNKNOWN)
    low, high = row["interval"] or (None, None)
    return Cell(decimals(row["value"]), row["value"], low, high, interval((low, high)))


def protocol(results: Results) -> Table | None:
    """The GOAT authors' protocol, in a table of its own: its numbers stand beside no other's."""
    made: Made = [(run, run.measures["protocol-paper"]) for run in results.runs if "protocol-paper" in run.measures]
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
        rows.append(row_of(results, run, cells))
    title = "The GOAT authors' own protocol"
    return Table("protocol-paper", title, "Model", columns, rows, _told(results, made))


def strata(results: Results, warnings: Warnings, split: str = "test") -> Table | None:
    """Every stratum of every model: what the figures of places draw. Models that share no stratum share no row."""
    made = results.having(f"strata-{split}")
    if not made:
        return None
    shared = same_bases([run for run, _ in made], split, "strata")
    foreign = "" if shared else "of the first model that has it"
    columns = [Column("share", "Share of bases", warning=foreign), Column("count", "Scored bases", warning=foreign)]
    columns += [
        Column(f"nll_{run.slug}", called(results, run), "nats per base", warning=warnings.of(run, "strata"))
        for run, _ in made
    ]
    found = [_strata(result) for _, result in made]
    rows = []
    for group, name in strata_names([result for _, result in made]):
        each = [of_run.get((group, name)) for of_run in found]
        first = next(stratum for stratum in each if stratum is not None)
        counts = [Cell(percent(first["share"]), first["share"]), Cell(whole(first["count"]), first["count"])]
        rows.append(Row(f"{group}: {name}", [*counts, *map(_stratum, each)], muted=True))
    return Table("strata", "NLL by stratum", "Stratum", columns, rows, _told(results, made))


def strata_names(every: Sequence[Result]) -> list[tuple[str, str]]:
    """The (group, stratum) of all results, groups together; deciles of other bases have other edges and names."""
    names: dict[str, dict[str, None]] = {}
    for result in every:
        for group in result["groups"]:
            names.setdefault(group["name"], {}).update({stratum["name"]: None for stratum in group["strata"]})
    return [(group, name) for group, strata in names.items() for name in strata]


def _strata(result: Result) -> dict[tuple[str, str], Result]:
    return {(group["name"], stratum["name"]): stratum for group in result["groups"] for stratum in group["strata"]}


def _stratum(found: Result | None) -> Cell:
    if found is None or found["value"] is None:
        return Cell(UNKNOWN)
    low, high = found["interval"] or (None, None)
    return Cell(decimals(found["value"]), found["value"], low, high, interval((low, high)))
