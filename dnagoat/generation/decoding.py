"""One more symbol for many sequences at the same position: the model's forward, laid out for a single query.

Everything that a step needs is made once: projections of queries, keys and values side by side, keys transposed so that
scores are one product over contiguous rows, room for keys and values of all positions. Position lanes are not stored
with the keys of every sequence: their product with the query is one row of log-prior a head, the same for all
sequences, formed in float64 relative to the newest key.
"""

# L layers, B sequences, H heads, C content width, D head width, P lanes, R room (keys held), S keys seen, W width

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from dnagoat.attention.cache import Cache, kept
from dnagoat.attention.fast.values import RowValues, values_for
from dnagoat.attention.lanes.prior_rows import PriorRows
from dnagoat.attention.layer import Attention
from dnagoat.attention.normalisers import Softmax
from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.config import ModelConfig
from dnagoat.counts.memory.features import Features
from dnagoat.model.transformer import Block, DnaLM

READ_AT_ONCE = 16_384  # symbols of prompts in one forward pass


def softmax_in_place(scores: Tensor) -> Tensor:
    return torch.softmax(scores, -1, out=scores)


class Layer:
    """One block's weights, transposed for `x @ w`, the kernel's scale folded into queries that nothing else turns."""

    def __init__(self, block: Block) -> None:
        attention: Attention = block.attention
        self.scheme = attention.scheme
        self.still = type(self.scheme).rotate is PositionScheme.rotate
        plain = isinstance(attention.normaliser, Softmax)
        self.normalise: Callable[[Tensor], Tensor] = softmax_in_place if plain else attention.normaliser.forward
        query = attention.query.weight / (self.scheme.root if self.still else 1)
        self.project = torch.cat([query, attention.key.weight, attention.value.weight]).T.contiguous()
        self.out = attention.out.weight.T.contiguous()
        # gelu(u) = (z + z erf z) / sqrt 2 with z = u / sqrt 2: torch's own takes twice as long for a single row.
        up, down = block.mlp.get_parameter("up.weight"), block.mlp.get_parameter("down.weight")
        self.up, self.down = ((weight.T / math.sqrt(2)).contiguous() for weight in (up, down))
        self.attention_norm, self.mlp_norm = _norm(block.attention_norm), _norm(block.mlp_norm)

    def dialled(self, prior: Tensor, x: Tensor) -> Tensor:
        """A row of log-prior (H, 1, S), or one's own of each sequence, (B, H, 1, S), where what it reads (B, W) dials
        it."""
        gate = self.scheme.gate(x[:, None])
        return prior if gate is None else gate * prior


def _norm(module: nn.LayerNorm) -> Callable[[Tensor], Tensor]:
    """The module's function without the module's dispatch, which costs as much as the function."""
    shape, weight, bias, eps = module.normalized_shape, module.weight, module.bias, module.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


class Scratch:
    """What a step writes over and over: queries, keys and values, scores, mixed values, the MLP's inside.

    Allocation and views would cost a small step as much as its arithmetic.
    """

    def __init__(self, like: Tensor, config: ModelConfig, content: int, batch: int, room: int) -> None:
        heads, width = config.heads, config.head_width
        self.projected = like.new_empty(batch, heads * (2 * content + width))
        query, key, value = torch.split(self.projected, [heads * content] * 2 + [heads * width], dim=1)
        self.query, self.key = query.view(batch, heads, content), key.view(batch, heads, content)
        self.value = value.view(batch, heads, width)
        # One batch dimension over sequences and heads wants queries without gaps, which a single sequence's are.
        self.gathered = (
            self.query if batch == 1 else torch.empty_like(self.query, memory_format=torch.contiguous_format)
        )
        self.queries = self.gathered.view(batch * heads, 1, content)
        self.scores = like.new_empty(batch * heads * room)
        self.mixed = like.new_empty(batch * heads, 1, config.head_width)
        self.mixed_heads = self.mixed.view(batch, config.width)
        self.inner = like.new_empty(batch, config.mlp_width)
        self.curved = torch.empty_like(self.inner)


class Decoder:
    """Keys and values of `batch` sequences that all stand at the same position, and the step to the next one.

    With `room` smaller than a sequence the window slides: the first symbol and the latest room - 1 are seen, at their
    own absolute positions; memory has read them all. What it adds to the logits is taken times `memory_strength`.
    """

    layout: ClassVar[Callable[..., RowValues]] = staticmethod(values_for)
    rows: ClassVar[type[PriorRows]] = PriorRows

    def __init__(self, model: DnaLM, batch: int, room: int, memory_strength: float = 1.0) -> None:
        self.model, self.batch, self.memory_strength = model, batch, memory_strength
        config = model.config
        self.heads, self.head_width = config.heads, config.head_width
        with torch.no_grad():
            self.layers = [Layer(block) for block in model.blocks]  # type: ignore[arg-type]
        schemes = [layer.scheme for layer in self.layers]
        self.content = schemes[0].content
        like, count = model.embedding.weight.detach(), config.layers
        self.embedding, self.head = like, like[: config.classes]
        self.norm = _norm(model.norm)
        self.room, self.length = room, 0
        self.k = like.new_empty(count, batch, self.heads, self.content, _odd_lines(room))
        self._keys = self.k.flatten(1, 2)  # one dimension for B and H
        self.values = self.layout(like, count, batch, self.heads, room, self.head_width)
        self.before: list[Pair | None] = [None] * count
        self.prior = self.rows(schemes, self.heads, room, like)
        self._here = -1, At(torch.empty(0))
        self._embeds = type(schemes[0]).embed is not PositionScheme.embed
        self._scratch = Scratch(like, config, self.content, batch, room)
        self.memory, self.recalled = model.memory, None
        self._recalled: list[Any] = []  # what memory has read of each part of the batch
        self._new_keys: tuple[Tensor, ...] = ()  # of each layer, where the newest go
        self._new_values: tuple[Tensor, ...] = ()

    @torch.inference_mode()
    def read(self, symbols: Tensor, repeats: int = 1) -> Tensor:
        """Takes in the first T <= room symbols (B / repeats, T), a row for `repeats` sequences; logits (B, classes)."""
        count = symbols.shape[1]
        step = max(1, READ_AT_ONCE // count)
        logits = [self._read(symbols[i : i + step], i * repeats, repeats) for i in range(0, len(symbols), step)]
        self.length = count
        if self.memory is not None:
            self.recalled = self.memory.joined(self._recalled)
        return torch.cat(logits)

    def _read(self, symbols: Tensor, first: int, repeats: int) -> Tensor:
        count = symbols.shape[1]
        cache = Cache(self.model.config, len(symbols), count, self.embedding.device, self.embedding.dtype)
        features = None
        if self.memory is not None:
            features, recalled = self.memory.look_up(symbols)
            self._recalled.append(self.memory.repeated(recalled, repeats))
        x = self._newest(symbols, cache, features)
        rows = slice(first, first + len(symbols) * repeats)
        self.k[:, rows, ..., : cache.length] = _repeat(cache.k[..., -self.content :].transpose(-1, -2), repeats)
        self.values.fill(rows, _repeat(cache.v, repeats))
        # The model keeps each key's position lanes before its content, the same for all sequences.
        self.prior.read(cache.k[:, 0, ..., : -self.content])
        for layer, pair in enumerate(cache.before):
            if pair is not None:
                q, k = (x.repeat_interleave(repeats, 0) for x in pair)
                self._remember(layer, rows, q, k)
        return self._logits(x, features).repeat_interleave(repeats, 0)

    def _logits(self, x: Tensor, features: Features | None) -> Tensor:
        """What the last block wrote for the newest symbol, (B, width) -> (B, classes)."""
        hidden = self.norm(x)
        logits: Tensor = linear(hidden, self.head)
        if self.memory is None or features is None:
            return logits
        newest = Features(*(part[:, -1:] for part in features))
        logits += self.memory_strength * self.memory.logits(hidden[:, None], newest)[:, 0]
        return logits

    def _newest(self, symbols: Tensor, cache: Cache, features: Features | None) -> Tensor:
        """The model's forward at the newest symbol alone, (B, width), with the keys and values of all in the cache.

        Before that symbol only keys and values of the last layer are needed; what it would write is never read.
        """
        *blocks, last = cast(Sequence[Block], self.model.blocks)
        at = cache.at(symbols.shape[1])
        x: Tensor = self.model.embed(symbols, at, features)
        for block in blocks:
            x = block(x, at, cache)
        x = x[:, -1:] + last.attention.newest(last.attention_norm(x), at, cache)
        x = x + last.mlp(last.mlp_norm(x))
        cache.advance(symbols.shape[1])
        return x[:, 0]

    def _remember(self, layer: int, rows: slice, q: Tensor, k: Tensor) -> None:
        if self.before[layer] is None:
            shape = (self.batch, *q.shape[1:])
            self.before[layer] = q.new_empty(shape), k.new_empty(shape)
        held = self.before[layer]
        assert held is not None
        held[0][rows], held[1][rows] = q, k

    @torch.inference_mode()
    def step(self, symbols: Tensor) -> Tensor:
        """The next symbol of each sequence, (B,) -> logits of the one after, (B, classes)."""
        slot = self.length if self.length < self.room else 1 + (self.length - 1) % (self.room - 1)
        seen = min(self.length + 1, self.room)
        features = None
        if self.memory is not None:
            features, self.recalled = self.memory.look_up(symbols[:, None], self.recalled)
        priors = self.prior.row(self.length, slot, seen)
        self._new_keys, self._new_values = self.k.select(-1, slot).unbind(), self.values.at(slot, seen)
        x = self._through_blocks(self._embedded(symbols, features), priors, seen)
        self.length += 1
        return self._logits(x, features)

    def _embedded(self, symbols: Tensor, features: Features | None) -> Tensor:
        """(B,) -> (B, W), what the first block reads."""
        x = torch.embedding(self.embedding, symbols)
        if self.memory is not None and features is not None:
            x = x + self.memory.embed(features)[:, 0]
        return self.layers[0].scheme.embed(x[:, None], self._at())[:, 0] if self._embeds else x

    def _through_blocks(self, x: Tensor, priors: Sequence[Tensor] | None, seen: int) -> Tensor:
        """(B, W) -> what the last block writes, over the first `seen` slots; `priors` are each layer's row."""
        keys = self._keys.narrow(-1, 0, seen).unbind()
        to = self._scratch
        scores = to.scores[: self.batch * self.heads * seen].view(-1, 1, seen)
        by_head = scores.view(self.batch, self.heads, 1, seen)
        for i, layer in enumerate(self.layers):
            y = layer.attention_norm(x)
            torch.mm(y, layer.project, out=to.projected)
            if not layer.still:
                self._rotate(i)
            if self.batch > 1:
                to.gathered.copy_(to.query)
            self._keep_newest(i)
            if priors is None:
                torch.bmm(to.queries, keys[i], out=scores)
            elif self.batch == 1:
                torch.baddbmm(layer.dialled(priors[i], y).reshape(-1, 1, seen), to.queries, keys[i], out=scores)
            else:
                torch.bmm(to.queries, keys[i], out=scores)
                by_head.add_(layer.dialled(priors[i], y))
            self.values.mix(i, layer.normalise(by_head).view(-1, 1, seen), to.mixed)
            x = torch.addmm(x, to.mixed_heads, layer.out)
            torch.mm(layer.mlp_norm(x), layer.up, out=to.inner)
            torch.erf(to.inner, out=to.curved)
            x.addmm_(torch.addcmul(to.inner, to.inner, to.curved, out=to.curved), layer.down)
        return x

    def _keep_newest(self, i: int) -> None:
        """Puts the newest keys and values of layer i into their slot."""
        self._new_keys[i].copy_(self._scratch.key)
        self._new_values[i].copy_(self._scratch.value)

    def _at(self) -> At:
        """The newest position, made once a step where a scheme asks for it."""
        if self._here[0] != self.length:
            self._here = self.length, At(torch.full((1,), self.length, device=self.k.device))
        return self._here[1]

    def _rotate(self, i: int) -> None:
        """Queries and keys of layer i as the scheme turns or mixes them, and the kernel's scale."""
        to = self._scratch
        query, key = to.query.unsqueeze(2), to.key.unsqueeze(2)
        turned_query, turned_key, held = self.layers[i].scheme.rotate(query, key, self._at(), self.before[i])
        self._keep_before(i, held)
        torch.div(turned_query, self.layers[i].scheme.root, out=query)
        key.copy_(turned_key)

    def _keep_before(self, i: int, held: Pair | None) -> None:
        """What the scheme of layer i wants to have at the next step."""
        self.before[i] = kept(held)


def _repeat(x: Tensor, repeats: int) -> Tensor:
    return x if repeats == 1 else x.repeat_interleave(repeats, 1)


def _odd_lines(room: int) -> int:
    """Room in a row so that rows start in different cache sets: an odd number of 64-byte lines of float32."""
    lines = -(-room // 16)
    return 16 * (lines + 1 - lines % 2)


def bytes_a_sequence(model: DnaLM, room: int) -> int:
    """Memory that one sequence takes in a `Decoder`: its keys, values and scores."""
    scheme = next(model.attentions()).scheme
    config, itemsize = model.config, model.embedding.weight.element_size()
    kept = config.layers * (scheme.content * _odd_lines(room) + config.head_width * room)
    return config.heads * (kept + 2 * room) * itemsize
