"""Datatypes in variables: which of MPI's own they are, and where that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.analysis.datatype_values import name_datatypes
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

CASES = Path(__file__).parent / "cases"
FIXED = (CASES / "real_type.f").read_text()
OBJECT = (CASES / "handles.f90").read_text()
C = (CASES / "real_type.c").read_text()
CXX = C.replace("#include <stdio.h>", "#include <cstdio>\n#include <utility>")
MODULE = "  integer, parameter :: wp = kind(1.0d0)\n"
FIELD = "     type(MPI_Comm) :: comm\n"
SETS = "    self%comm = comm\n"
COUNTS = "self%nx, MPI_DOUBLE_PRECISION"
BRANCHES = """      if (.not. convertdouble) then
         dp_type = MPI_DOUBLE_PRECISION
      else
         dp_type = MPI_REAL
      endif
"""
BELOW = "      subroutine sweep\n"
ONE = "         dp_type = MPI_DOUBLE_PRECISION\n"
CONSTANT = "(convertdouble = .false.)"
DECLARED = "static MPI_Datatype real_type;\n"
GIVEN = "    real_type = MPI_DOUBLE;\n"
MAIN = "int main(int argc, char **argv)\n"

Changes = dict[str, str]
OF_MODULE = {MODULE: f"{MODULE}  type(MPI_Datatype) :: dt\n", COUNTS: "self%nx, dt"}
OF_OBJECT = {FIELD: f"{FIELD}     type(MPI_Datatype) :: dt\n", COUNTS: "self%nx, self%dt"}
DOUBLE = {SETS: f"{SETS}    dt = MPI_DOUBLE_PRECISION\n"}
OWN_DOUBLE = {SETS: f"{SETS}    self%dt = MPI_DOUBLE_PRECISION\n"}

PASSED = {
    DECLARED: "",
    "exchange(void)": "exchange(MPI_Datatype real_type)",
    GIVEN: GIVEN.replace("    ", "    MPI_Datatype "),
}
DUMMY = {
    "      subroutine exchange\n": "      subroutine exchange(of)\n",
    "      integer north, south": "      integer of, north, south",
    "u(1,ny), nx, dp_type": "u(1,ny), nx, of",
    "u(1,0), nx, dp_type": "u(1,0), nx, of",
    "u(1,1), nx, dp_type": "u(1,1), nx, of",
    "u(1,ny+1), nx, dp_type": "u(1,ny+1), nx, of",
}

GOES: dict[str, tuple[str, Changes]] = {
    "in a common block": (FIXED, {}),
    "set once": (FIXED, {BRANCHES: ONE}),
    "the other branch": (
        FIXED,
        {CONSTANT: "(convertdouble = .true.)", ".not. convertdouble": "convertdouble"},
    ),
    "a constant condition": (FIXED, {".not. convertdouble": ".true."}),
    "a further condition": (
        FIXED,
        {"      else\n         dp_type": "      else if (me .eq. 0) then\n         dp_type"},
    ),
    "two names of one type": (
        FIXED,
        {".not. convertdouble": "nprocs .gt. 1", "MPI_REAL\n": "MPI_REAL8\n"},
    ),
    "a type is made of it": (
        FIXED,
        {
            "      do it = 1, 30\n": "      call mpi_type_contiguous(2, dp_type, root, ierr)\n"
            "      do it = 1, 30\n"
        },
    ),
    "a variable of a module": (OBJECT, {**OF_MODULE, **DOUBLE}),
    "by the kind of its numbers": (
        OBJECT,
        {
            **OF_MODULE,
            SETS: f"{SETS}    if (wp == kind(1.0d0)) then\n       dt = MPI_DOUBLE_PRECISION\n"
            "    else\n       dt = MPI_REAL\n    end if\n",
        },
    ),
    "by another kind": (
        OBJECT,
        {
            **OF_MODULE,
            SETS: f"{SETS}    if (kind(1.0) /= wp) then\n       dt = MPI_DOUBLE_PRECISION\n"
            "    else\n       dt = MPI_REAL\n    end if\n",
        },
    ),
    "a component": (OBJECT, {**OF_OBJECT, **OWN_DOUBLE}),
    "a local variable": (
        OBJECT,
        {
            "    call MPI_Sendrecv(self%u(1, self%ny)": "    type(MPI_Datatype) :: dt\n"
            "    dt = MPI_DOUBLE_PRECISION\n    call MPI_Sendrecv(self%u(1, self%ny)",
            COUNTS: "self%nx, dt",
        },
    ),
    "empty at first": (
        OBJECT,
        {
            MODULE: f"{MODULE}  type(MPI_Datatype) :: dt = MPI_DATATYPE_NULL\n",
            COUNTS: "self%nx, dt",
            **DOUBLE,
        },
    ),
    "a static variable of C": (C, {}),
    "one of C++": (CXX, {}),
    "declared with it": (C, {DECLARED: "static MPI_Datatype real_type = MPI_DOUBLE;\n", GIVEN: ""}),
    "a parameter of C": (C, {**PASSED, "exchange();": "exchange(MPI_DOUBLE);"}),
    "a parameter that is given a variable": (C, {**PASSED, "exchange();": "exchange(real_type);"}),
    "a parameter that is handed on": (
        C,
        {
            **PASSED,
            MAIN: f"static void both(MPI_Datatype kind)\n{{\n    exchange(kind);\n}}\n{MAIN}",
            "        exchange();": "        both(MPI_DOUBLE);",
        },
    ),
    "a dummy of Fortran": (FIXED, {**DUMMY, "call exchange\n": "call exchange(dp_type)\n"}),
    "a dummy that is handed on": (
        FIXED,
        {
            **DUMMY,
            "call exchange\n": "call exchange(dp_type)\n",
            "      north = me + 1\n": "      call keep(of, me)\n      north = me + 1\n",
            BELOW: "      subroutine keep(it, k)\n      integer it, k\n      k = k\n"
            f"      end\n{BELOW}",
        },
    ),
    "a dummy that is given a constant": (
        FIXED,
        {**DUMMY, "call exchange\n": "call exchange(MPI_DOUBLE_PRECISION)\n"},
    ),
    "a local variable of C": (
        C,
        {
            DECLARED: "",
            GIVEN: GIVEN.replace("    ", "    MPI_Datatype "),
            "{\n    int up": "{\n    MPI_Datatype real_type = MPI_DOUBLE;\n    int up",
        },
    ),
}
STAYS: dict[str, tuple[str, Changes]] = {
    "a condition that is not known": (FIXED, {".not. convertdouble": "nprocs .gt. 1"}),
    "the branch of another type": (FIXED, {CONSTANT: "(convertdouble = .true.)"}),
    "another type": (FIXED, {"MPI_DOUBLE_PRECISION": "MPI_DOUBLE_COMPLEX"}),
    "set by another routine": (FIXED, {BRANCHES: f"{BRANCHES}      call choose(dp_type)\n"}),
    "read": (FIXED, {BRANCHES: f"{BRANCHES}      read (*,*) dp_type\n"}),
    "an expression": (FIXED, {BRANCHES: f"{BRANCHES}      dp_type = dp_type + 0*me\n"}),
    "given by data": (
        FIXED,
        {
            BELOW: "      block data\n      integer dp_type, me, nprocs, root\n"
            "      common /mpistuff/ dp_type, me, nprocs, root\n      data dp_type /17/\n"
            f"      end\n{BELOW}"
        },
    ),
    "the branch of another kind": (
        OBJECT,
        {
            **OF_MODULE,
            SETS: f"{SETS}    if (wp == kind(1.0d0)) then\n       dt = MPI_REAL\n"
            "    else\n       dt = MPI_DOUBLE_PRECISION\n    end if\n",
        },
    ),
    "a kind by its number": (
        OBJECT,
        {
            **OF_MODULE,
            SETS: f"{SETS}    if (wp == 8) then\n       dt = MPI_DOUBLE_PRECISION\n"
            "    else\n       dt = MPI_REAL\n    end if\n",
        },
    ),
    "made by the program": (
        FIXED,
        {
            BRANCHES: "      call mpi_type_create_resized(mpi_double_precision,\n"
            "     >     0_8, 16_8, dp_type, ierr)\n"
        },
    ),
    "declared otherwise": (
        OBJECT,
        {
            MODULE: f"{MODULE}  type(MPI_Datatype) :: dt = MPI_REAL\n",
            COUNTS: "self%nx, dt",
            **DOUBLE,
        },
    ),
    "a component that a constructor sets": (
        OBJECT,
        {
            **OF_OBJECT,
            **OWN_DOUBLE,
            "  type(grid_t) :: g\n": "  type(grid_t) :: g = &\n"
            "    grid_t(1, 1, 0, 1, 0, 0, MPI_COMM_SELF, MPI_REAL, null(), null())\n",
        },
    ),
    "a component that is given first": (
        OBJECT,
        {
            FIELD: f"{FIELD}     type(MPI_Datatype) :: dt = MPI_REAL\n",
            COUNTS: "self%nx, self%dt",
            **OWN_DOUBLE,
        },
    ),
    "a pointer": (
        OBJECT,
        {
            MODULE: f"{MODULE}  type(MPI_Datatype), target :: first\n"
            "  type(MPI_Datatype), pointer :: dt => first\n",
            COUNTS: "self%nx, dt",
            **DOUBLE,
        },
    ),
    "a name of the program's own": (
        C,
        {
            DECLARED: f"static MPI_Datatype mpi_double;\n{DECLARED}",
            GIVEN: "    MPI_Type_contiguous(2, MPI_DOUBLE, &mpi_double);\n"
            "    MPI_Type_commit(&mpi_double);\n    real_type = mpi_double;\n",
        },
    ),
    "a variable called as a type is": (
        FIXED,
        {
            BELOW: "      subroutine choose\n      integer dp_type, me, nprocs, root, mpi_real8\n"
            "      common /mpistuff/ dp_type, me, nprocs, root\n      common /own/ mpi_real8\n"
            f"      dp_type = mpi_real8\n      end\n{BELOW}"
        },
    ),
    "another variable": (FIXED, {BRANCHES: "         dp_type = root\n"}),
    "one of two in C": (C, {GIVEN: "    real_type = argc > 1 ? MPI_FLOAT : MPI_DOUBLE;\n"}),
    "by its address": (
        C,
        {
            GIVEN: f"{GIVEN}    if (argc > 1)\n        set(&real_type);\n",
            MAIN: f"static void set(MPI_Datatype *t) {{ *t = MPI_FLOAT; }}\n{MAIN}",
        },
    ),
    "of another value at first": (
        C,
        {DECLARED: "static MPI_Datatype real_type = MPI_FLOAT;\n"},
    ),
    "a value in parentheses": (
        CXX,
        {
            DECLARED: "static MPI_Datatype real_type(MPI_FLOAT);\n",
            GIVEN: "    if (argc < 2)\n        real_type = MPI_DOUBLE;\n",
        },
    ),
    "a value in braces": (
        CXX,
        {
            DECLARED: "static MPI_Datatype real_type{MPI_FLOAT};\n",
            GIVEN: "    if (argc < 2)\n        real_type = MPI_DOUBLE;\n",
        },
    ),
    "set by a reference": (
        CXX,
        {GIVEN: f"{GIVEN}    MPI_Datatype &held = real_type;\n    held = MPI_FLOAT;\n"},
    ),
    "exchanged": (
        CXX,
        {GIVEN: f"{GIVEN}    MPI_Datatype held = MPI_FLOAT;\n    std::swap(held, real_type);\n"},
    ),
    "set by a lambda": (
        CXX,
        {GIVEN: f"{GIVEN}    auto set = [&] {{ real_type = MPI_FLOAT; }};\n    set();\n"},
    ),
    "a parameter": (C, {**PASSED, "exchange();": "exchange(MPI_FLOAT);"}),
    "a parameter of two values": (
        C,
        {
            **PASSED,
            "exchange();": "exchange(MPI_DOUBLE);\n        if (argc > 1) exchange(MPI_FLOAT);",
        },
    ),
    "a parameter that is set": (
        C,
        {
            **PASSED,
            "exchange();": "exchange(MPI_DOUBLE);",
            "    int up": "    if (rank > 9) real_type = MPI_FLOAT;\n    int up",
        },
    ),
    "a parameter of a function whose address is taken": (
        C,
        {
            **PASSED,
            "exchange();": "exchange(MPI_DOUBLE);\n        if (argc > 1) way(MPI_FLOAT);",
            MAIN: f"static void (*way)(MPI_Datatype) = exchange;\n{MAIN}",
        },
    ),
    "a dummy that is given another": (
        FIXED,
        {
            **DUMMY,
            "call exchange\n": "call exchange(dp_type)\n"
            "         if (me .gt. 9) call exchange(MPI_REAL)\n",
        },
    ),
    "a dummy that the routine sets": (
        FIXED,
        {
            **DUMMY,
            "call exchange\n": "call exchange(dp_type)\n",
            "      north = me + 1\n": "      if (me .gt. 9) of = MPI_REAL\n      north = me + 1\n",
        },
    ),
    "a dummy that a dummy procedure may set": (
        FIXED,
        {
            **DUMMY,
            "subroutine exchange(of)": "subroutine exchange(of, keep)",
            "      integer of,": "      external keep\n      integer of,",
            "call exchange\n": "call exchange(dp_type, change)\n",
            "      logical convert": "      external change\n      logical convert",
            "      north = me + 1\n": "      call keep(of)\n      north = me + 1\n",
            BELOW: "      subroutine keep(it)\n      integer it\n      end\n"
            "      subroutine change(it)\n      include 'mpif.h'\n      integer it\n"
            f"      it = MPI_REAL\n      end\n{BELOW}",
        },
    ),
    "an optional dummy": (
        OBJECT,
        {
            "subroutine grid_exchange(self)": "subroutine grid_exchange(self, dt)",
            "    type(grid_t), intent(inout) :: self\n    call MPI_Sendrecv": "    type(grid_t), "
            "intent(inout) :: self\n    type(MPI_Datatype), optional :: dt\n    call MPI_Sendrecv",
            COUNTS: "self%nx, dt",
            "     call grid_exchange(g)\n": "     if (it < 0) call grid_exchange(g)\n"
            "     call grid_exchange(g, MPI_DOUBLE_PRECISION)\n",
        },
    ),
    "a dummy that is handed on and set": (
        FIXED,
        {
            **DUMMY,
            "call exchange\n": "call exchange(dp_type)\n",
            "      north = me + 1\n": "      call choose(of)\n      north = me + 1\n",
            BELOW: "      subroutine choose(it)\n      include 'mpif.h'\n      integer it\n"
            f"      it = MPI_REAL\n      end\n{BELOW}",
        },
    ),
    "other code is not there": (C, {MAIN: "int started(int argc, char **argv)\n"}),
}


def is_changed(program: tuple[str, Changes], folder: Path) -> bool:
    text, changes = program
    suffix = {FIXED: ".f", OBJECT: ".f90", C: ".c", CXX: ".cpp"}[text]
    after = rewritten(folder / f"program{suffix}", changed(text, changes)).lower()
    return "exchange_start" in after or "mpi_irecv" in after


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    assert is_changed(GOES[name], tmp_path)


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert not is_changed(STAYS[name], tmp_path)


def test_given_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "given.h").write_text("      data dp_type /17/\n")
    block = "      block data\n      integer dp_type, me, nprocs, root\n"
    block += (
        "      common /mpistuff/ dp_type, me, nprocs, root\n      include 'given.h'\n      end\n"
    )
    assert not is_changed((FIXED, {BELOW: block + BELOW}), tmp_path)


MODULE_OF_ONE = """module m
  use mpi
  implicit none
  type :: holder
    integer :: n
{bound}  end type
contains
  subroutine exchange(self, of) {called}
    {kind}(holder) :: self
    integer :: of
    double precision :: x(10)
    integer :: ierr
    call MPI_Bcast(x, 10, of, 0, MPI_COMM_WORLD, ierr)
  end subroutine
end module
program p
  use m
  type(holder) :: h
  integer :: ierr
  call MPI_Init(ierr)
  call exchange(h, MPI_DOUBLE_PRECISION)
  {more}
  call MPI_Finalize(ierr)
end program
"""
ONE_OF_C = """#include <mpi.h>
void halo_swap(void *h, MPI_Fint *of);
void again_(void)
{
    MPI_Fint of = MPI_Type_c2f(MPI_FLOAT);
    halo_swap(0, &of);
}
"""


def meaning(folder: Path, other: str = "", **parts: str) -> str:
    """Which of MPI's datatypes the dummy is known to be."""
    program, more = folder / "program.f90", folder / "other.c"
    plain = {"bound": "", "called": "", "kind": "type", "more": ""}
    program.write_text(MODULE_OF_ONE.format(**(plain | parts)))
    more.write_text(other)
    found = read_program([program, *([more] if other else [])], Options())
    name_datatypes(found)
    (call,) = (call for call in found.calls() if call.name == "MPI_Bcast")
    return call.arguments[2].meaning


def test_calls_by_a_type_are_not_seen(tmp_path: Path) -> None:
    assert meaning(tmp_path, kind="class") == "MPI_DOUBLE_PRECISION"
    bound = "  contains\n    procedure :: exchange\n"
    assert meaning(tmp_path, kind="class", bound=bound, more="call h%exchange(MPI_REAL)") == ""


def test_calls_of_another_language_may_not_be_seen(tmp_path: Path) -> None:
    called = 'bind(c, name="halo_swap")'
    assert meaning(tmp_path, called=called) == "MPI_DOUBLE_PRECISION"
    assert meaning(tmp_path, ONE_OF_C, called=called) == ""
