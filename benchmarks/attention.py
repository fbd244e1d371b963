"""What GOAT costs beside plain attention, RoPE and the authors' package: bytes kept, peak, time, the whole step.

    python benchmarks/attention.py [--rounds 7] [--json FILE] [--keep]

The authors' package is a peer to measure against, never a dependency: `pip install --no-deps goat-attention==0.1.1`.
One process, one thread, process time. Module: batch 8, 8 heads of 64, length 1024, R = 8, form `authors`. Step: preset
`paper`, fp32. Subnormal numbers are flushed, as they are in training; `--keep` shows what arms cost otherwise (the
fault by itself: subnormals.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext

os.environ.setdefault("KINETO_LOG_LEVEL", "5")

from functools import partial

import torch
from rows import Row, finish, interleaved, options
from torch import Tensor, nn
from torch.nn.functional import linear

from dnagoat.attention.fast.subnormals import flush_subnormals, subnormals
from dnagoat.attention.kernels import sdpa
from dnagoat.attention.layer import Attention
from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.model.transformer import DnaLM
from dnagoat.training.presets import preset
from dnagoat.training.step.loss import summed_loss
from dnagoat.training.step.optimizer import make_optimizer

BATCH, HEADS, LENGTH, HEAD, RANK = 8, 8, 1024, 64, 8
WIDTH = HEADS * HEAD
Work = Callable[[], Tensor]


def layer(name: str, content: int | None = None) -> Attention:
    """One attention module whose prior, of the authors' form, is not at zero, so that nothing can be skipped."""
    position = PositionConfig(name=name, settings=GoatConfig(form="authors", rank=RANK))
    config = ModelConfig(width=WIDTH, heads=HEADS, layers=1, context=LENGTH, position=position, content=content)
    module = Attention(config, 0)
    with torch.no_grad():
        for parameter in module.scheme.parameters():
            parameter.uniform_(0.0, 0.1)
    return module


def peer() -> nn.Module | None:
    try:
        from goat import GoatAttention
    except ImportError:
        return None
    return GoatAttention(
        WIDTH, HEADS, bias=False, batch_first=True, pos_rank=RANK, abs_rank=8, training_seq_len=LENGTH
    ).train()


def saved_bytes(work: Work) -> int:
    """Bytes that the forward keeps for the backward: each storage once."""
    storages: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = work()
    del result
    return sum(storages.values())


def peak_bytes(work: Callable[[], None]) -> int:
    """The most that is allocated at once while `work` runs, from the allocator's own events."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        work()
    now = most = 0
    for event in profiler.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    return most


def both_ways(module: nn.Module, work: Work, x: Tensor, gradient: Tensor) -> Callable[[], None]:
    """Forward and backward; gradients are dropped afterwards."""

    def run() -> None:
        work().backward(gradient)
        x.grad = None
        module.zero_grad(set_to_none=True)

    return run


def module_rows(rounds: int) -> Iterator[Row]:
    x = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)
    gradient = torch.randn(BATCH, LENGTH, WIDTH)
    modules = {name: layer(name) for name in ("nope", "rope", "goat")}
    works: dict[str, Work] = {name: partial(module, x, At.whole(LENGTH)) for name, module in modules.items()}
    kept = {name: saved_bytes(work) for name, work in works.items()}
    mega = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in kept.items())
    yield Row("goat saved / plain", kept["goat"] / kept["nope"], "ratio", 1.02, "<=", 1, mega)
    other = peer()
    if other is None:
        note = "goat-attention is not installed: pip install --no-deps goat-attention==0.1.1"
        yield Row("goat saved / goat-attention", None, "ratio", 0.87, "<=", 1, note)
    else:
        theirs = saved_bytes(lambda: other(x, x, x, need_weights=False, is_causal=True)[0])
        detail = f"ours {kept['goat'] / 1e6:.1f} MB, theirs {theirs / 1e6:.1f} MB"
        yield Row("goat saved / goat-attention", kept["goat"] / theirs, "ratio", 0.87, "<=", 1, detail)
        # Their lanes are fewer: with as much content as theirs our queries, keys and values are wider than their 64.
        wide = layer("goat", content=HEAD - 2 * RANK - 1)
        same = saved_bytes(lambda: wide(x, At.whole(LENGTH)))
        detail = f"content {wide.scheme.content}: ours {same / 1e6:.1f} MB, theirs {theirs / 1e6:.1f} MB"
        yield Row("same content, saved / goat-attention", same / theirs, "ratio", 0.87, "<=", 1, detail)
    runs = {name: both_ways(modules[name], work, x, gradient) for name, work in works.items()}
    peaks = {name: peak_bytes(runs[name]) for name in ("nope", "goat")}
    detail = f"goat {peaks['goat'] / 1e6:.1f} MB, plain {peaks['nope'] / 1e6:.1f} MB"
    yield Row("goat peak / plain", peaks["goat"] / peaks["nope"], "ratio", 1.05, "<=", 1, detail)
    if other is not None:
        runs["peer"] = both_ways(other, lambda: other(x, x, x, need_weights=False, is_causal=True)[0], x, gradient)
    least = interleaved(runs, rounds)
    detail = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in least.items())
    yield Row("goat time / plain", least["goat"] / least["nope"], "ratio", 1.08, "<=", rounds, detail)
    yield Row("rope saved / plain", kept["rope"] / kept["nope"], "ratio", 1.02, "<=", 1)


def step_of(name: str) -> tuple[DnaLM, Callable[[], None]]:
    """One optimizer step of preset `paper` in float32: forward, loss, backward, clipping, AdamW, constraints."""
    config, train = preset("paper")
    model = DnaLM(config.but(position=config.position.but(name=name)))
    optimizer = make_optimizer(model, train)
    codes = torch.randint(0, 4, (train.batch_size, config.context))

    def step() -> None:
        (summed_loss(model(codes), codes) / codes.numel()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), train.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        model.constrain()

    return model, step


def floor_of(model: DnaLM) -> Callable[[], None]:
    """The same step's bare work: its matrix products and its attention kernel, forward and backward, nothing else."""
    config = model.config
    rows = 8 * config.context
    weights = [p for n, p in model.named_parameters() if p.ndim == 2 and ".scheme." not in n and "embedding" not in n]
    shapes = [tuple(weight.shape) for weight in weights] + [(config.classes, config.width)]
    inputs = {width: torch.randn(rows, width) for _, width in shapes}
    heads = (8, config.context, config.heads, config.head_width)
    q, k, v = (torch.randn(heads).transpose(1, 2).requires_grad_() for _ in range(3))
    gradients = {count: torch.randn(rows, count) for count, _ in shapes}
    matrices = [torch.randn(shape) for shape in shapes]
    flow = torch.randn(heads).transpose(1, 2)

    def work() -> None:
        for matrix in matrices:
            count, width = matrix.shape
            linear(inputs[width], matrix)  # forward
            gradients[count] @ matrix  # gradient of the input
            gradients[count].T @ inputs[width]  # gradient of the weight
        for _ in range(config.layers):
            sdpa(q, k, v, config.head_width**-0.5, True, None).backward(flow)
            q.grad = k.grad = v.grad = None

    return work


def step_rows(rounds: int) -> Iterator[Row]:
    rope_model, rope = step_of("rope")
    goat_model, goat = step_of("goat")
    _, alibi = step_of("alibi")
    least = interleaved({"goat": goat, "alibi": alibi, "rope": rope, "floor": floor_of(goat_model)}, rounds)
    counts = f"parameters: goat {goat_model.parameter_count:,}, rope {rope_model.parameter_count:,}"
    detail = f"subnormal numbers {subnormals()}; " + ", ".join(f"{name} {least[name]:.2f} s" for name in least)
    yield Row("step goat / rope", least["goat"] / least["rope"], "ratio", 1.03, "<=", rounds, f"{detail}; {counts}")
    yield Row("step alibi / rope", least["alibi"] / least["rope"], "ratio", 1.03, "<=", rounds)
    yield Row("floor / step", least["floor"] / least["goat"], "ratio", 0.90, ">=", rounds)


def rows(rounds: int) -> Iterator[Row]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield from module_rows(rounds)
    yield from step_rows(rounds)


if __name__ == "__main__":
    chosen = options(__doc__ or "", rounds=7, switches={"keep": "compute with subnormal numbers"})
    with nullcontext() if chosen.keep else flush_subnormals():
        finish(rows(chosen.rounds), chosen.json)
