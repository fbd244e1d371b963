"""The collected files that break genome tools: the exact right bases, or one clear sentence."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "awkward_files.py"


def test_every_file_gets_its_bases_or_a_sentence(shared: Path, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("awkward", SCRIPT)
    assert spec and spec.loader
    awkward = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(awkward)
    files = [path for path in sorted((shared / "awkward").iterdir()) if path.name != "README.md"]
    outcomes = {path.name: awkward.outcome(path, tmp_path) for path in files}
    assert len(outcomes) == 30
    assert {name: told for name, (right, told) in outcomes.items() if not right} == {}
    refused = {name for name, (_, told) in outcomes.items() if told.startswith("refused")}
    assert refused == REFUSED


# Too short for a window of 16, nothing but N, or no FASTA of DNA; all others give their bases.
REFUSED = {
    "built_all_N.fa",
    "built_duplicate_names_different_sequences.fa",
    "built_gzip_crc_damaged.fa.gz",
    "built_short_records.fa",
    "built_truncated_gzip.fa.gz",
    "built_zero_bytes.fa",
    "duplicate_first_word_a.fa",
    "fastq_not_fasta.fastq",
    "gapped_alignment_bug2901.fa",
    "genbank_NC_005816.gb",
    "names_with_spaces.fasta",
    "protein_NC_000932.faa",
    "text_before_first_header_pearson.pro",
    "tiny_mixed_case_N_hsa.fa",
    "truncated_real_vcf.gz",
}
