"""A folder that `transformers` loads where there is no dnagoat: weights, code, tokenizer, licence and a model card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from dnagoat.evaluation.outputs.export.bundle import bundle, needed_by
from dnagoat.evaluation.outputs.export.card import card
from dnagoat.evaluation.outputs.export.leaving import Leaving
from dnagoat.evaluation.outputs.export.tokenizer import tokenizer, tokenizer_config
from dnagoat.files import write_json, write_text
from dnagoat.genome.alphabet import START, N
from dnagoat.training.kept.tensors import save_tensors

WEIGHTS, DESCRIPTION = "model.safetensors", "config.json"  # as transformers calls them
INSIDE = "model."  # what the names of weights begin with: the wrapper holds the model under this name
LICENCE = Path(__file__).parent / "carried" / "LICENSE"


def write_folder(leaving: Leaving, folder: Path) -> None:
    """Fills an empty folder. The positions that a scheme computes once go along with the weights: transformers makes
    models without numbers and fills in what it finds."""
    config = leaving.model.config
    save_tensors(_numbers(leaving), folder / WEIGHTS, {"format": "pt"})
    for name, text in bundle(needed_by(config)).items():
        write_text(folder / name, text)
    write_json(folder / DESCRIPTION, _config(leaving))
    write_json(folder / "generation_config.json", _generation(leaving))
    write_json(folder / "tokenizer.json", tokenizer(begins=config.classes == 4))
    write_json(folder / "tokenizer_config.json", tokenizer_config(config.context))
    write_text(folder / "LICENSE", LICENCE.read_text(encoding="utf-8"))
    write_text(folder / "README.md", card(leaving))


def _numbers(leaving: Leaving) -> dict[str, Tensor]:
    """Parameters and buffers by their names in the wrapper, each with storage of its own."""
    model = leaving.model
    parameters, buffers = (named(remove_duplicate=False) for named in (model.named_parameters, model.named_buffers))
    return {INSIDE + name: tensor.detach().clone().contiguous() for name, tensor in (*parameters, *buffers)}


def _config(leaving: Leaving) -> dict[str, Any]:
    return {
        "architectures": ["DnagoatForCausalLM"],
        "model_type": "dnagoat",
        "auto_map": {
            "AutoConfig": "configuration_dnagoat.DnagoatConfig",
            "AutoModelForCausalLM": "modeling_dnagoat.DnagoatForCausalLM",
        },
        "dtype": "float32",
        "torch_dtype": "float32",  # its name until transformers 4.55
        "dnagoat": leaving.record,
    }


def _generation(leaving: Leaving) -> dict[str, Any]:
    """A model of five classes may say N; dnagoat never writes it."""
    common = {"bos_token_id": START, "pad_token_id": START, "max_new_tokens": 128}
    return {**common, "suppress_tokens": [N]} if leaving.model.config.classes > N else common
