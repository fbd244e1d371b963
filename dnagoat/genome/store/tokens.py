"""How are bases kept: one byte each, contigs end to end, written once in order and then mapped into memory."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from dnagoat.genome.alphabet import CODE, MASKED, C, Codes, G, N

_MOST_PENDING: Final = 4  # pieces that wait for the disk
_AT_ONCE: Final = 1 << 22  # bases looked at together


class TokenWriter:
    """Appends tokens to a file, hashing and counting them; memory does not grow with the genome.

    With more than two threads one of them hashes and writes while the next tokens are made.
    """

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        self._handle = path.open("wb")
        self._digest = sha256()
        self._behind = ThreadPoolExecutor(1) if threads > 2 else None
        self._pending: deque[Future[None]] = deque()
        self.bases = 0
        self.n = 0
        self.masked = 0
        self.gc = 0

    def append(self, tokens: Codes) -> None:
        codes = tokens & np.uint8(CODE)
        self.bases += tokens.size
        self.n += int(np.count_nonzero(codes == N))
        self.gc += int(np.count_nonzero((codes == C) | (codes == G)))
        self.masked += int(np.count_nonzero(tokens >= MASKED))
        if self._behind is None:
            self._write(tokens)
            return
        self._settle(_MOST_PENDING)
        self._pending.append(self._behind.submit(self._write, tokens))

    def _write(self, tokens: Codes) -> None:
        data = np.ascontiguousarray(tokens).data
        self._digest.update(data)
        self._handle.write(data)

    def _settle(self, most: int) -> None:
        while len(self._pending) > most:
            self._pending.popleft().result()

    @property
    def sha256(self) -> str:
        """Of all that was appended; read it after the writer is closed."""
        return self._digest.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._settle(0)
        finally:
            if self._behind is not None:
                self._behind.shutdown(cancel_futures=True)
            self._handle.close()


def map_tokens(path: Path) -> np.memmap[tuple[int, ...], np.dtype[np.uint8]]:
    """The store as a read-only array of tokens (bases,)."""
    return np.memmap(path, dtype=np.uint8, mode="r")


def read_tokens(path: Path, start: int, count: int) -> Codes:
    """`count` tokens from position `start`, read into memory: unlike mapped pages they can be let go of."""
    return np.fromfile(path, dtype=np.uint8, count=count, offset=start)


def places_of_known(path: Path, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions before which that many known bases (no N) lie, each as early as can be; `ranks` ascend."""
    places = np.zeros(len(ranks), dtype=np.int64)
    before = 0
    for start in range(0, path.stat().st_size, _AT_ONCE):
        known = np.flatnonzero((read_tokens(path, start, _AT_ONCE) & np.uint8(CODE)) != N)
        here = (ranks > before) & (ranks <= before + known.size)
        places[here] = start + known[ranks[here] - before - 1] + 1
        before += known.size
    return places
