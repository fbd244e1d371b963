"""From a file to a dataset: what is written is what was there, whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dnagoat.errors import DatasetError, DnagoatError, OptionError, SourceError, WindowError
from dnagoat.genome.alphabet import N, decode
from dnagoat.genome.dataset import Dataset, open_dataset
from dnagoat.genome.passport import remarks
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.genome.store.folder import new_folder
from dnagoat.genome.store.tokens import TokenWriter
from dnagoat.genome.windows import SPLITS
from tests.genome.conftest import Prepared
from tests.genome.small import fasta, packed, random_bases


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_demo_is_three_loci_and_three_splits(tmp_path: Path) -> None:
    dataset = prepare("demo", tmp_path / "demo", PrepareOptions())
    assert [(c.chromosome, c.start, c.length) for c in dataset.contigs] == [
        ("chr21", 15_000_000, 5_000_000),
        ("chr21", 33_000_000, 1_000_000),
        ("chr21", 36_000_000, 1_000_000),
    ]
    tally = dataset.manifest.tally
    # The counts that the provenance note beside the file gives.
    assert (tally.bases, tally.n, round(tally.masked / tally.bases, 2)) == (7_000_000, 30, 0.47)
    assert tally.windows == {"train": 4882, "val": 976, "test": 976}
    assert dataset.manifest.sources[0].sha256 == "48832c4b852653cb646e0dba9fd712b5bb36ce5506eaa44f8bf4970f60660ed7"


# No two records are copies, on either strand: `prepare` refuses those, see test_overlaps.
CONTIGS = st.dictionaries(
    st.sampled_from(["a", "b", "../c", "chr1:1-100", "=1+1"]), st.text("ACGTNacgt", max_size=400), min_size=1
).filter(lambda records: len({either_strand(bases) for bases in records.values()}) == len(records))


def either_strand(bases: str) -> str:
    """The same for a record and its reverse complement."""
    return min(bases.upper(), bases.upper()[::-1].translate(str.maketrans("ACGT", "TGCA")))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(CONTIGS, st.integers(2, 50), st.integers(1, 60), st.sampled_from([0.0, 0.3, 1.0]), st.booleans())
def test_windows_are_what_the_table_says(
    tmp_path: Path, records: dict[str, str], window: int, stride: int, max_n: float, blocks: bool
) -> None:
    (tmp_path / "genome.fa").write_text(fasta(records))
    options = PrepareOptions(
        window=window, stride=stride, max_n=max_n, split="blocks" if blocks else "contig", force=True
    )
    try:
        dataset = prepare(tmp_path / "genome.fa", tmp_path / "out", options)
    except WindowError:
        return
    offsets = {contig.name: contig.offset for contig in dataset.contigs}
    tally = dataset.manifest.tally
    assert {split: int((dataset.windows["split"] == split).sum()) for split in tally.windows} == tally.windows
    rows: list[Any] = list(dataset.windows.itertuples())
    for row in rows:
        bases = records[row.contig][row.start : row.end]
        n = bases.count("N")
        assert len(bases) == row.end - row.start == window
        assert n <= max_n * window and n < window
        assert row.gc == pytest.approx(sum(base in "CGcg" for base in bases) / (window - n))
        assert row.n_fraction == pytest.approx(n / window)
        assert row.masked_fraction == pytest.approx(sum(base.islower() for base in bases) / window)
        start = offsets[row.contig] + row.start
        assert decode(dataset.tokens[start : start + window], case=True) == bases
    for split in ("train", "val", "test"):
        starts, room = dataset.starts(split), dataset.room(split)
        assert (np.diff(starts) > 0).all()
        assert ((room[:, 0] <= starts) & (starts <= room[:, 1])).all()
        own = dataset.spans(split)
        for low, high in room.tolist():
            assert ((own[:, 0] <= low) & (high + window <= own[:, 1])).sum() == 1
    spans = sorted((s.tolist(), split) for split in ("train", "val", "test") for s in dataset.spans(split))
    assert all(left[0][1] <= right[0][0] for left, right in pairwise(spans))


def test_the_content_hash_follows_the_content_alone(prepared: Prepared, tmp_path: Path) -> None:
    records = {"a": random_bases(900), "b": random_bases(300, 1)}
    first = prepared(records, "first", window=50, val=("b",))
    same = prepared(packed(fasta(records, 7).encode(), "bgzip", tmp_path / "x.gz"), "same", window=50, val=("b",))
    assert first.content_hash == same.content_hash
    others = [
        prepared({**records, "b": random_bases(300, 2)}, "bases", window=50, val=("b",)),
        prepared({"a": records["a"], "c": records["b"]}, "names", window=50, val=("c",)),
        prepared(records, "width", window=49, val=("b",)),
        prepared(records, "stride", window=50, stride=25, val=("b",)),
        prepared(records, "split", window=50, test=("b",)),
    ]
    assert len({first.content_hash, *(other.content_hash for other in others)}) == 6


def test_what_was_changed_is_said_once(prepared: Prepared) -> None:
    dataset = prepared({"a": "ACGU" * 20 + "RY" + "N" * 40 + "ACGT" * 10}, window=10, gaps="drop")
    assert remarks(dataset.manifest) == [
        "20 U read as T",
        "2 IUPAC codes stored as N (and counted in N)",
        "5 windows dropped: over 10% N, or nothing but N",
        "1 last partial tile dropped: shorter than a window",
        "the validation split is empty; name contigs of it (--val), or give --split-blocks, to `dnagoat prepare`",
        "the test split is empty; name contigs of it (--test), or give --split-blocks, to `dnagoat prepare`",
    ]


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"window": 1}, OptionError, "window = 1"),
        ({"max_n": 1.5}, OptionError, "max_n = 1.5"),
        ({"val": ("chr9",)}, DatasetError, "--val chr9: no contig of that name; there are a, b"),
        ({"split": "blocks", "val": ("a",)}, OptionError, "--split-blocks divides every contig by itself"),
        ({"window": 5000}, WindowError, "the longest contig has 900 bases and a window 5,000; lower --window"),
    ],
)
def test_faults_leave_nothing_behind(
    prepared: Prepared, tmp_path: Path, options: dict[str, object], error: type[DnagoatError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        prepared({"a": random_bases(900), "b": random_bases(30)}, **options)
    assert leftovers(tmp_path) in ([], ["dataset.fa"])


def test_all_n_is_judged_as_n(prepared: Prepared) -> None:
    with pytest.raises(WindowError, match="all 10 are over 10% N or nothing but N"):
        prepared({"a": "N" * 100}, window=10)
    with pytest.raises(WindowError, match="nothing but N"):
        prepared({"a": "N" * 100}, window=10, max_n=1.0)


def test_content_is_judged_before_length(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "protein.fa").write_text(">p\nMPTIKQ\n")
    with pytest.raises(SourceError, match="amino acid"):
        prepared(tmp_path / "protein.fa", window=1024)


def test_a_dataset_is_replaced_only_on_request_and_nothing_else_ever(prepared: Prepared, tmp_path: Path) -> None:
    first = prepared({"a": random_bases(100)}, window=10)
    with pytest.raises(DatasetError, match="exists already; give another --out, or --force"):
        prepared({"a": random_bases(200)}, window=10)
    assert open_dataset(first.path).content_hash == first.content_hash
    assert prepared({"a": random_bases(200)}, window=10, force=True).manifest.tally.bases == 200
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("dear")
    with pytest.raises(DatasetError, match="is not a dataset, so --force does not replace it"):
        prepared({"a": random_bases(200)}, "thesis", window=10, force=True)
    assert leftovers(tmp_path) == ["dataset", "dataset.fa", "thesis", "thesis.fa"]


def test_names_never_become_paths(prepared: Prepared, tmp_path: Path) -> None:
    dataset = prepared({"../../etc/x": random_bases(50), "/abs": random_bases(50), "n" * 5000: "ACGT"}, window=10)
    assert leftovers(dataset.path) == ["genome.fai", "manifest.json", "tokens.u8", "windows.parquet"]
    assert leftovers(tmp_path) == ["dataset", "dataset.fa"]


def test_windows_go_to_a_bed_file_on_request(prepared: Prepared) -> None:
    dataset = prepared({"a": random_bases(100), "b": random_bases(45)}, window=40, val=("b",), bed=True)
    assert (dataset.path / "windows.bed").read_text() == "a\t0\t40\ttrain\na\t40\t80\ttrain\nb\t0\t40\tval\n"


def test_two_at_once_are_refused(prepared: Prepared, tmp_path: Path) -> None:
    with new_folder(tmp_path / "dataset", False) as folder:
        (folder / "mine").write_text("mine")
        with pytest.raises(OptionError, match="another prepare is writing"):
            prepared({"a": random_bases(100)}, window=10)
        assert leftovers(folder) == ["mine"]
    assert leftovers(tmp_path / "dataset") == ["mine"]


def test_a_full_disk_is_said_and_leaves_nothing(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: TokenWriter, tokens: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TokenWriter, "append", full)
    with pytest.raises(DatasetError, match="is full"):
        prepared({"a": random_bases(100)}, window=10)
    assert leftovers(tmp_path) == ["dataset.fa"]


KILLED = """
import sys
from pathlib import Path
from dnagoat.genome.preparation import PrepareOptions, prepare
sys.stdout.write("ready\\n"); sys.stdout.flush()
prepare(Path(sys.argv[1]), Path(sys.argv[2]), PrepareOptions(window=64, split="blocks"))
"""


@pytest.mark.parametrize("after", [0.0, 0.01, 0.03, 0.1, 0.2])
def test_a_kill_leaves_a_whole_dataset_or_none(tmp_path: Path, after: float) -> None:
    source, out = tmp_path / "genome.fa", tmp_path / "out"
    source.write_text(fasta({"a": random_bases(2_000_000)}))
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(source), str(out)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(after)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    if out.exists():
        assert open_dataset(out).manifest.tally.bases == 2_000_000
    else:  # and what it left behind is no hindrance
        assert prepare(source, out, PrepareOptions(window=64, split="blocks")).manifest.tally.bases == 2_000_000
    assert leftovers(tmp_path) == ["genome.fa", "out"]


def test_the_manifest_is_plain_json_with_every_rule(prepared: Prepared) -> None:
    dataset = prepared({"a": random_bases(300), "b": random_bases(100)}, window=10, stride=5, test=("b",), max_n=0.2)
    manifest = json.loads((dataset.path / "manifest.json").read_text())
    assert manifest["rules"] == {
        "window": 10,
        "stride": 5,
        "max_n": 0.2,
        "split": "contig",
        "val": [],
        "test": ["b"],
        "guard": 0,
        "gaps": "refuse",
        "regions": None,
        "contigs": "primary",
        "overlaps": "refuse",
        "copies": "keep",
    }
    assert [{key: contig[key] for key in ("name", "offset", "length")} for contig in manifest["contigs"]] == [
        {"name": "a", "offset": 0, "length": 300},
        {"name": "b", "offset": 300, "length": 100},
    ]


def test_blocks_are_cut_by_known_bases(prepared: Prepared) -> None:
    """Two thirds of this genome are one run of N, over what positions alone would make validation."""
    bases = random_bases(6000, 3) + "N" * 40_000 + random_bases(14_000, 4)
    dataset = prepared({"chr1": bases}, window=50, split="blocks")
    known = {split: sum(int((dataset.codes(*span) < N).sum()) for span in dataset.spans(split)) for split in SPLITS}
    assert (known["val"], known["test"]) == (2000, 2000)  # a tenth each of 20,000
    assert min(len(dataset.starts(split)) for split in SPLITS) >= 2000 // 50 - 2
    assert remarks_of(dataset, "split is empty") == []


def test_blocks_without_n_are_where_they_were(prepared: Prepared) -> None:
    dataset = prepared({"chr1": random_bases(10_000)}, window=50, split="blocks")
    assert dataset.spans("val").tolist() == [[2000, 2500], [7000, 7500]]


def test_an_empty_block_does_not_advise_blocks(prepared: Prepared) -> None:
    sparse = "".join(base + "N" * 9 for base in random_bases(500))
    dense = random_bases(4500)
    dataset = prepared({"chr1": dense + sparse + dense + sparse}, window=50, split="blocks")  # as test is cut
    (said,) = remarks_of(dataset, "the test split is empty")
    assert "--split-blocks" not in said and "--window" in said


def remarks_of(dataset: Dataset, start: str) -> list[str]:
    return [remark for remark in remarks(dataset.manifest) if start in remark]
