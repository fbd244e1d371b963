"""Which measures a run can be given, and where each result is kept: RUN/evaluation/NAME.json, computed once.

Measured with other settings too, it lies in RUN/evaluation/others/NAME-HASH.json, HASH being that of the settings.
Of a run that cannot be written they lie in a folder of `--results`, see `Run.evaluations`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import dnagoat
from dnagoat.errors import OptionError, RunError
from dnagoat.evaluation.measure import Measure, MeasureOptions, Result, format_of
from dnagoat.evaluation.measures import (
    copying,
    generation,
    inspect,
    lengths,
    memory,
    nll,
    prior,
    protocol_paper,
    rc,
    strata,
)
from dnagoat.files import read_json, write_json
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run, Which

# A new measure is a module of its own, its name here, and a Section in reporting/contents.py that shows it.
_EVERY = (
    *(generation.MEASURE, nll.MEASURE, strata.MEASURE, lengths.MEASURE, rc.MEASURE, copying.MEASURE),
    *(protocol_paper.MEASURE, prior.MEASURE, inspect.MEASURE, memory.MEASURE),
)
OTHERS = "others"
MEASURES = {measure.name: measure for measure in _EVERY}


def find_measure(name: str) -> Measure:
    """The measure of that name; an `OptionError` lists those there are."""
    if name not in MEASURES:
        raise OptionError(f"--what {name}: there is no such measure; choose from {', '.join(MEASURES)}")
    return MEASURES[name]


def read_result(run: Run, name: str, options: MeasureOptions) -> Result | None:
    """The result that reports show, or None where there is none, or its format or what it was made from is past."""
    measure = find_measure(name)
    return next((result for _, result in _current(run, measure, options, measure.file_name(run, options))), None)


def find_kept(run: Run, name: str, options: MeasureOptions) -> tuple[Path, Result] | None:
    """The file and the content of the result with exactly these settings, or None where it has not been computed."""
    measure = find_measure(name)
    settings = _given(_settings(measure, options))
    places = (measure.file_name(run, options), _beside(measure, run, options))
    found = (each for place in places for each in _current(run, measure, options, place))
    return next((each for each in found if _given(each[1]["settings"]) == settings), None)


def in_the_way(run: Run, name: str, options: MeasureOptions) -> str:
    """What is said where the result that reports show has other settings than these; empty where it has not."""
    measure = find_measure(name)
    path = run.evaluations[0] / measure.file_name(run, options)
    kept = next((result for file, result in _current(run, measure, options, path.name) if file == path), None)
    settings = _settings(measure, options)
    if kept is None or _given(kept["settings"]) == _given(settings):
        return ""
    return (
        f"{path} was measured with other settings ({_differences(kept['settings'], settings)}); this result lies "
        "beside it, and reports show that one; --force puts this one in its place"
    )


def _current(run: Run, measure: Measure, options: MeasureOptions, place: str) -> Iterator[tuple[Path, Result]]:
    """The results of one place that are still true, each with its file: those beside the run come last."""
    for folder in run.evaluations:
        path = folder / place
        if not path.exists():
            continue
        try:
            result: Result = read_json(path)
            current = result["format"] == format_of(measure.name)
            current = current and result["checkpoint"] == _checkpoint(run, options.which)
            current = current and all(result.get(name) == now for name, now in measure.sources(run).items())
        except (ValueError, KeyError, TypeError):
            raise RunError(f"{path} is damaged; remove it, and it will be computed again") from None
        if current:
            yield path, result


def ensure(
    run: Run,
    name: str,
    options: MeasureOptions | None = None,
    *,
    force: bool = False,
    progress: Progress = silent,
) -> Result:
    """The stored result of a measure with these settings, computed and stored first where it is missing.

    The first is what reports show; those of other settings lie beside it in `OTHERS`, unless `force` puts one in its
    place. A result of an earlier checkpoint of the same run, or of others than it keeps now, is out of date and is
    computed again. A `RunError` says before the computing where its result could not be kept.
    """
    options = options or MeasureOptions()
    measure = find_measure(name)
    kept = None if force else find_kept(run, name, options)
    if kept is not None:
        return kept[1]
    run.require_room()
    aside = not force and in_the_way(run, name, options)
    result = sign(run, measure, options) | measure(run, options.but(fresh=force), progress)
    place = _beside(measure, run, options) if aside else measure.file_name(run, options)
    write_json(run.evaluations[0] / place, result)
    return result


def _beside(measure: Measure, run: Run, options: MeasureOptions) -> str:
    """Where a result lies whose settings are not those of the one that reports show."""
    settings = json.dumps(_given(_settings(measure, options)), sort_keys=True)
    stem = measure.file_name(run, options).removesuffix(".json")
    return f"{OTHERS}/{stem}-{sha256(settings.encode()).hexdigest()[:8]}.json"


def _settings(measure: Measure, options: MeasureOptions) -> Result:
    """The options that decide the result; a BED file by its name and content, wherever it lies."""
    settings = options.model_dump(mode="json", include=set(measure.settings))
    if "strata" in settings:
        from dnagoat.genome.read.bed import bed_sha256

        settings["strata"] = [{"name": path.name, "sha256": bed_sha256(path)} for path in options.strata]
    return settings


def _given(settings: Result) -> Result:
    """Without what was not given: a result is as good where the option did not exist yet."""
    nested = {name: _given(value) if isinstance(value, dict) else value for name, value in settings.items()}
    return {name: value for name, value in nested.items() if value is not None}


def sign(run: Run, measure: Measure, options: MeasureOptions) -> Result:
    """What every result says about itself, so that no number travels alone."""
    return {
        "format": format_of(measure.name),
        "measure": measure.name,
        "unit": measure.unit,
        "split": options.split,
        "seed": options.seed,
        "checkpoint": _checkpoint(run, options.which),
        **measure.sources(run),
        "dataset_hash": options.hash_for(run),
        "tool_version": dnagoat.__version__,
        "torch": version("torch"),
        "command": shlex.join(["dnagoat", "evaluate", str(run.path), *_flags(run, measure, options)]),
        "settings": _settings(measure, options),
    }


def _flags(run: Run, measure: Measure, options: MeasureOptions) -> list[str]:
    """The command line's options that give this measure these settings; defaults are left out."""
    changed = options.model_dump(
        mode="json", exclude_defaults=True, include={*measure.settings, "which", "other_dataset"}
    )
    changed |= changed.pop("trajectory", {})
    asked = {"what": measure.name, "split": options.split, "seed": options.seed}
    asked |= {} if run.results is None else {"results": str(run.results)}
    asked |= {"checkpoint" if name == "which" else name: value for name, value in changed.items()}
    values = [(name, each) for name, value in asked.items() for each in (value if isinstance(value, list) else [value])]
    return [word for name, value in values for word in (f"--{name.replace('_', '-')}", str(value))]


def _checkpoint(run: Run, which: Which) -> Result:
    from dnagoat.training.kept.checkpoint import model_sha256, step_of

    folder = run.checkpoint(which)
    return {"which": which, "step": step_of(folder), "sha256": model_sha256(folder)}


def _differences(kept: Result, asked: Result) -> str:
    """`--windows 5, not 6` for every option that makes the difference; the trajectory's have names of their own."""
    kept, asked = ({**result, **result.get("trajectory", {})} for result in (kept, asked))
    names = [name for name in asked if name != "trajectory" and kept.get(name) != asked[name]]
    said = [f"--{name.replace('_', '-')} {_setting(kept.get(name))}, not {_setting(asked[name])}" for name in names]
    return "; ".join(said) or "an older format"


def _setting(value: object) -> str:
    """A setting as a person gave it: BED files by their names, and by what is in them."""
    if isinstance(value, list):
        each = [f"{one['name']} ({one['sha256'][:8]})" if isinstance(one, dict) else str(one) for one in value]
        return ",".join(each) or "none"
    return "not given" if value is None else str(value)
