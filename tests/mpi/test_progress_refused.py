"""Where there can be no progress thread, or not as it was asked for: one line says so, and the
program goes on as it would have without.

`programs/lesser.c` stands between Imbrex and the library, and makes it grant or do less.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.untimed

LESSER = Path(__file__).parent / "programs" / "lesser.c"
TCP = {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp,self"}
TRIAL_LOOKS = 24
"""How often the runtime looks before it starts its thread, to see what a look takes."""


@pytest.fixture
def start(mpi, runtime, compiled, tmp_path):
    """Two ranks of helped.c behind imbrex-exec: exit code, what they print, and Imbrex's lines."""

    def run(*words, options=("--progress",), before=(), lesser=True, **variables):
        if lesser:
            shim = tmp_path / "lesser.so"
            # Linked with the library, in which Imbrex looks for what is not here.
            flags = ["-O1", "-w", "-fPIC", "-shared", "-Wl,--no-as-needed"]
            subprocess.run([mpi.mpicc, *flags, "-o", str(shim), str(LESSER), "-ldl"], check=True)
            variables["LD_PRELOAD"] = str(shim)
        settings = ["env", *(f"{name}={value}" for name, value in variables.items())]
        prefix = [str(runtime.prefix / "bin" / "imbrex-exec"), *options] if options else []
        binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
        launcher = [*before, mpi.mpirun, *binding, "-n", "2"]
        done = subprocess.run(
            [*launcher, *settings, *prefix, str(compiled("helped")), *words],
            cwd=tmp_path,
            env={**os.environ, **TCP},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        lines = [line for line in done.stderr.splitlines() if line.startswith("imbrex: ")]
        return done.returncode, done.stdout.splitlines(), lines

    return run


@pytest.mark.parametrize("granted", [1, 2], ids=["FUNNELED", "SERIALIZED"])
def test_a_library_without_multiple_is_one_line_and_the_program_goes_on(start, granted):
    settings = {"LESSER_LEVEL": granted, "HELPED_WAIT_S": 0.3}
    code, printed, lines = start("message", **settings)
    assert (code, printed) == (0, ["not moved", "right"])
    assert len(lines) == 1 and "grants no MPI_THREAD_MULTIPLE" in lines[0], lines


@pytest.mark.parametrize(
    ("required", "granted"), [("init", 1), ("1", 0), ("1", 2), ("3", 0), ("3", 2)]
)
def test_the_level_that_such_a_library_tells_is_told_on(start, required, granted):
    settings = {"LESSER_LEVEL": granted}
    plain = start("levels", required, options=(), **settings)
    helped = start("levels", required, **settings)
    assert helped[:2] == plain[:2]
    assert plain[1] and plain[2] == []


def test_an_interval_shorter_than_a_look_is_one_line_and_the_program_goes_on(start):
    settings = {"LESSER_LOOK_US": 200, "HELPED_WAIT_S": 0.3}
    code, printed, lines = start("message", options=("--progress=100",), **settings)
    assert (code, printed) == (0, ["not moved", "right"])
    assert len(lines) == 1, lines
    found = re.search(r"interval of 100 us is shorter than what a look .* \((\S+) us\)", lines[0])
    assert found is not None and float(found[1]) >= 200, lines


def test_the_same_interval_is_none_too_short_for_a_faster_library(start):
    code, printed, lines = start("message", options=("--progress=100",), LESSER_LOOK_US=20)
    assert (code, printed, lines) == (0, ["moved", "right"], [])


def test_a_look_that_fails_ends_the_looks_and_nothing_else(start):
    # Over TCP a look that fails moves nothing: the program's own calls do it at their time.
    settings = {"LESSER_FAILS": TRIAL_LOOKS + 1, "HELPED_WAIT_S": 0.3}
    code, printed, lines = start("message", **settings)
    assert (code, printed) == (0, ["not moved", "right"])
    assert len(lines) == 2, lines  # of each rank
    assert all("the progress thread met an error of the library" in line for line in lines)


def test_a_library_whose_first_looks_fail_runs_without(start):
    settings = {"LESSER_FAILS": 1, "HELPED_WAIT_S": 0.3}
    code, printed, lines = start("message", **settings)
    assert (code, printed) == (0, ["not moved", "right"])
    assert len(lines) == 2, lines  # of each rank
    assert all("runs without a progress thread" in line for line in lines)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--progress-share=0", "IMBREX_PROGRESS_SHARE=0: write a share of a core"),
        ("--progress-share=100.5", "IMBREX_PROGRESS_SHARE=100.5: write a share of a core"),
        ("--progress-share=much", "IMBREX_PROGRESS_SHARE=much: write a share of a core"),
        ("--progress=0.5", "IMBREX_PROGRESS=0.5: write on, off, or microseconds"),
    ],
)
def test_a_bad_option_is_one_line_and_the_program_goes_on(start, option, words):
    options = ("--progress", option)
    code, printed, lines = start("message", options=options, lesser=False, HELPED_WAIT_S=0.3)
    assert (code, printed) == (0, ["not moved", "right"])
    assert len(lines) == 1 and words in lines[0], lines


@pytest.mark.skipif(shutil.which("taskset") is None, reason="taskset is not installed")
def test_ranks_that_share_one_core_are_one_line_and_are_helped(start):
    """Both spin on it; where the thread takes its turn, the data moves all the same."""
    before = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
    code, printed, lines = start("message", before=before, lesser=False)
    assert (code, printed) == (0, ["moved", "right"])
    assert len(lines) == 1 and "this process may use one core only" in lines[0], lines
