"""Embeddings: the states of a plain forward, whatever the batch, the pieces and the format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from typer.testing import CliRunner

import dnagoat
from dnagoat.errors import OptionError, SourceError
from dnagoat.evaluation.outputs import readings
from dnagoat.evaluation.outputs.embeddings.layers import find_layer
from dnagoat.evaluation.outputs.embeddings.principal_components import principal_components
from dnagoat.evaluation.outputs.embeddings.texts import of_codes
from dnagoat.evaluation.outputs.embeddings.vectors import EmbedOptions, Reader
from dnagoat.genome.alphabet import encode
from dnagoat.genome.dataset import Dataset
from dnagoat.model.transformer import DnaLM
from dnagoat_cli import app
from tests.counts.memory.genome import dataset_of, repetitive
from tests.evaluation.conftest import MakeRun
from tests.full_disk import no_file_above
from tests.genome.small import fasta, random_bases

CONTEXT, STRIDE = 64, 32
BASES = random_bases(150, seed=4) + "N" + random_bases(749, seed=5)
TURN = str.maketrans("ACGTN", "TGCAN")
# A state of float32 goes through two blocks of width 64; other batches sum in another order.
CLOSE: dict[str, Any] = {"abs": 2e-5}


def turned(bases: str) -> str:
    return bases.translate(TURN)[::-1]


def by_hooks(model: DnaLM, module: torch.nn.Module, bases: str) -> np.ndarray:
    """What a module puts out at each base of a text that is read at once, (L, D), from the model's own forward."""
    seen: list[torch.Tensor] = []
    hook = module.register_forward_hook(lambda _, __, out: seen.append(out))
    symbols = [*([5] if model.config.classes == 4 else []), *("ACGTN".index(base) for base in bases)]
    with torch.inference_mode():
        model(torch.tensor([symbols]))
    hook.remove()
    return seen[0][0, len(symbols) - len(bases) :].double().numpy()


def vector(model: DnaLM, bases: str, **options: Any) -> np.ndarray:
    (found,) = Reader(model, EmbedOptions(**options), 512).embed([of_codes(("x", 0, 0, ".", "+"), encode(bases))])
    return found.vector


@pytest.mark.parametrize("classes", [4, 5])
@pytest.mark.parametrize("position", ["goat", "rope", "sinusoidal"])
def test_a_layer_is_what_hooks_see(make_run: MakeRun, position: str, classes: int) -> None:
    model = make_run(position, classes).model()
    bases = BASES[120:180]  # with an N, which is read and has no state
    known = [place for place, base in enumerate(bases) if base != "N"]
    for layer, module in (
        ("norm", model.norm),
        ("1", model.blocks[0]),
        ("-1", model.blocks[1]),
        ("2", model.blocks[1]),
    ):
        states = by_hooks(model, module, bases)
        assert vector(model, bases, layer=layer) == pytest.approx(states[known].mean(0), **CLOSE)
        assert vector(model, bases, layer=layer, pool="last") == pytest.approx(states[-1], **CLOSE)
    both = (
        by_hooks(model, model.norm, bases)[known].mean(0)
        + by_hooks(model, model.norm, turned(bases))[[59 - place for place in known]].mean(0)
    ) / 2
    assert vector(model, bases, strands="both") == pytest.approx(both, **CLOSE)
    assert vector(model, turned(bases), strands="both") == pytest.approx(both, **CLOSE)


def test_the_embedding_is_layer_zero(make_run: MakeRun) -> None:
    model = make_run("rope").model()
    weights = model.embedding.weight.detach().double().numpy()
    expected = weights[["ACGT".index(base) for base in BASES[:50]]].mean(0)
    for name in ("embedding", "0", "-0"):
        assert vector(model, BASES[:50], layer=name) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["3", "-3", "block", "", "1.0", "norms"])
def test_an_unknown_layer_lists_what_there_is(make_run: MakeRun, name: str) -> None:
    with pytest.raises(OptionError, match="blocks 1 to 2"):
        find_layer(make_run().model(), name)


def long_states(model: DnaLM, text: str, start: int, end: int) -> np.ndarray:
    """The state of each base of [start, end): pieces that keep their last half, the first as much as it has."""
    found, done = [], start
    begin = max(0, start - (CONTEXT - STRIDE))
    while done < end:
        last = min(end, begin + CONTEXT if done == start else done + STRIDE)
        first = begin if done == start else last - CONTEXT
        found.append(by_hooks(model, model.norm, text[first:last])[done - first :])
        done = last
    return np.concatenate(found)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "g.fa").write_text(fasta({"one": BASES}))
    lines = ["one\t0\t10\ta\t0\t+", "one\t100\t700\tb\t0\t-", "one\t150\t151\tc\t0\t.", "one\t400\t433\td\t0\t+"]
    (tmp_path / "r.bed").write_text("\n".join(lines))
    return tmp_path / "r.bed", tmp_path / "g.fa"


@pytest.mark.parametrize("at_once", [1, 1 << 22])
@pytest.mark.parametrize("strands", ["own", "both"])
def test_regions_are_read_with_what_lies_before_them(
    make_run: MakeRun, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, at_once: int, strands: Any
) -> None:
    monkeypatch.setattr(readings, "AT_ONCE", at_once)
    run, (bed, genome) = make_run("goat"), places
    model, back = run.model(), turned(BASES)
    for pool in ("mean", "last"):
        found = dnagoat.embed(run, regions=bed, genome=genome, pool=pool, strands=strands, batch_size=3)
        assert list(found.places["name"]) == ["a", "b", "c", "d"]
        assert list(found.places["known"]) == [10, 599, 0, 33]
        assert np.isnan(found.vectors[2]).all() and found.places["gc"].isna()[2]
        for row, (start, end, turn) in {0: (0, 10, 0), 1: (100, 700, 1), 3: (400, 433, 0)}.items():
            ways = []
            for strand in (turn, 1 - turn)[: 1 + (strands == "both")]:
                text, span = (back, (900 - end, 900 - start)) if strand else (BASES, (start, end))
                states = long_states(model, text, *span)
                known = [place for place in range(end - start) if text[span[0] + place] != "N"]
                ways.append(states[known].mean(0) if pool == "mean" else states[-1])
            assert found.vectors[row] == pytest.approx(np.mean(ways, axis=0), **CLOSE)
        gc = sum(base in "GC" for base in BASES[400:433]) / 33
        assert found.places["gc"][3] == pytest.approx(gc)


def test_batch_mates_change_nothing(make_run: MakeRun, dataset: Dataset) -> None:
    run = make_run("goat")
    alone, together = (dnagoat.embed(run, split="test", windows=20, batch_size=size) for size in (1, 64))
    assert alone.vectors == pytest.approx(together.vectors, **CLOSE)
    assert alone.places.equals(together.places)
    # Windows of a piece of a chromosome are told by where they lie on it.
    assert set(alone.places["sequence"]) == {"chr7"} and alone.places["start"].min() >= 1000
    window = dataset.windows_of("test").iloc[0]
    codes = dataset.codes(*(dataset.starts("test")[0] + at for at in (0, 64)))
    text = "".join("ACGTN"[code] for code in codes)
    assert alone.places["start"][0] == 1000 + window["start"]
    model = run.model()
    known = [place for place in range(64) if text[place] != "N"]
    assert alone.vectors[0] == pytest.approx(by_hooks(model, model.norm, text)[known].mean(0), **CLOSE)


def test_bases_before_a_region_can_be_left_out(make_run: MakeRun, places: tuple[Path, Path]) -> None:
    run, (bed, genome) = make_run("goat"), places
    found = dnagoat.embed(run, regions=bed, genome=genome, before=0)
    apart = dnagoat.embed(run, sequences={"d": BASES[400:433], "b": turned(BASES[100:700])})
    assert found.vectors[[3, 1]] == pytest.approx(apart.vectors, **CLOSE)
    assert not np.allclose(found.vectors[3], dnagoat.embed(run, regions=bed, genome=genome).vectors[3], atol=1e-3)


def test_every_format_holds_the_same(make_run: MakeRun, places: tuple[Path, Path], tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata", reason="needs the package anndata")
    run, (bed, genome) = make_run("rope"), places
    expected = dnagoat.embed(run, regions=bed, genome=genome)
    for name in ("v.parquet", "v.npy", "v.h5ad"):
        written = dnagoat.write_embeddings(run, tmp_path / name, regions=bed, genome=genome)
        assert all(path.exists() for path in written)
    table = pq.read_table(tmp_path / "v.parquet")
    rows = table.to_pandas()
    assert rows["embedding"].isna().tolist() == [False, False, True, False]
    kept = np.stack([row for row in rows["embedding"] if row is not None])
    assert np.array_equal(kept, expected.vectors[[0, 1, 3]])
    assert rows.drop(columns="embedding").equals(expected.places)
    about = json.loads(table.schema.metadata[b"dnagoat"])
    assert (about["layer"], about["pool"], about["context"]) == ("norm", "mean", "64")
    plain = np.load(tmp_path / "v.npy")
    assert np.array_equal(plain, expected.vectors, equal_nan=True)
    assert pd.read_csv(tmp_path / "v.tsv", sep="\t")["end"].tolist() == [10, 700, 151, 433]
    data = anndata.read_h5ad(tmp_path / "v.h5ad")
    assert np.array_equal(data.X, expected.vectors, equal_nan=True)
    assert data.obs["name"].tolist() == ["a", "b", "c", "d"] and data.uns["dnagoat"]["run"] == run.name


def run_it(*words: object) -> tuple[int, bytes, str]:
    result = CliRunner().invoke(app, [str(word) for word in ("embed", *words, "--device", "cpu")])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout_bytes, result.stderr


def test_the_command_streams_and_draws(make_run: MakeRun, places: tuple[Path, Path], tmp_path: Path) -> None:
    run, (bed, genome) = make_run("rope"), places
    words = (run.path, "--regions", bed, "--genome", genome)
    code, out, _ = run_it(*words, "--out", "-")
    (tmp_path / "stdout").write_bytes(out)
    assert code == 0 and pq.read_table(tmp_path / "stdout").num_rows == 4
    code, out, _ = run_it(*words, "--out", tmp_path / "x.npy", "--figure", tmp_path / "x.png", "--column", 4)
    assert (code, out.decode().split()) == (0, [str(tmp_path / name) for name in ("x.npy", "x.tsv", "x.png")])
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"
    code, _, err = run_it(*words, "--out", tmp_path / "x.npy")
    assert code == 2 and "exists already" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "x.csv", "--split", "test"), "ends in .parquet, .npy or .h5ad"),
        (("--out", "x.npy"), "no source is given"),
        (("--out", "x.npy", "--split", "test", "--fasta", "a.fa"), "--split and --fasta are given"),
        (("--out", "x.npy", "--regions", "{bed}"), "--regions are intervals of --genome"),
        (("--out", "x.npy", "--split", "holdout"), "there are train, val, test"),
        (("--out", "x.npy", "--split", "test", "--pool", "max"), "--pool max"),
        (("--out", "x.npy", "--split", "test", "--layer", "7"), "blocks 1 to 2"),
        (("--out", "x.npy", "--split", "test", "--stride", "65"), "--stride 65"),
        (("--out", "x.npy", "--split", "test", "--column", "4"), "--column is a column of --regions"),
        (("--out", "x.npy", "--split", "test", "--figure", "x.gif"), ".svg, .pdf or .png"),
        (("--out", "x.npy", "--regions", "{empty}", "--genome", "{genome}"), "empty"),
        (("--out", "x.npy", "--regions", "{other}", "--genome", "{genome}"), "sequences that"),
        (("--out", "x.npy", "--regions", "{past}", "--genome", "{genome}"), "ends at 900"),
        (
            ("--out", "x.npy", "--figure", "x.png", "--regions", "{bed}", "--genome", "{genome}", "--column", "9"),
            "has 6 columns and no column 9",
        ),
    ],
)
def test_a_fault_is_a_sentence_and_leaves_nothing(
    make_run: MakeRun,
    places: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    run = make_run("rope")
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    for name, text in (("empty", ""), ("other", "two\t0\t5\n"), ("past", "one\t890\t901\n")):
        (tmp_path / f"{name}.bed").write_text(text)
    files = {"bed": places[0], "genome": places[1]} | {n: tmp_path / f"{n}.bed" for n in ("empty", "other", "past")}
    code, _, err = run_it(run.path, *(word.format(**files) for word in words))
    assert code == 2 and said in err and err.count("\n") == 1, err
    assert not list((tmp_path / "cwd").iterdir())


def test_without_anndata_it_is_one_sentence(make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anndata", None)
    code, _, err = run_it(make_run("rope").path, "--split", "test", "--out", tmp_path / "x.h5ad")
    assert code == 2 and "install dnagoat[anndata]" in err and not (tmp_path / "x.h5ad").exists()


@pytest.mark.parametrize("name", ["x.parquet", "x.npy", "x.h5ad"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(make_run: MakeRun, tmp_path: Path, name: str) -> None:
    run = make_run("rope").path
    if name.endswith(".h5ad"):
        pytest.importorskip("anndata", reason="needs the package anndata")
    with no_file_above(400):
        code, _, err = run_it(run, "--split", "test", "--out", tmp_path / "out" / name)
    assert code == 2 and err.endswith(
        f"error: {tmp_path / 'out' / name}: File too large; give another place, or make room there\n"
    )
    assert not (tmp_path / "out").exists()


def test_texts_of_no_base_and_of_no_dna(make_run: MakeRun) -> None:
    run = make_run("goat")
    found = dnagoat.embed(run, sequences={"none": "", "unknown": "NNN", "one": "A"}, strands="both", pool="last")
    assert np.isnan(found.vectors[:2]).all() and np.isfinite(found.vectors[2]).all()
    with pytest.raises(SourceError):
        dnagoat.embed(run, sequences={"x": "AC!"})


def test_principal_components_are_those_of_a_singular_value_decomposition() -> None:
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(300, 3)) @ rng.normal(size=(3, 8)) + 2).astype(np.float32)
    vectors[7] = np.nan
    known = np.delete(vectors, 7, axis=0).astype(np.float64)
    left, scale, _ = np.linalg.svd(known - known.mean(0), full_matrices=False)
    found = principal_components(vectors)
    assert np.isnan(found.places[7]).all()
    mine = np.delete(found.places, 7, axis=0)
    assert np.abs(mine) == pytest.approx(np.abs(left[:, :2] * scale[:2]), abs=1e-3)
    assert found.shares == pytest.approx(scale[:2] ** 2 / (scale**2).sum(), abs=1e-5)


def test_a_model_with_memory_looks_up_by_itself(tmp_path: Path) -> None:
    lengths = {"a": 6000, "val": 700, "test": 700}
    contigs = {name: repetitive(length, seed) for seed, (name, length) in enumerate(lengths.items())}
    data = dataset_of(tmp_path, contigs, window=64)
    small = {"model.width": 32, "model.heads": 1, "model.layers": 1, "model.mlp_width": 32, "train.eval_every": 1}
    run = dnagoat.train(data, tmp_path / "run", arm="goat@memory", preset="tiny", steps=1, batch_size=2, settings=small)
    found = dnagoat.embed(run, split="test", windows=3, checkpoint="last")
    model = run.model("last")
    for row, start in enumerate(found.places["start"]):
        (contig,) = [contig for contig in data.contigs if contig.home == found.places["sequence"][row]]
        codes = data.codes(contig.offset + start, contig.offset + start + 64)
        states = by_hooks(model, model.norm, "".join("ACGTN"[code] for code in codes))
        assert found.vectors[row] == pytest.approx(states[codes < 4].mean(0), **CLOSE)
