"""The model card, README.md of an exported folder: filled from the run; what is not known is not said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dnagoat
from dnagoat.errors import DatasetError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.outputs.export.bundle import needed_by
from dnagoat.evaluation.outputs.export.leaving import Leaving
from dnagoat.evaluation.results import read_result
from dnagoat.wording import counted

HEAD = """---
license: mit
library_name: transformers
pipeline_tag: text-generation
tags: [dna, genomics, {scheme}]
---
"""

USE = """```python
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("FOLDER", trust_remote_code=True)
model = AutoModelForCausalLM.from_pretrained("FOLDER", trust_remote_code=True).eval()
given = tokenizer("ACGTGGTACA", return_tensors="pt")
with torch.inference_mode():
    logits = model(**given).logits  # (1, T, {classes}): what comes next, over {letters}
    written = model.generate(**given, max_new_tokens=60)
print(tokenizer.decode(written[0], skip_special_tokens=True))
```"""

NOT_FOR = """No conclusion about a person may rest on it: it is no test of pathogenicity, and was compared with none.
What it finds likely is what its training data repeat; a low likelihood is no sign of harm. It knows nothing of what its
data lack: other species, other assemblies, genomes of other people. DNA that it writes has no known function."""


def card(leaving: Leaving) -> str:
    """Markdown. Sections: use, the model, training data, how likely it finds held-out bases, what it is not for."""
    config = leaving.model.config
    parts = [
        HEAD.format(scheme=config.position.name) + f"\n# {leaving.run.name}",
        f"A language model of DNA, base by base, trained with dnagoat {leaving.record['tool_version']} and exported "
        f"with {dnagoat.__version__}. The code in this folder is dnagoat's own, under the MIT licence (LICENSE).",
        "## Use",
        USE.format(classes=config.classes, letters="A, C, G, T" + (", N" if config.classes > 4 else "")),
        " ".join(_reading(leaving)),
        "## The model",
        "\n".join(f"- {line}" for line in _model(leaving)),
        "## Training data",
        "\n".join(f"- {line}" for line in _data(leaving)),
        "## How likely it finds bases that it has not seen",
        " ".join(_likelihood(leaving)),
        "## What it is not for",
        NOT_FOR,
    ]
    return "\n\n".join(parts) + "\n"


def _reading(leaving: Leaving) -> Iterator[str]:
    config = leaving.model.config
    yield "A is 0, C 1, G 2, T 3, N 4; case is ignored, U reads as T, and every other letter as N."
    if config.classes == 4:
        yield "The start symbol, 5, comes before each sequence; the tokenizer adds it."
    else:
        yield "It was trained without a start symbol, and says nothing of a sequence's first base."
    yield (
        "Padding goes behind sequences and is masked; sequences that are continued together have one length. Weights "
        "are float32: positions are exact there, so take `torch.autocast` for bfloat16 and do not convert the weights."
    )
    if packages := needed_by(config):
        yield f"This model needs `pip install {' '.join(packages).replace('_', '-')}` too."


def _model(leaving: Leaving) -> Iterator[str]:
    config = leaving.model.config
    size, record = leaving.model.parameter_count, leaving.record
    yield (
        f"{counted(size, 'parameter')}; {counted(config.layers, 'layer')} of {counted(config.heads, 'head')}, width "
        f"{config.width:,}, MLP {config.mlp_width:,}"
    )
    yield f"positions: {config.position.settings.called(config.position.name)}; attention: {config.normaliser}"
    yield (
        f"trained on {counted(config.context, 'base')} at once, for {counted(record['step'], 'step')}, "
        f"{counted(record['bases'], 'base')} read"
    )
    yield f"weights: sha256 `{record['sha256']}`"
    if leaving.left_out:
        yield f"{leaving.note}; the checkpoint whose hash this is has one"


def _data(leaving: Leaving) -> Iterator[str]:
    record = leaving.record
    yield f"dataset `{record['dataset']}`, content hash `{record['dataset_hash']}`"
    try:
        manifest = leaving.run.dataset().manifest
    except DatasetError:
        return
    tally = manifest.tally
    for source in manifest.sources:
        assembly = f" ({source.assembly})" if source.assembly else ""
        yield f"from `{source.name}`{assembly}, sha256 `{source.sha256}`"
    names = _listed([contig.name for contig in manifest.contigs])
    yield f"{counted(tally.bases, 'base')} in {counted(len(manifest.contigs), 'contig')}: {names}"
    windows = ", ".join(f"{tally.windows[split]:,} {name}" for split, name in SPLITS)
    yield f"windows of {counted(manifest.rules.window, 'base')}: {windows}"


SPLITS: tuple[tuple[Any, str], ...] = (("train", "training"), ("val", "validation"), ("test", "test"))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "")


def _likelihood(leaving: Leaving) -> Iterator[str]:
    """The test split's number where it was measured of these very weights, else what validation said."""
    found = None if leaving.left_out else read_result(leaving.run, "nll", MeasureOptions(which=leaving.which))
    if found is not None:
        sure = "no interval"
        if found["interval"]:
            low, high = found["interval"]
            sure = f"95 % over blocks of {found['block_bases']:,} bases: {low:.4f} to {high:.4f}"
        yield f"{found['value']:.4f} nats a base on the test split ({counted(found['count'], 'base')}; {sure})."
        yield found["verdict"]["sentence"]
    elif leaving.record["val_nll"] is not None:
        value = leaving.record["val_nll"]
        yield f"{value:.4f} nats a base on validation windows, by which the checkpoint may have been chosen."
        yield "The test split was not measured."
    else:
        yield "Nothing was measured."
    yield "A guess among four bases costs 1.3863 nats."
