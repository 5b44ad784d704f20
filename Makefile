# Every target is self-contained on a fresh machine with Python >= 3.11, git and make.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
MINUTES ?= 10
LOCKS := requirements/uv.txt requirements/dev.txt pyproject.toml
export UV_LINK_MODE := copy
# What pytest makes of the assertions in a file is kept in its byte code.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: advisories arena attacks autonomy cluster help setup system web web-types check check-source check-tests check-versions format test test-model test-servers matrix soak cgroups screenshots conformance bench demo self up docs lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: .venv/.ready system web  ## virtual environment, dashboard, system packages when possible

.venv/.ready: $(LOCKS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Astra needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@if [ -d .git ]; then git config core.hooksPath scripts/hooks; fi
	@touch $@

system:
	@bash scripts/system-packages

web: .venv/.ready  ## build the dashboard and the documentation site, unless they are built
	@$(BIN)/python scripts/docs_site.py
	@$(BIN)/python scripts/web.py build || echo "going on without the dashboard"

web-types: setup  ## write the dashboard's types from web/openapi.json
	$(BIN)/python scripts/web.py types

check: setup  ## format, lint, types, layers, unit and contract tests
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-source check-tests

# Two halves of `check`, side by side; what each prints stays together and comes when it has ended.
check-source:
	$(BIN)/basedpyright --level error
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/web.py check

check-tests:
	$(BIN)/pytest -q -n 2 --dist loadgroup src tests/unit tests/contract

check-versions: setup  ## unit and contract tests on the lowest and the highest other Python found
	$(BIN)/python scripts/check_versions.py

format: setup  ## rewrite files in the project's format
	$(BIN)/ruff format --quiet . && $(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .
	$(BIN)/python scripts/web.py format

test: setup  ## every test
	$(BIN)/pytest -q -n 4 --dist loadgroup -m "not serial"
	$(BIN)/pytest -q -m serial $$(grep -rl --include='test_*.py' --exclude-dir=model 'mark[.]serial' tests)

test-model: setup .venv-model/.ready  ## plans with a real, very small language model; builds it first
	LOCAL_MODEL_PYTHON=$(CURDIR)/.venv-model/bin/python $(BIN)/pytest -q -s -n 0 tests/model

.venv-model/.ready: requirements/model.txt
	$(PYTHON) -m venv --clear .venv-model
	CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" .venv-model/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements/model.txt
	@touch $@

autonomy: setup .venv-autonomy/.ready $(CODER:%=.venv-%/.ready)  ## from a desire to a deployed change with a real small model; writes benchmarks/AUTONOMY.md
	$(BIN)/python benchmarks/autonomy/run.py

.venv-autonomy/.ready: requirements/autonomy.txt scripts/autonomy_model.py
	@if [ -z "$$ASTRA_MODEL_BASE_URL" ]; then \
	  $(PYTHON) -m venv .venv-autonomy && \
	  .venv-autonomy/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements/autonomy.txt && \
	  .venv-autonomy/bin/python scripts/autonomy_model.py .venv-autonomy && touch $@; fi

# Coding agents of others, for `CODER=aider make autonomy`.
.venv-mini-swe-agent/.ready .venv-aider/.ready: .venv-%/.ready: requirements/%.txt
	$(BIN)/uv venv -q --clear --python $(BIN)/python .venv-$*
	$(BIN)/uv pip install -q --compile-bytecode --python .venv-$*/bin/python --require-hashes -r requirements/$*.txt
	@touch $@

test-servers: setup .servers/.ready  ## other MCP servers from the registries, behind the gate
	REAL_SERVERS=$(CURDIR)/.servers $(BIN)/pytest -q -n 0 tests/real_servers

.servers/.ready: requirements/servers.txt requirements/servers.npm
	rm -rf .servers && mkdir -p .servers/node
	$(BIN)/uv venv -q --python $(BIN)/python .servers/py
	$(BIN)/uv pip install -q --python .servers/py/bin/python --require-hashes -r requirements/servers.txt
	cd .servers/node && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --no-fund --no-audit --no-package-lock $$(cat ../../requirements/servers.npm)
	@touch $@

matrix: setup  ## the test matrix of `astra readiness`, into matrix.json
	$(BIN)/python scripts/matrix.py

soak: setup  ## faults at random under mixed work: make soak MINUTES=60, or MINUTES=10 SEED=1
	PYTHONPATH=tests $(BIN)/python tests/soak.py --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

cgroups: setup  ## the tests of control groups on a kernel of their own: user-mode Linux
	@scripts/cgroups

screenshots: setup  ## pictures of every page of the dashboard, into docs/screenshots
	$(BIN)/python scripts/web.py screenshots

attacks: setup  ## run every attack, or GROUPS="egress record", and write the table of docs/explanation/attacks.md
	$(BIN)/python scripts/attacks.py $(GROUPS)

arena: setup .venv-arena/.ready  ## attack sets of others and honest twins at the real doors: make arena SAMPLE=5
	$(BIN)/python scripts/arena/run.py --sample $(or $(SAMPLE),0) --seed $(or $(SEED),1) --minutes $(or $(LIMIT),0) $(if $(SETS),--sets $(SETS)) \
	  $(if $(REDCODE),--redcode $(REDCODE)) $(if $(GOVBENCH),--govbench $(GOVBENCH))

.venv-arena/.ready: requirements/arena.txt requirements/arena-data.txt
	rm -rf .venv-arena
	$(BIN)/uv venv -q --python $(BIN)/python .venv-arena
	$(BIN)/uv pip install -q --compile-bytecode --python .venv-arena/bin/python --require-hashes -r requirements/arena.txt
	$(BIN)/uv pip install -q --python .venv-arena/bin/python --no-deps --require-hashes -r requirements/arena-data.txt
	@touch $@

conformance: setup  ## the official MCP inspector and conformance suite; npm fetches them
	$(BIN)/python scripts/conformance/run.py

bench: setup  ## measure, and write benchmarks/RESULTS.md
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/bench.txt
	$(BIN)/python benchmarks/run.py

demo: setup  ## the guided story on a throwaway data root
	$(BIN)/astra demo

self: setup  ## Astra changes, tests, deploys and takes back Astra, on a throwaway data root
	@$(BIN)/python scripts/astra_on_astra.py

cluster: setup  ## Postgres, two daemons, three workers and an app on this machine; a release that takes itself back
	@$(BIN)/python scripts/cluster.py

up: setup  ## run Astra in the foreground on ./agent-data
	$(BIN)/astra up

docs: setup  ## regenerate docs/reference, the relay's table of tools, web/openapi.json, the picture of imports and the numbers
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/first_answers.py
	$(BIN)/python scripts/openapi.py
	$(BIN)/python scripts/import_graph.py
	$(BIN)/python scripts/where.py
	$(BIN)/python scripts/measure_code.py --write

advisories: setup  ## look up every locked package in OSV's database: make advisories DATABASE=folder
	@$(BIN)/python scripts/advisories.py $(DATABASE)

lock: setup  ## refresh the hashed requirements files
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header requirements/uv.in -o requirements/uv.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header pyproject.toml -o requirements/runtime.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header pyproject.toml --group dev -o requirements/dev.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header pyproject.toml --group bench -o requirements/bench.txt
	$(BIN)/uv pip compile -q --upgrade --no-deps --universal --generate-hashes --no-header requirements/model.in -o requirements/model.txt
	$(BIN)/uv pip compile -q --upgrade --no-deps --universal --generate-hashes --no-header requirements/autonomy.in -o requirements/autonomy.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header requirements/mini-swe-agent.in -o requirements/mini-swe-agent.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header requirements/aider.in -o requirements/aider.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header requirements/servers.in -o requirements/servers.txt
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-header requirements/arena.in -o requirements/arena.txt
	$(BIN)/uv pip compile -q --upgrade --no-deps --universal --generate-hashes --no-header requirements/arena-data.in -o requirements/arena-data.txt

clean:  ## remove what the other targets made
	rm -rf .venv .venv-model .venv-autonomy .venv-mini-swe-agent .venv-aider .venv-arena .servers .venv-check-* .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	rm -rf web/node_modules src/astra/interfaces/web/dist src/astra/interfaces/web/docs
