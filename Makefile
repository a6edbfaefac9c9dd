# Two commands do everything on a fresh machine: `make demo` and `make test`. Both make the environment first.
PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
WORKERS ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test quick golden gpu lint types unit docs format bench clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-8s %s\n", $$1, $$2}'

demo: $(READY)  ## learn the bundled graph and ask it three questions, in about a minute
	@$(BIN)/pathformer demo

test: lint types unit docs  ## lint, types, tests and docs: the whole truth

quick: $(READY)  ## lint, types and the tests that a change can break, in about a minute
	@$(BIN)/python scripts/quick.py

golden: $(READY)  ## rewrite the golden files (messages, snapshots) as they are today; then read the diff
	GOLDEN=rewrite OMP_NUM_THREADS=1 $(BIN)/pytest -q tests/test_golden.py tests/test_snapshots.py

gpu:  ## every test for a card, with the Python that is found (PYTHON=...); nothing is installed
	PYTHONPATH=src $(PYTHON) -m pytest -m gpu

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/repo-review . --show err

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal

docs: $(READY)  ## build the documentation into site/; a broken link or a page outside the navigation fails
	$(BIN)/zensical build --clean --strict

format: $(READY)  ## rewrite the code as `make test` wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## list the benchmarks; `pathformer bench NAME` measures one, into benchmarks/results
	$(BIN)/pathformer bench

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The versions of constraints.txt, so that everybody gets the same; newer pip than a fresh venv has, for --group.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "pathformer needs Python 3.11 or newer: make PYTHON=python3.11"; exit 1; }
	@echo "making the environment in $(VENV): a few minutes the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --constraint constraints.txt pip
	@$(BIN)/python -m pip install -qq --constraint constraints.txt --group dev --editable '.[all]'
	@touch $@
