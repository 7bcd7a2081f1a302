# Every target sets up what it needs in .venv. PYTHON may name another interpreter (3.11 or newer).
PYTHON ?= python3.11
RUN = .venv/bin/python

.PHONY: install demo test lint bench bench-queries bench-calibration paper illustrations clean

demo: .venv/demo
	$(RUN) -m geex.demo out/demo.png

test: lint
	$(RUN) -m pytest

lint: .venv/dev
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

bench: .venv/dev
	$(RUN) -m benchmarks.overhead
	$(RUN) -m benchmarks.engine
	$(RUN) -m benchmarks.scale

bench-queries: .venv/dev
	$(RUN) -m benchmarks.queries

bench-calibration: .venv/dev
	$(RUN) -m benchmarks.calibration

# the paper's table and figures; PAPER=--quick for a first look, PAPER='--photos FOLDER --device cuda' for all of it
paper: .venv/bench
	$(RUN) -m benchmarks.paper $(PAPER)

illustrations: .venv/dev
	$(RUN) -m benchmarks.illustrations docs/pictures

install: .venv/dev

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(RUN) -m pip install --quiet --upgrade pip

.venv/demo: pyproject.toml | .venv/bin/python
	$(RUN) -m pip install --quiet --editable '.[onnx,app]'
	touch $@

# torch is pinned and comes first; what depends on it must not replace it
.venv/dev: pyproject.toml | .venv/bin/python
	$(RUN) -m pip install --quiet torch==2.13.0
	$(RUN) -m pip install --quiet --editable '.[onnx,app,lime,dask]' --group dev
	$(RUN) -m pip install --quiet --no-deps captum lime
	touch $@

.venv/bench: .venv/dev
	$(RUN) -m pip install --quiet --group bench
	touch $@

clean:
	rm -rf .venv out site .pytest_cache .mypy_cache .ruff_cache
