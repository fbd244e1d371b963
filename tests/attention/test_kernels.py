"""Whether the kernel stays the standard one: no mask, no matrix, limits that are said, and what ran is observed."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from dnagoat.attention import kernels
from dnagoat.attention.biased import Bias
from dnagoat.attention.kernels import Kernel, kernel_for, refuse_kernel, sdpa
from dnagoat.attention.normalisers import Softmax
from dnagoat.attention.proof.kernel import DENSE, kernel_of
from dnagoat.attention.proof.parity import SUBJECTS, Subject, layer_errors
from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.goat import PartName
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.errors import MissingError, OptionError
from dnagoat.model.transformer import DnaLM

softmax = kernels.dense(lambda scores: scores.softmax(-1))


@pytest.mark.parametrize("name", ["nope", "sinusoidal", "rope", "rope+bias", "alibi", "goat", "goat+rope"])
def test_a_full_pass_is_one_causal_call_without_a_mask(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    def spy(q: Tensor, k: Tensor, v: Tensor, **settings: Any) -> Tensor:
        calls.append({**settings, "shapes": {tuple(x.shape) for x in (q, k, v)}})
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, **settings)

    monkeypatch.setattr(kernels, "scaled_dot_product_attention", spy)
    model = DnaLM(ModelConfig(layers=3, position=PositionConfig(name=name)))
    model(torch.zeros(2, 33, dtype=torch.long))
    assert len(calls) == 3
    for call in calls:
        assert call["is_causal"] and call["attn_mask"] is None
        assert call["shapes"] == {(2, 2, 33, 64)}  # lanes are inside the head


class Largest(TorchDispatchMode):
    """The most elements that any operator's result has."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple) else (result,):
            if isinstance(tensor, Tensor):
                self.elements = max(self.elements, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.label)
def test_nothing_of_length_by_length_is_ever_built(subject: Subject) -> None:
    layer, length = subject.layer(), 4096
    x = torch.randn(1, length, 256, requires_grad=True)
    with Largest() as largest:
        layer(x, At(torch.arange(length))).sum().backward()
    # Of a bias a strip is built, which FIRE's network makes 32 times as wide: whole it would be 64 times as much.
    assert largest.elements < length * length / (1 if layer.scheme.biased else 8)


@pytest.mark.parametrize("causal", [True, False])
def test_sdpa_and_dense_agree(causal: bool) -> None:
    q, k, v = torch.randn(3, 2, 4, 37, 64, dtype=torch.float64)
    torch.testing.assert_close(sdpa(q, k, v, 0.1, causal, None), softmax(q, k, v, 0.1, causal, None))
    mask = torch.rand(2, 1, 37, 37) > 0.5
    mask |= torch.eye(37, dtype=torch.bool)
    torch.testing.assert_close(sdpa(q, k, v, 0.1, False, mask), softmax(q, k, v, 0.1, False, mask))


def test_dense_scores_are_at_least_float32() -> None:
    q, k = (6 * torch.randn(2, 1, 1, 40, 64)).bfloat16()
    v = torch.eye(40, 64).bfloat16()[None, None]
    got = softmax(q, k, v, 1.0, True, None)
    want = softmax(q.double(), k.double(), v.double(), 1.0, True, None)
    assert got.dtype == torch.bfloat16
    assert (got - want).abs().max() < 2e-2


def test_dense_refuses_what_is_too_long() -> None:
    x = torch.zeros(1, 1, 1, 2).expand(1, 1, kernels.DENSE_LIMIT + 1, 2)
    with pytest.raises(OptionError, match="8,193 keys are more than the 8,192"):
        softmax(x[:, :, :1], x, x, 1.0, False, None)


def test_flash_is_refused_with_its_reason_before_a_run_is_begun() -> None:
    with pytest.raises(MissingError, match="kernel flash cannot be used here"):
        refuse_kernel("flash", torch.device("cpu"))
    refuse_kernel("auto", torch.device("cpu"))


class Untouched(ModuleType):
    """Stands for the flash-attn package on a machine where it works: whoever calls it is told."""

    def flash_attn_func(self, *given: Any, **more: Any) -> Tensor:
        raise AssertionError("flash-attn was called with a tensor that it does not take")


@pytest.mark.parametrize("name", ["auto", "flash"])
def test_flash_is_chosen_by_the_tensor_not_by_the_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """bfloat16 on the CPU of a machine with a GPU."""
    monkeypatch.setitem(sys.modules, "flash_attn", Untouched("flash_attn"))
    monkeypatch.setattr(kernels, "flash_fault", lambda: None)
    q = torch.randn(1, 2, 9, 64, dtype=torch.bfloat16)
    kernel = kernel_for(name, "softmax", Softmax())
    torch.testing.assert_close(kernel(q, q, q, 0.1, True, None), sdpa(q, q, q, 0.1, True, None))


@pytest.mark.parametrize(
    ("capability", "dtype", "ran"),
    [
        ((8, 0), torch.bfloat16, "flash"),
        ((8, 0), torch.float32, "sdpa"),
        ((9, 0), torch.bfloat16, "sdpa"),
        ((10, 0), torch.float16, "sdpa"),
    ],
)
def test_auto_is_flash_where_it_is_faster(
    capability: tuple[int, int], dtype: torch.dtype, ran: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for other in ("flash", "sdpa"):
        monkeypatch.setattr(kernels, other, lambda *_, other=other: calls.append(other))
    monkeypatch.setattr(kernels, "flash_fault", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    with FakeTensorMode():
        q = torch.empty(1, 2, 9, 64, dtype=dtype, device="cuda:0")
        kernels.auto(q, q, q, 0.1, True, None)
    assert calls == [ran]


def test_flash_is_tried_with_real_tensors_whatever_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan makes its model of fake tensors, and the answer is kept."""
    tried: list[bool] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(kernels, "_try_flash", lambda: tried.append(isinstance(torch.empty(1), FakeTensor)))
    kernels.flash_fault.cache_clear()
    try:
        with FakeTensorMode():
            DnaLM(ModelConfig(layers=1, kernel="auto"), seed=None)
            assert not tried  # a model is made without trying anything
            assert kernels.flash_fault() is None
    finally:
        kernels.flash_fault.cache_clear()
    assert tried == [False]


def test_a_sparse_normaliser_does_not_go_with_a_fused_kernel() -> None:
    with pytest.raises(OptionError, match="needs the dense kernel"):
        ModelConfig(normaliser="sparsemax", kernel="sdpa")


def test_the_kernel_that_ran_is_observed_not_assumed() -> None:
    x = torch.zeros(1, 16, dtype=torch.long)
    model, explicit = DnaLM(ModelConfig(layers=1)), DnaLM(ModelConfig(layers=1, kernel="dense"))

    def quadratic() -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            return model(x)

    assert kernel_of(lambda: model(x)) == "sdpa, flash on CPU"
    assert kernel_of(lambda: model(x).sum().backward()) == "sdpa, flash on CPU"
    assert kernel_of(quadratic) == "sdpa, math (quadratic)"
    assert kernel_of(lambda: explicit(x)) == DENSE


# PyTorch's tracer itself instantiates the class that it warns about.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("name", ["rope", "goat+rope"])
def test_the_model_can_be_compiled_as_one_graph(name: Any) -> None:
    model = DnaLM(ModelConfig(width=64, heads=1, layers=1, position=PositionConfig(name=name)))
    codes = torch.arange(24).view(2, 12) % 4
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(codes), model(codes))
    compiled(codes).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("name", ["rope", "goat"])
def test_a_model_compiled_for_any_length_is_the_model(name: Any) -> None:
    model = DnaLM(ModelConfig(width=64, heads=1, layers=1, position=PositionConfig(name=name)))
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    for length in (12, 17, 23):
        codes = torch.arange(2 * length).view(2, length) % 4
        torch.testing.assert_close(compiled(codes), model(codes))


def sums_apart(count: int) -> Kernel:
    """A dense kernel that sums every `count`-th lane apart, one by one in float32, and adds the sums at the end.

    MKL's float32 product for AVX2 does so with two sums, most others with one.
    """

    def kernel(
        q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
    ) -> Tensor:
        sums = [torch.zeros(()) for _ in range(count)]
        for lane in range(q.shape[-1]):
            sums[lane % count] = sums[lane % count] + q[..., lane, None] * k[..., None, :, lane]
        scores = torch.stack(sums).sum(0) * scale
        ahead = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(ahead, -torch.inf).softmax(-1) @ v

    return kernel


@pytest.mark.parametrize("kernel", [sdpa, sums_apart(1), sums_apart(2)], ids=["sdpa", "one sum", "two sums"])
@pytest.mark.parametrize("parts", [("recency",), ("recency", "sink", "spectral")], ids=["recency", "all parts"])
def test_the_order_of_magnitudes_keeps_the_digits(kernel: Kernel, parts: tuple[PartName, ...]) -> None:
    """Recency at slope 1 costs no more digits than content alone: the row constant and the order of lanes see to it.

    Four times the worst of all kernels; with a and b of a position in different sums it would be 6e-5.
    """
    assert layer_errors(Subject("goat", {"parts": parts}, heads=2), 1024, 1, "cpu", kernel)["forward"] < 5e-6
