"""Started by torchrun: trains the same runs under DDP and FSDP, one after the other.

on_two_processes.py CONFIG.json OUT   writes OUT/ddp, OUT/fsdp, half of OUT/shrink, the second half of OUT/grow,
                                      OUT/memory, a few steps with memory, and OUT/muon, a few with Muon; writes
                                      OUT/refused.txt, what is said of Muon under FSDP
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

from torch import distributed

from dnagoat.config import REMEMBERED, RunConfig
from dnagoat.errors import OptionError, Stopped
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.loop import train
from dnagoat.training.presets import changed


def remembering(config: RunConfig) -> RunConfig:
    return changed(config, {"model.memory": REMEMBERED, "train.steps": 6})


def by_muon(config: RunConfig) -> RunConfig:
    return changed(config, {"train.optimizer": "muon", "train.steps": 6})


def main(config_file: str, out: str) -> None:
    config = RunConfig(**json.loads(Path(config_file).read_text()))
    distributed.init_process_group("gloo")
    for parallel in ("ddp", "fsdp"):
        list(train(config, Path(out) / parallel, device="cpu", how=Execution(parallel=parallel)))
    asked = iter([None] * 9 + ["SIGTERM"])
    with suppress(Stopped):
        list(
            train(config, Path(out) / "shrink", device="cpu", how=Execution(parallel="fsdp"), stop=lambda: next(asked))
        )
    list(train(config, Path(out) / "grow", device="cpu", how=Execution(parallel="fsdp"), resume=True))
    list(train(remembering(config), Path(out) / "memory", device="cpu"))
    list(train(by_muon(config), Path(out) / "muon", device="cpu"))
    try:
        list(train(by_muon(config), Path(out) / "sharded", device="cpu", how=Execution(parallel="fsdp")))
    except OptionError as refusal:
        (Path(out) / "refused.txt").write_text(str(refusal))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
