"""A run goes to another genome, to a folder for others, and back, without the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dnagoat
from dnagoat.training.kept.run import Run
from tests.api.smallest import SMALL


@pytest.fixture(scope="module")
def genome(tmp_path_factory: pytest.TempPathFactory) -> Path:
    fasta = tmp_path_factory.mktemp("exchange") / "genome.fa"
    dice = np.random.default_rng(4)
    lines = [f">{name}\n{''.join(dice.choice(list('ACGT'), length))}\n" for name, length in (("a", 6000), ("b", 3000))]
    fasta.write_text("".join(lines))
    return fasta


@pytest.fixture(scope="module")
def run(genome: Path) -> Run:
    data = dnagoat.prepare(genome, genome.parent / "data", window=64, val=("b",), test=("b",))
    settings: dict[str, Any] = {"settings": SMALL, "preset": "tiny", "batch_size": 2, "device": "cpu", "steps": 2}
    return dnagoat.train(data, genome.parent / "run", arm="goat", **settings)


def bases(genome: Path, contig: str) -> str:
    records = dict(record.split("\n")[:2] for record in genome.read_text().split(">")[1:])
    return records[contig]


def test_variants_and_regions_of_a_genome(run: Run, genome: Path, tmp_path: Path) -> None:
    pytest.importorskip("pysam")
    reference = bases(genome, "a")
    other = {"A": "G", "C": "T", "G": "A", "T": "C"}[reference[999]]
    calls = tmp_path / "calls.vcf"
    calls.write_text(
        "##fileformat=VCFv4.2\n##contig=<ID=a,length=6000>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        f"a\t1000\t.\t{reference[999]}\t{other},<DEL>\t.\t.\t.\n"
    )
    survey = dnagoat.score_variants(run, calls, genome, out=tmp_path / "scored.vcf", device="cpu")
    assert (survey.records, survey.alleles, survey.scored) == (1, 2, 1) and sum(survey.skipped.values()) == 1
    assert "DNAGOAT" in (tmp_path / "scored.vcf").read_text()

    bed = tmp_path / "loci.bed"
    bed.write_text("a\t0\t40\tfirst\nb\t100\t164\tsecond\n")
    found = dnagoat.score_regions(run, bed, genome, tracks=tmp_path / "tracks", device="cpu")
    assert [region.record.scored for region in found] == [40, 64]
    (whole,) = dnagoat.score(run, [reference[:40]], device="cpu")  # the first region begins where its contig does
    assert found[0].record.forward == pytest.approx(whole.forward, abs=1e-4)
    assert list((tmp_path / "tracks").iterdir())


def test_a_run_leaves_and_comes_back(run: Run, tmp_path: Path) -> None:
    out = dnagoat.export(run, tmp_path / "model.safetensors", "safetensors")
    back = dnagoat.import_model(out, tmp_path / "back")
    assert back.config.model == run.config.model
    (here,), (there,) = (dnagoat.score(one, ["ACGTTGCA"], device="cpu") for one in (run, back))
    assert there.forward == pytest.approx(here.forward, abs=1e-6)
