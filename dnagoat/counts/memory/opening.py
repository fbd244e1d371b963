"""How a model gets at its memory: the tables of its dataset, built at their first use, and only loaded where needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dnagoat.config import Family
from dnagoat.errors import RunError
from dnagoat.genome.dataset import Dataset
from dnagoat.wording import counted

if TYPE_CHECKING:
    from dnagoat.counts.memory.reading import Reader


def open_reader(
    families: tuple[Family, ...],
    dataset: Dataset,
    say: Callable[[str], None] = lambda _: None,
    expected: str | None = None,
) -> Reader:
    """A reader of the dataset's memory; a `RunError` where its tables are not those `expected`.

    `say` hears that tables have to be built, and what did not fit into them.
    """
    from dnagoat.counts.memory.reading import Reader
    from dnagoat.counts.memory.tables import is_built, open_memory

    if not is_built(dataset):
        say(f"counting the training split of {dataset.path}, once for all runs")
    memory = open_memory(dataset)
    if memory.left_out:
        say(
            f"{memory.path} leaves out {counted(memory.left_out, 'base')} of the training split (its budget was too "
            "small)"
        )
    if expected is not None and memory.name != expected:
        raise RunError(
            f"{memory.path} holds other tables than the run was trained with; remove it and build it as it was "
            "(`dnagoat prepare --memory`)"
        )
    return Reader(memory, families)
