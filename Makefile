# Imbrex. `make demo`: make a mini-app faster, proven. `make test`: everything that CI checks.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := build/demo

# What the tests use of Debian 12. Only what is missing is installed, and only by root.
PACKAGES := build-essential gfortran clang clang-format llvm cmake python3-venv python3-dev \
	openmpi-bin libopenmpi-dev mpich libmpich-dev libarmci-mpi-dev libfabric-dev libpsm2-dev libsimgrid-dev slurm-wlm munge \
	iproute2 lammps hpcc otf2-tools chromium chromium-driver valgrind gdb zsh fish groff

# Open MPI refuses root, and more ranks than cores, unless told otherwise: tests and demo only.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe

# Compiling its modules again is half of what the start of `imbrex` costs, a thousand times here.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check test lint packages clean
help:
	@echo "make demo   find what makes a mini-app faster here, prove it, and write report.html"
	@echo "make check  two minutes: the checks and the quick unit tests, after each edit"
	@echo "make test   install what is missing, then check and test everything"
	@echo "make lint   ruff, mypy, clang-format"
	@echo "make clean  remove .venv and build"

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
		then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv; \
		else echo "python3-venv is missing: sudo apt-get install python3-venv" >&2; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable .
	$(BIN)/imbrex man --quiet
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	$(BIN)/pip install --quiet --editable '.[test]'
	@touch $@

# With an MPI on PATH the demo uses that; else the mpich wheel, which needs a C compiler only. Open
# MPI's shared memory needs no progress of the sender, its TCP does, as on a network.
demo: $(VENV)/.ready
	@set -e; PATH="$(CURDIR)/$(BIN):$$PATH"; export PATH; \
	command -v cc >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
		then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends build-essential; \
		else echo "a C compiler is missing: sudo apt-get install build-essential" >&2; exit 1; fi; }; \
	if ! command -v mpirun >/dev/null || ! command -v mpicc >/dev/null; then \
		echo "no MPI on PATH: installing the mpich wheel into $(VENV)"; pip install --quiet mpich; fi; \
	$(MAKE) --no-print-directory -C apps MPIFC= BUILD="$(CURDIR)/$(DEMO)" front; \
	set --; if mpirun --version 2>/dev/null | grep -q "Open MPI"; then set -- env OMPI_MCA_btl=self,tcp; fi; \
	set -- "$$@" mpirun -n 2 $(DEMO)/front; \
	echo "\$$ imbrex run -- $$*"; imbrex run --force -o $(DEMO)/run -- "$$@"; \
	echo; echo "\$$ imbrex tune --budget 45s -- $$*"; rm -rf $(DEMO)/tune; \
	imbrex tune --budget 45s -o $(DEMO)/tune -- "$$@"; \
	imbrex report $(DEMO)/tune -o report.html; \
	echo "More: report.html in a browser; $(BIN)/imbrex show $(DEMO)/run"

packages:
	@missing=""; for package in $(PACKAGES); do \
		dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q "ok installed" || missing="$$missing $$package"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	else echo "some tests will be skipped; to run them: sudo apt-get install$$missing" >&2; fi

# Tests on real ranks wait for launchers and files a third of their time.
WORKERS := $(shell echo $$(($$(nproc) + 1)))

# What lint finds is told after the tests that run beside it: `make check` waits for both.
BESIDE_LINT = @mkdir -p build; \
	$(MAKE) --no-print-directory lint >build/lint.txt 2>&1 & linting=$$!

test: packages $(VENV)/.ready-test
	$(BESIDE_LINT); $(BIN)/python tests/other_mpis/wheels.py & fetching=$$!; \
	$(BIN)/pytest -q -n auto --dist worksteal tests/unit; result=$$?; wait $$fetching; \
	wait $$linting || result=1; cat build/lint.txt; exit $$result
	$(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m untimed --ignore=tests/unit
	$(BIN)/pytest -q -m "not untimed" --ignore=tests/unit

check: $(VENV)/.ready-test
	$(BESIDE_LINT); $(BIN)/pytest -q -n auto --dist worksteal -m "not slow" tests/unit; result=$$?; \
	wait $$linting || result=1; cat build/lint.txt; exit $$result

lint: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if command -v clang-format >/dev/null; \
	then find runtime probes src/imbrex/replay -path runtime/mpi/templates -prune -o -name '*.[ch]' -print | xargs clang-format --dry-run --Werror; \
	else echo "clang-format is missing: the C sources' format was not checked" >&2; fi

clean:
	rm -rf $(VENV) build report.html
