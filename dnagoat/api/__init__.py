"""The front door: from a genome to a report in a notebook. Everything here calls the rooms; nothing is computed here.

Paths may be strings. `progress` is called with (what is being done, units done, units in all), `say` with sentences
that a person should read, `stop` is asked now and then and names a signal once one has come: `stop_asked` of
`dnagoat.training.launch.stop` turns Ctrl-C and SIGTERM into such a function.
"""

from dnagoat.api.asking import evaluate, generate, report, score
from dnagoat.api.genomes import embed, score_regions, score_variants, write_embeddings
from dnagoat.api.making import compare, open_dataset, open_run, prepare, train
from dnagoat.api.positions import position_scheme

__all__ = [
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
