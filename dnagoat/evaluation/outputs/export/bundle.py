"""The model's code for a machine without dnagoat: our own modules, side by side in one folder, their imports rewritten.

`dnagoat.attention.layer` becomes dnagoat_attention_layer.py, and its `from dnagoat.config import ModelConfig` reads
`from .dnagoat_config import ModelConfig`. Two things are left out: imports for type checkers alone, and pydantic, whose
part `carried.plain` plays. transformers copies what it finds by such imports, and asks for every package that a file
imports outside of a `try`: packages that this model does not need are therefore tried.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import dnagoat
from dnagoat.config import ModelConfig

ROOT = Path(dnagoat.__file__).parent
CARRIED = "dnagoat.evaluation.outputs.export.carried"
CONFIGURATION, MODEL, PLAIN = f"{CARRIED}.configuration_dnagoat", f"{CARRIED}.modeling_dnagoat", f"{CARRIED}.plain"
OPTIONAL = frozenset({"flash_attn", "entmax"})  # imported by the model's modules, needed by some models
ITSELF = "this_module"  # what a module calls itself, where another imports it whole

Edit = tuple[int, int, str]  # lines from, to (counted from 1, both included), and what stands there instead


def bundle(needed: Collection[str] = ()) -> dict[str, str]:
    """File name -> text of every module that the model is made of; `needed` are those OPTIONAL packages it cannot do
    without."""
    texts: dict[str, str] = {}
    waiting = [MODEL]
    while waiting:
        module = waiting.pop()
        if file_of(module) in texts:
            continue
        text, imported = rewrite(_source(module).read_text(encoding="utf-8"), needed)
        texts[file_of(module)] = (
            f"# {module}, dnagoat {dnagoat.__version__}, MIT licence: written by `dnagoat export`.\n{text}"
        )
        waiting.extend(imported)
    entries = (file_of(CONFIGURATION), file_of(MODEL))
    named = _all_named(sorted(texts.keys() - set(entries)))
    return {name: text + (named if name in entries else "") for name, text in sorted(texts.items())}


def _all_named(files: list[str]) -> str:
    """transformers 4 copies from a folder what the file that it loads names, and not what that names in turn."""
    lines = (f"    from .{name.removesuffix('.py')} import {ITSELF}" for name in files)
    return "\n\nif False:  # transformers 4 copies only what is named here\n" + "\n".join(lines) + "\n"


def file_of(module: str) -> str:
    """dnagoat.attention.layer -> dnagoat_attention_layer.py; what is carried keeps its own name."""
    own = module.removeprefix(f"{CARRIED}.")
    return ("dnagoat_plain" if module == PLAIN else own.replace(".", "_")) + ".py"


def _stem(module: str) -> str:
    return file_of(module).removesuffix(".py")


def rewrite(text: str, needed: Collection[str] = ()) -> tuple[str, list[str]]:
    """A module's text with its imports rewritten, and the modules of ours that it imports."""
    tree = ast.parse(text)
    edits, imported = list[Edit](), list[str]()
    for node in _imports(tree):
        if isinstance(node, ast.If):
            edits.append((node.lineno, node.end_lineno or node.lineno, _otherwise(node)))
            continue
        lines, modules = _replacement(node, needed)
        imported.extend(modules)
        if lines is not None:
            indent = " " * node.col_offset
            edits.append((node.lineno, node.end_lineno or node.lineno, "\n".join(indent + line for line in lines)))
    edits.append(_named(tree))
    return _edited(text, edits), imported


def _imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom | ast.If]:
    """Imports wherever they stand, and `if TYPE_CHECKING` as a whole."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom) or _for_types(child):
            yield child  # type: ignore[misc]
        else:
            yield from _imports(child)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _otherwise(node: ast.If) -> str:
    """What stands under the `else` of an `if TYPE_CHECKING`, which must import nothing."""
    assert not any(_imports(ast.Module(node.orelse, [])))
    return "\n".join(map(ast.unparse, node.orelse))


def _replacement(node: ast.Import | ast.ImportFrom, needed: Collection[str]) -> tuple[list[str] | None, list[str]]:
    """The lines that take an import's place, None where it stays, and the modules of ours that it names."""
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
    package = module.partition(".")[0]
    if package == "pydantic":
        return [f"from .{_stem(PLAIN)} import {_names(node.names)}"], [PLAIN]
    if package in OPTIONAL - set(needed):
        bound = [name.asname or name.name.partition(".")[0] for name in node.names]
        return ["try:", f"    {ast.unparse(node)}", "except ImportError:", f"    {' = '.join(bound)} = None"], []
    if package != "dnagoat":
        return None, []
    assert isinstance(node, ast.ImportFrom), f"line {node.lineno}: `import {module}` cannot be rewritten"
    wholes = [name for name in node.names if _source(f"{module}.{name.name}").is_file()]
    parts = [name for name in node.names if name not in wholes]
    lines = [
        f"from .{_stem(f'{module}.{name.name}')} import {ITSELF} as {name.asname or name.name}" for name in wholes
    ] + ([f"from .{_stem(module)} import {_names(parts)}"] if parts else [])
    return lines, [*(f"{module}.{name.name}" for name in wholes), *([module] if parts else [])]


def _names(names: list[ast.alias]) -> str:
    return ", ".join(map(ast.unparse, names))


def _named(tree: ast.Module) -> Edit:
    """After the docstring and the future, every module gets a name for itself."""
    before = max(
        node.end_lineno or 0
        for place, node in enumerate(tree.body)
        if (place == 0 and isinstance(node, ast.Expr))
        or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    )
    return before + 1, before, f"\nimport sys\n\n{ITSELF} = sys.modules[__name__]"


def _edited(text: str, edits: list[Edit]) -> str:
    lines = text.split("\n")
    for first, last, instead in sorted(edits, reverse=True):
        lines[first - 1 : last] = instead.split("\n") if instead else []
    return "\n".join(lines)


def _source(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")[1:]).with_suffix(".py")


def needed_by(config: ModelConfig) -> tuple[str, ...]:
    """The OPTIONAL packages that a model cannot do without."""
    sparse = ("entmax",) if config.normaliser != "softmax" else ()
    return (*sparse, "flash_attn") if config.kernel == "flash" else sparse
