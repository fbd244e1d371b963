"""What a terminal shows that has no UTF-8: each character that its encoding lacks by one that it has, never a fault.

Files are UTF-8 everywhere; this is about standard output and standard error alone. JSON escapes what is missing.
"""

from __future__ import annotations

import codecs
import json
import sys
import unicodedata
from typing import Any

NAME = "dnagoat-letters"

# One character each, so that columns stay where they are; the three dots alone are three.
PLAIN = {
    **dict(zip("▁▂▃▄▅▆▇█▓▒░", ".:-=+*%#=o.", strict=True)),
    **dict(zip("–—−‐‑·•×÷±≤≥≈→←↑↓", "-----.*x/~<>~><^v", strict=True)),
    **dict(zip("‘’“”«»✓✔✗✘⚠", '\'\'""""++xx!', strict=True)),
    **dict(zip("─━│┃┌┐└┘├┤┬┴┼╭╮╰╯╴╶╸╺═║", "--||+++++++++++++----=|", strict=True)),
    "…": "...",
    "\u00a0": " ",
    "\u202f": " ",
    "\u2009": " ",
}


def put_plain(fault: UnicodeError) -> tuple[str, int]:
    """The plain letters for what cannot be encoded: an accent is dropped, a byte that was no text is a `?`."""
    assert isinstance(fault, UnicodeEncodeError)
    missing = fault.object[fault.start : fault.end]
    return "".join(map(_plain, missing)), fault.end


def _plain(letter: str) -> str:
    if letter in PLAIN:
        return PLAIN[letter]
    parts = unicodedata.normalize("NFKD", letter)
    bare = "".join(part for part in parts if part.isascii())
    return bare or ("" if unicodedata.combining(letter) else "?")


codecs.register_error(NAME, put_plain)


def fit_streams() -> None:
    """From now on nothing that is shown can fail for a letter that the terminal does not have."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=NAME)


def is_unicode(encoding: str | None) -> bool:
    return (encoding or "utf-8").lower().replace("-", "").startswith("utf")


def json_text(value: Any, encoding: str | None = None) -> str:
    """JSON in the letters of an encoding, by default that of standard output: the same value in any."""
    plain = not is_unicode(encoding or sys.stdout.encoding)
    return json.dumps(value, indent=2, ensure_ascii=plain) + "\n"
