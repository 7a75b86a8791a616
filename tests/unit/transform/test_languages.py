"""Programs in Fortran and C: which function of C a Fortran name stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """program p
  use mpi
  implicit none
  integer :: e, i, n
  double precision :: a(1000)
  %s
  call mpi_init(e)
  call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, e)
  do i = 1, 1000
    a(i) = i
  end do
  call kernel(a, n)
  print *, a(4)
  call mpi_finalize(e)
end program p
"""
BOUND = """interface
    subroutine kernel(a, n) bind(c, name="kernel")
      use iso_c_binding
      real(c_double) :: a(*)
      integer(c_int) :: n
    end subroutine kernel
  end interface"""
KERNEL = "void %s(double *a, int *n) { a[3] = *n; %s }\n"
SECOND = "extern int flush_all(void);\n"


@pytest.mark.parametrize(
    ("declared", "function", "body", "decisions"),
    [
        ("external kernel", "kernel_", "", ["rewritten"]),
        ("external kernel", "kernel", "", ["refused"]),
        ("external kernel", "kernel__", "", ["refused"]),
        (BOUND, "kernel", "", ["rewritten"]),
        ("external kernel", "kernel_", "flush_all();", ["refused"]),
    ],
)
def test_kernels_in_c(
    declared: str, function: str, body: str, decisions: list[str], tmp_path: Path
) -> None:
    main, kernel = tmp_path / "main.f90", tmp_path / "kernel.c"
    main.write_text(PROGRAM % declared)
    kernel.write_text(SECOND + KERNEL % (function, body))
    outcome = transform([main, kernel], Options())
    assert [decision.decision for decision in outcome.decisions] == decisions


def test_the_kernel_may_do_anything_to_what_it_is_given(tmp_path: Path) -> None:
    """Nothing moves over its call; a wait stays in front of it."""
    main, kernel = tmp_path / "main.f90", tmp_path / "kernel.c"
    main.write_text(PROGRAM % "external kernel")
    kernel.write_text(KERNEL % ("kernel_", ""))
    outcome = transform([main, kernel], Options())
    text = outcome.after[str(main)].decode()
    assert text.index("mpi_wait") < text.index("call kernel")
