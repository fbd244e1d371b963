"""One safetensors file with the configuration in its metadata: weights by dnagoat's own names, memory's included."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.torch import save_file

from dnagoat.evaluation.outputs.export.leaving import Leaving
from dnagoat.files import written_whole

KEY = "dnagoat"  # of the metadata: the record, as JSON


def write_file(leaving: Leaving, file: Path) -> None:
    with written_whole(file) as aside:
        save_file(leaving.weights, aside, {"format": "pt", KEY: json.dumps(leaving.record, ensure_ascii=True)})
