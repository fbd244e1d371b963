"""dnagoat: nucleotide language models with learned attention priors, compared so that the verdict can be trusted.

What a notebook needs is here: `prepare`, `open_dataset`, `train`, `compare`, `open_run`, `generate`, `evaluate`,
`score`, `score_regions`, `score_variants`, `embed`, `write_embeddings`, `report`, and `position_scheme` for attention
of your own; see the docstring of each. PyTorch is imported by the first call that needs it. The library never prints
and never imports the command line; a user's fault is a `dnagoat.errors.DnagoatError` of one sentence.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dnagoat.api import (
        compare,
        embed,
        evaluate,
        generate,
        open_dataset,
        open_run,
        position_scheme,
        prepare,
        report,
        score,
        score_regions,
        score_variants,
        train,
        write_embeddings,
    )

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "compare",
    "embed",
    "evaluate",
    "generate",
    "open_dataset",
    "open_run",
    "position_scheme",
    "prepare",
    "report",
    "score",
    "score_regions",
    "score_variants",
    "train",
    "write_embeddings",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        from dnagoat import api

        return getattr(api, name)
    raise AttributeError(f"module 'dnagoat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
