"""A return at the end of a routine says nothing; others may leave before a wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

FORTRAN = """      program main
      include 'mpif.h'
      integer ierr, rank, i, it
      double precision u(0:101), v(0:101)
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      do i = 0, 101
         u(i) = i + rank
      end do
      do it = 1, 10
         call exchange(u, 1 - rank)
         do i = 1, 100
            v(i) = i * it
         end do
         do i = 1, 100
            u(i) = u(i) + u(0) + v(i)
         end do
      end do
      print *, u(5)
      call mpi_finalize(ierr)
      end

      subroutine exchange(a, other)
      include 'mpif.h'
      double precision a(0:101)
      integer other, ierr, i
      call mpi_sendrecv(a(100), 1, mpi_double_precision, other, 0,
     &     a(0), 1, mpi_double_precision, other, 0,
     &     mpi_comm_world, mpi_status_ignore, ierr)
%s
      end
"""
# name: (the end of the wrapper, whether it is split)
ENDS = {
    "none": ("c", True),
    "a return": ("      RETURN", True),
    "a return and a comment": ("c     done\n      return ! to the caller\nc", True),
    "a label that is jumped to": (
        "      if (other .lt. 0) go to 9\n      a(3) = 1\n9     return",
        False,
    ),
    "a label": ("9     return", False),
    "one that is not last": ("      if (other .lt. 0) return\n      a(3) = a(0)", False),
    "two": ("      return\n      return", False),
    "behind a semicolon": ("      a(3) = 1; return", False),
}


@pytest.mark.parametrize("name", ENDS)
def test_fortran_wrapper(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end, split = ENDS[name]
    path = Path("case.f")
    monkeypatch.chdir(tmp_path)
    path.write_text(FORTRAN % end)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after["case.f"].decode()
    assert ("exchange_finish" in after) is split
    again = transform([path], Options(contents={path: outcome.after["case.f"]}))
    assert again.after == again.before


C = """#include <mpi.h>
#include <stdio.h>
#define N 1000
#define DONE return;
static double u[N + 2], v[N];
static void step(int other)
{
    MPI_Sendrecv(&u[N], 1, MPI_DOUBLE, other, 0, &u[0], 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = 0.5 * v[i] + other;
%s
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    step(1 - rank);
    printf("%%g %%g\\n", u[0], v[3]);
    MPI_Finalize();
    return 0;
}
"""
# name: (the end of the routine, what the wait comes right in front of)
LAST = {
    "none": ("", "}"),
    "a return": ("    return;", "return;"),
    "a comment above": ("    /* done */\n    return;", "/* done */"),
    "behind another statement": ("    u[3] = 1; return;", "return;"),
    "a macro": ("    DONE", "DONE"),
    "a label": ("    if (other < 0) goto out;\n    u[3] = 2;\nout:\n    return;", "if ("),
    "in an inactive part": ("#ifdef NEVER\n    return;\n#endif", "#ifdef"),
    "in an active part": ("#ifndef NEVER\n    return;\n#endif", "#ifndef"),
    "one that is not last": ("    if (other < 0)\n        return;\n    u[3] = 3;", "if ("),
}


@pytest.mark.parametrize("name", LAST)
def test_window_at_the_end(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end, behind = LAST[name]
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(C % end)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    lines = [line.strip() for line in outcome.after["case.c"].decode().splitlines()]
    wait = max(number for number, line in enumerate(lines) if "MPI_Wait" in line)
    following = next(line for line in lines[wait + 1 :] if line)
    assert following.startswith(behind)
