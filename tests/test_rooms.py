"""Whether the library keeps its shape: imports go one way, nothing prints, no module knows of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# The order in which data walks through the rooms. A module may import from its own room and from those before it.
ROOMS = (
    ("errors", "files", "folders", "free_memory", "frozen", "progress", "streams", "wording"),
    ("genome",),
    ("attention", "config"),  # a configuration holds the settings that each position scheme declares
    ("counts",),
    ("model",),
    ("training",),
    ("generation",),
    ("evaluation",),
    ("measure",),
    ("reporting",),
    ("api",),
)
RANK = {name: rank for rank, names in enumerate(ROOMS) for name in names}
COMMAND_LINE = {"typer", "click", "rich", "dnagoat_cli"}

MODULES = sorted((ROOT / "dnagoat").rglob("*.py"))


def room(module: str) -> str:
    """The room of `dnagoat.genome.read.fasta` is `genome`; what is not the library's has none."""
    first, _, rest = module.partition(".")
    return rest.split(".")[0] if first == "dnagoat" else ""


def imports(tree: ast.Module) -> Iterator[str]:
    """Every module that is named in an import, wherever it stands; `from dnagoat import x` names dnagoat.x."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import: the house writes imports in full"
            module = node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names) if module == "dnagoat" else (module,)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_keeps_to_its_room(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = room(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for module in imports(tree):
        assert module.split(".")[0] not in COMMAND_LINE, f"the library imports {module}"
        other = room(module)
        if own in RANK and other in RANK:
            assert RANK[other] <= RANK[own], f"{own} imports {module}, which comes after it"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno} prints"


def test_rooms_are_all_named() -> None:
    found = {path.relative_to(ROOT / "dnagoat").parts[0].removesuffix(".py") for path in MODULES} - {"__init__"}
    assert found <= set(RANK), f"rooms without a place in the order: {sorted(found - set(RANK))}"


@pytest.mark.parametrize(
    "path", [*MODULES, *(ROOT / "cli").rglob("*.py")], ids=lambda path: str(path.relative_to(ROOT))
)
def test_no_function_is_found_by_a_string(path: Path) -> None:
    """A type checker follows an import, and not `import_module`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not {"importlib", "import_module", "__import__"} & {*names, *imports(tree)}


NAME = re.compile(r"[\w-][\w.-]*\.(json|jsonl|parquet|u8|html|md|csv|npz|safetensors|bed|bin)")


def test_the_name_of_a_file_stands_in_one_module() -> None:
    """Two modules that write the same name in full drift apart; config.json is a run's, and what transformers reads."""
    found: dict[str, set[str]] = {}
    for path in (*MODULES, *(ROOT / "cli").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
                found.setdefault(node.value, set()).add(str(path.relative_to(ROOT)))
    assert {"comparison.json", "manifest.json", "report.html"} <= set(found)
    twice = {name: sorted(modules) for name, modules in found.items() if len(modules) > 1}
    assert list(twice) == ["config.json"] and len(twice["config.json"]) == 2, twice
