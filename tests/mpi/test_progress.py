"""The progress thread: data moves without a call, and nothing else changes.

`programs/helped.c` looks into its memory for the data of messages that it has posted, and makes no
call of MPI until they are there or its patience ends.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from imbrex.profile.run import load_run

pytestmark = pytest.mark.untimed

TCP = {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp,self"}
"""Over TCP both libraries move large messages only inside calls."""


@pytest.fixture
def start(mpi, runtime, compiled, tmp_path):
    """Start two ranks of helped.c behind imbrex-exec with these options, or without it."""

    def run(what, *words, options=("--progress",), **variables):
        prefix = [str(runtime.prefix / "bin" / "imbrex-exec"), *options] if options else []
        binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
        return subprocess.run(
            [mpi.mpirun, *binding, "-n", "2", *prefix, str(compiled("helped")), what, *words],
            cwd=tmp_path,
            env={**os.environ, **TCP, **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.parametrize("what", ["message", "persistent", "alltoall", "allreduce"])
def test_data_moves_while_the_program_makes_no_call(start, what):
    done = start(what)
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert done.returncode == 0


def test_and_does_not_without_it(start):
    done = start("message", options=(), HELPED_WAIT_S="0.3")
    assert done.stdout.split("\n")[:2] == ["not moved", "right"], done.stderr


def test_operations_of_the_program_run_in_its_own_threads(start):
    done = start("own-operation", HELPED_WAIT_S="0.3")
    assert done.stdout.split("\n")[:2] == ["not moved", "right"], done.stderr
    assert "in another thread" not in done.stdout


@pytest.mark.parametrize("what", ["fork", "signals", "freed", "truncated"])
def test_what_it_must_not_change(start, what):
    done = start(what)
    assert done.stdout == "right\n", done.stderr
    assert done.returncode == 0


def test_threads_of_the_program_beside_it(start):
    done = start("threads", "3")
    assert done.stdout == "right\n", done.stderr


@pytest.mark.parametrize("what", ["finalize", "exit", "kill", "abort"])
def test_it_hangs_no_program_that_ends_with_messages_open(start, what):
    plain, helped = start(what, options=(), HELPED_WAIT_S="0.3"), start(what)
    assert (helped.returncode != 0) == (plain.returncode != 0), helped.stderr


@pytest.mark.parametrize("required", ["init", "0", "1", "2", "3"])
def test_the_program_sees_the_level_of_threads_that_it_asked_for(start, required):
    plain, helped = start("levels", required, options=()), start("levels", required)
    assert helped.stdout == plain.stdout
    assert "told" in helped.stdout


def test_two_measured_ranks_tell_what_it_did(mpi, compiled, tmp_path):
    binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
    line = [mpi.mpirun, *binding, "-n", "2", str(compiled("helped")), "message"]
    words = ["run", "--progress", "-o", "helped", "--", *line]
    done = subprocess.run(
        [sys.executable, "-m", "imbrex.cli", *words],
        cwd=tmp_path,
        env={**os.environ, **TCP},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert "The progress thread looked" in done.stderr
    run = load_run(tmp_path / "helped")
    progress = run.job.progress
    assert progress is not None and progress.ranks == 2
    assert progress.looks >= progress.moving_looks > 0
    # The sends and the receives were open meanwhile, one of each a rank. (Whether a look saw one
    # complete is a matter of who comes first: the program watches its memory, and calls MPI.)
    assert len(progress.sites) == 2
    assert all(site["looks"] > 0 and site["completed"] <= 2 for site in progress.sites)
    # What the probe saw without a progress thread proves nothing with one.
    assert run.evidence is None or not run.evidence["expected"].any()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"IMBREX_PROGRESS": "often"}, "IMBREX_PROGRESS=often: write on, off, or microseconds"),
        ({"IMBREX_PROGRESS": "0.001"}, "IMBREX_PROGRESS=0.001: write on, off, or microseconds"),
        ({"IMBREX_PROGRESS_SHARE": "0"}, "IMBREX_PROGRESS_SHARE=0: write a share of a core"),
        ({"IMBREX_PROGRESS_SHARE": "101"}, "IMBREX_PROGRESS_SHARE=101: write a share of a core"),
    ],
)
def test_bad_variables_are_one_line_and_the_program_goes_on(
    mpi, runtime, compiled, tmp_path, variables, words
):
    environment = {"IMBREX_PROGRESS": "on", "LD_PRELOAD": str(runtime.library), **variables}
    done = subprocess.run(
        [mpi.mpirun, "-n", "2", str(compiled("helped")), "levels"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 and "told" in done.stdout
    lines = [line for line in done.stderr.splitlines() if "imbrex" in line]
    assert len(lines) == 1 and words in lines[0], done.stderr


def test_an_interval_shorter_than_a_look_is_one_line(start):
    done = start("levels", options=("--progress=1", "--progress-share=100"))
    # A look of a fast library may take less than the shortest interval there is.
    lines = [line for line in done.stderr.splitlines() if "imbrex: a progress interval" in line]
    assert len(lines) <= 1
    assert done.returncode == 0 and "told" in done.stdout


def test_an_unknown_option_of_imbrex_exec_is_one_line(runtime):
    done = subprocess.run(
        [str(runtime.prefix / "bin" / "imbrex-exec"), "--progres", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
