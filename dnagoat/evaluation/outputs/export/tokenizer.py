"""The tokenizer as transformers reads it: a symbol a letter, in any case; what is no A, C, G, T (or U) reads as N."""

from __future__ import annotations

from typing import Any

from dnagoat.genome.alphabet import BASES, START

START_NAME = "<start>"


def tokenizer(*, begins: bool) -> dict[str, Any]:
    """tokenizer.json; `begins` where the model was trained with the start symbol before each sequence."""
    replaced = [(letter.lower(), letter) for letter in BASES] + [("u", "T"), ("U", "T")]
    start = {"SpecialToken": {"id": START_NAME, "type_id": 0}}
    sequence = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": START,
                "content": START_NAME,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Replace", "pattern": {"Regex": r"\s"}, "content": ""},
                *({"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in replaced),
            ],
        },
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [start, sequence] if begins else [sequence],
            "pair": [start, sequence, {"Sequence": {"id": "B", "type_id": 0}}] if begins else [sequence],
            "special_tokens": {START_NAME: {"id": START_NAME, "ids": [START], "tokens": [START_NAME]}},
        },
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "WordLevel",
            "vocab": {**{letter: code for code, letter in enumerate(BASES)}, START_NAME: START},
            "unk_token": "N",
        },
    }


def tokenizer_config(context: int) -> dict[str, Any]:
    """tokenizer_config.json. Padding is the start symbol, behind a sequence: it is never a target, nor written."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": context,
        "bos_token": START_NAME,
        "pad_token": START_NAME,
        "padding_side": "right",
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
    }
