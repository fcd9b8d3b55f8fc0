# Everything starts here: `make demo` and `make test` set up .venv by themselves.
# `make test` takes minutes; `make test-all` runs what it leaves out, the tests marked as slow.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Threads of OpenBLAS spin for a tenth of a second before they sleep. Two processes with two threads
# each take one another's time so; a test of small products took three times as long.
export OPENBLAS_THREAD_TIMEOUT ?= 8
# Two processes of tests, and the programs that they start, share what Python compiles.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all campaigns lint clean

demo: $(VENV)/ready
	$(BIN)/manymaps demo -o demo

test: $(VENV)/ready-dev
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

test-all: $(VENV)/ready-dev
	$(BIN)/pytest -n 2 --dist worksteal -m slow

# An hour of cases that nobody chose; MINUTES and SEED change how many and which.
MINUTES ?= 60
SEED ?= 0
campaigns: $(VENV)/ready-dev
	cd tests && ../$(BIN)/python -m campaigns --minutes $(MINUTES) --seed $(SEED)

lint: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/draw_rooms.py --check
	$(BIN)/python scripts/describe_formats.py --check

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "manymaps needs Python 3.11 or later; set PYTHON=python3.x"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "no virtual environment could be made; on Debian: apt install python3-venv"; exit 1; }

$(VENV)/ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/ready-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/ready

clean:
	rm -rf $(VENV) demo build dist src/*.egg-info
