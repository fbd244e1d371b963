"""The front door: light to import, typed, and enough for a comparison without the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
import pytest
from pydantic import BaseModel

import dnagoat
from dnagoat.api.keywords import Asked, Rules, Sampling
from dnagoat.errors import OptionError, Stopped
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions
from dnagoat.training.kept.run import Which, open_run
from tests.api.smallest import SMALL

if TYPE_CHECKING:  # the signatures, as a type checker sees them: `make check` fails where one of these is no mistake
    dnagoat.prepare(1, "out")  # type: ignore[arg-type]
    dnagoat.evaluate("run", window=3)  # type: ignore[call-arg]
    dnagoat.generate("run").sum()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("front")
    dice = np.random.default_rng(3)
    with (folder / "genome.fa").open("w") as out:
        for name, length in (("a", 9000), ("b", 4000), ("c", 4000)):
            out.write(f">{name}\n{''.join(dice.choice(list('ACGTacgt'), length))}\n")
    return dnagoat.prepare(folder / "genome.fa", folder / "data", window=64, val=("b",), test=("c",))


def test_importing_is_light() -> None:
    names = [name for name in dnagoat.__all__ if name != "__version__"]
    assert {
        "prepare",
        "open_dataset",
        "train",
        "compare",
        "open_run",
        "position_scheme",
        "generate",
        "evaluate",
        "score",
        "score_bases",
        "score_regions",
        "score_variants",
        "export",
        "import_model",
        "embed",
        "probe_linear",
        "write_embeddings",
        "report",
    } == set(names)
    code = (
        "import sys, dnagoat; "
        f"documented = [getattr(dnagoat, name).__doc__ for name in {names}]; "
        "assert all(documented) and not {'torch', 'numpy', 'pydantic', 'typer', 'rich'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("keywords", "options"), [(Rules, PrepareOptions), (Asked, MeasureOptions), (Sampling, SamplingOptions)]
)
def test_keywords_are_the_fields_of_the_options(keywords: type, options: type[BaseModel]) -> None:
    names = {"Which": Which, "TrajectoryOptions": TrajectoryOptions}
    typed = get_type_hints(keywords, localns=names)
    assert typed == {name: field.annotation for name, field in options.model_fields.items()}


@pytest.mark.slow
def test_arms_are_compared_without_the_command_line(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the middle, every run is saved; the same call continues, and gives what an unbroken one gives."""
    trap = tmp_path / "trap" / "dnagoat_cli"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text("raise ImportError('the library needs the command line')")
    monkeypatch.setenv("PYTHONPATH", str(trap.parent))

    def compare(out: Path, stop: Callable[[], str | None], steps: int = 40) -> dict[str, Any]:
        return dnagoat.compare(
            dataset, ["rope", "goat:recency"], out,
            seeds=1, preset="tiny", steps=steps, batch_size=2, settings=SMALL, device="cpu", jobs=2, stop=stop,
        )  # fmt: skip

    begun: list[Path] = []

    def once_a_run_has_begun() -> str | None:
        begun.extend((tmp_path / "broken").glob("*/metrics.jsonl"))
        return "SIGTERM" if begun else None

    with pytest.raises(Stopped, match="SIGTERM"):
        compare(tmp_path / "broken", once_a_run_has_begun, steps=2000)
    for folder in {file.parent for file in begun}:
        run = open_run(folder)
        assert (folder / "last").exists() and len(run.metrics()) < 2000 and not (folder / "summary.json").exists()

    first = compare(tmp_path / "whole", lambda: None)
    assert first["arms"][1]["splits"]["test"]["all"]["difference"]["verdict"] == "too few seeds"
    assert compare(tmp_path / "whole", lambda: None) == first


def test_a_run_is_trained_asked_and_continued(dataset: Dataset, tmp_path: Path) -> None:
    steps: list[int] = []
    settings: dict[str, Any] = {"settings": SMALL, "preset": "tiny", "batch_size": 2, "device": "cpu", "steps": 4}
    run = dnagoat.train(dataset, tmp_path / "run", arm="rope", watch=lambda step: steps.append(step.step), **settings)
    assert steps == [1, 2, 3, 4] and run.config.model.position.name == "rope"
    assert dnagoat.train(str(dataset.path), str(tmp_path / "run"), arm="rope", resume=True, **settings) == run

    found = dnagoat.evaluate(run, "nll", windows=20, device="cpu", resamples=1000)
    assert found["count"] == 20 * 64 and dnagoat.evaluate(run, windows=20, resamples=1000) == found

    made = dnagoat.generate(run, ["ACGT", ""], 10, samples=2, device="cpu", seed=3)
    assert [(one.prompt, one.sample, len(one.bases)) for one in made] == [(p, s, 10) for p in (0, 1) for s in (0, 1)]

    # What was written has the log-probability that scoring gives it after its prompt.
    whole, prompt = dnagoat.score(run, ["ACGT" + made[0].bases, "ACGT"], device="cpu")
    assert whole.forward - prompt.forward == pytest.approx(float(made[0].log_probabilities.sum()), abs=1e-4)
    (named,) = dnagoat.score(run, {"mine": "ACGT"}, device="cpu")
    assert (named.name, named.length, named.forward) == ("mine", 4, pytest.approx(prompt.forward, abs=1e-5))
    with pytest.raises(OptionError, match=r"give Path\(file\), or a list"):
        dnagoat.score(run, "ACGT")
