"""What does each awkward file get: its exact bases, or one clear sentence?

    python benchmarks/awkward_files.py FOLDER

Prepares every file of FOLDER with a window of 16 and a split by blocks, compares the stored bases with a plain reading
of the file (written here, sharing nothing with the library), and prints one row a file. Exits 1 on wrong bases or on a
fault that is not one sentence.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

from dnagoat.errors import DnagoatError
from dnagoat.genome.alphabet import decode
from dnagoat.genome.passport import remarks
from dnagoat.genome.preparation import PrepareOptions, prepare


def plainly(path: Path) -> list[tuple[str, str]]:
    """Names and bases (case kept, IUPAC as N, U as T) of a FASTA file, one character at a time."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    records: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line.startswith(">"):
            records.append((line[1:].split()[0], []))
        elif not line.startswith(";") and line.strip():
            records[-1][1].append(line.strip())
    read = str.maketrans("UuRYSWKMBDHVryswkmbdhv", "Tt" + "N" * 10 + "n" * 10)
    return [(name, "".join(lines).translate(read)) for name, lines in records]


def outcome(path: Path, folder: Path) -> tuple[bool, str]:
    """Whether the file got what it should, and what it got."""
    truth = path.with_name("twobit_truth.fa") if path.suffix == ".2bit" else path
    try:
        dataset = prepare(path, folder / path.name, PrepareOptions(window=16, split="blocks"))
    except DnagoatError as fault:
        sentence = str(fault).replace(f"{path.parent}/", "")
        return "\n" not in sentence, f"refused: {sentence}"
    stored = [
        (contig.name, decode(dataset.tokens[contig.offset : contig.offset + contig.length], case=True))
        for contig in dataset.contigs
    ]
    tally = dataset.manifest.tally
    told = f"contigs {len(stored)}, bases {tally.bases:,}, windows {sum(tally.windows.values()):,}"
    if stored != plainly(truth):
        return False, f"WRONG BASES ({told})"
    return True, "; ".join([f"exact: {told}", *remarks(dataset.manifest)])


def main(folder: Path) -> int:
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for path in sorted(folder.iterdir()):
            if path.name == "README.md":
                continue
            right, told = outcome(path, Path(temporary))
            rows.append({"name": path.name, "right": right, "outcome": told})
            print(f"{'ok ' if right else 'BAD'} {path.name}: {told}")
    if "--json" in sys.argv:
        Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
