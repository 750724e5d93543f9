# Foretell's commands. A fresh machine needs Python 3.11+ with venv, and make; the tests also need gcc and Java 17.
# The first run creates .venv; later runs reinstall only when pyproject.toml or the version changes.
# The repository itself always runs as pure Python. What users install, with its compiled engine, is built from it and
# lies in .venv/native: built again when a source has changed, so that nothing compiled is ever older than its source.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh

# The first interpreter that is new enough; `make PYTHON=/path/to/python test` decides otherwise.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(VENV)/native
SOURCES := setup.py pyproject.toml $(shell find broker client spark_bridge -name '*.py' -o -name '*.lark')
# Not from the folder in which a process starts: that may be the repository.
NATIVELY := PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/$(NATIVE)
# What the compiled modules do, and what passes through all of them; the rest of the tests does not know the difference.
NATIVE_TESTS := $(addprefix tests/unit/,algebra automaton engine events kernel server wire) tests/laws tests/conformance \
	tests/simulation tests/torture $(wildcard tests/integration/test_broker_*.py tests/integration/test_flights_*.py)

TORTURE := PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/$(NATIVE):$(CURDIR)/tests ../$(BIN)/python -m

.NOTPARALLEL:
.PHONY: help demo test search torture lint types native bench clean require-python require-compiler require-toolchain

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile

demo: $(VENV)/.demo $(NATIVE)/.built  ## a broker, a day of real flights, and what its subscribers are told
	@$(NATIVELY) $(BIN)/foretell demo

test: export HYPOTHESIS_PROFILE ?= ci
test: require-toolchain $(VENV)/.dev native  ## every gate: ruff, mypy, pytest compiled, pytest (with imports and the wheel)
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/pytest -q -n $(JOBS) --dist loadgroup --native $(NATIVE) $(NATIVE_TESTS)
	@$(BIN)/pytest -q -n $(JOBS) --dist loadgroup

search: require-toolchain $(VENV)/.dev native  ## the laws on examples that were never tried, compiled and pure
	@HYPOTHESIS_PROFILE=search $(BIN)/pytest -q -n $(JOBS) --native $(NATIVE) tests/laws
	@HYPOTHESIS_PROFILE=search $(BIN)/pytest -q -n $(JOBS) tests/laws

torture: native  ## kills, power losses, mutated frames, raw connections, stalls, churn, storms: in numbers; some hours
	@cd tests && $(TORTURE) torture.kills 1000
	@cd tests && $(TORTURE) simulation.storage_torture 62000 100000
	@cd tests && $(TORTURE) torture.frames 10000000
	@cd tests && $(TORTURE) torture.requests 1000000
	@cd tests && $(TORTURE) torture.connections 100000
	@cd tests && $(TORTURE) torture.stalls 600
	@cd tests && $(TORTURE) torture.churn 1000000
	@cd tests && $(TORTURE) torture.storm 1000

lint: $(VENV)/.dev  ## ruff and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports --no-cache

types: $(VENV)/.dev  ## mypy, strict
	@$(BIN)/mypy

bench: $(VENV)/.dev  ## the benchmarks; results are kept as JSON
	@$(BIN)/python -m benchmarks

# Where the demonstration came first, without a compiler, what is there is pure.
native: require-compiler $(VENV)/.dev $(NATIVE)/.built  ## the packages with the compiled engine, in .venv/native
	@ls $(NATIVE)/broker/native__mypyc.* >/dev/null 2>&1 || \
		{ rm -f $(NATIVE)/.built && FORETELL_PURE=0 $(MAKE) --no-print-directory $(NATIVE)/.built; }

clean:  ## remove the virtual environment and everything that was generated
	rm -rf $(VENV) benchmarks/rivals/.venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find broker client spark_bridge -name '*.so' -delete

$(VENV)/.demo: pyproject.toml broker/__init__.py | require-python
	@$(call install,demo)

# dev contains demo: whoever has tested need not install again for the demo.
$(VENV)/.dev: pyproject.toml broker/__init__.py | require-python
	@$(call install,dev)
	@touch $(VENV)/.demo

$(NATIVE)/.built: $(SOURCES) | $(VENV)/.demo
	@echo "Building foretell in $(NATIVE) ..."
	@rm -rf $(NATIVE)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(NATIVE) \
		$(if $(wildcard $(VENV)/.dev),--no-build-isolation) .
	@rm -rf build
	@$(NATIVELY) $(BIN)/foretell --version
	@touch $@

define install
	echo "Installing foretell[$(1)] into $(VENV) ..."; \
	{ test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV); } && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(1)]' && \
	touch $@
endef

require-python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or newer is missing (set PYTHON=/path/to/python)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "make: $(PYTHON) is not Python 3.11 or newer" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "make: $(PYTHON) has no venv module (on Debian: apt install python3-venv)" >&2; exit 1; }

require-compiler:
	@command -v gcc >/dev/null || { echo "make: gcc is missing; the compiled engine needs it" >&2; exit 1; }

# The test run has Spark jobs.
require-toolchain: require-compiler | require-python
	@command -v java >/dev/null || { echo "make: java is missing; the test run needs Java 17 or newer" >&2; exit 1; }
	@java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | { read -r major; test "$${major:-0}" -ge 17; } || \
		{ echo "make: Java 17 or newer is missing; found: $$(java -version 2>&1 | head -n 1)" >&2; exit 1; }
