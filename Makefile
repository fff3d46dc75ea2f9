# Every target creates its own environment; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTHONS ?= 3.12 3.13
DATA ?= $(BESTK_DATA)
BQP ?= $(BESTK_BQP)
TORCH ?= torch==2.13.0
GPU_PYTHON ?= $(BIN)/python
SECONDS_EACH ?= 1800
MINUTES ?= 60
# Absolute paths, since examples run in a folder of their own.
export BESTK_DATA := $(abspath $(DATA))
export BESTK_BQP := $(abspath $(BQP))
# Python compiles what is imported, once; pip would compile all that it installs.
export PYTHONDONTWRITEBYTECODE :=
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests of `make check`: one or two quick files of every package.
CHECKED := $(addprefix tests/,golden test_imports.py test_package.py test_errors.py test_table.py test_codes.py test_files.py \
	test_problem.py test_methods.py test_criteria.py test_entropy_reader.py test_bounds.py test_cli.py \
	discretize/test_caim.py discretize/test_mdlp.py information/test_definition.py native/test_table_kernels.py \
	solvers/test_referee.py solvers/test_simple.py selector/test_selector.py fuzz/test_found.py)

.DEFAULT_GOAL := help
.PHONY: help demo check test test-docs test-torch test-gpu test-browser test-wheel test-min test-newest test-pythons test-long test-sanitized coverage audit suite \
	lint format docs dist wheels minimum bench paper clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 23

demo: $(VENV)/.demo  ## select features of a real table, compare methods and write a report
	$(BIN)/python examples/demo.py

check: lint  ## lint, types, import rules and quick tests: a minute
	$(BIN)/python -m pytest -n 2 -q $(CHECKED)

test: lint  ## lint, types, import rules, all tests and doctests: run it before a commit
	$(BIN)/python -m pytest -n 2 --ignore=tests/docs

test-docs: $(VENV)/.test  ## the code, commands and generated pages of the documentation, and the examples
	$(BIN)/python -m pytest -n 2 docs tests/docs

test-torch: $(VENV)/.test  ## the GPU backend, on the CPU if there is no GPU (installs PyTorch)
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pytest tests/information/test_torch.py tests/information/test_torch_columns.py src/bestk/information/backends

# The tests of `make test-gpu` run where PyTorch and a GPU are: GPU_PYTHON=python3 for an environment of its own.
test-gpu: $(if $(filter $(BIN)/python,$(GPU_PYTHON)),$(VENV)/.test)  ## every public call on a GPU beside the CPU (GPU_PYTHON: with PyTorch)
	PYTHONPATH=src:$$PYTHONPATH $(GPU_PYTHON) -m pytest -n 4 -q tests/gpu tests/information/test_torch.py tests/information/test_torch_columns.py

test-browser: $(VENV)/.test $(VENV)/.browser  ## reports in a browser (installs Debian's Chromium if it can)
	@tests/packaging/get_browser
	$(BIN)/python -m pytest tests/report/test_browser.py

test-wheel: dist  ## the wheel and the sdist, in an environment without extras, compiled by zig as well
	rm -rf .venv-clean
	$(PYTHON) -m venv .venv-clean
	.venv-clean/bin/python -m pip install --quiet dist/*.whl
	.venv-clean/bin/python -I tests/packaging/smoke.py
	CC= PATH=$(CURDIR)/.venv-clean/bin \
		.venv-clean/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist/again dist/*.tar.gz
	.venv-clean/bin/python tests/packaging/contents.py dist dist/again
	.venv-clean/bin/python -m pip install --quiet --force-reinstall --no-deps dist/again/*.whl
	.venv-clean/bin/python -I tests/packaging/smoke.py

# Old versions issue warnings of their own; benchmarks and experiments are not part of the package.
test-min:  ## the tests with the oldest supported versions
	$(MAKE) suite VENV=.venv-min PYTHON=`tests/packaging/find_python 3.11` CONSTRAINTS=tests/packaging/minimum.txt \
		OPTIONS="-W default --ignore tests/benchmarks --ignore tests/experiments"

test-newest:  ## the tests with the newest versions, on the last of PYTHONS
	rm -rf .venv-newest
	$(MAKE) suite VENV=.venv-newest PYTHON=`tests/packaging/find_python $(lastword $(PYTHONS))`

test-pythons:  ## the tests on other versions of Python (PYTHONS="3.12 3.13")
	@for version in $(PYTHONS); do \
		python=`tests/packaging/find_python $$version` && \
		$(MAKE) suite VENV=.venv-$$version PYTHON=$$python || exit 1; \
	done

suite: $(VENV)/.test
	$(BIN)/python -m pip list 2> /dev/null | grep -E "^(numpy|scipy|scikit-learn|pandas|polars|pyarrow) "
	$(BIN)/python -m pytest -n 2 --ignore=tests/docs $(OPTIONS)

test-long: $(VENV)/.test $(VENV)/.hardening  ## hours of fuzzing, fault injection and mutation testing
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

# Python itself leaks at exit, and is not built with the sanitizer, so the sanitizer is preloaded.
test-sanitized: $(VENV)/.test  ## the tests of kernels with address and overflow checks
	$(BIN)/python hatch_build.py --out $(VENV)/sanitized.so -O1 -g -Werror -fno-omit-frame-pointer \
		-fsanitize=address,undefined -fno-sanitize-recover=all
	LD_PRELOAD=`$${CC:-cc} -print-file-name=libasan.so` ASAN_OPTIONS=detect_leaks=0 \
		BESTK_LIBRARY=$(CURDIR)/$(VENV)/sanitized.so $(BIN)/python -m pytest -q tests/native

coverage: $(VENV)/.test $(VENV)/.hardening  ## coverage of the Python code by the tests
	$(BIN)/python -m pytest -n 2 -q --ignore=tests/docs --cov=bestk --cov-branch --cov-report=term:skip-covered

audit: $(VENV)/.hardening  ## known vulnerabilities of the installed packages
	$(BIN)/python -m pip_audit --skip-editable

lint: $(VENV)/.test  ## ruff (check and format), mypy and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

format: $(VENV)/.test  ## fix the layout with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: test-docs $(VENV)/.docs  ## test and build the documentation, warnings as errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: $(VENV)/.dist  ## build the wheel and the sdist, and check their contents
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/packaging/contents.py dist

wheels: dist  ## wheels for other systems, compiled by zig and not run here
	for platform in manylinux_2_17_aarch64 macosx_11_0_x86_64 macosx_11_0_arm64 win_amd64; do \
		BESTK_PLATFORM=$$platform $(BIN)/python -m build --wheel || exit 1; \
	done

minimum: $(BIN)/python  ## write the oldest supported versions to tests/packaging/minimum.txt
	$(BIN)/python tests/packaging/minimum.py > tests/packaging/minimum.part
	mv tests/packaging/minimum.part tests/packaging/minimum.txt

bench: $(VENV)/.bench  ## the benchmarks: hours (DATA and BQP: folders of data sets and problems)
	$(BIN)/python -m benchmarks.counting
	$(BIN)/python -m benchmarks.solvers
	$(BIN)/python -m benchmarks.selectors
	$(BIN)/python -m benchmarks.quality run
	$(BIN)/python -m benchmarks.quality report
	$(BIN)/python -m benchmarks.peers

paper: $(VENV)/.plots  ## the tables and figures of the paper (DATA: folder of the data sets; QUICK=1: ten minutes)
	$(BIN)/python -m experiments $(if $(QUICK),--quick) $(PAPER)

clean:  ## remove the environments and build outputs
	rm -rf .venv .venv-* dist docs/_build docs/generated docs/auto_examples .pytest_cache .mypy_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[$*]" $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
	@touch $@
