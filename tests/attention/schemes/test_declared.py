"""A scheme declares itself: nobody else knows it by name, and one that is only registered is everywhere."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import torch
from torch import Tensor, nn
from typer.testing import CliRunner

from dnagoat.attention.proof.parity import Subject, layer_errors
from dnagoat.attention.schemes import registry
from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.attention.schemes.settings import Option, Settings
from dnagoat.config import ModelConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.comparison.arms import of_arm, options
from dnagoat.evaluation.comparison.labels import labels
from dnagoat.model.transformer import DnaLM
from dnagoat.training.presets import changed, configure
from dnagoat_cli import app

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / "dnagoat" / "attention" / "schemes"

# Files outside the schemes' own room that name one: what is proven of GOAT's recency alone, presets that are GOAT's
# settings, the recipe that has its name, the front door's default, which needs no import, the authors' module as a
# peer, and the probe that is about a rotation.
MOST = 9


def docstrings(tree: ast.Module) -> set[int]:
    """Identities of the constants that are docstrings."""
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    firsts = [body[0] for body in bodies if body]
    return {id(first.value) for first in firsts if isinstance(first, ast.Expr)}


def names_in(source: str) -> Iterator[str]:
    """Schemes that a module's code names: by their module in an import, or in a string that is no sentence."""
    tree = ast.parse(source)
    told, modules = docstrings(tree), {scheme.__module__: name for name, scheme in SCHEMES.items() if name != "nope"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            yield modules[node.module]
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            word = node.value.partition(":")[0].partition("@")[0]
            if word in SCHEMES:
                yield word


def naming() -> dict[str, set[str]]:
    files = [*(ROOT / "dnagoat").rglob("*.py"), *(ROOT / "cli").rglob("*.py")]
    found = {path: set(names_in(path.read_text(encoding="utf-8"))) for path in files if HOME not in path.parents}
    return {str(path.relative_to(ROOT)): names for path, names in found.items() if names}


def test_few_files_name_a_scheme() -> None:
    found = naming()
    assert len(found) <= MOST, found
    for scheme in ("t5", "fire", "sinusoidal", "rope+bias", "goat+rope"):
        assert not [path for path, names in found.items() if scheme in names], scheme


def test_a_file_that_names_a_scheme_is_seen() -> None:
    assert set(names_in('if position.name == "alibi" or name.startswith("goat"): ...')) == {"alibi", "goat"}
    assert set(names_in("from dnagoat.attention.schemes.rope import Rope")) == {"rope"}
    assert set(names_in('arm = "goat:spectral@rank=4"')) == {"goat"}
    assert not set(names_in('"""goat"""\nsay("goat is one of them")'))


@pytest.mark.parametrize("name", ["t5", "fire"])
def test_a_scheme_of_the_literature_is_one_short_file(name: str) -> None:
    file = Path(sys.modules[SCHEMES[name].__module__].__file__ or "")
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 80
    others = [path for path in HOME.glob("*.py") if path not in (file, HOME / "registry.py")]
    assert not [path for path in others if f'"{name}"' in path.read_text(encoding="utf-8")]


def test_declarations_need_no_torch() -> None:
    code = "import sys, dnagoat.config, dnagoat.training.presets; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


class KerpleSettings(Settings):
    power: Annotated[float, Option("kerple-power", "Exponent of the distance.", write="{:g}".format)] = 1.0


class Kerple(PositionScheme):
    """A scheme that nobody has heard of: -|a| log(1 + (i - j) ** power)."""

    settings = KerpleSettings
    colours = ("#123456", "#abcdef")

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config, layer)
        self.power = self.settings_as(KerpleSettings).power
        self.weight = nn.Parameter(torch.zeros(self.heads))

    def bias(self, at: At) -> Tensor:
        behind = (at.queries[..., :, None] - at.keys[..., None, :]).clamp(min=0).to(self.weight.dtype)
        return -self.weight.abs()[:, None, None] * (behind**self.power).log1p().unsqueeze(-3)

    def exact_prior(self, i: Tensor, j: Tensor) -> Tensor:
        return -self.weight.double().abs()[:, None, None] * (1 + (i - j).clamp(min=0) ** self.power).log()

    def start(self, name: str, idle: Tensor, draw: Any) -> Tensor:
        return idle + 1.0


@pytest.fixture
def kerple(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.SCHEMES, "kerple", Kerple)


@pytest.fixture
def base() -> RunConfig:
    model, train = ModelConfig(width=64, heads=2, layers=2, mlp_width=64), TrainConfig()
    return RunConfig(model=model, train=train, dataset="data", dataset_hash="", tool_version="")


@pytest.mark.usefixtures("kerple")
def test_a_registered_scheme_is_an_arm_an_option_a_label_and_a_proof(base: RunConfig) -> None:
    config = of_arm(base, "kerple@power=0.5", seed=0)
    assert config.model.position.settings == KerpleSettings(power=0.5)
    assert labels([config, of_arm(base, "kerple", seed=0)]) == ["kerple (power 0.5)", "kerple"]
    assert of_arm(base, "kerple@kerple-power=0.5", seed=0) == config
    assert RunConfig.model_validate(config.model_dump(mode="json")) == config
    assert config.model.position.settings.written() == {"kerple-power": "0.5"}
    shown = CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "120"})
    assert "--kerple-power" in shown.stdout and "kerple." in shown.stdout
    model = DnaLM(config.model)
    assert all(p.tolist() == [1.0, 1.0] for n, p in model.named_parameters() if n.endswith("scheme.weight"))
    errors = layer_errors(Subject("kerple", momentum=0.2), 100, 1, "cpu", next(model.attentions()).kernel)
    assert errors.pop("forward") < 2e-6 and max(errors.values()) < 1e-3
    with pytest.raises(OptionError, match="power belongs to kerple, and rope has none; leave it out, or take kerple"):
        of_arm(base, "rope@power=2", seed=0)
    with pytest.raises(OptionError, match="many cannot be read as power"):
        options("kerple@power=many")


@pytest.mark.parametrize("name", SCHEMES)
def test_settings_are_written_as_they_are_read(name: str, base: RunConfig) -> None:
    """The options that a report's command has give back the settings, from any preset."""
    for told in SCHEMES[name].settings.proofs:
        settings = SCHEMES[name].settings(**{**SCHEMES[name].settings.proof, **told})
        flags = {f"model.position.settings.{flag}": value for flag, value in settings.written().items()}
        for preset in ("tiny", "paper"):
            made = configure(preset, "d", "h", 512, {"model.position.name": name, **flags}).model.position
            assert made.settings.written() == settings.written()
            assert type(made.settings) is SCHEMES[name].settings


def test_what_two_schemes_share_stays_when_one_takes_the_others_place(base: RunConfig) -> None:
    goat = of_arm(base, "goat+rope@init=seeded@rope-base=500@sink-width=8", seed=0)
    rope = changed(goat, {"model.position.name": "rope"}).model.position.settings
    assert rope.leaves() == {"rope_base": 500.0}
    own = changed(goat, {"model.position.name": "goat"}).model.position.settings.leaves()
    assert (own["init"], own["sink_width"]) == ("seeded", 8) and "rope_base" not in own


@pytest.mark.parametrize(
    ("position", "said"),
    [
        ({"name": "t5", "settings": {"buckets": 3}}, "buckets = 3"),
        ({"name": "t5", "settings": {"rank": 3}}, "rank = 3"),
        ({"name": "tfive"}, "there are .*'t5' or 'fire'"),
    ],
)
def test_a_configuration_is_checked_by_the_scheme_that_it_names(position: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        PositionConfig(**position)
