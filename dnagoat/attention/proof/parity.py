"""How far a scheme is from its explicit float64 reference, on any device, kernel and precision: the user's own proof.

error = max abs difference / max abs of the reference tensor. Weights of half precision are read through identity
blocks as values, for one query row at the end of the sequence, where every key is allowed. Subnormal numbers are
flushed, as wherever the library computes.
"""

# B batch, H heads, T positions, D head width, C content width

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.attention.kernels import Kernel, dense, flash, flash_fault, sdpa
from dnagoat.attention.lanes.assemble import assemble
from dnagoat.attention.layer import Attention
from dnagoat.attention.proof import reference
from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.registry import SCHEMES, USUAL
from dnagoat.attention.schemes.wrapper import innermost
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig

HEAD = 64
EPS = torch.finfo(torch.float32).eps
# Total variation where weights are rounded to bfloat16 twice, before and after the kernel's sum over keys: half of 2^-9
# of each weight, two times. Beside sharp content, scores in float32 have their share.
TWICE = 2.0**-9
# Adds the same to all keys of a row: its gradient is 0, so that there is nothing that an error could be relative to.
ROW_CONSTANTS = {"scheme.parts.sink.outer.bias"}


@dataclass(frozen=True)
class Subject:
    """One attention layer with content of unit deviation and a prior drawn over its whole range from `seed`."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)  # beside those that the scheme proves itself with
    momentum: float | None = None
    convolution: int | None = None
    gate: bool = False
    heads: int = 4
    slope: float = 1.0
    content: int | None = None
    seed: int = 0

    @property
    def position(self) -> PositionConfig:
        momentum = None if self.momentum is None else MomentumConfig(strength=self.momentum)
        settings = SCHEMES[self.name].settings
        told = settings(**{**settings.proof, **self.settings})
        around = {"momentum": momentum, "convolution": self.convolution, "gate": self.gate}
        return PositionConfig(name=self.name, settings=told, **around)

    @property
    def label(self) -> str:
        sheared = f" + momentum {self.momentum:g}" if self.momentum is not None else ""
        wide = f", content {self.content}" if self.content else ""
        filtered = f" + convolution {self.convolution}" if self.convolution else ""
        gated = " + gate" if self.gate else ""
        return self.position.settings.called(self.name) + wide + gated + sheared + filtered

    @property
    def gradient_bar(self) -> float:
        """Gradients of the scheme's own parameters in float32."""
        return SCHEMES[self.name].gradient_bar

    @cached_property
    def recency(self) -> bool:
        """Whether a part of it grows with the distance without end."""
        return innermost(self.layer("meta").scheme).recency() is not None

    def bars(self, length: int) -> tuple[float, float]:
        """Forward and content gradients in float32.

        Four times the worst of all kernels (benchmarks/kernels_matrix.py) without recency. With it slope * j, up to
        half the length, may stand beside the content in a partial sum, which is rounded to eps of itself: how often,
        and whether before large terms cancel, is the kernel's to choose.
        """
        swing = EPS * self.slope * length if self.recency else 0.0
        return 4e-6 + swing, 2.5e-5 + swing

    @torch.no_grad()
    def layer(self, device: torch.device | str = "cpu") -> Attention:
        generator = torch.Generator().manual_seed(self.seed)
        width = self.heads * HEAD
        model = ModelConfig(
            width=width, heads=self.heads, layers=1, position=self.position, kernel="sdpa", content=self.content
        )
        with torch.random.fork_rng(devices=[]):  # what a scheme draws for itself
            torch.manual_seed(self.seed)
            layer = Attention(model, 0)
        for projection in (layer.query, layer.key, layer.value, layer.out):
            projection.weight.normal_(std=width**-0.5, generator=generator)
        layer.scheme.spread(generator, self.slope)
        return layer.to(device)


@dataclass(frozen=True)
class Parity:
    """One comparison: what was compared, how, the error and the most that is allowed."""

    subject: str
    quantity: str
    precision: str
    kernel: str
    length: int
    error: float
    bar: float

    @property
    def held(self) -> bool:
        return self.error <= self.bar


def error(got: Tensor, want: Tensor) -> float:
    """max |got - want| / max |want|; the plain difference where the reference is zero."""
    got, want = got.detach().double(), want.detach()
    gap, scale = (got - want).abs().max(), want.abs().max()
    return float(gap / scale) if scale > 1e-12 else float(gap)


@flush_subnormals()
def layer_errors(subject: Subject, length: int, batch: int, device: str, kernel: Kernel) -> dict[str, float]:
    """float32 against float64: `forward`, and the gradient of the input and of each parameter by name."""
    layer = subject.layer(device)
    layer.kernel = kernel
    generator = torch.Generator().manual_seed(subject.seed + 1)
    x, flow = (torch.randn(batch, length, HEAD * subject.heads, generator=generator).to(device) for _ in range(2))
    at = At.whole(length, device)
    got = _with_gradients(layer, x, flow, layer(x.requires_grad_(), at))
    layer.double()
    x = x.detach().double().requires_grad_()
    want = _with_gradients(layer, x, flow.double(), reference.attention(layer, x))
    return {name: error(got[name], want[name]) for name in want if name not in ROW_CONSTANTS}


def _with_gradients(layer: nn.Module, x: Tensor, flow: Tensor, y: Tensor) -> dict[str, Tensor]:
    layer.zero_grad(set_to_none=True)
    x.grad = None
    y.backward(flow)  # type: ignore[no-untyped-call]
    assert x.grad is not None
    gradients = {name: p.grad.clone() for name, p in layer.named_parameters() if p.grad is not None}
    return {"forward": y.detach(), "input": x.grad, **gradients}


def _content(layer: Attention, rows: int, deviation: float, dtype: torch.dtype, seed: int) -> Tensor:
    """(1, H, rows, C) normal numbers, rounded to `dtype`; the same on every device."""
    shape = (1, layer.heads, rows, layer.scheme.content)
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * deviation
    return drawn.to(layer.out.weight.device, dtype)


@flush_subnormals()
@torch.no_grad()
def total_variation(
    subject: Subject,
    length: int,
    dtype: torch.dtype,
    device: str = "cpu",
    kernel: Kernel = sdpa,
    deviation: float = 1.0,
) -> float:
    """The largest over heads of 1/2 sum_j |p_j - exact p_j| for the last query; content logits N(0, deviation)."""
    layer = subject.layer(device)
    scheme = layer.scheme
    q, k = _content(layer, 1, deviation, dtype, 1), _content(layer, length, 1.0, dtype, 2)
    keys = torch.arange(length, device=device)
    lanes = scheme.lanes_at(At(keys[-1:], keys))
    assert lanes is not None
    weights = _weights(assemble(q, lanes[0]), assemble(k, lanes[1]), 1 / scheme.root, kernel)
    scores = (q.double() @ k.double().transpose(-1, -2) / scheme.root)[0, :, 0]
    exact = (scores + reference.log_prior(scheme, keys[-1:], keys)[:, 0]).softmax(-1)
    return float(0.5 * (weights - exact).abs().sum(-1).max())


def _weights(q: Tensor, k: Tensor, scale: float, kernel: Kernel) -> Tensor:
    """(H, S) float64: the kernel's own weights for one query, read D keys at a time."""
    length, width = k.shape[-2:]
    read = []
    for start in range(0, length, width):
        count = min(width, length - start)
        v = torch.zeros_like(k)
        v[:, :, start : start + count, :count] = torch.eye(count, dtype=k.dtype, device=k.device)
        read.append(kernel(q, k, v, scale, False, None)[0, :, 0, :count])
    return torch.cat(read, dim=-1).double()


@flush_subnormals()
@torch.no_grad()
def prior_error(scheme: PositionScheme, length: int, dtype: torch.dtype, device: str = "cpu") -> float:
    """The largest error of the log-prior in nats, lanes rounded to `dtype`, over 64 queries and all keys."""
    keys = torch.arange(length, device=device)
    queries = keys[:: max(1, length // 64)]
    lanes = scheme.lanes_at(At(queries, keys))
    assert lanes is not None
    q, k = (side.to(dtype).double() for side in lanes)
    wrong = q @ k.transpose(-1, -2) / scheme.root - reference.log_prior(scheme, queries, keys)
    return float((wrong - wrong.mean(-1, keepdim=True)).abs().max())


@flush_subnormals()
def slope_gradient_error(
    length: int, dtype: torch.dtype, slopes: Sequence[float], device: str = "cpu", kernel: Kernel = sdpa, seed: int = 0
) -> float:
    """The error of dL/dslope over heads, for random content and gradients that both sides round to `dtype` alike."""
    subject = Subject("goat", {"parts": ("recency",)}, heads=len(slopes), seed=seed)
    layer = subject.layer(device)
    (slope,) = layer.scheme.parameters()
    with torch.no_grad():
        slope.copy_(torch.tensor(slopes))
    q, k = (_content(layer, length, 1.0, dtype, seed + n) for n in (1, 2))
    generator = torch.Generator().manual_seed(seed + 3)
    v, flow = (torch.randn(1, len(slopes), length, HEAD, generator=generator).to(device, dtype) for _ in range(2))
    lanes = layer.scheme.lanes_at(At.whole(length, device, dtype))
    assert lanes is not None
    y = kernel(assemble(q, lanes[0]), assemble(k, lanes[1]), v, 1 / layer.scheme.root, True, None)
    (got,) = torch.autograd.grad(y, slope, flow)
    layer.double()
    (slope,) = layer.scheme.parameters()
    exact = reference.attend(layer.scheme, q.double(), k.double(), v.double())
    (want,) = torch.autograd.grad(exact, slope, flow.double())
    return error(got, want)


SUBJECTS = (
    *(Subject(name, settings) for name, scheme in SCHEMES.items() for settings in scheme.settings.proofs),
    *(Subject(name, momentum=0.3) for name in USUAL),
    *(Subject(name, convolution=4) for name in USUAL),
    *(Subject(name, gate=True) for name in ("alibi", "goat")),
    Subject("goat", {"form": "authors"}, content=59),
)
RECENCY = Subject("goat", {"parts": ("recency",)})
ALIBI_LIKE = (0.5, 0.25, 0.0625, 0.004)


def usable_kernels() -> dict[str, Kernel]:
    """The kernels that run here, by name."""
    kernels: dict[str, Kernel] = {"sdpa": sdpa, "dense": dense(lambda scores: scores.softmax(-1))}
    return kernels if flash_fault() else {**kernels, "flash": flash}


def parities(device: str = "cpu", length: int = 512) -> Iterator[Parity]:
    """Every scheme and kernel in float32, and the prior in half precision, on the present device."""
    kernels = usable_kernels()
    for subject in SUBJECTS:
        for name, kernel in kernels.items():
            if name != "flash":  # half precision only
                yield from _float32(subject, length, device, name, kernel)
    for half in (torch.bfloat16, torch.float16):
        for name, kernel in kernels.items():
            yield from _half(half, length, device, name, kernel)


def _float32(subject: Subject, length: int, device: str, name: str, kernel: Kernel) -> Iterator[Parity]:
    errors = layer_errors(subject, length, 2, device, kernel)
    forward, content = subject.bars(length)
    row = Parity(subject.label, "forward", "float32", name, length, errors.pop("forward"), forward)
    yield row
    position = {key: errors.pop(key) for key in list(errors) if key.startswith("scheme.")}
    yield replace(row, quantity="content gradients", error=max(errors.values()), bar=content)
    if position:
        yield replace(row, quantity="prior gradients", error=max(position.values()), bar=subject.gradient_bar)


def _half(dtype: torch.dtype, length: int, device: str, name: str, kernel: Kernel) -> Iterator[Parity]:
    precision = str(dtype).removeprefix("torch.")
    for subject in (Subject("alibi"), RECENCY):
        row = Parity(subject.label, "total variation", precision, name, length, 0.0, TWICE)
        yield replace(row, error=total_variation(subject, length, dtype, device, kernel))
        sharp = total_variation(subject, length, dtype, device, kernel, deviation=4.0)
        yield replace(row, quantity="total variation, content x 4", error=sharp, bar=1.5 * TWICE)
    row = Parity(RECENCY.label, "slope gradient", precision, name, length, 0.0, 0.1)
    yield replace(row, error=slope_gradient_error(length, dtype, ALIBI_LIKE, device, kernel))
    if name == "sdpa":  # no kernel is involved in these two
        for part, bar in (("spectral", 0.04), ("sink", 0.01)):
            subject = Subject("goat", {"parts": (part,)})
            error_ = prior_error(subject.layer(device).scheme, length, dtype, device)
            yield Parity(subject.label, "log-prior, nats", precision, "any", length, error_, bar)
