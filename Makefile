# Every target makes the environment that it needs, from nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
BENCH  := .venv-bench
PIP    := -m pip --disable-pip-version-check --quiet
# One thread a test process: the processes share the cores already.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
JOBS   ?= 2
# The report is tested in Debian's browser; nothing is downloaded by playwright.
CHROMIUM := /usr/bin/chromium
APT    := DEBIAN_FRONTEND=noninteractive apt-get -qq

.PHONY: demo test lint bench browser clean
.DEFAULT_GOAL := demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { echo "cannot make a virtual environment: on Debian, apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) install -e '.[cli,report]'
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) install -e '.[test]'
	touch $@ $(VENV)/.demo

## demo: embed 32 mouse brains; tables, a picture and a report appear in demo-output/
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
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --doctest-modules src tests

## bench: measure against other ways to do the same; see benchmarks/RESULTS.md
bench:
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) install -e . -r benchmarks/requirements.txt
	$(BENCH)/bin/python -m benchmarks

clean:
	rm -rf $(VENV) $(BENCH) .venv-peers demo-output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
