# `make demo` shows the whole job on real DNA (`make demo DEMO=--open` the page too), `make test` checks everything; both
# install what they need into .venv.
# Set-up is done again only when pyproject.toml or constraints.txt has changed.

PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check

.PHONY: demo test test-gpu gpu check
.DELETE_ON_ERROR:

demo: $(VENV)/.ready
	$(VENV)/bin/dnagoat demo $(DEMO)

# Two files of tests at a time, one thread each.
test: check
	OMP_NUM_THREADS=1 $(VENV)/bin/pytest -n 2 --dist loadfile

# What needs no data and no time: style and types.
check: $(VENV)/.ready-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

# The tests that need a CUDA device; elsewhere each is skipped and says why.
test-gpu: $(VENV)/.ready-dev
	$(VENV)/bin/pytest -m gpu

# Day one on a GPU node: all that needs a GPU, and one page of it (reports/gpu/report.md). Elsewhere it says what it did
# not do.
gpu: $(VENV)/.ready-dev
	$(VENV)/bin/python benchmarks/gpu.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/.ready-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --constraint constraints.txt --editable ".[dev]"
	touch $@ $(VENV)/.ready
