# `make demo` and `make test` create .venv if it is missing. `make test` takes minutes. `make test-all`
# runs the tests that are marked as slow.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# OpenBLAS threads spin for a tenth of a second before they sleep. Two processes with two threads each
# block one another in this time, which made a test of small products three times as slow.
export OPENBLAS_THREAD_TIMEOUT ?= 8
# The two test processes, and the programs that they start, share compiled byte code.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all docs lint clean

demo: $(VENV)/ready
	$(BIN)/manymaps demo -o demo

test: $(VENV)/ready-dev
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

test-all: $(VENV)/ready-dev
	$(BIN)/pytest -n 3 --dist worksteal -m slow

# Build the manual in build/docs/html/index.html.
docs: $(VENV)/ready-dev
	$(BIN)/sphinx-build -W --keep-going -n -q -b html -d build/docs/doctrees docs build/docs/html

lint: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_size.py
	$(BIN)/codespell README.md CHANGELOG.md .github benchmarks docs examples paper scripts src viewer/src

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "manymaps needs Python 3.11 or later; set PYTHON=python3.x"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "no virtual environment could be made; on Debian: apt install python3-venv"; exit 1; }

$(VENV)/ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/ready-dev: pyproject.toml .ci/requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet -r .ci/requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@ $(VENV)/ready

clean:
	rm -rf $(VENV) demo build dist src/*.egg-info docs/pictures docs/reference/api
