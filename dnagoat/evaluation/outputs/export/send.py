"""How a run is exported: which form, what of it goes along, where it may be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from dnagoat.errors import OptionError
from dnagoat.evaluation.outputs.export.leaving import Leaving, leaving, transformer_alone, write_file
from dnagoat.files import may_write
from dnagoat.folders import may_fill, new_folder
from dnagoat.progress import Progress, silent
from dnagoat.streams import follow
from dnagoat.training.kept.run import Run, Which

Form = Literal["hf", "safetensors"]


def form_of(name: str) -> Form:
    """The form of that name; an `OptionError` says which there are."""
    for form in get_args(Form):
        if name == form:
            return form  # type: ignore[no-any-return]
    raise OptionError(f"--to {name}: there are {' and '.join(get_args(Form))}")


def export(
    run: Run,
    out: Path,
    form: Form = "hf",
    *,
    which: Which = "best",
    without_memory: bool = False,
    device: str = "cpu",
    force: bool = False,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> Leaving:
    """Writes the folder or the file `out` and returns what went into it; `force` replaces an earlier export.

    An `OptionError` where a model with memory is to become a folder without it unasked, or where something is there.
    """
    families = run.config.model.memory
    if without_memory and not families:
        raise OptionError(f"{run.path} has no memory to leave out; drop --without-memory")
    if form == "hf" and families and not without_memory:
        raise OptionError(
            f"{run.path} looks words up in its training split, which transformers cannot do; give --without-memory to "
            "export its transformer alone (what that costs is measured), or --to safetensors, of which "
            "`dnagoat import` makes the whole model again"
        )
    _check_place(out, form, force=force)
    taken = leaving(run, which)
    if without_memory:
        taken = transformer_alone(taken, device, progress)
    if form == "hf":
        from dnagoat.evaluation.outputs.export.huggingface import write_folder

        with new_folder(out, "OUT", "export", lambda: _check_place(out, form, force=force)) as folder:
            write_folder(taken, folder)
    else:
        write_file(taken, out)
    if taken.note:
        say(taken.note)
    return taken


def _check_place(out: Path, form: Form, *, force: bool) -> None:
    """A folder is replaced only where it is an export itself: nobody's other files go."""
    if form == "safetensors":
        if out.suffix != ".safetensors":
            raise OptionError(f"{out} is to be a single file; give a name that ends in .safetensors")
        may_write(out, "OUT", force=force)
        return
    may_fill(out, "OUT")
    there = follow(out)
    if not there.is_dir() or not any(there.iterdir()):
        return
    if not (there / "modeling_dnagoat.py").exists():
        raise OptionError(f"{out} is a folder with other things in it; give another OUT")
    if not force:
        raise OptionError(f"{out} holds an export already; give another OUT, or --force to replace it")
