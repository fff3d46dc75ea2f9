# Every target sets up .venv by itself; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= $(BESTK_DATA)
BQP ?= $(BESTK_BQP)
TORCH ?= torch==2.13.0
export BESTK_DATA := $(DATA)
export BESTK_BQP := $(BQP)

.DEFAULT_GOAL := help
.PHONY: help demo test test-torch lint format docs bench paper kernels clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

demo: $(VENV)/.plots $(VENV)/.files  ## the best features of a real table, proved, compared and drawn
	$(BIN)/python examples/demo.py

test: lint  ## everything that CI runs: lint, types, tests, doctests
	$(BIN)/python -m pytest -n 2

test-torch: $(VENV)/.test  ## the backend for GPUs, on the CPU if there is none (installs PyTorch)
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pytest tests/information/test_torch.py src/bestk/information/backends

lint: $(VENV)/.test  ## ruff (check and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs  ## build the documentation, warnings as errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(VENV)/.bench  ## bestk beside its peers: minutes, then hours (DATA and BQP: folders of data sets and problems)
	$(BIN)/python -m benchmarks.counting
	$(BIN)/python -m benchmarks.solvers
	$(BIN)/python -m benchmarks.selectors
	$(BIN)/python -m benchmarks.quality

paper: $(VENV)/.plots  ## every table and figure of the paper beside what it prints (DATA=folder of the sets; QUICK=1 for ten minutes)
	$(BIN)/python -m experiments $(if $(QUICK),--quick) $(PAPER)

kernels:  ## forget compiled kernels, after a change to one that another file calls
	find src -name '*.nb[ic]' -delete

clean:  ## remove the environment and what was built
	rm -rf $(VENV) dist docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@
