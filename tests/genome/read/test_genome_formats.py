"""A format that is declared is read by all who read a genome, and no other file knows it by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dnagoat
from dnagoat.errors import SourceError
from dnagoat.generation.prompts import from_fasta
from dnagoat.genome.alphabet import CODE, decode
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.genome.read.bed import read_bed
from dnagoat.genome.read.genome import open_genome
from dnagoat.genome.read.genome_formats import FORMATS, Format
from dnagoat.genome.read.in_order import read_pieces, read_records
from dnagoat.genome.read.records import Bases, Header, bases_of
from dnagoat.genome.read.source import Source
from tests.genome.small import random_bases

RECORDS = {"one": random_bases(400, 1), "two": random_bases(300, 2)}
HOUSE = Path(dnagoat.__file__).parent


class Rows:
    """A format of the test's own: TOY1, then a name and a sequence on each line."""

    def __init__(self, path: Path) -> None:
        rows = [line.split() for line in path.read_text().splitlines()[1:]]
        self._sequences = dict(rows)
        self.lengths = {name: len(text) for name, text in rows}

    def bases(self, name: str, start: int, end: int) -> Bases:
        return bases_of(self._sequences[name][start:end].encode())

    def close(self) -> None: ...


class RowsScan:
    def __init__(self, source: Source) -> None:
        self.source, self.uneven = source, list[str]()

    def events(self) -> Iterator[Header | Bases]:
        for _ in self.source.blocks():
            pass
        rows = Rows(self.source.path)
        for name, length in rows.lengths.items():
            yield Header(name, "")
            yield rows.bases(name, 0, length // 2)
            yield rows.bases(name, length // 2, length)

    def share(self) -> float:
        return 1.0

    def write_index(self, folder: Path) -> None: ...


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Path]:
    declared = Format("toy", (b"TOY1",), ".toy", "`untoy` makes FASTA of it", RowsScan, Rows)
    FORMATS.append(declared)
    file = tmp_path / "genome.toy"
    file.write_text("TOY1\n" + "".join(f"{name} {text}\n" for name, text in RECORDS.items()))
    yield file
    FORMATS.remove(declared)


def test_one_declaration_is_enough(toy: Path, tmp_path: Path) -> None:
    """Prepared, looked up, continued, scored, and refused where intervals are wanted."""
    dataset = prepare(toy, tmp_path / "toy", PrepareOptions(window=64, test=("two",)))
    assert [source.kind for source in dataset.manifest.sources] == ["toy"]
    assert {c.name: decode(dataset.codes(c.offset, c.offset + c.length)) for c in dataset.contigs} == RECORDS
    with open_genome(toy) as genome:
        assert decode(genome.bases("two", 5, 90).tokens & np.uint8(CODE)) == RECORDS["two"][5:90]
    assert {name: decode(codes) for name, codes in read_records(toy)} == RECORDS
    assert [name for name, codes in read_pieces(toy) if codes is None] == list(RECORDS)
    assert {prompt.name: decode(prompt.codes) for prompt in from_fasta(toy, pytest.fail)} == RECORDS
    with pytest.raises(SourceError, match=r"genome\.toy is toy, not .*; `untoy` makes FASTA of it"):
        read_bed(toy)


def test_a_format_is_known_to_its_module_and_to_its_declaration() -> None:
    """What a new format touches: of all the library, these two files."""
    knowing = set()
    for path in HOUSE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = isinstance(node, ast.ImportFrom) and (node.module or "").endswith("read.twobit")
            compared = isinstance(node, ast.Compare) and any(
                isinstance(part, ast.Constant) and part.value == "2bit" for part in ast.walk(node)
            )
            if imported or compared or (isinstance(node, ast.ClassDef) and node.name.startswith("TwoBit")):
                knowing.add(path.relative_to(HOUSE / "genome" / "read").as_posix())
    assert knowing == {"genome_formats.py", "twobit.py"}
