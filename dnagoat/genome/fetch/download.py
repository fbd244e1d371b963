"""How does a genome get here: with resume over dropped connections and killed processes, and only if its hash is right.

pooch keeps the file and judges its hash; the downloader that is plugged into it keeps what it has in NAME.part, with
the server's validators in NAME.part.json, so that the next try asks for the rest (RFC 9110: Range with If-Range).
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from dnagoat.errors import SourceError
from dnagoat.files import write_json
from dnagoat.folders import NO_LOCKS
from dnagoat.genome.fetch.assemblies import Assembly
from dnagoat.progress import Stage, StageProgress

_BLOCK: Final = 1 << 20
_CONNECT, _READ = 10.0, 60.0  # seconds without a sign of life
TRIES: Final = 5
PAUSE: float = 1.0  # seconds before the second try; doubled each time
_LONGEST_WAIT: Final = 60.0
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})  # worth another try


class Dropped(Exception):
    """A try failed in a way that another may not; `wait` is what the server asked for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Gone(Exception):
    """This address will not serve the file; a mirror may."""


def fetch(assembly: Assembly, cache: Path, *, offline: bool = False, progress: StageProgress = lambda _: None) -> Path:
    """The assembly's file in the cache, downloaded where it is not there, and its hash checked.

    A file that was placed there by hand is used if its hash is right. A `SourceError` says what could not be had.
    """
    if assembly.file is not None:
        return assembly.file
    path = cache / assembly.filename
    if offline and not path.exists():
        raise SourceError(f"{assembly.name} is not in the cache and --offline forbids to fetch it; place it at {path}")
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise SourceError(f"the cache folder {cache} cannot be made: {fault.strerror}; set DNAGOAT_CACHE") from None
    expected = _expected(assembly, cache, offline)
    return _fetched(assembly, path, expected, offline, progress)


def _fetched(assembly: Assembly, path: Path, expected: str | None, offline: bool, progress: StageProgress) -> Path:
    import pooch

    pooch.get_logger().setLevel("ERROR")
    if offline:
        if not pooch.hashes.hash_matches(str(path), expected):
            raise SourceError(f"{path} is not the file that {assembly.name} names (its hash differs); replace it")
        return path
    first, *others = assembly.addresses
    for last in (False, True):
        # After a wrong hash the mirrors come first.
        downloader = Resuming((*others, first) if last else (first, *others), progress)
        try:
            pooch.retrieve(first, known_hash=expected, fname=path.name, path=path.parent, downloader=downloader)
            return path
        except ValueError as fault:
            if last:
                raise SourceError(
                    f"{assembly.name}: what {assembly.address} serves does not have the published hash ({expected}); "
                    "it was fetched twice and removed; try later, or another mirror by --catalogue"
                ) from fault
        except OSError as fault:
            raise SourceError(f"{path} cannot be written: {fault.strerror or fault}") from None
    raise AssertionError("unreachable")


def _expected(assembly: Assembly, cache: Path, offline: bool) -> str | None:
    """The published hash as pooch writes it; what was fetched once is kept beside the file for work offline."""
    if assembly.md5:
        return f"md5:{assembly.md5}"
    addresses = assembly.checksum_addresses()
    if not addresses:
        return None
    kept = cache / f"{assembly.filename}.md5"
    if offline:
        return kept.read_text(encoding="utf-8").strip() if kept.exists() else None
    import requests

    reasons = []
    for address in addresses:
        try:
            answer = requests.get(address, timeout=(_CONNECT, _READ))
            answer.raise_for_status()
        except requests.RequestException as fault:
            reasons.append(f"{address}: {_short(fault)}")
            continue
        for line in answer.text.splitlines():
            words = line.split()
            if len(words) == 2 and words[1].lstrip("*").rsplit("/", 1)[-1] == assembly.filename:
                expected = f"md5:{words[0].lower()}"
                kept.write_text(expected + "\n", encoding="utf-8")
                return expected
        reasons.append(f"{address} does not list {assembly.filename}")
    if kept.exists():
        return kept.read_text(encoding="utf-8").strip()
    raise SourceError(f"{assembly.name}: no published checksum could be had ({'; '.join(reasons)})")


@dataclass
class Resuming:
    """A downloader for pooch: tries `addresses` in turn, each until TRIES in a row bring nothing new."""

    addresses: tuple[str, ...]
    progress: StageProgress = lambda _: None

    def __call__(self, url: str, output_file: str | Path, pooch: Any, check_only: bool = False) -> None:
        del pooch, check_only  # pooch's interface
        name, target = url.rsplit("/", 1)[-1], Path(output_file)
        target.unlink(missing_ok=True)  # pooch made it, empty; a kill would leave it behind
        path = target.with_name(f"{name}.part")
        with path.open("ab") as handle:
            if not _locked(path, handle):
                raise SourceError(f"another process is fetching {name} into {target.parent}; wait for it")
            part = Part(path, handle)
            self._from_any(name, part)
            path.replace(target)
            part.done()

    def _from_any(self, name: str, part: Part) -> None:
        reasons = []
        for address in self.addresses:
            try:
                self._from(address, part)
                return
            except (Gone, Dropped) as fault:
                reasons.append(f"{address}: {fault}")
        raise SourceError(f"{name} cannot be fetched ({'; '.join(reasons)})")

    def _from(self, address: str, part: Part) -> None:
        most, failed = part.size, 0
        while True:
            try:
                self._once(address, part)
                return
            except Dropped as fault:
                failed = 1 if part.size > most else failed + 1
                most = max(most, part.size)
                if failed >= TRIES:
                    raise
                wait = PAUSE * 2 ** (failed - 1) if fault.wait is None else fault.wait
                time.sleep(min(wait, _LONGEST_WAIT))

    def _once(self, address: str, part: Part) -> None:
        """One request: for the rest if the server still has the same file, else for the whole."""
        import requests

        if part.size and part.size == part.total:
            return  # killed between the last byte and the rename
        # The file as it lies there, so that offsets mean the same.
        headers = {"Accept-Encoding": "identity", **part.range_headers()}
        try:
            answer = requests.get(address, headers=headers, stream=True, timeout=(_CONNECT, _READ))
        except requests.RequestException as fault:
            raise Dropped(_short(fault)) from None
        with answer:
            self._accept(answer, part)
            for block in _blocks(answer, part):
                part.write(block)
                self.progress(Stage("download", part.size, part.size / part.total if part.total else 0, part.total))

    def _accept(self, answer: Any, part: Part) -> None:
        """Makes `part` ready for the body that follows, or raises."""
        status, headers = answer.status_code, answer.headers
        if status == 200:
            part.begin(headers)
        elif status == 206:
            if not part.goes_on(headers.get("Content-Range", "")):
                part.forget()
                raise Dropped("the server sent another part than was asked for")
        elif status == 416:
            part.forget()
            raise Dropped("the server's file is shorter than what is here")
        elif status in _AGAIN:
            wait = headers.get("Retry-After", "")
            raise Dropped(f"the server answered {status}", float(wait) if wait.isdigit() else None)
        else:
            raise Gone(f"the server answered {status}")


class Part:
    """What is here of a file: its bytes in NAME.part, the server's validator and total length in NAME.part.json."""

    def __init__(self, path: Path, handle: IO[bytes]) -> None:
        self._handle = handle
        self._notes = path.with_name(f"{path.name}.json")
        self.size = path.stat().st_size
        try:
            notes = json.loads(self._notes.read_text(encoding="utf-8"))
            self.validator: str | None = notes["validator"]
            self.total: int | None = notes["total"]
        except (OSError, ValueError, KeyError, TypeError):
            self.validator = self.total = None

    def range_headers(self) -> dict[str, str]:
        """Asks for the rest, on condition that the file is still the same; without a validator for the whole."""
        if not self.size or not self.validator:
            return {}
        return {"Range": f"bytes={self.size}-", "If-Range": self.validator}

    def begin(self, headers: Mapping[str, str]) -> None:
        """The whole file follows: what was here is dropped."""
        self.forget()
        etag = headers.get("ETag", "")
        # A weak validator does not promise the same bytes (RFC 9110, section 13.1.5).
        self.validator = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
        length = headers.get("Content-Length", "")
        self.total = int(length) if length.isdigit() else None
        write_json(self._notes, {"validator": self.validator, "total": self.total})

    def goes_on(self, content_range: str) -> bool:
        """Whether a body with this Content-Range begins where the part ends, in a file of the same length."""
        span, _, total = content_range.removeprefix("bytes ").partition("/")
        return span.partition("-")[0] == str(self.size) and total in (str(self.total), "*")

    def write(self, block: bytes) -> None:
        self._handle.write(block)
        self._handle.flush()
        self.size += len(block)

    def done(self) -> None:
        self._notes.unlink(missing_ok=True)

    def forget(self) -> None:
        self._notes.unlink(missing_ok=True)
        self._handle.truncate(0)
        self.size, self.validator, self.total = 0, None, None


def _locked(path: Path, handle: IO[bytes]) -> bool:
    """Takes the lock that falls with its holder; false where another has it, or had it and just renamed the file."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as fault:
        if fault.errno not in NO_LOCKS:
            raise
    return path.exists() and path.stat().st_ino == os.fstat(handle.fileno()).st_ino


def _blocks(answer: Any, part: Part) -> Iterator[bytes]:
    """The body as it lies on the server; `Dropped` where less came than the server had announced."""
    import urllib3

    try:
        yield from answer.raw.stream(_BLOCK, decode_content=False)
    except (urllib3.exceptions.HTTPError, ConnectionError, TimeoutError):
        whole = f" of {part.total:,}" if part.total is not None else ""
        raise Dropped(f"the connection broke after {part.size:,}{whole} bytes") from None


def _short(fault: Exception) -> str:
    """The end of a nested exception's text: what happened, without the pools that it went through."""
    return str(fault).rsplit(": ", 1)[-1].strip("()\"' ") or type(fault).__name__
