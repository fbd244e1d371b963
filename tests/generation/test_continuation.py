"""A sequence is its own: the same bases whatever the batch, its order and its neighbours, and the full pass's bases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.errors import OptionError, PromptError
from dnagoat.generation.continuation import Generated, generate, plan
from dnagoat.generation.sampling import SamplingOptions, Streams, chances, draw, log_softmax
from dnagoat.genome.alphabet import START, Codes
from dnagoat.model.transformer import DnaLM

LENGTH = 20
OPTIONS = SamplingOptions(seed=11)


def small(scheme: str = "goat", momentum: bool = False, classes: int = 4) -> DnaLM:
    position = PositionConfig(
        name=scheme,
        settings=GoatConfig(rank=2, periods=(3.0, 10.5), sink_width=8),
        momentum=MomentumConfig(strength=0.5) if momentum else None,
    )
    made = DnaLM(ModelConfig(width=64, heads=2, layers=2, mlp_width=32, context=16, classes=classes, position=position))
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=random))
    return made.eval()


def prompts(*lengths: int) -> list[Codes]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, 5, length).astype(np.uint8) for length in lengths]


def by_name(made: Sequence[Generated]) -> dict[tuple[int, int], Generated]:
    return {(one.prompt, one.sample): one for one in made}


def continued_by_full_passes(made: DnaLM, prompt: Codes, sample: int, options: SamplingOptions) -> Generated:
    """The definition: one full pass a base, no cache, no batch."""
    stream = Streams(options.seed, [prompt], [sample])
    symbols = [START, *prompt.tolist()]
    logs = []
    for place in range(LENGTH):
        with torch.no_grad():
            log_p = log_softmax(made(torch.tensor([symbols]))[:, -1, :4].numpy())
        base = int(draw(chances(log_p, options), stream.at(place))[0])
        symbols.append(base)
        logs.append(log_p[0, base])
    return Generated(0, sample, np.array(symbols[1 + len(prompt) :], np.uint8), np.array(logs))


@pytest.mark.parametrize("momentum", [False, True], ids=["still", "momentum"])
@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_unequal_prompts_in_one_batch_give_what_full_passes_give_alone(scheme: str, momentum: bool) -> None:
    made, given = small(scheme, momentum).double(), prompts(0, 1, 7, 12, 12, 3)
    together = by_name(list(generate(made, given, LENGTH, OPTIONS, samples=2)))
    assert len(together) == 12
    for (prompt, sample), one in together.items():
        alone = continued_by_full_passes(made, given[prompt], sample, OPTIONS)
        assert np.array_equal(one.codes, alone.codes)
        assert np.abs(one.log_probabilities - alone.log_probabilities).max() < 1e-10


def test_neither_batch_size_nor_order_nor_neighbours_change_a_base() -> None:
    made, given = small().double(), prompts(5, 40, 0, 23, 11, 5, 31)
    reference = by_name(list(generate(made, given, LENGTH, OPTIONS, samples=3, batch_size=64)))
    turned = list(reversed(given))
    for batch_size in (1, 2, 5, 100):
        for key, one in by_name(
            list(generate(made, turned, LENGTH, OPTIONS, samples=3, batch_size=batch_size))
        ).items():
            expected = reference[len(given) - 1 - key[0], key[1]]
            assert np.array_equal(one.codes, expected.codes)
            assert np.abs(one.log_probabilities - expected.log_probabilities).max() < 1e-10


@pytest.mark.parametrize("scheme", ["rope", "goat"])
def test_in_float32_a_base_differs_only_where_the_draw_is_at_a_boundary(scheme: str) -> None:
    made, given, length = small(scheme), prompts(0, 3, 16, 16, 9, 30, 14, 1), 120
    together = by_name(list(generate(made, given, length, OPTIONS, samples=2)))
    for index, prompt in enumerate(given):
        for alone in generate(made, [prompt], length, OPTIONS, samples=2, batch_size=1):
            one = together[index, alone.sample]
            same = one.codes == alone.codes
            first = length if same.all() else int(same.argmin())
            # Four times the worst of all kernels (benchmarks/kernels_matrix.py).
            assert np.abs(one.log_probabilities[:first] - alone.log_probabilities[:first]).max(initial=0) < 2e-5
            if first < length:
                assert margin(made, prompt, one, first) < 2e-5


def margin(made: DnaLM, prompt: Codes, one: Generated, at: int) -> float:
    """How far the draw of the base `at` was from the nearest boundary between two bases."""
    stream = Streams(OPTIONS.seed, [prompt], [one.sample])
    uniform = [stream.at(place)[0] for place in range(at + 1)][-1]
    symbols = torch.tensor([[START, *prompt.tolist(), *one.codes[:at].tolist()]])
    with torch.no_grad():
        p = np.exp(log_softmax(made(symbols)[0, -1].numpy()))
    return float(np.abs(np.cumsum(p) - uniform).min())


def test_longer_generation_begins_with_the_shorter_one() -> None:
    made, given = small().double(), prompts(4)
    short, long = (next(generate(made, given, length, OPTIONS)) for length in (10, 40))
    assert np.array_equal(long.codes[:10], short.codes)


def test_samples_and_seeds_differ() -> None:
    made, given = small(), prompts(4)
    first, second = generate(made, given, 50, OPTIONS, samples=2)
    (other,) = generate(made, given, 50, SamplingOptions(seed=12))
    assert not np.array_equal(first.codes, second.codes)
    assert not np.array_equal(first.codes, other.codes)


def test_only_four_bases_come_out_where_the_model_scores_n_too() -> None:
    made = small(classes=5)
    with torch.no_grad():
        made.norm.bias.add_(10 * made.embedding.weight[4] / made.embedding.weight[4].norm())  # N is always likeliest
    (one,) = generate(made, prompts(5), 300)
    assert one.codes.max() <= 3
    assert np.isfinite(one.log_probabilities).all()


def test_temperature_zero_writes_the_likeliest_base() -> None:
    made, given = small().double(), prompts(6)
    greedy = SamplingOptions(temperature=0)
    (one,) = generate(made, given, LENGTH, greedy)
    assert np.array_equal(one.codes, continued_by_full_passes(made, given[0], 0, greedy).codes)


def test_log_probabilities_are_the_models_own_whatever_steers_the_draw() -> None:
    made, given = small().double(), prompts(8)
    steered = SamplingOptions(temperature=0.5, top_k=3, top_p=0.9, ban_motifs=("CG",), gc_target=0.6)
    (one,) = generate(made, given, LENGTH, steered)
    symbols = torch.tensor([[START, *given[0].tolist(), *one.codes.tolist()]])
    with torch.no_grad():
        log_p = log_softmax(made(symbols)[0, 8:-1].numpy())
    assert np.abs(log_p[np.arange(LENGTH), one.codes] - one.log_probabilities).max() < 1e-10
    assert one.gc_tilt is not None


def test_a_sliding_window_changes_nothing_until_it_is_full() -> None:
    made, given = small().double(), prompts(6, 3)
    free = by_name(list(generate(made, given, LENGTH, OPTIONS)))
    wide = by_name(list(generate(made, given, LENGTH, OPTIONS, max_context=26)))
    narrow = by_name(list(generate(made, given, LENGTH, OPTIONS, max_context=4)))
    for key, one in free.items():
        assert np.array_equal(one.codes, wide[key].codes)
        assert np.abs(one.log_probabilities - narrow[key].log_probabilities).max() > 1e-3


def test_prompts_longer_than_the_window_do_not_depend_on_their_batch() -> None:
    made, given = small("goat", momentum=True).double(), prompts(30, 9, 25)
    together = by_name(list(generate(made, given, LENGTH, OPTIONS, max_context=8)))
    for index, prompt in enumerate(given):
        (alone,) = generate(made, [prompt], LENGTH, OPTIONS, max_context=8)
        assert np.array_equal(together[index, 0].codes, alone.codes)


@pytest.mark.parametrize(
    ("name", "prompt", "context", "said"),
    [
        ("rope", 60, None, "that it has not seen; `dnagoat generate --max-context 16` avoids them"),
        ("rope", 5000, 17, "--max-context 16"),
        ("nope", 60, None, "nope predicts worse"),
        ("sinusoidal", 60, 9, "sinusoidal has learned nothing of positions past them; shorten the prompt"),
        ("goat", 17, None, "goat gains nothing from bases further back than that"),
        ("alibi", 5000, None, "alibi gains nothing"),
    ],
)
def test_what_goes_past_the_length_of_training_is_told(name: str, prompt: int, context: int | None, said: str) -> None:
    made = small(name)
    assert made.config.context == 16
    (note,) = plan(made, prompts(prompt, 3), 5, max_context=context).notes
    assert said in note and f"up to {prompt + 5:,} bases, and the model was trained on 16" in note


@pytest.mark.parametrize(("name", "prompt", "context"), [("rope", 11, None), ("rope", 500, 16), ("goat", 16, None)])
def test_what_training_has_shown_is_not_told(name: str, prompt: int, context: int | None) -> None:
    assert plan(small(name), prompts(prompt), 5, max_context=context).notes == ()


def test_a_prior_without_recency_meets_distances_that_it_has_not_seen() -> None:
    own = small("goat").config
    bare = own.but(position=own.position.but(settings=own.position.settings.but(parts=("spectral",))))
    assert "distances" in plan(DnaLM(bare, 0), prompts(200), 5).notes[0]
    assert plan(small("goat", momentum=True), prompts(15), 5).notes == ()


def test_a_batch_that_does_not_fit_is_split_with_a_note() -> None:
    made, given = small().double(), prompts(10, 10, 10, 10)
    whole = plan(made, given, LENGTH, memory=1 << 30)
    assert whole.notes == () and len(whole.batches) == 1
    tight = plan(made, given, LENGTH, memory=int(2.5 * whole.bytes_a_sequence))
    assert tight.rows == 2 and len(tight.batches) == 2
    assert tight.notes[-1].startswith("2 sequences at a time instead of 4")
    split = by_name(list(generate(made, given, LENGTH, OPTIONS, planned=tight)))
    for key, one in by_name(list(generate(made, given, LENGTH, OPTIONS))).items():
        assert np.array_equal(one.codes, split[key].codes)


def test_a_sequence_that_does_not_fit_is_refused_before_it_begins() -> None:
    with pytest.raises(OptionError, match="--max-context"):
        plan(small(), prompts(10), LENGTH, memory=100)


@pytest.mark.parametrize("samples", [1, 3, 70])
def test_every_sample_of_every_prompt_is_planned_once(samples: int) -> None:
    given = prompts(0, 500, 3, 3, 200, 90, 501)
    batches = plan(small(), given, 64, samples=samples, batch_size=16, memory=1 << 30).batches
    planned = [(prompt, sample) for batch in batches for prompt in batch.prompts for sample in batch.samples]
    assert sorted(planned) == [(prompt, sample) for prompt in range(7) for sample in range(samples)]
    for batch in batches:
        lengths = [len(given[prompt]) for prompt in batch.prompts]
        assert max(lengths) - min(lengths) <= 16
        assert len(batch.prompts) * len(batch.samples) <= 16


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [({"length": 0}, "--length"), ({"samples": 0}, "--samples"), ({"max_context": 1}, "--max-context 1")],
)
def test_senseless_sizes_are_refused(wrong: dict[str, int], sentence: str) -> None:
    given = {"length": 5, **wrong}
    with pytest.raises(OptionError, match=sentence):
        plan(small(), prompts(3), given.pop("length"), **given)


def test_what_is_finished_is_there_when_the_user_stops_it() -> None:
    made = small()
    written = generate(made, prompts(2, 2, 2), LENGTH, OPTIONS, batch_size=1)
    done = [next(written), next(written)]
    written.close()
    assert [one.prompt for one in done] == [0, 1]


def test_progress_counts_every_base() -> None:
    told: list[int] = []
    list(generate(small(), prompts(1, 9, 80), 70, OPTIONS, samples=2, progress=told.append))
    assert sum(told) == 3 * 2 * 70


def test_a_model_without_a_start_symbol_begins_with_the_prompt() -> None:
    model = small(classes=5)
    for made, prompt in zip(generate(model, prompts(1, 7), LENGTH, OPTIONS, samples=1), prompts(1, 7), strict=True):
        symbols = torch.from_numpy(np.concatenate([prompt, made.codes]).astype(np.int64))
        with torch.inference_mode():
            log_p = model(symbols[None, :-1])[0, -LENGTH:, :4].double().log_softmax(-1)
        expected = log_p.gather(1, symbols[-LENGTH:, None])[:, 0].numpy()
        np.testing.assert_allclose(made.log_probabilities, expected, atol=1e-5)
    with pytest.raises(PromptError, match="no start symbol"):
        list(generate(model, prompts(3, 0), LENGTH, OPTIONS))
