"""One run trained in a process of its own: `python -m dnagoat.training.launch.worker RUN DEVICE`, and nothing else.

The run folder's config.json says everything. A stop signal saves the run; a fault is one sentence on standard error.
"""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path

from dnagoat.errors import DnagoatError, Stopped
from dnagoat.training.kept.run import open_run
from dnagoat.training.launch.stop import stop_asked
from dnagoat.training.loop import train


def main(out: Path, device: str) -> None:
    """Trains the run from where it stands to its last step, or until it is told to stop."""
    with stop_asked() as stop:
        try:
            deque(train(open_run(out).config, out, resume=True, device=device, stop=stop), maxlen=0)
        except DnagoatError as fault:
            sys.exit(str(fault))
        except Stopped as end:
            sys.exit(128 + end.signal)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
