# Every target sets up what it needs first; a second run is instant.
#   make demo   the main job on a shipped model       make test         all tests
#   make lint   style, types, layers, licences        make conformance  every operator on every backend
#   make bench  the measured figures                  make card         train, flash and validate: the whole card
#   make bench-mcu  cycles and bytes on chips         make bench-operators  what is taken, and whether it is right
#   make bench-long-tail  rendered operators beside loops by hand
#   make docs   write the generated pages again       make lock         choose the newest dependencies
#   make pytorch  PyTorch's exporters of today, at every opset, against PyTorch (a large download)
#   make clean  remove everything that set-up and builds made

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
PYTEST_ARGS ?= -n auto
BENCH_ARGS ?=

C_FILES = $(shell find runtime_c boards -name '*.[ch]')

.PHONY: help demo test lint format conformance bench bench-mcu bench-long-tail bench-operators card docs pytorch lock clean

help:
	@sed -n '2,9s/^# *//p' Makefile

# --- set-up ----------------------------------------------------------------------------------------------------------

.venv/python: .ci/venv
	@PYTHON='$(PYTHON)' .ci/venv create

.venv/ready-demo: .venv/python pyproject.toml requirements.lock
	@.ci/venv install requirements.lock pico
	touch $@

.venv/ready-dev: .venv/python pyproject.toml requirements-dev.lock
	@.ci/venv install requirements-dev.lock dev
	touch .venv/ready-demo $@

# The emulator's npm package, pinned by version and integrity hash, in the user's cache.
.venv/ready-emulator: toolchain/burnc/sim/rp2040js_package.py
	@$(BIN)/python -m burnc.sim.rp2040js_package
	touch $@

# The Debian packages that the tests need; installed only where their commands or libraries are missing.
.venv/ready-debian: .venv/python .ci/debian_packages
	@.ci/debian_packages gcc g++ gcc-arm-none-eabi clang libclang-rt-dev cppcheck cmake libvulkan1 mesa-vulkan-drivers \
	    qemu-system-arm qemu-system-misc
	touch $@

# --- what people run -------------------------------------------------------------------------------------------------

demo: .venv/ready-demo
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/burnc demo --output build/demo --force

test: .venv/ready-debian .venv/ready-dev
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/python -m pytest $(PYTEST_ARGS)

conformance: .venv/ready-debian .venv/ready-dev
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests/conformance

bench: .venv/ready-debian .venv/ready-dev
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/python benchmarks/main_job.py $(BENCH_ARGS)

bench-mcu: .venv/ready-debian .venv/ready-dev
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/python benchmarks/mcu.py $(BENCH_ARGS)

bench-long-tail: .venv/ready-debian .venv/ready-dev
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/python benchmarks/long_tail.py $(BENCH_ARGS)

bench-operators: .venv/ready-debian .venv/ready-dev
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/python benchmarks/operators.py $(BENCH_ARGS)

card: .venv/ready-debian .venv/ready-dev
	@$(MAKE) --no-print-directory .venv/ready-emulator
	$(BIN)/python benchmarks/whole_card.py $(BENCH_ARGS)

# PyTorch has an environment of its own: burnc needs none of it.
pytorch: .venv/ready-debian .venv/ready-dev
	@.ci/pytorch build/pytorch
	build/pytorch/bin/python tests/pytorch/export_models.py build/pytorch/models --all
	BURNC_PYTORCH_MODELS=build/pytorch/models $(BIN)/python -m pytest $(PYTEST_ARGS) tests/pytorch

lint: .venv/ready-dev
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	.ci/layers
	$(BIN)/clang-format --dry-run -Werror $(C_FILES)
	$(BIN)/python .ci/house_rules.py
	$(BIN)/python docs/generate.py --check

format: .venv/ready-dev
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

docs: .venv/ready-dev
	@$(BIN)/python docs/generate.py

# --- upkeep ----------------------------------------------------------------------------------------------------------

# Names, versions and the hashes of all wheels for all platforms; nothing that says where they came from.
lock: .venv/python
	@$(BIN)/python -m pip install --quiet uv
	compile="$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	         --no-emit-index-url --no-emit-find-links --no-annotate --no-header --only-binary :all:"
	echo 'hatchling' | $$compile pyproject.toml - --extra pico --output-file requirements.lock
	$$compile pyproject.toml --extra dev --output-file requirements-dev.lock

clean:
	@rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
