"""What the probe commands do with their options: make the library's, run under a bar, write and show the result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from dnagoat_cli.terminal.bar import show_progress
from dnagoat_cli.terminal.grid import draw_tables
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.evaluation.probes.retrieval import TaskName
    from dnagoat.progress import Progress

Given = Mapping[str, Any]
TRAIN = ("steps", "batch_size", "lr", "warmup", "prior_lr_scale")


def recalled(task: TaskName, given: Given) -> None:
    from dnagoat.evaluation.probes.recall import recall
    from dnagoat.evaluation.probes.sizes import recall_preset
    from dnagoat.evaluation.probes.sweep import Sweep

    options = recall_preset(given["preset"], task)
    options = options.but(
        model=options.model.but(**_given(given, "layers", "width")),
        train=options.train.but(**_given(given, *TRAIN)),
        **_given(given, "seeds", "length", "depths", "trials", "key", "marker"),
        **_several(given, "times", int),
        **({"arms": tuple(given["arm"])} if given["arm"] else {}),
    )
    _carried(
        task, given, lambda out, device, tell: recall(options, device, tell, Sweep(out, given["jobs"], given["force"]))
    )


def induced(given: Given) -> None:
    from dnagoat.evaluation.comparison.arms import position_of
    from dnagoat.evaluation.probes.induction import induction
    from dnagoat.evaluation.probes.sizes import induction_preset
    from dnagoat.evaluation.probes.sweep import Sweep

    options = induction_preset(given["preset"])
    options = options.but(
        position=position_of(given["position"]),
        model=options.model.but(**_given(given, "width")),
        train=options.train.but(**_given(given, *TRAIN)),
        **_given(given, "seeds", "trials", "vocabulary", "length", "stretch"),
        **_several(given, "strengths", float),
        **_several(given, "depth", int, field="layers"),
        **_several(given, "placement", str, field="placements"),
        **_several(given, "recipe", str, field="recipes"),
    )
    _carried(
        "induction",
        given,
        lambda out, device, tell: induction(options, device, tell, Sweep(out, given["jobs"], given["force"])),
    )


def extrapolated(given: Given) -> None:
    from dnagoat.evaluation.probes.extrapolate import ExtrapolateOptions, extrapolate
    from dnagoat.genome.dataset import open_dataset

    dataset = open_dataset(given["dataset"])
    training = {f"train.{name}": value for name, value in _given(given, *TRAIN, "precision", "micro_batch").items()}
    options = ExtrapolateOptions(
        preset=given["preset"],
        training=training,
        **_given(given, "seeds", "windows", "split"),
        **_several(given, "lengths", str),
        **({"arms": tuple(given["arm"])} if given["arm"] else {}),
    )
    _carried("extrapolate", given, lambda out, device, tell: extrapolate(dataset, options, out, device, tell))


def sunk(given: Given) -> None:
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.probes.sinks import sinks
    from dnagoat.reporting.labels import labels
    from dnagoat.training.kept.run import open_run

    runs = [open_run(path) for path in given["runs"]]
    named = list(zip(labels([run.config for run in runs]), runs, strict=True))
    asked = _given(given, "windows", "split", "seed", "dataset") | {"which": given["checkpoint"]}
    _carried("sink", given, lambda _, device, tell: sinks(named, MeasureOptions(device=device, **asked), tell))


def _given(given: Given, *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if given.get(name) is not None}


def _several(given: Given, name: str, kind: Callable[[str], Any], field: str = "") -> dict[str, tuple[Any, ...]]:
    """`--name 1,2,4` as a tuple of numbers or words of that field; nothing where it was not given."""
    from dnagoat.errors import OptionError

    if given.get(name) is None:
        return {}
    try:
        return {field or name: tuple(kind(part.strip()) for part in given[name].split(","))}
    except ValueError:
        raise OptionError(f"--{name} {given[name]}: give numbers with commas between them") from None


def _carried(name: str, given: Given, work: Callable[[Path, str, Progress], dict[str, Any]]) -> None:
    """Runs a probe under a bar, writes its folder and shows what it found."""
    import dnagoat
    from dnagoat.reporting.sections.probes import kinds as probes
    from dnagoat.training.launch.processes import pick_device

    out = given["out"] or Path("probes") / name
    with probes.new_result(out, force=given["force"]):
        with show_progress() as progress:
            found = work(out, str(pick_device(given["device"])), progress)
        result = {
            "format": 1,
            **found,
            "tool_version": dnagoat.__version__,
            "command": shlex.join(["dnagoat", *sys.argv[1:]]),
        }
        probes.write(result, out)
    if given["as_json"]:
        sys.stdout.write(json_text(result))
        return
    console = Console(highlight=False)
    draw_tables(probes.tables(result), console)
    console.print(f"[bold]{probes.sentence(result)}[/bold]")
    console.print(f"result: {out / probes.FILE}", markup=False, soft_wrap=True)
