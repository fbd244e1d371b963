"""How much passes through a model at once: a GPU's free memory decides, nothing holds more, and no result changes."""

from __future__ import annotations

import weakref
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from dnagoat.attention.cache import Cache
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.evaluation.scoring.at_once import CPU_BASES, GPU_BASES, bases_at_once, numbers_a_base
from dnagoat.evaluation.scoring.likelihood import score
from dnagoat.evaluation.scoring.pieces import Pieces
from dnagoat.model.transformer import DnaLM

WIDTH = 128


def config(name: str = "goat", normaliser: str = "softmax") -> ModelConfig:
    position = PositionConfig(name=name)
    return ModelConfig(width=128, heads=4, layers=3, mlp_width=512, position=position, normaliser=normaliser)


def on_a_gpu(model: ModelConfig) -> DnaLM:
    weight = SimpleNamespace(device=torch.device("cuda", 0), element_size=lambda: 4)
    return cast(DnaLM, SimpleNamespace(config=model, embedding=SimpleNamespace(weight=weight)))


@pytest.mark.parametrize("free", [1 << 10, 1 << 24, 1 << 30, 1 << 37])
def test_a_gpus_free_memory_decides(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 1 << 40))
    model = on_a_gpu(config())
    most = bases_at_once(model, None, WIDTH)
    size = 4 * numbers_a_base(model.config, WIDTH)
    assert most == max(1, min(GPU_BASES, free // 2 // size))
    assert bases_at_once(model, 10, WIDTH) == min(10, most)
    assert bases_at_once(model, 1 << 40, WIDTH) == most
    assert bases_at_once(model, None, WIDTH, cached=True) <= most
    assert bases_at_once(on_a_gpu(config(normaliser="entmax")), None, 4096) <= most


def test_a_cpus_caches_decide() -> None:
    model = DnaLM(config())
    assert bases_at_once(model, None, WIDTH) == CPU_BASES
    assert bases_at_once(model, 100, WIDTH) == 100


class Alive(TorchDispatchMode):
    """The most bytes that were alive at once of all that was made inside."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self.known: dict[int, Any] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        given = {x.untyped_storage().data_ptr() for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        for made in tree_leaves(out):
            if isinstance(made, Tensor) and (place := made.untyped_storage().data_ptr()) not in {*given, *self.known}:
                size = made.untyped_storage().nbytes()
                self.now += size
                self.known[place] = weakref.finalize(made.untyped_storage(), self._end, place, size)
        self.most = max(self.most, self.now)
        return out

    def _end(self, place: int, size: int) -> None:
        self.now -= size
        del self.known[place]


@pytest.mark.parametrize("normaliser", ["softmax", "entmax15"])
@pytest.mark.parametrize("cached", [False, True], ids=["at once", "in parts"])
@pytest.mark.parametrize("name", ["nope", "goat+rope", "fire"])
def test_no_forward_holds_more_than_was_reckoned_with(name: str, cached: bool, normaliser: str) -> None:
    model, batch = DnaLM(config(name, normaliser)).eval(), 8
    codes = torch.zeros(batch, WIDTH, dtype=torch.int64)
    with torch.inference_mode(), Alive() as alive:
        held = Cache(model.config, batch, WIDTH) if cached else None
        for part in torch.split(codes, WIDTH // 2 if cached else WIDTH, dim=1):
            model(part, held)
    assert alive.now < alive.most
    reckoned = 4 * codes.numel() * numbers_a_base(model.config, WIDTH, cached)
    assert 0.15 * reckoned < alive.most < reckoned


def test_no_batch_changes_a_score() -> None:
    model = DnaLM(config()).eval()
    tokens = np.random.default_rng(0).integers(0, 5, 4_000).astype(np.uint8)
    pieces = Pieces(*(np.array(column) for column in zip(*[(64 * n, 64, 0) for n in range(30)], strict=True)))
    one, few, many = (score(model, tokens, pieces, bases).losses for bases in (1, 200, None))
    np.testing.assert_allclose(few, one, atol=1e-5)
    np.testing.assert_allclose(many, one, atol=1e-5)
