"""How fast DNA is written beside recomputing every prefix, beside Hugging Face's `generate`, and beside the hardware.

    python benchmarks/generation.py [--rounds 5] [--json FILE]

The peer is installed for the benchmark alone: `pip install --target DIR transformers`, then PYTHONPATH=DIR.
One process, one thread, process time, least over interleaved rounds. The model is the preset `tiny` (d 128, 4 heads,
4 layers) with GOAT. Prompts have 500 bases and 100 are written; beside the peer it is what `dnagoat generate` does
unasked, 512 after 512, and the shorter task is told in the detail. The peer is a Llama of the same depth, width, heads
and number of weights, on the same prompts, sampling too.

`floor`: the keys and values that a step looks back on, read once at the bandwidth measured on as many bytes, and the
products of a step at the rate measured on the very same matrices, all layers' in turn; over the time of a step with
its sampling. Prompts are read before the clock starts.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterator
from time import process_time

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import torch
from rows import Row, finish, interleaved, options
from torch import Tensor

from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.generation.continuation import Batch, Writing, generate
from dnagoat.generation.decoding import Layer
from dnagoat.generation.sampling import Sampler, SamplingOptions
from dnagoat.genome.alphabet import START, Codes
from dnagoat.model.transformer import DnaLM
from dnagoat.training.presets import preset

PROMPT, LENGTH = 500, 100
UNASKED = (512, 512)
OPTIONS = SamplingOptions(seed=1)
Work = Callable[[], object]


def model(name: str = "goat") -> DnaLM:
    return DnaLM(preset("tiny")[0].but(position=PositionConfig(name=name)), seed=0).eval()


def prompts(batch: int, bases: int = PROMPT) -> list[Codes]:
    return list(np.random.default_rng(0).integers(0, 4, (batch, bases)).astype(np.uint8))


def ours(made: DnaLM, batch: int, task: tuple[int, int] = (PROMPT, LENGTH)) -> Work:
    given = prompts(batch, task[0])
    return lambda: list(generate(made, given, task[1], OPTIONS, batch_size=batch))


def recomputed(made: DnaLM, batch: int) -> Work:
    """The plain way: a full pass over everything so far for every base, with the same sampling."""
    given = prompts(batch)

    @torch.inference_mode()
    def work() -> None:
        sampler = Sampler(OPTIONS, given, [0] * batch)
        symbols = torch.tensor(np.stack([[START, *prompt] for prompt in given]))
        for position in range(LENGTH):
            bases = sampler.draw(made(symbols)[:, -1].double().numpy(), position)
            symbols = torch.cat([symbols, torch.from_numpy(bases.astype(np.int64))[:, None]], dim=1)

    return work


def against_recomputing(rounds: int) -> Iterator[Row]:
    for batch, bar in ((1, 30), (8, 45)):
        turns = rounds if batch == 1 else min(rounds, 3)
        made = model()
        times = interleaved({"cached": ours(made, batch), "recompute": recomputed(made, batch)}, turns)
        yield Row(
            f"cached / recompute, batch {batch}",
            times["recompute"] / times["cached"],
            "times",
            bar,
            ">=",
            turns,
            f"{_speed(batch, times['cached'])} cached, {_speed(batch, times['recompute'])} recomputed; prompt included",
        )


def peer(batch: int, task: tuple[int, int]) -> tuple[Work, int] | None:
    """Their generation on a Llama of our size, and its number of weights; None where they are not installed."""
    try:
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError:
        return None
    logging.disable(logging.WARNING)
    config = preset("tiny")[0]
    llama = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=6,
            hidden_size=config.width,
            intermediate_size=2 * config.mlp_width // 3,  # three matrices where ours has two
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.heads,
            max_position_embeddings=2 * config.context,
            tie_word_embeddings=True,
            bos_token_id=START,
            eos_token_id=None,
            pad_token_id=4,
        )
    ).eval()
    symbols = torch.tensor(np.stack([[START, *prompt] for prompt in prompts(batch, task[0])]))
    seen = torch.ones_like(symbols)

    def work() -> Tensor:
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.simplefilter("ignore")
            return llama.generate(
                symbols,
                attention_mask=seen,
                max_new_tokens=task[1],
                min_new_tokens=task[1],
                do_sample=True,
                top_k=0,
                use_cache=True,
            )

    assert work().shape == (batch, sum(task) + 1)
    return work, sum(weights.numel() for weights in llama.parameters())


def against_hugging_face(rounds: int) -> Iterator[Row]:
    for batch, bar in ((1, 3.0), (8, 1.5), (64, 1.5)):
        turns, name = min(rounds, 5 if batch < 64 else 2), f"hugging face, batch {batch}"
        found = peer(batch, UNASKED)
        if found is None:
            yield Row(name, None, "times", bar, ">=", 0, "transformers is not installed here")
            continue
        goat, rope = model(), model("rope")
        times = interleaved(
            {"goat": ours(goat, batch, UNASKED), "rope": ours(rope, batch, UNASKED), "theirs": found[0]}, turns
        )
        short = peer(batch, (PROMPT, LENGTH))
        assert short is not None
        shorter = interleaved({"goat": ours(goat, batch), "theirs": short[0]}, turns)
        size = sum(weights.numel() for weights in goat.parameters())
        yield Row(
            name,
            times["theirs"] / times["goat"],
            "times",
            bar,
            ">=",
            turns,
            f"{_speed(batch, times['goat'], UNASKED)} with GOAT ({size:,} weights), "
            f"{_speed(batch, times['rope'], UNASKED)} with RoPE, {_speed(batch, times['theirs'], UNASKED)} theirs "
            f"({found[1]:,} weights); {LENGTH} after {PROMPT} bases: {shorter['theirs'] / shorter['goat']:.2f} times",
        )


class Steps:
    """Writing alone: each use goes through a batch whose prompts `prepare` has read outside the clock."""

    def __init__(self, made: DnaLM, batch: int) -> None:
        self.made, self.batch = made, Batch(tuple(range(batch)), range(1))
        self.given = [prompts(1)[0]] * batch

    def prepare(self) -> None:
        self.writing = Writing(self.made, self.batch, self.given, LENGTH, OPTIONS, PROMPT + LENGTH)

    def __call__(self) -> None:
        while not self.writing.done:
            self.writing.advance()


def products(made: DnaLM, batch: int) -> Work:
    """Every product of weights in a step, LENGTH - 1 steps, nothing else."""
    layers = [Layer(block) for block in made.blocks]  # type: ignore[arg-type]
    weights = [part for one in layers for part in (one.project, one.out, one.up, one.down)]
    weights.append(made.embedding.weight[:4].T.contiguous())
    pairs = [(torch.randn(batch, part.shape[0]), part, torch.empty(batch, part.shape[1])) for part in weights]

    @torch.inference_mode()
    def work() -> None:
        for _ in range(LENGTH - 1):
            for x, part, out in pairs:
                torch.mm(x, part, out=out)

    return work


def kept_bytes(config: ModelConfig, content: int, batch: int) -> list[int]:
    """What each step looks back on: content of keys, and values, of every layer and sequence."""
    per_symbol = config.layers * config.heads * (content + config.head_width) * 4 * batch
    return [per_symbol * (PROMPT + 1 + step) for step in range(1, LENGTH)]


def reading(sizes: list[int]) -> Work:
    """Each step's bytes read once, as fast as a sum can."""
    memory = torch.ones(max(sizes) // 4)

    @torch.inference_mode()
    def work() -> None:
        for size in sizes:
            memory[: size // 4].sum()

    return work


def against_the_floor(rounds: int) -> Iterator[Row]:
    for batch, bar in ((1, 0.25), (8, 0.32), (64, 0.33), (256, 0.5)):
        turns = rounds if batch < 64 else 3
        made = model()
        sizes = kept_bytes(made.config, next(made.attentions()).scheme.content, batch)
        times = least(Steps(made, batch), reading(sizes), products(made, batch), turns)
        count = LENGTH - 1
        yield Row(
            f"floor, batch {batch}",
            (times["read"] + times["mm"]) / times["step"],
            "share",
            bar,
            ">=",
            turns,
            f"a step takes {1e6 * times['step'] / count:,.0f} us; its {np.mean(sizes) / 1e6:,.1f} MB are read in "
            f"{1e6 * times['read'] / count:,.0f} us ({sum(sizes) / times['read'] / 1e9:.0f} GB/s), its products take "
            f"{1e6 * times['mm'] / count:,.0f} us",
        )


def least(step: Steps, read: Work, mm: Work, rounds: int) -> dict[str, float]:
    """As `interleaved`, with the step's preparation outside its clock."""
    best = dict.fromkeys(("step", "read", "mm"), float("inf"))
    for turn in range(rounds + 1):
        step.prepare()
        for name, work in (("step", step), ("read", read), ("mm", mm)):
            start = process_time()
            work()
            if turn:
                best[name] = min(best[name], process_time() - start)
    return best


def _speed(batch: int, seconds: float, task: tuple[int, int] = (PROMPT, LENGTH)) -> str:
    return f"{batch * task[1] / seconds:,.0f} bases/s"


def rows(rounds: int) -> Iterator[Row]:
    torch.set_num_threads(1)
    yield from against_the_floor(rounds)
    yield from against_hugging_face(rounds)
    yield from against_recomputing(rounds)


if __name__ == "__main__":
    chosen = options(__doc__, rounds=5)
    finish(rows(chosen.rounds), chosen.json)
