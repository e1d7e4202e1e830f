# Two commands set everything up: `make lab` to use it, `make test` to check it.
# They need Python >= 3.11 and Node >= 20.19; everything else goes into .venv and node_modules.

PYTHON ?= python3
PYTEST_ARGS ?=
# What was asked for, also in the make that sets up.
GOALS ?= $(MAKECMDGOALS)
export GOALS
LAB_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
NODE_MODULES := node_modules/.package-lock.json
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# Certificates as pip and npm see them, also behind a proxy that signs its own.
UV_SYSTEM_CERTS ?= 1
export UV_SYSTEM_CERTS

# Many containers set it; every process then compiles all it imports (`tvmdbg --help`: 0.8 s instead of 0.2 s).
unexport PYTHONDONTWRITEBYTECODE

# Whole files to as many processes as tests/conftest.py says, in its order.
SHARED := -n auto --dist loadfile --no-loadscope-reorder

# The bundles are made by `bundle`, not by the editable install.
INSTALL := TVMDBG_SKIP_JS=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip install --quiet --constraint constraints.txt

.DELETE_ON_ERROR:
.PHONY: help lab test test-all docs check ruff mypy tsc biome test-js bundle chromium constraints clean distclean

help: ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name does; do \
	  printf '  make %-12s %s\n' "$$name" "$$does"; done
	@echo '  variables: PYTHON=$(PYTHON), PYTEST_ARGS, LAB_ARGS, TVMDBG_CHROMIUM, TVMDBG_CORPUS'

lab: $(VENV)/.lab bundle ## install into .venv and open JupyterLab on a copy of the first notebook
	@mkdir -p playground
	@for each in notebooks/*.ipynb; do test -e playground/$${each##*/} || cp $$each playground/; done
	@$(BIN)/jupyter trust $(patsubst notebooks/%,playground/%,$(wildcard notebooks/*.ipynb))
	$(BIN)/python -m jupyterlab $(AS_ROOT) --notebook-dir=playground \
	  --LabApp.default_url=/lab/tree/quickstart.ipynb $(LAB_ARGS)

# Linters, types and vitest run beside pytest, which alone would leave a core idle now and then.
define test_with
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target --keep-going check test-js \
	  >$(VENV)/check.log 2>&1 & checked=$$!; \
	$(BIN)/python -m pytest $(SHARED) $(1) $(PYTEST_ARGS); tested=$$?; \
	wait $$checked; checked=$$?; \
	echo "tested=$$tested checked=$$checked" >$(VENV)/test.status; \
	[ $$checked = 0 ] || { cat $(VENV)/check.log; exit 1; }; \
	exit $$tested
endef

test: ready ## set everything up, check, run the core tests
	$(call test_with,-m "not slow and not hosts")

test-all: ready $(VENV)/.docs ## the same, with other hosts, slow tests and long fuzzing
	$(call test_with,--hypothesis-profile=long)

# Tests of vitest that read a clock.
test-all: export TVMDBG_CLOCKS := 1

docs: $(VENV)/.docs bundle ## build notebooks and reference as an offline site in docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

check: ruff mypy tsc biome ## linters and types, Python and TypeScript

ruff: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

mypy: $(VENV)/.test
	$(BIN)/mypy

tsc: $(NODE_MODULES)
	npx --no-install tsc

biome: $(NODE_MODULES)
	npx --no-install biome check js

test-js: $(NODE_MODULES)
	npx --no-install vitest run

bundle: $(NODE_MODULES) ## build the front ends into tvmdbg_widgets/static
	@npm run --silent build

# Packages, bundles and Chromium do not wait for each other.
.PHONY: ready
ready:
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.test bundle chromium

chromium: $(VENV)/.test
	@$(BIN)/python tests/chromium.py

constraints: $(VENV)/.lab ## resolve constraints.txt anew
	$(UV) pip compile --quiet pyproject.toml --all-extras --universal --python-version 3.11 --upgrade \
	  --no-header --no-annotate --no-emit-index-url --output-file $(VENV)/constraints.txt
	(head -n 1 constraints.txt && cat $(VENV)/constraints.txt) > $(VENV)/with-head.txt
	mv $(VENV)/with-head.txt constraints.txt

clean: ## remove what was built
	rm -rf tvmdbg_widgets/static dist build docs/_build docs/notebooks .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find tvmdbg_widgets tests js -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove also .venv and node_modules
	rm -rf $(VENV) node_modules

$(UV): constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "tvmdbg-widgets needs Python 3.11 or newer, and '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)."; \
	  echo "Name another one: make PYTHON=/path/to/python3.11 $(GOALS)"; exit 1; } >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@touch $@

$(VENV)/.lab: $(UV) pyproject.toml constraints.txt
	$(INSTALL) --editable '.[lab]'
	@touch $@

$(VENV)/.test: $(UV) pyproject.toml constraints.txt
	$(INSTALL) --editable '.[lab,test]'
	@touch $@ $(VENV)/.lab

$(VENV)/.docs: $(UV) pyproject.toml constraints.txt
	$(INSTALL) --editable '.[docs]'
	@touch $@

$(NODE_MODULES): package.json package-lock.json
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null || { \
	  echo "tvmdbg-widgets is built with Node 20.19 or newer, and here is: $$(node --version 2>/dev/null || echo none)." >&2; exit 1; }
	npm ci --silent
	@touch $@
