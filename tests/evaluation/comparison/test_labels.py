"""An arm is the configuration without the seed: one label for one setting; names that were given stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dnagoat.config import RunConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.comparison.arms import NamedArm, of_arm, read_arm, run_folder, setting_of
from dnagoat.evaluation.comparison.labels import label_arms, labels
from dnagoat.training.presets import configure

BASE = configure("tiny", "data/demo", "ab" * 32, 1024, {})
PUBLISHED = "goat@init=seeded@rank=4"


def called(*arms: str, base: RunConfig = BASE) -> list[str]:
    return labels([of_arm(base, arm, seed=seed) for seed, arm in enumerate(arms)])


def test_seeds_share_a_label() -> None:
    assert called("goat", "goat", "rope") == ["goat", "goat", "rope"]
    moved = BASE.but(dataset_places=("../data/demo",), dataset="/data/demo", memory_tables="ab")
    assert labels([BASE, moved]) == ["goat", "goat"]


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        (["rope", PUBLISHED], ["rope", "goat seeded"]),
        (["goat", PUBLISHED], ["goat", "goat seeded"]),
        (["goat", "goat@init=seeded", PUBLISHED], ["goat", "goat seeded", "goat seeded (rank 4)"]),
        (["rope", "rope@lr=3e-3", "goat@lr=3e-3"], ["rope", "rope (lr 0.003)", "goat"]),
        (["rope@lr=2e-3", "rope@lr=3e-3"], ["rope (lr 0.002)", "rope (lr 0.003)"]),
        (["rope", "goat@memory"], ["rope", "goat (memory)"]),
        (["goat", "goat@memory=words+gaps"], ["goat", "goat (memory words+gaps)"]),
        (["goat:spectral+sink", "goat"], ["goat:spectral+sink", "goat"]),
        (["rope@momentum=0.3", "rope@normaliser=sparsemax"], ["rope (momentum 0.3)", "rope (sparsemax)"]),
        (["rope", "goat@optimizer=adamw"], ["rope", "goat (adamw)"]),
        (["rope@optimizer=adamw", "goat@optimizer=adamw"], ["rope", "goat"]),
        (["rope", "goat@recipe=goat"], ["rope", "goat (recipe goat)"]),
        (
            ["goat", "rope@optimizer=adamw@lr=2e-3", "rope@optimizer=adamw"],
            ["goat", "rope (adamw, lr 0.002)", "rope (adamw)"],
        ),
        (["goat", "goat@gate", "goat@gate=on@momentum=0.3"], ["goat", "goat (gate)", "goat (momentum 0.3, gate)"]),
        (["goat", "goat@content=60", "goat@content=44"], ["goat", "goat (content 60)", "goat"]),
    ],
)
def test_arms_say_in_what_they_differ(arms: list[str], said: list[str]) -> None:
    base = BASE.but(model=BASE.model.but(width=128, heads=2))
    assert called(*arms, base=base) == said


def test_other_settings_than_the_presets_are_told_where_arms_differ_in_them() -> None:
    wide, scored = BASE.but(preset="small"), BASE.but(train=BASE.train.but(score_n=True, micro_batch=2))
    assert labels([BASE, scored, BASE.but(dataset_hash="cd" * 32)]) == [
        "goat (data abababab)", "goat (score n, data abababab)", "goat (data cdcdcdcd)",
    ]  # fmt: skip
    assert len(set(labels([BASE, wide]))) == 2
    many = [BASE.but(train=BASE.train.but(**changes)) for changes in MANY]
    assert len(set(labels(many))) == len(many)  # though what tells them apart comes late


MANY = [
    {"lr": 0.1, "warmup": 1, "steps": 9, "clip": 2.0},
    {"lr": 0.1, "warmup": 1, "steps": 9, "clip": 3.0},
    {"lr": 0.1, "warmup": 1, "steps": 9},
]


@pytest.mark.parametrize(
    "name",
    [
        "published GOAT",
        "lr=3e-4, slow",
        "goat: seeded",
        "goat, rank=4",
        "山羊 ✓",
        "x" * 60,
        "../../etc/passwd",
        "..",
        "[b]",
    ],
)
def test_a_name_stays_as_it_is_and_its_folder_is_safe(name: str) -> None:
    arm = read_arm(f"{name}={PUBLISHED}")
    assert (arm.name, arm.setting) == (name, PUBLISHED)
    assert called("goat", str(arm)) == ["goat", name]
    folder = run_folder(Path("out"), arm, 0)
    assert folder.parent == Path("out") and len(folder.name) < 64
    assert all(letter.isascii() and (letter.isalnum() or letter in "-.+") for letter in folder.name)
    assert folder.name[0].isalnum()
    assert of_arm(BASE, arm, seed=0).but(name=None) == of_arm(BASE, PUBLISHED, seed=0)


def test_other_names_have_other_folders() -> None:
    names = ["a b", "a-b", "a_b", "a/b", "a", "ä", "山", "羊", "x" * 60, "x" * 61, "x" * 40, "a.", ".a"]
    assert len({run_folder(Path("out"), NamedArm("goat", name), 0).name.casefold() for name in names}) == len(names)
    assert run_folder(Path("out"), NamedArm("goat", "published GOAT"), 1, 3e-4) == Path(
        "out/published-GOAT-lr0.0003-s1"
    )


@pytest.mark.parametrize("arm", ["rope", "goat@recipe=goat", "goat:sink@init=seeded", "goat+rope@periods=3/171"])
def test_a_setting_alone_has_no_name(arm: str) -> None:
    assert read_arm(arm) == NamedArm(arm)


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("=goat", "the name is empty"),
        ("_x=goat", "begins with _"),
        ("costs $5=goat", "read as the start of a formula"),
        ("x" * 81 + "=goat", "81 letters"),
        ("a\nb=goat", "cannot be printed"),
        ("x=gaot@rank=4", "did you mean goat"),
        ("x=goat@colour=red", "@colour=red is none of"),
    ],
)
def test_what_cannot_be_an_arm_is_one_sentence(arm: str, said: str) -> None:
    with pytest.raises(OptionError, match=said) as fault:
        of_arm(BASE, arm, seed=0)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        (["rope", "rope"], "it is rope again"),
        (["goat@init=seeded@rank=4", "goat@rank=4@init=seeded"], "it is goat seeded again"),
        (["A=rope", "B=rope"], "it is A again"),
        (["A=rope", "A=goat"], "another arm is called A"),
        (["goat", "goat=goat@rank=4"], "another arm is called goat"),
    ],
)
def test_arms_are_told_apart(arms: list[str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        label_arms([read_arm(arm) for arm in arms], [of_arm(BASE, arm, seed=0) for arm in arms])


@pytest.mark.parametrize("preset", ["tiny", "paper"])
@pytest.mark.parametrize(
    "arm",
    [
        "rope", "goat", PUBLISHED, "goat:spectral+sink@memory", "goat@form=authors", "goat@form=authors@init=distances",
        "goat+rope@rope-base=500@momentum=0.3", "alibi@convolution=4@heads=4",
        "goat@periods=3/171@sink-width=32@amplitude=1", "t5", "fire@width=8", "goat@init=uniform@learn-periods=true",
    ],
)  # fmt: skip
def test_the_full_setting_gives_the_arm_back(arm: str, preset: str) -> None:
    base = configure(preset, "data/demo", "ab" * 32, 1024, {})
    config = of_arm(base, arm, seed=0)
    assert of_arm(base, setting_of(config), seed=0) == config
