"""`dnagoat generate` as a person uses it: files, headers, faults, the reach of a seed."""

from __future__ import annotations

import gzip
import io
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from Bio import SeqIO
from typer.testing import CliRunner, Result

from dnagoat.genome.dataset import Dataset
from dnagoat.training.kept.run import Run
from dnagoat_cli import app
from tests.genome.small import twobit

HEADER = re.compile(
    r" prompt=(\S+) source=(\S+) prompt_bases=(\d+) (?:coordinates=(\S+) )?strand=([+-]) sample=(\d+) seed=(\d+)"
)


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["generate", *map(str, words)])


def records(path: Path) -> list[tuple[str, str]]:
    with path.open() as handle:
        return [(record.description, str(record.seq)) for record in SeqIO.parse(handle, "fasta")]


def test_the_same_bases_come_out_plain_and_packed_and_on_standard_output(run: Run, tmp_path: Path) -> None:
    asked = (run.path, "--prompt", "ACGTTGCA", "--length", 130, "--samples", 2, "--device", "cpu")
    plain, packed = tmp_path / "new.fa", tmp_path / "new.fa.gz"
    printed = call(*asked)
    assert printed.exit_code == 0
    assert call(*asked, "--out", plain).exit_code == call(*asked, "--out", packed).exit_code == 0
    assert plain.read_text() == printed.stdout == gzip.decompress(packed.read_bytes()).decode()
    assert max(len(line) for line in plain.read_text().splitlines() if line[0] != ">") == 60
    (first, one), (second, other) = records(plain)
    assert set(one + other) == set("ACGT") and len(one) == len(other) == 130 and one != other
    assert first.startswith("generated_1_1 prompt=prompt source=command_line") and "sample=1" in second


def test_headers_say_where_a_prompt_is_from(run: Run, dataset: Dataset, tmp_path: Path) -> None:
    bed, out = tmp_path / "regions.bed", tmp_path / "new.fa"
    bed.write_text("two\t100\t130\tx\t0\t-\n")
    asked = ("--regions", bed, "--from-split", "test", "--count", 2, "--prompt-length", 50, "--seed", 4, "--length", 9)
    assert call(run.path, *asked, "--out", out).exit_code == 0
    made = [HEADER.search(description) for description, _ in records(out)]
    assert made[0] and made[0].groups() == ("two:100-130(-)", "regions.bed", "30", "two:100-130", "-", "0", "4")
    assert all(one and one[2] == "test_split" and one[4].startswith("three:") for one in made[1:])
    assert all("mean_log_probability=-1." in description for description, _ in records(out))


def test_the_other_strand_is_read_on_request(run: Run, tmp_path: Path) -> None:
    forward, backward = tmp_path / "f.fa", tmp_path / "b.fa"
    call(run.path, "--prompt", "AACC", "--length", 20, "--out", forward)
    call(run.path, "--prompt", "GGTT", "--reverse", "--length", 20, "--out", backward)
    assert records(forward)[0][1] == records(backward)[0][1]
    assert "strand=-" in records(backward)[0][0]


def test_tables_hold_what_the_sequences_hold(run: Run, tmp_path: Path) -> None:
    out, scores, table = tmp_path / "new.fa", tmp_path / "scores.tsv", tmp_path / "table.tsv.gz"
    asked = ("--samples", 3, "--length", 25, "--gc-target", 0.6, "--ban-motif", "CG", "--ban-motif", "ATA")
    assert call(run.path, *asked, "--out", out, "--scores", scores, "--table", table).exit_code == 0
    by_base, by_sequence = pd.read_csv(scores, sep="\t"), pd.read_csv(table, sep="\t")
    for (description, bases), row in zip(records(out), by_sequence.itertuples(), strict=True):
        assert row.bases == bases and "CG" not in bases and "ATA" not in bases
        mine = by_base[by_base["sequence"] == row.sequence]
        assert "".join(mine["base"]) == bases and mine["position"].tolist() == list(range(25))
        assert mine["log_probability"].mean() == pytest.approx(row.mean_log_probability, abs=2e-6)
        assert f"banned=CG,ATA gc_target=0.6 gc_tilt={row.gc_tilt:+.4f}" in description


def test_a_taken_name_is_kept_without_force(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "new.fa"
    out.write_text("mine")
    refused = call(run.path, "--length", 5, "--out", out)
    assert refused.exit_code == 2 and "exists already" in refused.stderr and out.read_text() == "mine"
    assert call(run.path, "--length", 5, "--out", out, "--force").exit_code == 0
    assert out.read_text().startswith(">generated")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--prompt", "ACGTX!"], "not a letter of DNA"),
        (["--temperature", "-1"], "--temperature -1.0: it should be greater than or equal to 0"),
        (["--top-k", "9"], "--top-k 9: it should be less than or equal to 4"),
        (["--top-p", "0"], "--top-p 0.0: "),
        (["--gc-target", "1.5"], "--gc-target 1.5: "),
        (["--memory-strength", "1.5"], "--memory-strength 1.5: it should be less than or equal to 1"),
        (["--memory-strength", "0.5"], "--memory-strength 0.5: this model was trained without memory"),
        (["--ban-motif", "AC!"], "--ban-motif AC!: the motif 'AC!' is not DNA"),
        (["--from-split", "exam"], "there are train, val, test"),
        (["--from-split", "val", "--count", "999"], "fewer than --count 999"),
        (["--prompts", "nowhere.fa"], "does not exist"),
        (["--prompt", ""], "--prompt is empty; give it bases, or leave it out"),
        (["--prompt", " \n"], "--prompt is empty"),
        (["--scores", "-", "--table", "-"], "standard output is written by --scores and by --table"),
        (["--checkpoint", "first"], "best or last"),
        (["--max-context", "1"], "--max-context 1"),
        (["--device", "abacus"], "abacus"),
    ],
)
def test_a_users_fault_is_one_sentence(run: Run, tmp_path: Path, words: list[str], sentence: str) -> None:
    out = tmp_path / "new.fa"
    result = call(run.path, "--length", 5, "--prompt-length", 20, "--out", out, *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and sentence in result.stderr and result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_sequences_go_through_pipes_and_devices(run: Run, tmp_path: Path) -> None:
    asked = (run.path, "--prompt", "ACGT", "--length", 20)
    pipe, link = tmp_path / "pipe", tmp_path / "link.tsv"
    os.mkfifo(pipe)
    link.symlink_to("scores.tsv")
    with ThreadPoolExecutor(1) as pool:
        came = pool.submit(pipe.read_text)
        made = call(*asked, "--out", pipe, "--scores", link, "--table", "/dev/null")
        assert (made.exit_code, made.stdout) == (0, "") and came.result(20) == call(*asked).stdout
    assert pipe.is_fifo() and link.is_symlink() and len((tmp_path / "scores.tsv").read_text().splitlines()) == 21
    table = call(*asked, "--out", "/dev/null", "--table", "-")
    assert table.exit_code == 0 and table.stdout.splitlines()[0].startswith("sequence\tprompt\t")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.tsv", "pipe", "scores.tsv"]


def test_prompts_and_regions_come_from_standard_input(run: Run, tmp_path: Path) -> None:
    (tmp_path / "seeds.fa").write_text(">a\nACGT\n>b\nTTTT\n")
    (tmp_path / "seeds.bed").write_text("two\t100\t130\n")
    for option, name in (("--prompts", "seeds.fa"), ("--regions", "seeds.bed")):
        words = ["generate", str(run.path), "--length", "9", option]
        piped = CliRunner().invoke(app, [*words, "-"], input=(tmp_path / name).read_text())
        assert piped.exit_code == 0 and piped.stderr == ""
        assert bases(piped.stdout) == bases(call(run.path, "--length", 9, option, tmp_path / name).stdout)
    both = call(run.path, "--prompts", "-", "--regions", "-")
    assert both.exit_code == 2 and "standard input is read by --prompts and by --regions" in both.stderr


def test_prompts_of_a_2bit_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "seeds.2bit").write_bytes(twobit({"a": "ACGTNNac", "b": "TTTT"}))
    (tmp_path / "seeds.fa").write_text(">a\nACGTNNac\n>b\nTTTT\n")
    made = [call(run.path, "--length", 9, "--prompts", tmp_path / name) for name in ("seeds.2bit", "seeds.fa")]
    assert bases(made[0].stdout) == bases(made[1].stdout) != []
    refused = call(run.path, "--length", 9, "--regions", tmp_path / "seeds.2bit")
    assert refused.exit_code == 2 and "is 2bit, not " in refused.stderr and "UTF-16" not in refused.stderr


def bases(text: str) -> list[str]:
    return [str(record.seq) for record in SeqIO.parse(io.StringIO(text), "fasta")]


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    assert "is not a run" in call(tmp_path).stderr


def test_stopping_keeps_what_is_finished(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dnagoat.generation import continuation as generation

    whole = generation.generate

    def interrupted(*args: object, **named: object) -> object:
        for number, made in enumerate(whole(*args, **named)):  # type: ignore[arg-type]
            if number == 3:
                raise KeyboardInterrupt
            yield made

    monkeypatch.setattr(generation, "generate", interrupted)
    out = tmp_path / "new.fa"
    stopped = call(run.path, "--samples", 8, "--batch-size", 2, "--length", 30, "--out", out)
    assert stopped.exit_code == 130 and "finished and kept: 3 of 8 sequences" in stopped.stderr
    assert len(records(out)) == 3
