# Every target sets up .venv by itself; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTHONS ?= 3.12 3.13
DATA ?= $(BESTK_DATA)
BQP ?= $(BESTK_BQP)
TORCH ?= torch==2.13.0
SECONDS_EACH ?= 1800
MINUTES ?= 60
export BESTK_DATA := $(abspath $(DATA))  # examples run in a folder of their own
export BESTK_BQP := $(abspath $(BQP))

.DEFAULT_GOAL := help
.PHONY: help demo test test-torch test-browser test-wheel test-min test-newest test-pythons test-long test-sanitized coverage audit suite \
	lint format docs dist wheels minimum bench paper clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 21

demo: $(VENV)/.demo  ## select, compare and report the features of a real table
	$(BIN)/python examples/demo.py

test: lint  ## lint, types, tests, doctests: what is to be right before a commit
	$(BIN)/python -m pytest -n 2

test-torch: $(VENV)/.test  ## the backend for GPUs, on the CPU if there is none (installs PyTorch)
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pytest tests/information/test_torch.py src/bestk/information/backends

test-browser: $(VENV)/.test $(VENV)/.browser  ## the report in a real browser (installs Debian's Chromium, where it may)
	@tests/packaging/get_browser
	$(BIN)/python -m pytest tests/report/test_browser.py

test-wheel: dist  ## the wheel in an environment of its own, without any extra; and that pip makes the same of the sdist
	rm -rf .venv-clean
	$(PYTHON) -m venv .venv-clean
	.venv-clean/bin/python -m pip install --quiet dist/*.whl
	.venv-clean/bin/python -I tests/packaging/smoke.py
	.venv-clean/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist/again dist/*.tar.gz
	.venv-clean/bin/python tests/packaging/contents.py dist dist/again

# What old versions warn of is not ours to mend; benchmarks and experiments are scripts of this tree, not of the
# package.
test-min:  ## the tests with the lowest versions that pyproject.toml admits
	$(MAKE) suite VENV=.venv-min PYTHON=`tests/packaging/find_python 3.11` CONSTRAINTS=tests/packaging/minimum.txt \
		OPTIONS="-W default --ignore tests/benchmarks --ignore tests/experiments"

test-newest:  ## the tests with the newest versions of all, on the last of PYTHONS
	rm -rf .venv-newest
	$(MAKE) suite VENV=.venv-newest PYTHON=`tests/packaging/find_python $(lastword $(PYTHONS))`

test-pythons:  ## the tests on other versions of Python (PYTHONS="3.12 3.13")
	@for version in $(PYTHONS); do \
		python=`tests/packaging/find_python $$version` && \
		$(MAKE) suite VENV=.venv-$$version PYTHON=$$python || exit 1; \
	done

suite: $(VENV)/.test
	$(BIN)/python -m pip list 2> /dev/null | grep -E "^(numpy|scipy|scikit-learn|pandas|polars|pyarrow) "
	$(BIN)/python -m pytest -n 2 $(OPTIONS)

test-long: $(VENV)/.test $(VENV)/.hardening  ## hours: fuzzing, faults, environments, mutants; adds rows to hardening/results
	$(BIN)/python -m hardening.golden --keep
	$(BIN)/python -m hardening.environments
	$(BIN)/python -m hardening.backends --backends dask
	$(BIN)/python -m hardening.crowds
	$(BIN)/python -m hardening.inputs --seconds $(SECONDS_EACH)
	$(BIN)/python -m hardening.readers --seconds $(SECONDS_EACH)
	$(BIN)/python -m hardening.arguments --seconds $(SECONDS_EACH)
	$(BIN)/python -m hardening.faults
	$(BIN)/python -m hardening.mutation --minutes $(MINUTES)
	$(BIN)/python -m hardening.mutation --report

# Python itself leaks at its end, and is not built with the sanitizer: it is loaded first.
test-sanitized: $(VENV)/.test  ## the tests of kernels with checks of every access to memory and every overflow
	$(BIN)/python hatch_build.py --out $(VENV)/sanitized.so -O1 -g -fno-omit-frame-pointer \
		-fsanitize=address,undefined -fno-sanitize-recover=all
	LD_PRELOAD=`$${CC:-cc} -print-file-name=libasan.so` ASAN_OPTIONS=detect_leaks=0 \
		BESTK_LIBRARY=$(CURDIR)/$(VENV)/sanitized.so $(BIN)/python -m pytest -q tests/native

coverage: $(VENV)/.test $(VENV)/.hardening  ## which lines and branches of Python the tests run
	$(BIN)/python -m pytest -n 2 -q --cov=bestk --cov-branch --cov-report=term:skip-covered

audit: $(VENV)/.hardening  ## known flaws of what is installed (asks the index for them)
	$(BIN)/python -m pip_audit --skip-editable

lint: $(VENV)/.test  ## ruff (check and format), mypy and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

format: $(VENV)/.test  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs  ## build the documentation, warnings as errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: $(VENV)/.dist  ## build the wheel and the sdist, and look into them
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/packaging/contents.py dist

wheels: dist  ## wheels for other systems, compiled by zig and not run here
	for platform in manylinux_2_17_aarch64 macosx_11_0_x86_64 macosx_11_0_arm64 win_amd64; do \
		BESTK_PLATFORM=$$platform $(BIN)/python -m build --wheel || exit 1; \
	done

minimum: $(BIN)/python  ## write the lowest versions that pyproject.toml admits to tests/packaging/minimum.txt
	$(BIN)/python tests/packaging/minimum.py > tests/packaging/minimum.part
	mv tests/packaging/minimum.part tests/packaging/minimum.txt

bench: $(VENV)/.bench  ## bestk beside its peers: minutes, then hours (DATA and BQP: folders of data sets and problems)
	$(BIN)/python -m benchmarks.counting
	$(BIN)/python -m benchmarks.solvers
	$(BIN)/python -m benchmarks.selectors
	$(BIN)/python -m benchmarks.quality run
	$(BIN)/python -m benchmarks.quality report
	$(BIN)/python -m benchmarks.peers

paper: $(VENV)/.plots  ## every table and figure of the paper beside what it prints (DATA=folder of the sets; QUICK=1 for ten minutes)
	$(BIN)/python -m experiments $(if $(QUICK),--quick) $(PAPER)

clean:  ## remove the environment and what was built
	rm -rf .venv .venv-* dist docs/_build docs/generated docs/auto_examples .pytest_cache .mypy_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]" $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
	@touch $@
