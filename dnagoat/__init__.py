"""dnagoat: nucleotide language models with learned attention priors, compared so that the verdict can be trusted.

What a notebook needs is here: `prepare`, `open_dataset`, `train`, `compare`, `open_run`, `generate`, `evaluate`,
`score`, `score_bases`, `score_regions`, `score_variants`, `embed`, `write_embeddings`, `probe_linear`, `report`,
`export`, `import_model`, and `position_scheme` for attention of your own; see the docstring of each. PyTorch is
imported by the first call that needs it. The library never prints and never imports the command line; a user's fault is
a `dnagoat.errors.DnagoatError` of one sentence.
"""

from dnagoat.api.asking import evaluate, generate, probe_linear, report, score, score_bases
from dnagoat.api.exchange import export, import_model
from dnagoat.api.genomes import embed, score_regions, score_variants, write_embeddings
from dnagoat.api.making import compare, open_dataset, open_run, prepare, train
from dnagoat.api.positions import position_scheme

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "compare",
    "embed",
    "evaluate",
    "export",
    "generate",
    "import_model",
    "open_dataset",
    "open_run",
    "position_scheme",
    "prepare",
    "probe_linear",
    "report",
    "score",
    "score_bases",
    "score_regions",
    "score_variants",
    "train",
    "write_embeddings",
]
