# Foretell's commands. A fresh machine needs Python 3.11+ with venv, and make; the tests also need gcc and Java 17.
# The first run creates .venv; later runs reinstall only when pyproject.toml or the version changes.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh

# The first interpreter that is new enough; `make PYTHON=/path/to/python test` decides otherwise.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint types bench clean require-python require-toolchain

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile

demo: $(VENV)/.demo  ## a broker, a day of real flights, and what its subscribers are told
	@$(BIN)/foretell demo

test: require-toolchain $(VENV)/.dev  ## every gate: ruff, mypy, then pytest (which also checks imports and the wheel)
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} $(BIN)/pytest -q -n $(JOBS) --dist loadgroup

lint: $(VENV)/.dev  ## ruff and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports --no-cache

types: $(VENV)/.dev  ## mypy, strict
	@$(BIN)/mypy

bench: $(VENV)/.dev  ## the benchmarks; results are kept as JSON
	@$(BIN)/python -m benchmarks

clean:  ## remove the virtual environment and everything that was generated
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.demo: pyproject.toml broker/__init__.py | require-python
	@$(call install,demo)

# dev contains demo: whoever has tested need not install again for the demo.
$(VENV)/.dev: pyproject.toml broker/__init__.py | require-python
	@$(call install,dev)
	@touch $(VENV)/.demo

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

# Nothing is compiled and no Spark job is run yet. The test run of later releases does both, and asks for the tools now
# so that a machine that can run the tests today can also run them then.
require-toolchain: | require-python
	@command -v gcc >/dev/null || { echo "make: gcc is missing; the test run needs it" >&2; exit 1; }
	@command -v java >/dev/null || { echo "make: java is missing; the test run needs Java 17 or newer" >&2; exit 1; }
	@java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | { read -r major; test "$${major:-0}" -ge 17; } || \
		{ echo "make: Java 17 or newer is missing; found: $$(java -version 2>&1 | head -n 1)" >&2; exit 1; }
