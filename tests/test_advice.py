"""Whether advice can be followed: every option that a message names is one of each command that can say it.

Who can say what is read from the code: from a command's function along the names that functions use, through imports,
classes (whose methods count once the class is used) and the registry of measures. That finds more ways than there are,
so a message that holds for one command names it: "`dnagoat prepare --val`".
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from dnagoat_cli import app

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    **{path: path.relative_to(ROOT) for path in (ROOT / "dnagoat").rglob("*.py")},
    **{path: path.relative_to(ROOT / "cli") for path in (ROOT / "cli" / "dnagoat_cli").rglob("*.py")},
}
OPTION = re.compile(r"(?<![\w-])(?<!var\()--[a-z][a-z-]*\w")  # not var(--name) of CSS
NAMED = re.compile(r"`dnagoat ([^`]*)`")
FOREIGN = re.compile(r"torchrun .*? -m|(torchrun|srun) --[a-z-]+")  # the options of another program
GIVEN = re.compile(r"--[a-z-]+( [^\s:,]+)?(:|,| and | is empty| continues )")
Place = tuple[str, str]  # module, and function, Class.method, Class or variable

# Commands that ask for these measures and for no other; evaluate and report take them all.
MEASURES_OF = {
    "inspect": {"inspect"},
    "probe extrapolate": {"lengths"},
    "probe sink": set[str](),
    "compare": set[str](),
}


# Ways that the names suggest and that are none, or that are cared for: command -> definition -> why.
OWN_RUNS = {
    "Run.dataset": "was given its dataset",
    "begin": "always resumes",
    "Run.require_room": "has trained these runs, in folders that it writes to",
    "_first_weights": "begins with drawn weights",
    "weights_at": "begins with drawn weights",
}
KNOWN = {
    "train": {"Run.dataset": "has found its dataset"},
    "compare": OWN_RUNS,
    "probe extrapolate": OWN_RUNS,
    "export": {"Run.require_room": "keeps no result where a run cannot be written"},
}
# The demo gives every option itself. What it can meet is a place that is taken, and there its advice is its own; and a
# full disk. Other sentences of the library it does not come to.
KEPT = "dnagoat.training.kept"
DEMO = ("dnagoat_cli.commands.demo", "dnagoat_cli.demonstration", f"{KEPT}.checkpoint", f"{KEPT}.metrics")
# What a command starts in processes of its own speaks through it.
STARTS = {"compare": ("dnagoat.training.loop", "train")}


@dataclass
class Node:
    """A definition: what it refers to, whose attributes it reads, and which sentences it holds."""

    module: str
    names: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    dotted: set[Place] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    imports: dict[str, Place] = field(default_factory=dict)


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything but annotations and docstrings."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns") and not isinstance(tree, ast.AnnAssign):
            # typer's options stand in annotations: what they say is said by the command
            value = [one for one in ast.walk(value) if isinstance(one, ast.Call)] if value is not None else []
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.AST):
                yield child
                if not isinstance(child, ast.JoinedStr):
                    yield from walk(child)
                else:
                    yield from (
                        one for part in child.values if isinstance(part, ast.FormattedValue) for one in walk(part)
                    )


def text_of(node: ast.AST) -> str:
    """The sentence of a constant or an f-string, with {} for what is put in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def imports_of(tree: ast.AST) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: (alias.name, "") for alias in node.names}
    return found


def read(node: ast.AST, module: str, imported: dict[str, Place]) -> Node:
    found = Node(module, imports={**imported, **imports_of(node)})
    for one in walk(node):
        if isinstance(one, ast.Name):
            found.names.add(one.id)
        elif isinstance(one, ast.Attribute):
            found.attributes.add(one.attr)
            if isinstance(one.value, ast.Name):
                found.dotted.add((one.value.id, one.attr))
        elif text := text_of(one):
            found.texts.add(text)
    for part in groups_of(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            found.dotted.add((part.value.id, part.attr))
        elif isinstance(part, ast.Name):
            found.names.add(part.id)
    return found


def groups_of(node: ast.AST) -> Iterator[ast.AST]:
    """The annotations of a command whose options stand in groups: the groups' methods say what is wrong with them."""
    for one in ast.walk(node):
        if isinstance(one, ast.FunctionDef) and "unfold" in {ast.unparse(each) for each in one.decorator_list}:
            yield from (part for arg in one.args.args if arg.annotation for part in ast.walk(arg.annotation))


@cache
def nodes() -> dict[Place, Node]:
    found: dict[Place, Node] = {}
    for path, relative in FILES.items():
        module = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = imports_of(
            ast.Module([one for one in tree.body if not isinstance(one, (ast.FunctionDef, ast.ClassDef))], [])
        )
        for one in tree.body:
            if isinstance(one, ast.ClassDef):
                methods = [part for part in one.body if isinstance(part, ast.FunctionDef)]
                for method in methods:
                    found[module, f"{one.name}.{method.name}"] = read(method, module, imported)
                rest = ast.ClassDef(one.name, one.bases, one.keywords, [p for p in one.body if p not in methods], [])
                found[module, one.name] = read(rest, module, imported)
            elif isinstance(one, ast.FunctionDef):
                found[module, one.name] = read(one, module, imported)
            else:
                targets = getattr(one, "targets", [getattr(one, "target", None)])
                for name in (target.id for target in targets if isinstance(target, ast.Name)):
                    found[module, name] = read(one, module, imported)
    return found


def resolve(place: Place) -> Place:
    """Where a name is defined that a module hands on."""
    module, name = place
    if place not in nodes() and (module, "") not in nodes():
        for (at, _), node in nodes().items():
            if at == module and name in node.imports and node.imports[name] != place:
                return resolve(node.imports[name])
    return place


def reached(command: str) -> dict[Place, Node]:
    """Every definition that a command can come to."""
    found: dict[Place, Node] = {}
    methods: dict[str, set[Place]] = defaultdict(set)  # of the classes that are used
    read_attributes: set[str] = set()
    waiting = [start_of(command), *([STARTS[command]] if command in STARTS else [])]
    while waiting:
        place = resolve(waiting.pop())
        if place in found or place not in nodes():
            continue
        node = found[place] = nodes()[place]
        waiting += [(node.module, name) for name in node.names if (node.module, name) in nodes()]
        waiting += [node.imports[name] for name in node.names if name in node.imports]
        for name, attribute in (pair for pair in node.dotted if pair[0] in node.imports):
            module = ".".join(node.imports[name]).strip(".")
            if attribute != "MEASURE" or _asked(module, command):
                waiting.append((module, attribute))
        for text in node.texts:
            if re.fullmatch(r"dnagoat_cli[\w.]+", text):
                waiting.append((text, "show"))
        read_attributes |= node.attributes
        for method in (other for other in nodes() if other[0] == place[0] and other[1].startswith(f"{place[1]}.")):
            methods[method[1].split(".")[1]].add(method)
        for name, places in methods.items():
            if name in read_attributes or name.startswith("_"):
                waiting += places
    return found


def _asked(module: str, command: str) -> bool:
    """Whether a command computes the measure of a module `dnagoat.evaluation.measures.NAME`."""
    name = module.rpartition(".")[2].replace("_", "-")
    return command not in MEASURES_OF or name in MEASURES_OF[command]


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command by its words, `probe sink`; those of a group stand in its place."""
    inner = getattr(group, "commands", None)
    if inner is None:
        yield " ".join(path), group
    for name, command in (inner or {}).items():
        yield from commands(command, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


def options_of(command: Any) -> set[str]:
    """Every option, those that a command makes when it is asked (the schemes' settings) among them."""
    parameters = command.get_params(command.context_class(command))
    return {"--help", *(option for one in parameters for option in (*one.opts, *one.secondary_opts))}


OPTIONS = {name: options_of(command) for name, command in COMMANDS.items()}


def start_of(name: str) -> Place:
    callback = COMMANDS[name].callback
    assert callback is not None
    inner = getattr(callback, "__wrapped__", callback)
    return inner.__module__, inner.__qualname__.split(".")[0]


def lacking(text: str, command: str) -> set[str]:
    """The options that a message names and that neither the command has nor a command that the message names."""
    text, missing, here = FOREIGN.sub("", text), set[str](), set(OPTIONS[command])
    for words in NAMED.findall(text):
        named = next((name for name in OPTIONS if f"{words} ".startswith(f"{name} ")), None)
        allowed = OPTIONS[named] if named else {"--version"}
        missing |= set(OPTION.findall(words)) - allowed
        here |= allowed
    return missing | set(OPTION.findall(NAMED.sub("", text))) - here


def of_what_was_given(text: str, command: str) -> bool:
    """`--stride 0: ...` is about what was given to a command that has the option; others do not come to say so."""
    return GIVEN.match(text) is not None and not set(OPTION.findall(text)[:1]) <= OPTIONS[command]


def is_message(text: str) -> bool:
    return " " in text.strip() and OPTION.search(text) is not None


def said_by(command: str) -> Iterator[tuple[str, str]]:
    """Where a message stands that names an option, and the message."""
    for (module, name), node in reached(command).items():
        counts = module in DEMO and name != "own_advice" if command == "demo" else name not in KNOWN.get(command, {})
        yield from ((f"{module}.{name}", text) for text in node.texts if counts and is_message(text))


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_message_advises_can_be_given(command: str) -> None:
    faults = [
        f"{place}: {text!r} names {', '.join(sorted(missing))}"
        for place, text in said_by(command)
        if not of_what_was_given(text, command) and (missing := lacking(text, command))
    ]
    assert not faults, "\n" + "\n".join(faults)


def test_the_walk_comes_to_what_commands_say() -> None:
    """Each of these was seen in a terminal; and nearly every message of the library is somebody's."""
    seen = {
        "inspect": "Run.dataset",
        "evaluate": "read_records",
        "prepare": "FastaScan._refused",
        "generate": "plan",
        "report": "Run.require_room",
        "compare": "Sitting._too_large",
        "probe sink": "Run.dataset",
    }
    for command, name in seen.items():
        assert name in {place[1] for place in reached(command)}, command
    every = {(place, text) for place, node in nodes().items() for text in node.texts if is_message(text)}
    said = {
        (place, text)
        for command in COMMANDS
        for place, node in reached(command).items()
        for text in node.texts
        if is_message(text)
    }
    assert len(said) > 100 and len(every - said) < len(every) / 20, every - said


def test_a_message_with_an_option_of_nobody_is_found() -> None:
    assert lacking("give it another --folder", "inspect") == {"--folder"}
    assert lacking("give it another --folder", "demo") == set()
    assert lacking("say where it lies (--dataset DATASET)", "inspect") == set()
    assert lacking("`dnagoat prepare --val` names it, or --split-blocks", "evaluate") == set()
    assert lacking("`dnagoat inspect --val` names it", "prepare") == {"--val"}
    assert of_what_was_given("--stride {}: too long", "prepare") is False
    assert of_what_was_given("--stride {}: too long", "report") is True
    assert not of_what_was_given("lower --stride", "report")


def test_the_demo_names_its_own_option(tmp_path: Path) -> None:
    (tmp_path / "data" / "demo").mkdir(parents=True)
    (tmp_path / "data" / "demo" / "thesis.tex").write_text("years of work")
    result = CliRunner().invoke(app, ["demo", "--folder", str(tmp_path), "--force"])
    assert (result.exit_code, "--out" in result.stderr) == (2, False)
    assert "another --folder" in result.stderr


@pytest.mark.parametrize("command", ["evaluate", "generate", "inspect", "report", "probe sink"])
def test_every_command_that_opens_a_run_has_dataset(command: str) -> None:
    assert "--dataset" in OPTIONS[command]
