"""Downloads over bad lines: the right bytes, or one sentence; never a wrong file in the cache."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import SourceError
from dnagoat.genome.fetch import download
from dnagoat.genome.fetch.assemblies import Assembly
from dnagoat.genome.fetch.download import fetch
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.progress import Stage
from tests.genome.fetch.server import Behaviour, serving
from tests.genome.small import fasta, random_bases

MEGA = 1 << 20
BODY = np.random.default_rng(0).bytes(30 * MEGA)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSE", 0.0)


def assembly(address: str, *mirrors: str) -> Assembly:
    return Assembly(name="mine", address=address, mirrors=mirrors, checksums="md5sum.txt")


def left(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_a_line_that_drops_after_12_mb_is_resumed(tmp_path: Path) -> None:
    server = Behaviour(BODY, drop_after=12 * MEGA)
    seen: list[Stage] = []
    with serving(server) as address:
        path = fetch(assembly(address), tmp_path, progress=seen.append)
    assert path.read_bytes() == BODY
    assert server.requests == [None, f"bytes={12 * MEGA}-", f"bytes={24 * MEGA}-"]
    assert left(tmp_path) == ["genome.fa.gz", "genome.fa.gz.md5"]
    assert [at.done for at in seen] == sorted(at.done for at in seen)
    assert seen[-1] == Stage("download", len(BODY), 1.0, len(BODY))


def test_what_is_there_is_not_fetched_again_nor_needed_offline(tmp_path: Path) -> None:
    server = Behaviour(BODY[:MEGA])
    with serving(server) as address:
        mine = assembly(address)
        fetch(mine, tmp_path)
        fetch(mine, tmp_path)
    assert len(server.requests) == 1
    assert fetch(mine, tmp_path, offline=True).read_bytes() == BODY[:MEGA]
    # Nor does a server that is away matter: the published sum was kept.
    assert fetch(mine, tmp_path).read_bytes() == BODY[:MEGA]


def test_a_file_that_was_placed_by_hand_is_used(tmp_path: Path) -> None:
    server = Behaviour(BODY[:MEGA])
    (tmp_path / "genome.fa.gz").write_bytes(BODY[:MEGA])
    with serving(server) as address:
        fetch(assembly(address), tmp_path)
    assert server.requests == []


def test_offline_without_the_file_says_where_to_place_it(tmp_path: Path) -> None:
    mine = assembly("http://127.0.0.1:9/genome.fa.gz")
    with pytest.raises(SourceError, match=r"mine is not in the cache .* place it at .*genome\.fa\.gz"):
        fetch(mine, tmp_path, offline=True)
    (tmp_path / "genome.fa.gz").write_bytes(b"something else")
    (tmp_path / "genome.fa.gz.md5").write_text("md5:" + "0" * 32)
    with pytest.raises(SourceError, match="its hash differs"):
        fetch(mine, tmp_path, offline=True)


def test_a_server_that_ignores_ranges_starts_over(tmp_path: Path) -> None:
    server = Behaviour(BODY, drop_after=12 * MEGA, ranges=False)

    def mend(at: Stage) -> None:
        if len(server.requests) == 2:
            server.drop_after = None

    with serving(server) as address:
        path = fetch(assembly(address), tmp_path, progress=mend)
    assert path.read_bytes() == BODY
    assert len(server.requests) == 3


def test_a_line_that_never_brings_more_is_given_up(tmp_path: Path) -> None:
    server = Behaviour(BODY, drop_after=12 * MEGA, ranges=False)
    with serving(server) as address, pytest.raises(SourceError, match="broke after 12,582,912 of 31,457,280 bytes"):
        fetch(assembly(address), tmp_path)
    assert len(server.requests) == 5  # only the first brought something
    assert "genome.fa.gz" not in left(tmp_path)


def test_busy_servers_are_asked_again(tmp_path: Path) -> None:
    server = Behaviour(BODY[:MEGA], busy=4)
    with serving(server) as address:
        assert fetch(assembly(address), tmp_path).read_bytes() == BODY[:MEGA]
    assert len(server.requests) == 5


def test_mirrors_take_over(tmp_path: Path) -> None:
    away, busy, good = Behaviour(BODY, gone=True), Behaviour(BODY, busy=99), Behaviour(BODY)
    with serving(away) as first, serving(busy) as second, serving(good) as third:
        path = fetch(assembly("http://127.0.0.1:9/here/genome.fa.gz", first, second, third), tmp_path)
    assert path.read_bytes() == BODY
    assert (len(away.requests), len(busy.requests), len(good.requests)) == (1, 5, 1)


def test_all_away_is_one_sentence(tmp_path: Path) -> None:
    server = Behaviour(BODY, gone=True)
    with serving(server) as address, pytest.raises(SourceError, match="answered 404") as fault:
        fetch(assembly(address), tmp_path)
    assert "\n" not in str(fault.value)
    with pytest.raises(SourceError, match="no published checksum could be had") as fault:
        fetch(assembly(address), tmp_path / "fresh")
    assert "\n" not in str(fault.value)


def test_a_file_that_changes_between_tries_is_fetched_whole(tmp_path: Path) -> None:
    other = BODY[::-1]
    server = Behaviour(BODY, drop_after=12 * MEGA)

    def change(at: Stage) -> None:
        server.drop_after, server.body = None, other

    with serving(server) as address:
        mine = assembly(address).but(checksums=None, md5=Behaviour(other).md5)
        path = fetch(mine, tmp_path, progress=change)
    assert path.read_bytes() == other
    assert server.requests == [None, f"bytes={12 * MEGA}-"]


def test_without_a_validator_nothing_is_pieced_together(tmp_path: Path) -> None:
    server = Behaviour(BODY, drop_after=12 * MEGA, validators=False)

    def mend(at: Stage) -> None:
        server.drop_after = None

    with serving(server) as address:
        assert fetch(assembly(address), tmp_path, progress=mend).read_bytes() == BODY
    assert server.requests == [None, None]


def test_wrong_bytes_are_fetched_once_more_and_then_refused(tmp_path: Path) -> None:
    once = Behaviour(BODY[:MEGA], corrupt=1)
    with serving(once) as address:
        assert fetch(assembly(address), tmp_path / "once").read_bytes() == BODY[:MEGA]
    always = Behaviour(BODY[:MEGA], corrupt=99)
    with serving(always) as address, pytest.raises(SourceError, match="does not have the published hash"):
        fetch(assembly(address), tmp_path / "always")
    assert len(always.requests) == 2
    assert left(tmp_path / "always") == ["genome.fa.gz.md5"]


def test_after_wrong_bytes_the_mirror_comes_first(tmp_path: Path) -> None:
    bad, good = Behaviour(BODY[:MEGA], corrupt=99), Behaviour(BODY[:MEGA])
    with serving(bad) as first, serving(good) as second:
        assert fetch(assembly(first, second), tmp_path).read_bytes() == BODY[:MEGA]
    assert (len(bad.requests), len(good.requests)) == (1, 1)


FETCHING = """
import sys
from pathlib import Path
from dnagoat.genome.fetch.assemblies import Assembly
from dnagoat.genome.fetch.download import fetch
fetch(Assembly(name="mine", address=sys.argv[1], checksums="md5sum.txt"), Path(sys.argv[2]))
"""


def test_a_killed_fetch_goes_on_where_it_was(tmp_path: Path) -> None:
    server = Behaviour(BODY, drop_after=12 * MEGA)
    part = tmp_path / "genome.fa.gz.part"
    with serving(server) as address:
        child = subprocess.Popen([sys.executable, "-c", FETCHING, address, str(tmp_path)])
        while not (part.exists() and part.stat().st_size >= 12 * MEGA):
            time.sleep(0.002)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert "genome.fa.gz" not in left(tmp_path)
        server.requests.clear()
        assert fetch(assembly(address), tmp_path).read_bytes() == BODY
    assert server.requests[0] is not None
    assert left(tmp_path) == ["genome.fa.gz", "genome.fa.gz.md5"]


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    server = Behaviour(BODY[:MEGA])
    with serving(server) as address:
        mine = assembly(address)

        def again(at: Stage) -> None:
            with pytest.raises(SourceError, match="another process is fetching"):
                fetch(mine, tmp_path)

        fetch(mine, tmp_path, progress=again)


def test_a_named_genome_is_prepared_with_its_own_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("chr1", "chr2", "chrUn_1")
    text = fasta({name: random_bases(2000, seed) for seed, name in enumerate(names)})
    monkeypatch.setenv("DNAGOAT_CACHE", str(tmp_path / "cache"))
    with serving(Behaviour(gzip.compress(text.encode()))) as address:
        (tmp_path / "mine.toml").write_text(
            f'[mine]\naddress = "{address}"\nchecksums = "md5sum.txt"\nprimary = "chr[0-9]+"\nval = ["chr2"]\n'
        )
        options = PrepareOptions(window=100, catalogue=tmp_path / "mine.toml")
        dataset = prepare("mine", tmp_path / "primary", options)
        whole = prepare("mine", tmp_path / "whole", options.but(contigs="all", offline=True))
    assert [contig.name for contig in dataset.contigs] == ["chr1", "chr2"]
    assert [contig.name for contig in whole.contigs] == list(names)
    assert dataset.manifest.tally.windows == {"train": 20, "val": 20, "test": 0}
    assert (dataset.manifest.sources[0].assembly, dataset.manifest.sources[0].address) == ("mine", address)
