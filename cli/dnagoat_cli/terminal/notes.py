"""What a person should know and no script reads: a line on standard error."""

from __future__ import annotations

import sys


def say(sentence: str) -> None:
    sys.stderr.write(f"note: {sentence}\n")
