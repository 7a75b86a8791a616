"""Submodules: what their host declares is one variable for all procedures of both."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

MODULE = """
module sea
  implicit none
  integer, parameter :: n = 64
  real(8) :: scale, other, v(n)
  interface
    module subroutine both(comm)
      integer, intent(in) :: comm
    end subroutine
  end interface
end module
"""
INNER = """
submodule (sea) impl
  use mpi
contains
  module subroutine both(comm)
    integer, intent(in) :: comm
    integer :: ierr
    call MPI_Bcast(scale, 1, MPI_DOUBLE_PRECISION, 0, comm, ierr)
    call apply(v)
  end subroutine
  subroutine apply(w)
    real(8), intent(inout) :: w(n)
    integer :: i
    do i = 1, n
      w(i) = w(i) * other
    end do
  end subroutine
end submodule
"""
MAIN = """
program main
  use mpi
  use sea
  integer :: ierr
  call MPI_Init(ierr)
  call both(MPI_COMM_WORLD)
  print *, v(1), scale
  call MPI_Finalize(ierr)
end program
"""
OF_OTHER = {"w(i) * other": "w(i) * scale"}
NESTED = {
    "submodule (sea) impl\n  use mpi\n": (
        "submodule (sea) impl\n  real(8) :: inner\nend submodule\n"
        "submodule (sea:impl) deep\n  use mpi\n"
    ),
    "MPI_Bcast(scale": "MPI_Bcast(inner",
}
WHOLE = {"submodule (sea) impl\n  use mpi\n": "submodule (sea) impl\n"}
KNOWS_MPI = {"module sea\n": "module sea\n  use mpi\n"}


def told(folder: Path, *texts: str) -> str:
    """What is said of a program of these files."""
    files = [folder / f"{number}.f90" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return explain(transform(files, Options()))


def test_what_no_other_procedure_uses_is_under_way(tmp_path: Path) -> None:
    """In one file, or with the module and the submodule in files of their own."""
    assert "MPI_Bcast in both: rewrite" in told(tmp_path, MODULE + INNER + MAIN)
    assert "MPI_Bcast in both: rewrite" in told(tmp_path, MODULE, INNER, MAIN)


@pytest.mark.parametrize("files", [1, 3])
def test_variables_of_the_module(tmp_path: Path, files: int) -> None:
    """Two procedures of the submodule use the same one."""
    texts = [MODULE, changed(INNER, OF_OTHER), MAIN]
    found = told(tmp_path, *(texts if files == 3 else ["".join(texts)]))
    assert "`scale` is used or set" in found and "rewrite" not in found


def test_variables_of_a_submodule(tmp_path: Path) -> None:
    """A submodule of a submodule uses what that declares, too."""
    assert "MPI_Bcast in both: rewrite" in told(tmp_path, MODULE + changed(INNER, NESTED) + MAIN)
    inner = changed(INNER, NESTED | {"w(i) * other": "w(i) * inner"})
    found = told(tmp_path, MODULE + inner + MAIN)
    assert "`inner` is used or set" in found and "rewrite" not in found


def test_a_module_that_is_not_among_the_files(tmp_path: Path) -> None:
    found = told(tmp_path, changed(INNER, OF_OTHER))
    assert "MPI_Bcast in both" in found and "rewrite" not in found


@pytest.mark.parametrize("head", ["", "submodule (sea:impl) twin\nend submodule\n"])
def test_a_submodule_of_itself(tmp_path: Path, head: str) -> None:
    """No compiler takes it, nor two of each other."""
    host = "twin" if head else "impl"
    inner = changed(
        INNER, OF_OTHER | {"submodule (sea) impl": f"{head}submodule (sea:{host}) impl"}
    )
    assert "rewrite" not in told(tmp_path, MODULE + inner + MAIN)


def test_names_of_mpi_by_the_module(tmp_path: Path) -> None:
    module, inner = changed(MODULE, KNOWS_MPI), changed(INNER, WHOLE)
    assert "MPI_Bcast in both: rewrite" in told(tmp_path, module + inner + MAIN)


def test_names_of_mpi_by_a_list_of_the_module(tmp_path: Path) -> None:
    """Further names would have to be added to the list of another unit."""
    only = "module sea\n  use mpi, only: MPI_Bcast, MPI_DOUBLE_PRECISION\n"
    module = changed(MODULE, {"module sea\n": only})
    found = told(tmp_path, module + changed(INNER, WHOLE) + MAIN)
    assert "neither mpif.h nor a module of MPI is known here" in found


def test_a_procedure_without_its_arguments(tmp_path: Path) -> None:
    """What the interface body in the module says of them is known."""
    short = {
        "  module subroutine both(comm)\n    integer, intent(in) :: comm\n    integer :: ierr": (
            "  module procedure both\n    integer :: ierr"
        ),
        "  end subroutine\n  subroutine apply": "  end procedure\n  subroutine apply",
    }
    found = told(tmp_path, MODULE + changed(INNER, short) + MAIN)
    assert "MPI_Bcast in both: rewrite" in found
