"""Run by `python -I -S` in a bare environment: loads exported folders with transformers and says what they do.

stranger.py PACKAGES FOLDER   FOLDER has a folder a model, and of each `NAME.pt`: codes, prompts and their lengths
"""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def main(packages: str, folder: Path) -> None:
    sys.path.insert(0, packages)
    os.environ["HF_MODULES_CACHE"], os.environ["HF_HUB_OFFLINE"] = str(folder / "modules"), "1"
    assert [find_spec(name) for name in ("dnagoat", "dnagoat_cli", "numba", "entmax", "pandas")] == [None] * 5
    import torch

    torch.set_num_threads(1)
    found = {
        file.stem: ask(folder / file.stem.replace("+", "_").replace("-", "_"), torch.load(file))
        for file in sorted(folder.glob("*.pt"))
    }
    assert "dnagoat" not in sys.modules
    json.dump(found, sys.stdout)


def ask(folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True).eval()
    with torch.inference_mode():
        logits = model(given["codes"]).logits
        prompt = tokenizer(given["prompt"], return_tensors="pt")
        written = model.generate(**prompt, do_sample=False, max_new_tokens=given["length"])
        few = {"do_sample": False, "max_new_tokens": 12}
        slowly = model.generate(**prompt, **few, use_cache=False)
        beams = [model.generate(**prompt, **few, num_beams=2, use_cache=cached).tolist() for cached in (True, False)]
        loss = model(given["codes"], labels=given["codes"]).loss
    return {
        "error": float((logits - given["logits"]).abs().max()),
        "dtype": str(logits.dtype),
        "codes": tokenizer("acgTUn\nRx")["input_ids"],
        "written": tokenizer.decode(written[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True),
        "slowly": tokenizer.decode(slowly[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True),
        "beams": beams,
        "loss": float(loss),
    }


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
