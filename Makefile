# Every target makes the environment that it needs, from nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
BENCH  := .venv-bench
PIP    := -m pip --disable-pip-version-check --quiet
# One thread a test process: the processes share the cores already.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
JOBS   ?= 2
SPELLED := README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs src tools benchmarks experiments
# The report is tested in Debian's browser; nothing is downloaded by playwright.
CHROMIUM := /usr/bin/chromium
APT    := DEBIAN_FRONTEND=noninteractive apt-get -qq

.PHONY: demo test test-slow test-seeds coverage mutants fuzz lint docs starts reproduce release-check bench browser clean
.DEFAULT_GOAL := demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { echo "cannot make a virtual environment: on Debian, apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) install -e '.[cli,report]'
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) install -e '.[test]'
	touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml | $(VENV)/.test
	$(BIN)/python $(PIP) install -e '.[docs]'
	touch $@

$(VENV)/.experiments: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) install -e '.[experiments]'
	touch $@ $(VENV)/.demo

$(VENV)/.release: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) install -e '.[release]'
	touch $@

## demo: embed 32 mouse brains; tables and a report appear in demo-output/
demo: $(VENV)/.demo
	$(BIN)/eigengraphs demo --output demo-output

## lint: style, types and layers
lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

## browser: Debian's chromium, if it is absent and can be installed
browser:
	@test -x $(CHROMIUM) || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && { \
	    $(APT) install --no-install-recommends -y chromium >/dev/null || { \
	      $(APT) update && $(APT) install --no-install-recommends -y chromium >/dev/null; }; }; \
	} || echo "no $(CHROMIUM): the tests of the report in a browser are skipped" >&2

## test: lint, then all tests and the examples in the documentation
test: lint browser
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) -m "not slow" --doctest-modules src tests

## test-seeds: the core tests with other random numbers, for seeds 0 to 19
test-seeds: $(VENV)/.test
	$(BIN)/python -m tools.seeds --jobs $(JOBS)

## coverage: branches of src that the tests take, in htmlcov/; fails under 93 %
coverage: $(VENV)/.test
	rm -f .coverage .coverage.*
	$(ONE_THREAD) $(BIN)/coverage run -m pytest -q -n $(JOBS) -m "not slow" --doctest-modules src tests
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report --sort=miss --skip-covered --fail-under=93

## mutants: small wrongs put into solvers and stacks one by one; see tests/mutation/RESULTS.md
mutants: $(VENV)/.test
	$(BIN)/python -m tools.mutants

## fuzz: ten minutes of changed files for every reader; see tests/fuzz/RESULTS.md
fuzz: $(VENV)/.test
	$(BIN)/python $(PIP) install -e '.[fuzz]' || echo "no atheris here: changes are blind" >&2
	$(BIN)/python -m tools.fuzz --seconds 600 --jobs $(JOBS)

## test-slow: what takes ten seconds to some minutes each
test-slow: lint browser
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) -m slow tests

## docs: the site, in docs/_build/html; a warning is an error
docs: $(VENV)/.docs
	$(BIN)/codespell $(SPELLED)
	$(BIN)/python -m tools.architecture --check
	$(BIN)/sphinx-build -W -E --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python -m tools.site docs/_build/html

## starts: the five-minute starts of the site, to the letter, each in a fresh copy
starts: $(VENV)/.test
	$(BIN)/python -m tools.starts

## reproduce: the paper's figures and tables in small sizes; FULL=1 for the paper's repetitions
reproduce: $(VENV)/.experiments
	$(BIN)/python -m experiments all $(if $(FULL),--full,--quick) --jobs $(JOBS)

## release-check: wheel, metadata, and installs with the lowest and the newest dependencies
release-check: $(VENV)/.release
	$(BIN)/python -m tools.release

## bench: measure against other ways to do the same; see benchmarks/RESULTS.md
bench:
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) install -e ".[cli,dask]" -r benchmarks/requirements.txt
	$(BENCH)/bin/python -m benchmarks

clean:
	rm -rf $(VENV) $(BENCH) .venv-peers .venv-first build demo-output docs/_build docs/auto_gallery docs/reference/names htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
