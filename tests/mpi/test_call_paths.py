"""Through which callers a call was reached, where all MPI calls stand in one file: C, Fortran, C++.

Optimized as users build, so without frame pointers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.profile.call_paths import CallPath
from imbrex.profile.run import load_run

pytestmark = pytest.mark.untimed

# Of these callers each is a function that cannot be inlined and does not end in a jump.
C = {
    "comm.c": """\
#include <mpi.h>
void exchange(double *in, double *out, int peer)
{
    MPI_Sendrecv(out, 10, MPI_DOUBLE, peer, 0, in, 10, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    in[0] += 1;
}
""",
    "app.c": """\
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static double a[10], b[10];
void exchange(double *in, double *out, int peer);
__attribute__((noipa)) void velocity(int peer)
{
    exchange(a, b, peer);
    a[0]++;
}
__attribute__((noipa)) void pressure(int peer)
{
    exchange(b, a, peer);
    exchange(a, b, peer);
    a[1]++;
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 400; i++) {
        velocity(rank ^ 1);
        pressure(rank ^ 1);
    }
    if (argc > 1)
        abort();
    MPI_Finalize();
    return 0;
}
""",
}
FORTRAN = {
    "comm.f90": """\
module comm
  use mpi
contains
  subroutine exchange(in, out, peer)
    double precision, intent(inout) :: in(10), out(10)
    integer, intent(in) :: peer
    integer :: error
    call mpi_sendrecv(out, 10, MPI_DOUBLE_PRECISION, peer, 0, in, 10, MPI_DOUBLE_PRECISION, &
                      peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    in(1) = in(1) + 1
  end subroutine
end module
""",
    "app.f90": """\
subroutine velocity(a, b, peer)
  use comm
  double precision :: a(10), b(10)
  integer :: peer
  call exchange(a, b, peer)
  a(2) = a(2) + 1
end subroutine
subroutine pressure(a, b, peer)
  use comm
  double precision :: a(10), b(10)
  integer :: peer
  call exchange(b, a, peer)
  call exchange(a, b, peer)
  a(3) = a(3) + 1
end subroutine
program flow
  use mpi
  double precision :: a(10) = 0, b(10) = 0
  integer :: rank, i, error
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 400
    call velocity(a, b, ieor(rank, 1))
    call pressure(a, b, ieor(rank, 1))
  end do
  call mpi_finalize(error)
end program
""",
}
CXX = {
    "comm.cpp": """\
#include <mpi.h>
#include "comm.hpp"
template <class T> __attribute__((noipa)) void Comm::exchange(T *in, T *out, int peer)
{
    MPI_Sendrecv(out, 10, MPI_DOUBLE, peer, 0, in, 10, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    in[0] += 1;
}
template void Comm::exchange<double>(double *, double *, int);
""",
    "comm.hpp": """\
struct Comm {
    template <class T> void exchange(T *in, T *out, int peer);
};
""",
    "app.cpp": """\
#include <mpi.h>
#include "comm.hpp"
namespace flow {
struct Velocity {
    Comm comm;
    double a[10], b[10];
    __attribute__((noipa)) void step(int peer)
    {
        comm.exchange(a, b, peer);
        a[1]++;
    }
};
struct Pressure : Velocity {
    __attribute__((noipa)) void step(int peer)
    {
        comm.exchange(b, a, peer);
        comm.exchange(a, b, peer);
        a[2]++;
    }
};
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    flow::Velocity velocity{};
    flow::Pressure pressure{};
    for (int i = 0; i < 400; i++) {
        velocity.step(rank ^ 1);
        pressure.step(rank ^ 1);
    }
    MPI_Finalize();
}
""",
}


def build(mpi: Any, folder: Path, wrapper: str, sources: dict[str, str]) -> Path:
    """Compile with -O2 -g and nothing that makes stacks easy to read."""
    compiler = shutil.which(f"{wrapper}.{mpi.name}")
    if compiler is None:
        pytest.skip(f"{wrapper}.{mpi.name} is not installed")
    for name, text in sources.items():
        (folder / name).write_text(text)
    files = [name for name in sources if not name.endswith(".hpp")]
    command = [compiler, "-O2", "-g", "-w", "-fomit-frame-pointer", "-o", "app", *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "app"


def paths_of(folder: Path, operation: str = "MPI_Sendrecv") -> tuple[CallPath, ...]:
    """The paths to the one site of an operation."""
    run = load_run(folder)
    number = run.job.operations.index(operation)
    (site,) = set(run.measures["site"][run.measures["operation"] == number].tolist())
    return run.call_paths[site]


def names(path: CallPath) -> list[str]:
    """The functions of a path."""
    return [caller.split(" (")[0].split("(")[0] for caller in path.callers]


@pytest.mark.parametrize(
    ("wrapper", "sources", "functions"),
    [
        ("mpicc", C, ["main", "velocity", "pressure", "exchange"]),
        ("mpifort", FORTRAN, ["flow", "velocity", "pressure", "exchange"]),
        ("mpicxx", CXX, ["main", "step", "step", "exchange"]),
    ],
    ids=["c", "fortran", "c++"],
)
def test_callers_of_the_one_file_with_mpi_calls(
    mpi: Any,
    measured: Callable[..., Any],
    tmp_path: Path,
    wrapper: str,
    sources: dict[str, str],
    functions: list[str],
) -> None:
    run = measured(build(mpi, tmp_path, wrapper, sources))
    paths = paths_of(run.folder)
    main, velocity, pressure, exchange = functions
    assert all(len(path.callers) == 3 and not path.is_cut for path in paths)
    assert {path.callers[0].split(" (")[0] for path in paths} == {main}
    assert all(exchange in path.callers[2] and "(comm." in path.callers[2] for path in paths)
    of = [sum(p.samples for p in paths if line in p.callers[1]) for line in places(sources)]
    assert velocity in names_of(paths, places(sources)[0])
    assert pressure in names_of(paths, places(sources)[1])
    # two of three calls come from the pressure, and both ranks look alike
    assert 0.4 <= of[1] / sum(of) <= 0.85 and sum(of) >= 2 * 25
    assert all(path.ranks == 2 for path in paths)


def places(sources: dict[str, str]) -> tuple[str, str]:
    """What names the two callers in a path: by line where both have the same name."""
    return ("Velocity::step", "Pressure::step") if "comm.cpp" in sources else (
        "velocity", "pressure")  # fmt: skip


def names_of(paths: tuple[CallPath, ...], place: str) -> str:
    """The callers in which a place stands."""
    return " ".join(path.callers[1] for path in paths if place in path.callers[1])


def test_a_crashed_run_has_them_too(mpi: Any, imbrex: Callable[..., Any], tmp_path: Path) -> None:
    program = build(mpi, tmp_path, "mpicc", C)
    imbrex("run", "-q", "-o", "crashed", "--", mpi.mpirun, "-n", "2", str(program), "crash")
    paths = paths_of(tmp_path / "crashed")
    assert {names(path)[1] for path in paths} == {"pressure", "velocity"}
    content = json.loads(imbrex("show", "crashed", "--json").stdout)
    (entry,) = [e for e in content["sites"] if e["operation"] == "MPI_Sendrecv"]
    assert [e["samples"] for e in entry["called_from"]] == [p.samples for p in paths]


def test_nobody_looks_when_asked_not_to(
    mpi: Any, imbrex: Callable[..., Any], tmp_path: Path
) -> None:
    program = build(mpi, tmp_path, "mpicc", C)
    line = ["--", mpi.mpirun, "-n", "2", str(program)]
    imbrex("run", "-q", "--no-call-paths", "-o", "off", *line)
    run = load_run(tmp_path / "off")
    assert run.merged and run.call_paths == {}
    assert "Called from" not in imbrex("show", "off", "--site", "comm.c:4").stdout
    imbrex("run", "-q", "-o", "on", *line)
    shown = " ".join(imbrex("show", "on", "--site", "comm.c:4").stdout.split())
    assert "Called from (shares of " in shown
    assert "main (app.c:24) > pressure (app.c:14) > exchange (comm.c:4)" in shown
