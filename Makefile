PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
SOURCES := pyproject.toml constraints.txt

.PHONY: demo test nightly clean

demo: .venv/installed  ## install what is needed, score the example pairs with every metric, explain one of them
	$(BIN)/gistmeter score all --input examples/pairs.jsonl
	sed -n 2p examples/pairs.jsonl | $(BIN)/gistmeter score cloze speed:against=source --input - --explain

test: .venv/installed-dev  ## install the rest, run every check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

SEED ?= $(shell date +%s)
nightly: .venv/installed-dev  ## every test with fresh examples, the long ones too; repeat a night with SEED=N
	GISTMETER_HYPOTHESIS=fresh $(BIN)/pytest -m "nightly or not nightly" --hypothesis-seed=$(SEED)

clean:
	rm -rf .venv

# torch first and by itself: the constraint picks the tested build, and nothing else may pull in another.
.venv/installed: $(SOURCES)
	$(PYTHON) -m venv .venv
	$(INSTALL) torch
	$(INSTALL) --editable .
	touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) --editable '.[dev]'
	touch $@
