"""Which state of a model is an embedding? A layer by its number or name, and what it holds at each base."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dnagoat.errors import OptionError
from dnagoat.evaluation.scoring.likelihood import BASES
from dnagoat.genome.alphabet import START, Codes
from dnagoat.model.transformer import DnaLM

# B pieces, W bases of each, D width

EMBEDDING, NORM = "embedding", "norm"


class Layer(NamedTuple):
    """What block `depth` writes, counted from 1; with `norm` after the last norm, as the output reads it."""

    name: str
    depth: int
    norm: bool = False


def find_layer(model: DnaLM, name: str) -> Layer:
    """`norm`, `embedding` (0), a block's number from 1 or from the end (-1); an `OptionError` lists what there is."""
    last = len(model.blocks)
    if name == NORM:
        return Layer(NORM, last, norm=True)
    if name == EMBEDDING:
        return Layer(EMBEDDING, 0)
    try:
        number = int(name)
    except ValueError:
        number = last + 1
    if not -last <= number <= last:
        raise OptionError(
            f"--layer {name}: there are {NORM} (what the output reads), {EMBEDDING} (0), and blocks 1 to {last}, "
            "-1 being the last"
        )
    depth = number if number >= 0 else last + 1 + number
    return Layer(str(depth) if depth else EMBEDDING, depth)


@torch.inference_mode()
def states(model: DnaLM, layer: Layer, codes: Codes) -> Tensor:
    """The state at each base of codes (B, W), once it is read, (B, W, D) float32; before it stand the others alone."""
    starts = model.classes == BASES  # one of five classes knows no start symbol
    symbols = codes.astype(np.int64)
    if starts:
        symbols = np.pad(symbols, ((0, 0), (1, 0)), constant_values=START)
    found = model.hidden(torch.from_numpy(symbols).to(model.embedding.weight.device), layer.depth)
    if layer.norm:
        found = model.norm(found)
    return found[:, int(starts) :].float()
