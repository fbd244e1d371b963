"""Linear probes: classes that are there are found, shuffled ones are not, and the ranks are scikit-learn's."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dnagoat
from dnagoat.config import ModelConfig, RunConfig, TrainConfig
from dnagoat.evaluation.outputs.embeddings.texts import of_codes
from dnagoat.evaluation.probes.linear.ranking import auroc, average_precision
from dnagoat.evaluation.probes.linear.regression import kmer_shares
from dnagoat.evaluation.scoring.intervals import block_bootstrap, resample_weights
from dnagoat.files import write_json
from dnagoat.genome.alphabet import encode
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat_cli import app

metrics = pytest.importorskip("sklearn.metrics", reason="needs the package scikit-learn")
TILE = 64


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Held-out tiles in turn: rich in CACA and lower case, or plain; training is plain."""
    folder = tmp_path_factory.mktemp("linear")
    rng = np.random.default_rng(0)

    def plain(length: int) -> str:
        return "".join(rng.choice(list("ACGT"), length))

    def striped(tiles: int) -> str:
        made = ""
        for tile in range(tiles):
            bases = list(plain(TILE))
            if tile % 2:
                at = int(rng.integers(0, TILE - 24))
                bases[at : at + 24] = "ca" * 12
                bases = [base.lower() for base in bases]
            made += "".join(bases)
        return made

    parts = {"train": plain(8_000), "v": striped(160), "t": striped(160)}
    (folder / "g.fa").write_text("".join(f">{name}\n{bases}\n" for name, bases in parts.items()))
    return prepare(folder / "g.fa", folder / "data", PrepareOptions(window=TILE, val=("v",), test=("t",)))


Make = Callable[..., Path]


@pytest.fixture(scope="module")
def make(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """make(name, seed=0, hash=...): an untrained run."""
    folder = tmp_path_factory.mktemp("runs")

    def run(name: str, seed: int = 0, content: str | None = None) -> Path:
        model = ModelConfig(width=32, heads=1, layers=1, mlp_width=32, context=TILE)
        config = RunConfig(
            model=model,
            train=TrainConfig(),
            dataset=str(dataset.path),
            dataset_hash=content or dataset.content_hash,
            tool_version=dnagoat.__version__,
        )
        write_json(folder / name / "config.json", config.model_dump(mode="json"))
        weights = weights_of(DnaLM(model, seed))
        save(folder / name, Checkpoint(TrainingState(step=1, best_step=1, best_val_nll=1.4), weights), keep=1)
        return folder / name

    return run


QUICK: dict[str, Any] = {"resamples": 200, "block": 4 * TILE, "device": "cpu"}


def bed(folder: Path, label: Callable[[int, str], str], name: str = "c.bed") -> Path:
    """Every tile of both held-out contigs, with a label."""
    lines = [
        f"{contig}\t{tile * TILE}\t{(tile + 1) * TILE}\t{label(tile, contig)}\n"
        for contig in "vt"
        for tile in range(160)
    ]
    (folder / name).write_text("".join(lines))
    return folder / name


def test_ranks_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    scores, positive = rng.integers(0, 30, 200) / 7.0, rng.random(200) < 0.3
    weights = rng.integers(0, 4, (5, 200)).astype(float)
    for ours, theirs in ((auroc, metrics.roc_auc_score), (average_precision, metrics.average_precision_score)):
        expected = [theirs(positive, scores, sample_weight=row) for row in weights]
        assert ours(scores, positive, weights) == pytest.approx(expected, abs=1e-12)
    one_class = (weights * positive)[:1]
    assert np.isnan(auroc(scores, positive, one_class)).all()


def test_resamples_are_those_of_the_bootstrap() -> None:
    rng = np.random.default_rng(2)
    sums, blocks = rng.random(300), rng.integers(0, 40, 300)
    drawn = np.concatenate(list(resample_weights(blocks, 500, 7)))
    assert drawn.shape == (500, 300)
    means = (drawn @ sums) / drawn.sum(1)
    interval = block_bootstrap(sums, np.ones(300), blocks, 500, 7)
    assert interval is not None
    assert np.quantile(means, (0.025, 0.975)) == pytest.approx(interval.as_list(), abs=1e-12)


def test_kmers_are_counted_as_by_hand() -> None:
    text = "ACGTNACGTTCA"
    (row,) = kmer_shares([of_codes(("x", 0, 12, ".", "+"), encode(text))], 4)
    counts: dict[int, int] = {}
    for at in range(len(text) - 3):
        word = text[at : at + 4]
        if "N" not in word:
            number = int("".join(str("ACGT".index(base)) for base in word), 4)
            counts[number] = counts.get(number, 0) + 1
    assert {int(at): row[at] for at in np.flatnonzero(row)} == pytest.approx(
        {at: count / sum(counts.values()) for at, count in counts.items()}
    )
    both = kmer_shares([of_codes(("x", 0, 4, ".", "+"), encode("AAAA"))], 4, both=True)
    assert both[0, 0] == both[0, 255] == 0.5
    assert not kmer_shares([of_codes(("x", 0, 2, ".", "+"), encode("AA"))], 4).any()


@pytest.mark.parametrize("by", ["split", "block"])
def test_classes_that_are_there_are_found(make: Make, tmp_path: Path, by: Any) -> None:
    regions = bed(tmp_path, lambda tile, _: "rich" if tile % 2 else "plain")
    result = dnagoat.probe_linear([make("one")], str(regions), by=by, **QUICK)
    rows = {row["features"]: row["auroc"] for row in result["rows"]}
    assert len(rows) == 3 and list(rows)[1:] == ["4-mer counts", "6-mer counts"]
    assert all(estimate["value"] > 0.9 for estimate in rows.values()), rows
    for estimate in rows.values():
        assert estimate["interval"][0] <= estimate["value"] <= estimate["interval"][1]
    assert result["tested"] == (160 if by == "split" else 320) and result["positive"] == result["tested"] // 2
    for pair in result["pairs"]:
        difference = rows[pair["left"]]["value"] - rows[pair["right"]]["value"]
        assert pair["auroc"]["value"] == pytest.approx(difference, abs=1e-12)


def test_shuffled_labels_are_a_guess(make: Make, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    regions = bed(tmp_path, lambda tile, contig: str(rng.choice(["yes", "no"])))
    result = dnagoat.probe_linear([make("one")], str(regions), **QUICK)
    for row in result["rows"]:
        low, high = row["auroc"]["interval"]
        # 95 % intervals, of labels from a fixed seed.
        assert low < 0.5 < high, row


def test_softmask_is_built_in_and_two_runs_are_paired(make: Make, tmp_path: Path) -> None:
    runs = [make("one"), make("two", seed=1)]
    out = tmp_path / "probe"
    result = dnagoat.probe_linear(runs, "softmask", length=TILE, out=out, **QUICK)
    assert result["classes"] == ["soft-masked", "not masked"] and result["tested"] == 160
    arms = [run["arm"] for run in result["runs"]]
    assert len(set(arms)) == 2 and (result["pairs"][-1]["left"], result["pairs"][-1]["right"]) == (arms[1], arms[0])
    same = dnagoat.probe_linear([runs[0], make("copy")], "softmask", length=TILE, **QUICK)["pairs"][-1]["auroc"]
    assert same == {"value": 0.0, "interval": [0.0, 0.0]}
    assert json.loads((out / "probe.json").read_text())["probe"] == "linear"
    assert (out / "figures" / "probe-linear.svg").exists() and (out / "tables" / "probe-linear-pairs.csv").exists()
    page = dnagoat.report([out], tmp_path / "report")
    assert "Average precision" in page.read_text(encoding="utf-8")


def run_it(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in ("probe", "linear", *words, "--device", "cpu")])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_the_command(make: Make, tmp_path: Path) -> None:
    regions = bed(tmp_path, lambda tile, _: "abc"[tile % 3])
    words = (make("one"), "--regions", regions, "--positive", "a", "--resamples", 100, "--out", tmp_path / "p")
    code, out, _ = run_it(*words, "--json")
    assert code == 0 and json.loads(out)["classes"] == ["a", "not a"]
    code, _, err = run_it(*words)
    assert code == 2 and "already holds" in err
    code, out, _ = run_it(*words, "--force")
    assert code == 0 and "has an AUROC of" in out


def test_it_tells_where_regions_lie_and_which_were_left_out(make: Make, tmp_path: Path) -> None:
    regions = bed(tmp_path, lambda tile, _: "ab"[tile % 2])
    more = ("train\t0\t64\ta", "chrUn\t0\t64\tb", "train\t7990\t8000\tb")
    regions.write_text(regions.read_text() + "\n".join(more) + "\n")
    code, out, err = run_it(make("one"), "--regions", regions, "--resamples", 100, "--out", tmp_path / "p")
    assert code == 0, err
    assert "3 of 323 regions left out: 2 in the training split, 1 on sequences that the dataset has not" in err
    result = json.loads((tmp_path / "p" / "probe.json").read_text())
    assert result["examples"] == [
        {"split": split, "sequence": name, "positive": 80, "other": 80} for split, name in (("val", "v"), ("test", "t"))
    ]
    assert result["left_out"] == {"in the training split": 2, "on sequences that the dataset has not": 1}
    assert "Where the regions lie" in out and "--splits FILE" in out
    assert any(
        line.split()[:4] == ["Split,", "sequence", "a", "b"] for line in out.splitlines()
    )  # as the file has them
    code, out, _ = run_it(make("one"), "--regions", regions, "--resamples", 100, "--most", 100, "--out", tmp_path / "q")
    assert "120 beyond the 100 taken of each split" in " ".join(out.split())


def test_bounds_stand_in_the_help() -> None:
    shown = CliRunner().invoke(app, ["probe", "linear", "--help"], env={"COLUMNS": "200"}).stdout
    for option, bound in (("--resamples", "x>=100"), ("--folds", "x>=2"), ("--most", "x>=10"), ("--block", "x>=1")):
        assert re.search(rf"{option} .*\[{bound}\]", shown), shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--regions", "{three}"), "has 3 classes in held-out regions"),
        (("--regions", "{three}", "--positive", "d"), "--positive d: column 4"),
        (("--regions", "{one}"), "two classes are needed"),
        (("--regions", "{trained}"), "(2 in the training split); `dnagoat inspect {dataset} --splits FILE`"),
        (("--regions", "{val}"), "test has 0 a, 0 b"),
        (("--regions", "{none}"), "does not exist"),
        (("--regions", "softmask", "--length", "2048"), "no two classes"),
        (("--regions", "softmask", "--positive", "x"), "softmask has its own"),
        (("--regions", "{three}", "--length", "64"), "tiles of softmask"),
        (("--regions", "{three}", "--column", "5"), "no column 5"),
        (("--regions", "{three}", "--by", "genome"), "--by genome"),
        (("--regions", "softmask", "--length", "64", "--layer", "9"), "--layer 9"),
    ],
)
def test_a_fault_is_a_sentence(make: Make, dataset: Dataset, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    bed(tmp_path, lambda tile, _: "abc"[tile % 3], "three.bed")
    bed(tmp_path, lambda tile, _: "a", "one.bed")
    (tmp_path / "trained.bed").write_text("train\t0\t64\ta\ntrain\t64\t128\tb\n")
    (tmp_path / "val.bed").write_text("".join(f"v\t{64 * at}\t{64 * at + 64}\t{'ab'[at % 2]}\n" for at in range(20)))
    files = {name: tmp_path / f"{name}.bed" for name in ("three", "one", "trained", "val", "none")}
    out = tmp_path / "out"
    code, _, err = run_it(make("one"), *(word.format(**files) for word in words), "--out", out)
    last = err.strip().splitlines()[-1]
    assert code == 2 and last.startswith("error: ") and said.format(dataset=dataset.path) in last, err
    assert not out.exists()


def test_runs_of_other_datasets_and_a_missing_package(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = run_it(
        make("one"), make("other", content="0" * 64), "--regions", "softmask", "--out", tmp_path / "o"
    )
    assert code == 2 and "give runs of one dataset" in err
    code, _, err = run_it(make("one"), make("one"), "--regions", "softmask", "--out", tmp_path / "o")
    assert code == 2 and "give each run once" in err
    monkeypatch.setitem(sys.modules, "sklearn", None)
    code, _, err = run_it(make("one"), "--regions", "softmask", "--out", tmp_path / "o")
    assert code == 2 and "install dnagoat[probe]" in err and not (tmp_path / "o").exists()
