# Every target sets up what it needs in .venv and is quick the second time.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.ready-to-run
DEV    := $(VENV)/.ready-to-develop
# `make run` keeps its state here unless told otherwise; `rm -r .run` starts afresh.
DATA_DIR ?= .run
# Sources are compiled once, as those of an installed program are: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
# The one part in C, for which a compiler is wanted but not needed (hatch_build.py).
LANES  := hatch_build.py src/tidegate/format/blocks/_sha512_lanes.c
# What runs the tests; `.ci/run` gives one that runs failures once more.
PYTEST ?= -m pytest
# The web page: built into the package, so that a checkout and a wheel have it at the same place.
PAGE   := src/tidegate/page/index.html
NPM_CI := ui/node_modules/.ready
UI     := $(shell find ui/src ui/public -type f) ui/index.html ui/vite.config.ts
NODE   := $(shell command -v npm 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help run demo test test-long check ui ui-check ui-test bench bench-store bench-catalogue format generate lock clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Tidegate needs Python 3.11 or newer; give one with: make PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(RUN): requirements.lock pyproject.toml $(LANES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.lock $(RUN)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

$(NPM_CI): ui/package-lock.json
	cd ui && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): $(NPM_CI) $(UI)
	cd ui && npm run --silent build

run: $(RUN) ## a backup server and its web page on this machine, state in .run (DATA_DIR=... for another place)
	@test -e $(PAGE) || test -z "$(NODE)" || $(MAKE) --no-print-directory $(PAGE) \
	  || echo "the web page could not be built; the server runs without it"
	@$(BIN)/tidegate server --data-dir $(DATA_DIR)

demo: $(RUN) ## a story of a minute: back up, destroy, restore, compare
	@$(BIN)/tidegate demo

ifdef NODE
ui: $(PAGE) ## build the web page

ui-test: $(NPM_CI) ## tests of the page's logic (those in a browser are in tests/page)
	cd ui && npm run --silent test

ui-check: $(NPM_CI) ## types and layout of the page
	cd ui && npm run --silent check
else
ui ui-test ui-check:
	@echo "skipped: $@ needs Node.js 20.19 or newer"
endif

test: $(DEV) ui-test ## all tests but the long ones
	$(BIN)/python $(PYTEST) -n 4 --dist worksteal -q -m "not long"

test-long: $(DEV) ui ## the long ones: browsers, kills, disasters, storms (tests/conftest.py names them)
	$(BIN)/python $(PYTEST) -n 2 --dist loadgroup -q -m long

check: $(DEV) ui-check ## lint, types, import contracts, generated files up to date
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tidegate.app.generate --check

bench: $(DEV) ## the numbers of docs/benchmarks.md, measured here and now
	$(BIN)/python -m bench

bench-store: $(DEV) ## backups and restores against restic and the machine's own limit (BENCH_SCALE=0.1 for a quick look)
	$(BIN)/python -m bench store

bench-catalogue: $(DEV) ## lists of a million backups, syncs with a far store (BENCH_SCALE=0.05 for a quick look)
	$(BIN)/python -m bench catalogue deletes seed-plan

format: $(DEV) ## let ruff order and format the sources
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

generate: $(DEV) ## write the generated files anew (docs/openapi.json, docs/cli.md, docs/settings.md, the page's types)
	$(BIN)/python -m tidegate.app.generate

lock: $(DEV) ## resolve the dependencies anew and write the lock files
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  pyproject.toml --group dev -o requirements-dev.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  pyproject.toml --group build -c requirements-dev.lock -o requirements.lock

clean: ## remove what the other targets made, but not .run
	rm -rf $(VENV) dist src/tidegate/format/blocks/*.so ui/node_modules src/tidegate/page .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
