"""Bounds of allocatable arrays by their one ALLOCATE, and where nothing may be known of them.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.analysed import Analysis
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "cases"
MODULE = """module fields
  implicit none
  integer :: nx, ny, up, down
  double precision, allocatable :: u(:,:), v(:,:)
end module
module work
  use mpi
  use fields
  implicit none
contains
  subroutine halo
    integer :: ierr
    call MPI_Sendrecv(u(1,ny), nx, MPI_DOUBLE_PRECISION, up, 1, u(1,0), nx, &
                      MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1,1), nx, MPI_DOUBLE_PRECISION, down, 2, u(1,ny+1), nx, &
                      MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
  subroutine step
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        v(i,j) = 0.25d0 * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1))
      end do
    end do
  end subroutine
  subroutine later(n, w)
    integer, intent(inout) :: n
    double precision, allocatable :: w(:,:)
    n = n + 1
  end subroutine
end module
program main
  use work
  implicit none
  integer :: ierr, it, n
  call MPI_Init(ierr)
  n = 40
  nx = n
  ny = 30
  up = MPI_PROC_NULL
  down = MPI_PROC_NULL
  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1), stat=ierr)
  u = 1.0d0
  v = 1.0d0
  do it = 1, 10
    call halo
    call step
    u(1:nx,1:ny) = v(1:nx,1:ny)
  end do
  ! afterwards
  call MPI_Finalize(ierr)
end program
"""
ALLOCATE = "allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1), stat=ierr)"
# name: (replacements, whether the bounds of `u` are known, whether the exchange is rewritten)
IN_A_MODULE: dict[str, tuple[dict[str, str], bool, bool]] = {
    "as it is": ({}, True, True),
    "by a local variable": ({"u(0:nx+1, 0": "u(0:n+1, 0"}, True, True),
    "by another local variable": (
        {"u(0:nx+1, 0": "u(0:n+1, 0", "nx = n\n": "nx = n\n  n = 30\n"},
        True,
        False,
    ),
    "by a local variable that is read": (
        {"u(0:nx+1, 0": "u(0:n+1, 0", "nx = n\n": "read(*, *) n\n  nx = n\n"},
        True,
        True,
    ),
    "by a local variable that is set again": (
        {"u(0:nx+1, 0": "u(0:n+1, 0", "! afterwards": "n = n + 1"},
        True,
        True,
    ),
    "by a local variable where the size was asked for": (
        {"u(0:nx+1, 0": "u(0:n+1, 0", "nx = n\n": "if (nx > 3) n = 20\n  nx = n\n"},
        True,
        True,
    ),
    "too short": ({"u(0:nx+1, 0": "u(0:nx-1, 0"}, True, False),
    "by a number": ({"u(0:nx+1, 0": "u(0:41, 0"}, True, True),
    "by a number that is too small": ({"u(0:nx+1, 0": "u(0:39, 0"}, True, False),
    "by a number, of a size that is read": (
        {"u(0:nx+1, 0": "u(0:41, 0", "nx = n\n": "read(*, *) nx\n"},
        True,
        False,
    ),
    "by a number, of a size that another one is": (
        {"u(0:nx+1, 0": "u(0:41, 0", "n = 40\n": "read(*, *) n\n"},
        True,
        False,
    ),
    "set again": ({"! afterwards": "nx = nx + 1"}, False, False),
    "set again by a routine": ({"! afterwards": "call later(nx, v)"}, False, False),
    "another is set by a routine": ({"! afterwards": "call later(n, v)"}, True, True),
    "set behind the allocation": ({ALLOCATE: f"{ALLOCATE}\n  nx = 38"}, False, False),
    "read from a file": ({"! afterwards": "read(*,*) nx"}, False, False),
    "read from a file before": ({"nx = n\n": "read(*,*) nx\n"}, True, True),
    "read from a file that may end": (
        {"nx = n\n": "read(*, *, end=10) nx\n", ALLOCATE: f"{ALLOCATE}\n10 continue"},
        False,
        False,
    ),
    "a loop sets it": ({"! afterwards": "do nx = 1, 3\n    print *, nx\n  end do"}, False, False),
    "its status is kept there": (
        {"! afterwards": "deallocate(v, stat=nx)"},
        False,
        False,
    ),
    "printed": ({"! afterwards": "print *, nx, u(1,1)"}, True, True),
    "a message sets it": (
        {"! afterwards": "call MPI_Bcast(nx, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)"},
        False,
        False,
    ),
    "a message sets it before": (
        {"nx = n\n": "call MPI_Bcast(nx, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n"},
        True,
        True,
    ),
    "a routine of the language sets it": (
        {"! afterwards": "call get_command_argument(1, length=nx)"},
        False,
        False,
    ),
    "a routine of the language sets it before": (
        {"nx = n\n": "nx = n\n  call get_command_argument(1, length=nx)\n"},
        True,
        True,
    ),
    "MPI sets it": (
        {"! afterwards": "call MPI_Type_size(MPI_INTEGER, nx, ierr)"},
        False,
        False,
    ),
    "allocated twice": (
        {"! afterwards": "deallocate(u)\n  allocate(u(0:nx, 0:ny))"},
        False,
        False,
    ),
    "given another shape": ({"! afterwards": "u = v(1:3, :)"}, False, False),
    "given another's memory": (
        {"! afterwards": "call move_alloc(v, u)"},
        False,
        False,
    ),
    "given to a routine that may allocate it": (
        {"! afterwards": "call later(n, u)"},
        False,
        False,
    ),
    "allocated like another": (
        {ALLOCATE: "allocate(v(3, 3))\n  allocate(u, mold=v)"},
        False,
        False,
    ),
    "used between the size and the allocation": (
        {ALLOCATE: f"if (allocated(u)) call halo\n  {ALLOCATE}"},
        True,
        True,
    ),
    "a size set in one case": (
        {ALLOCATE: f"if (n > 3) nx = 20\n  {ALLOCATE}"},
        True,
        True,
    ),
    "allocated in one case": (
        {ALLOCATE: f"if (n > 3) then\n  {ALLOCATE}\n  end if"},
        True,
        True,
    ),
    "in a list of names": (
        {"integer :: ierr, it, n\n": "integer :: ierr, it, n\n  namelist /sizes/ nx\n"},
        False,
        False,
    ),
    "a pointer to the size": (
        {
            "integer :: nx, ny": "integer, target :: nx, ny",
            "integer :: ierr, it, n\n": "integer :: ierr, it, n\n  integer, pointer :: p\n",
            "! afterwards": "p => nx\n  p = 3",
        },
        False,
        False,
    ),
}
# Where `n` is a variable of the program that lasts as long as the sizes do.
IN_MAIN_ALONE = {
    "by a local variable that is set again": [False, False],
    "by a local variable where the size was asked for": [True, False],
}
# The same of a derived type: (replacements, known of `g%u`, whether the exchange is rewritten)
OF_A_TYPE: dict[str, tuple[dict[str, str], bool, bool]] = {
    "as it is": ({}, True, True),
    "the size of another object": ({"    g%nx = n /": "    h%nx = n /"}, False, False),
    "and the size of another object": (
        {"    g%ny = n /": "    h%nx = 3\n    g%ny = n /"},
        False,
        False,
    ),
    "set again": (
        {"    do j = 1, g%ny\n": "    g%nx = g%nx - 1\n    do j = 1, g%ny\n"},
        False,
        False,
    ),
    "copied": ({"  s = 0\n": "  h = g\n  s = 0\n"}, False, False),
    "read as a whole": ({"  s = 0\n": "  read(*,*) g%nx\n  s = 0\n"}, False, False),
    "allocated for another object too": (
        {"  s = 0\n": "  allocate(h%u(3,3))\n  s = 0\n"},
        False,
        False,
    ),
    "set up for two objects": ({"  s = 0\n": "  call setup(h, 8)\n  s = 0\n"}, True, True),
    "an array of objects": (
        {"  s = 0\n": "  blocks(2)%nx = 3\n  s = 0\n"},
        False,
        False,
    ),
}


def outcome(path: Path, array: str) -> tuple[bool, bool]:
    program = Analysis([path], Options()).program
    assert not program.skipped, program.skipped
    decisions = transform([path], Options()).decisions
    rewritten = [d for d in decisions if d.decision == "rewritten"]
    return array in program.shapes, any(d.site.call.name == "MPI_Sendrecv" for d in rewritten)


@pytest.mark.parametrize("name", IN_A_MODULE)
def test_in_a_module(name: str, tmp_path: Path) -> None:
    replacements, *expected = IN_A_MODULE[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(MODULE, replacements))
    assert outcome(path, "module:fields.u") == tuple(expected)


def in_a_program(text: str) -> str:
    """The same with all that the modules have in the main program."""
    fields = text[
        text.index("  integer :: nx" if "  integer :: nx" in text else "  integer, target") :
    ]
    declared = fields[: fields.index("end module")]
    routines = text[text.index("contains\n") : text.index("end module\nprogram")]
    head, code = text[text.index("program main") :].split("  use work\n  implicit none\n")
    code = code.replace("end program", f"{routines}end program")
    return f"{head}  use mpi\n  implicit none\n{declared}{code}"


@pytest.mark.parametrize("name", IN_A_MODULE)
def test_in_a_main_program(name: str, tmp_path: Path) -> None:
    """Its variables last as those of a module do, also where routines in it use them."""
    replacements, *expected = IN_A_MODULE[name]
    expected = IN_MAIN_ALONE.get(name, expected)
    path = tmp_path / "case.f90"
    path.write_text(in_a_program(changed(MODULE, replacements)))
    assert outcome(path, f"u@{path}:main:1") == tuple(expected)


def test_in_a_routine_nothing_is_known(tmp_path: Path) -> None:
    """Each call of it has its own array, and its own sizes."""
    text = in_a_program(MODULE).replace("program main", "subroutine main").replace("10\n", "n\n")
    path = tmp_path / "case.f90"
    path.write_text(f"{text}\nprogram p\n  call main\nend program\n")
    assert outcome(path, f"u@{path}:main:1")[0] is False


@pytest.mark.parametrize("name", OF_A_TYPE)
def test_of_a_type(name: str, tmp_path: Path) -> None:
    replacements, *expected = OF_A_TYPE[name]
    text = (CASES / "components.f90").read_text()
    text = text.replace("  type(grid) :: g\n", "  type(grid) :: g, h, blocks(3)\n")
    text = text.replace(
        "    integer, intent(in) :: n\n", "    integer, intent(in) :: n\n    type(grid) :: h\n"
    )
    path = tmp_path / "case.f90"
    path.write_text(changed(text, replacements))
    assert outcome(path, "field:type(grid).u") == tuple(expected)
