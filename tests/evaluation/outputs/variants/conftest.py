"""A small genome, models on it, and what an independent hand computes: full passes over edited sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from dnagoat.evaluation.outputs.variants.alleles import Frame
from dnagoat.evaluation.outputs.variants.scored_file import Places, Scorer, score_variants
from dnagoat.model.transformer import DnaLM

pysam = pytest.importorskip("pysam", reason="needs the package pysam")

FRAME = Frame(context=64, after=8)
TURN = str.maketrans("ACGTN", "TGCAN")
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


def turned(bases: str) -> str:
    """The other strand."""
    return bases.translate(TURN)[::-1]


def write_genome(path: Path, records: dict[str, str]) -> Path:
    text = ""
    for name, bases in records.items():
        text += f">{name}\n" + "".join(f"{bases[at : at + 50]}\n" for at in range(0, len(bases), 50))
    path.write_text(text)
    return path


def write_calls(path: Path, lines: Sequence[tuple[object, ...]], header: str = "") -> Path:
    """VCF of (sequence, 1-based position, REF, ALT)."""
    body = "".join(f"{name}\t{at}\t.\t{ref}\t{alt}\t.\t.\t.\n" for name, at, ref, alt in lines)
    path.write_text("##fileformat=VCFv4.2\n" + header + COLUMNS + body)
    return path


@torch.inference_mode()
def nats(model: DnaLM, before: str, then: str) -> float:
    """log p(then | start symbol, before) by one plain pass."""
    symbols = torch.tensor([[5, *("ACGT".index(base) for base in before + then)]])
    log_p = torch.log_softmax(model(symbols)[0, :-1].double(), -1)
    rows = range(len(before), len(before + then))
    return sum(float(log_p[row, symbols[0, row + 1]]) for row in rows)


def by_hand(model: DnaLM, left: str, ref: str, alt: str, right: str, after: int) -> tuple[float, float]:
    """Log-likelihood ratios on both strands, from whole sequences and nothing else."""
    forward = nats(model, left, alt + right[:after]) - nats(model, left, ref + right[:after])
    before, tail = turned(right), left[-after:]
    return forward, nats(model, before, turned(tail + alt)) - nats(model, before, turned(tail + ref))


@pytest.fixture(scope="session")
def bases() -> str:
    return "".join(np.random.default_rng(5).choice(list("ACGT"), 3_000))


Score = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def score_file(tmp_path: Path) -> Score:
    """score_file(model, calls, genome, out=..., said=[], **options): rows of the table; `out` is written beside it."""

    def score(
        model: DnaLM,
        calls: Path,
        genome: Path,
        out: Path | None = None,
        said: list[str] | None = None,
        frame: Frame = FRAME,
        resume: bool = False,
        **options: Any,
    ) -> list[dict[str, Any]]:
        places = Places(out, tmp_path / "rows.parquet", resume)
        said = [] if said is None else said
        score_variants(Scorer(model, "run", "0" * 64, 256), calls, genome, frame, places, say=said.append, **options)
        rows: list[dict[str, Any]] = pq.read_table(tmp_path / "rows.parquet").to_pylist()
        return rows

    return score
