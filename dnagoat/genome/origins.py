"""Where do the bases of a dataset come from: one genome, or several whose names are kept apart as GENOME:CONTIG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dnagoat.errors import OptionError, SourceError
from dnagoat.files import as_utf8
from dnagoat.genome.dataset import Contig, SourceRecord, apart
from dnagoat.genome.fetch.assemblies import Assembly, cache_folder, catalogue
from dnagoat.genome.fetch.download import fetch
from dnagoat.genome.read.genome_formats import FORMATS
from dnagoat.genome.read.records import Bases, Header, Records
from dnagoat.genome.read.source import Source
from dnagoat.progress import StageProgress
from dnagoat.streams import is_stream, name_input


@dataclass(frozen=True)
class Origin:
    """A file, and the genome of the catalogue that it is; `genome` is what its names begin with beside others."""

    source: Source
    assembly: Assembly | None
    genome: str | None = None

    def record(self) -> SourceRecord:
        """What the manifest says of a source that has been read."""
        return SourceRecord(
            name="-" if self.source.streamed else as_utf8(self.source.path.name),
            kind=self.source.kind,
            bytes=self.source.done,
            sha256=self.source.sha256,
            genome=self.genome,
            assembly=self.assembly.name if self.assembly else None,
            address=self.assembly.address if self.assembly else None,
        )

    def keeps(self, name: str, *, every: bool) -> bool:
        """Whether the catalogue wants a contig of the source's own name."""
        return self.assembly is None or self.assembly.keeps(name, every=every)

    def lengths(self) -> dict[str, int]:
        """Bases of the sequences that the catalogue knows, by the names that the dataset gives them."""
        known = self.assembly.lengths if self.assembly else {}
        return {apart(self.genome, name): length for name, length in known.items()}

    def own(self, contigs: Sequence[Contig]) -> list[Contig]:
        """Those of its contigs."""
        return [contig for contig in contigs if contig.genome == self.genome]


class Joined:
    """The records of several origins, one after the other; each header says which genome it is of."""

    def __init__(self, origins: Sequence[Origin], records: Sequence[Records]) -> None:
        self._origins, self._records, self._at = origins, records, 0

    def events(self) -> Iterator[Header | Bases]:
        for at, (origin, records) in enumerate(zip(self._origins, self._records, strict=True)):
            self._at = at
            for event in records.events():
                yield event._replace(genome=origin.genome) if isinstance(event, Header) else event

    def share(self) -> float:
        return (self._at + self._records[self._at].share()) / len(self._records)

    @property
    def uneven(self) -> list[str]:
        """Names of records that an index cannot hold, as the dataset has them."""
        pairs = zip(self._origins, self._records, strict=True)
        return [apart(origin.genome, name) for origin, records in pairs for name in records.uneven]

    def write_index(self, folder: Path) -> None:
        """genome.fai of one genome in the folder; of several in genomes/GENOME."""
        for origin, records in zip(self._origins, self._records, strict=True):
            place = folder if origin.genome is None else folder / "genomes" / origin.genome
            place.mkdir(parents=True, exist_ok=True)
            records.write_index(place)


def open_origins(
    sources: Sequence[Path | str], own: Path | None, *, offline: bool, threads: int, progress: StageProgress
) -> list[Origin]:
    """Opens files, and fetches genomes of the catalogue; a `SourceError` where two would have one name."""
    if not sources:
        raise OptionError("no genome is given; give a FASTA or 2bit file, or the name of a genome")
    names = _names(sources, own) if len(sources) > 1 else [None]
    origins = []
    for source, name in zip(sources, names, strict=True):
        assembly = named(source, own)
        if assembly is not None:
            path = fetch(assembly, cache_folder(), offline=offline, progress=progress)
        else:
            path = Path(source)
            if not (is_stream(path) or path.exists()):
                raise SourceError(f"{source} does not exist; give a FASTA file, or the name of an assembly")
        origins.append(Origin(Source(path, threads=threads), assembly, name))
    return origins


def named(source: Path | str, own: Path | None) -> Assembly | None:
    """The genome of that name; None where `source` is a file. A name that is both is refused."""
    assembly = catalogue(own).get(str(source))
    if assembly is not None and Path(source).is_file():
        raise SourceError(f"{source} is a file here and the name of a genome; write ./{source} for the file")
    return assembly


def name_dataset(source: str) -> str:
    """genome.fa.gz -> genome; an `OptionError` for a stream, which has no name."""
    if is_stream(Path(source)):
        raise OptionError(f"{name_input(Path(source))} has no name that a dataset could take; give --out FOLDER")
    name = Path(source).name
    for ending in (".gz", ".bgz", ".fa", ".fasta", ".fna", *(one.ending for one in FORMATS)):
        name = name.removesuffix(ending)
    return name or "dataset"


def _names(sources: Sequence[Path | str], own: Path | None) -> list[str]:
    """What the contigs of each genome begin with: the name in the catalogue, or of the file without its endings."""
    names = []
    for source in sources:
        if is_stream(Path(source)):
            raise SourceError(
                f"{name_input(Path(source))} has no name that its contigs could begin with beside those of other "
                "genomes; save it to a file"
            )
        name = str(source) if named(source, own) is not None else name_dataset(str(source))
        if ":" in name or not name.isprintable() or " " in name:
            raise SourceError(
                f"{source}: contigs would begin with {name!r}, and the name of one genome of several holds neither "
                "blanks nor colons; rename the file"
            )
        names.append(name)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        first, second = [str(source) for source, name in zip(sources, names, strict=True) if name == twice[0]][:2]
        raise SourceError(
            f"{first} and {second} would both be called {twice[0]} (contigs are named GENOME:CONTIG); rename one of "
            "the files, or give each once"
        )
    return names
