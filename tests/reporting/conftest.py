"""What tests of the report share: example runs in the form that training and evaluation write."""

from __future__ import annotations

from pathlib import Path

import pytest

from dnagoat.reporting.document import Report, report
from dnagoat.reporting.sources import Results, read
from tests.reporting import crowd, example


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """RoPE and GOAT with every measure, a leak report and a benchmark."""
    paths, bench = example.everything(tmp_path_factory.mktemp("runs"))
    return read(paths, bench=[bench])


@pytest.fixture(scope="session")
def whole(results: Results) -> Report:
    return report(results, "dnagoat report runs/rope runs/goat --out reports/example")


@pytest.fixture(scope="session")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Four arms with long names and four heads, compared over three seeds, and a benchmark with failures."""
    folder, bench = crowd.crowd(tmp_path_factory.mktemp("crowd") / "compared", 4)
    return report(read([folder], bench=[bench]), "dnagoat report compared --out reports/crowded")


@pytest.fixture(scope="session")
def page(whole: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the whole report, written."""
    return whole.write(tmp_path_factory.mktemp("reports") / "example")
