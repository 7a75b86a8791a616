"""Calls that take several lines, in Fortran: `compare` finds by the map what a rewrite made of
them, whichever of their lines the compiler's debug data name."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import forked

pytestmark = pytest.mark.untimed

PROGRAM = """\
module halo
  use mpi
  implicit none
contains
  subroutine exchange(u, n, to, from)
    integer, intent(in) :: n, to, from
    double precision, intent(inout) :: u(0:n+1)
    integer :: ierr
    call MPI_Sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, to, 3, &
        u(n+1), 1, MPI_DOUBLE_PRECISION, from, 3, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
end module halo

program p
  use mpi
  use halo
  implicit none
  integer :: i, k, ierr, rank, size
  double precision :: u(0:1001), v(0:1001)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  u = rank
  v = 0
  do k = 1, 10
    call exchange(u, 1000, mod(rank + 1, size), mod(rank + size - 1, size))
    do i = 1, 1000
      v(i) = v(i) + u(i) + u(i+1)
    end do
  end do
  print *, v(1000)
  call MPI_Finalize(ierr)
end program p
"""


def measured(mpi: Any, source: Path, run: Path) -> None:
    program = run.with_suffix(".exe")
    subprocess.run(
        [f"mpifort.{mpi.name}", "-O1", "-g", "-o", program, source.name], check=True, cwd=run.parent
    )
    imbrex("run", "-q", "-o", str(run), "--", mpi.mpirun, "-n", "2", str(program))


def imbrex(*arguments: str) -> str:
    done = forked.imbrex(arguments, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_rewritten_call_is_one_with_what_it_was(mpi: Any, tmp_path: Path) -> None:
    if shutil.which(f"mpifort.{mpi.name}") is None:
        pytest.skip(f"no mpifort.{mpi.name}")
    source, before, after = (tmp_path / name for name in ("halo.f90", "before", "after"))
    source.write_text(PROGRAM)
    measured(mpi, source, before)
    imbrex("transform", "--apply", str(source))
    measured(mpi, source, after)
    found = json.loads(imbrex("compare", "--json", str(before), str(after)))
    (pair,) = [site for site in found["sites"] if site["rewritten"]]
    was, _, became = pair["operation"].partition(" -> ")
    assert was == "MPI_Sendrecv"
    assert set(became.split(", ")) == {"MPI_Irecv", "MPI_Isend", "MPI_Waitall"}
    assert (pair["before"]["count"], pair["after"]["count"]) == (20, 60)
