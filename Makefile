# Everything starts here: `make demo` and `make test` set up .venv by themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint clean

demo: $(VENV)/ready
	$(BIN)/manymaps demo -o demo

test: $(VENV)/ready-dev
	$(BIN)/pytest $(PYTEST_OPTIONS)

lint: $(VENV)/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/draw_rooms.py --check

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
