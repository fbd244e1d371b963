"""Which genomes are known by name, where they lie, and how they are split by default."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Final, Self
from urllib.parse import urljoin

from pydantic import Field, model_validator

from dnagoat.errors import DnagoatError, OptionError, SourceError
from dnagoat.frozen import Frozen

SHIPPED: Final = Path(__file__).with_name("assemblies.toml")


class Assembly(Frozen):
    """One genome of a catalogue; the fields are explained at the head of assemblies.toml."""

    name: str
    title: str = ""
    address: str | None = None
    mirrors: tuple[str, ...] = ()
    checksums: str | None = None
    md5: str | None = Field(None, pattern="^[0-9a-f]{32}$")
    file: Path | None = None
    primary: str | None = None
    val: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    bases: int | None = None
    contigs: int | None = None
    lengths: dict[str, int] = Field(default_factory=dict)
    note: str = ""

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if (self.address is None) == (self.file is None):
            raise ValueError("give either an address or a file")
        re.compile(self.primary or "")
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """The address and its mirrors, in the order in which they are tried."""
        return (self.address, *self.mirrors) if self.address else ()

    @property
    def filename(self) -> str:
        """The name of the file in the cache."""
        assert self.address is not None
        return self.address.rsplit("/", 1)[-1]

    def checksum_addresses(self) -> list[str]:
        """Where the published checksums may lie: beside the file and beside each of its mirrors."""
        return [urljoin(address, self.checksums) for address in self.addresses] if self.checksums else []

    def keeps(self, contig: str, *, every: bool = False) -> bool:
        """Whether a contig is one of those that are prepared."""
        return every or self.primary is None or re.fullmatch(self.primary, contig) is not None


def catalogue(own: Path | None = None) -> dict[str, Assembly]:
    """The shipped genomes and those of a TOML file of one's own, by name; an own one may not take a shipped name."""
    known = _read(SHIPPED)
    if own is None:
        return known
    added = _read(own)
    both = sorted(set(known) & set(added))
    if both:
        raise SourceError(f"{own}: {both[0]} is the name of a genome that is known already; give yours another")
    return {**known, **added}


def _read(path: Path) -> dict[str, Assembly]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OptionError(f"--catalogue: {path} does not exist; --catalogue takes a TOML file of genomes") from None
    except (OSError, ValueError) as fault:
        raise SourceError(f"{path} cannot be read as a catalogue: {fault}") from None
    found = {}
    for name, values in tables.items():
        if not isinstance(values, dict):
            raise SourceError(f"{path}: {name} stands outside a table; a genome is [name] and its fields")
        if values.get("file") is not None:
            values = {**values, "file": path.parent / str(values["file"])}
        try:
            found[name] = Assembly(**{"name": name, **values})
        except (DnagoatError, re.error) as fault:
            raise SourceError(f"{path}: {name}: {fault}") from None
    return found


def cache_folder() -> Path:
    """Where downloads are kept: DNAGOAT_CACHE, or the platform's cache folder."""
    import pooch

    return Path(os.environ.get("DNAGOAT_CACHE") or pooch.os_cache("dnagoat"))
