"""Datatypes in variables: which of MPI's own they are, and where that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Options, transform

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
    "a parameter": (
        C,
        {
            DECLARED: "",
            "exchange(void)": "exchange(MPI_Datatype real_type)",
            "exchange();": "exchange(MPI_FLOAT);",
            GIVEN: GIVEN.replace("    ", "    MPI_Datatype "),
        },
    ),
    "other code is not there": (C, {MAIN: "int started(int argc, char **argv)\n"}),
}


def rewritten(program: tuple[str, Changes], folder: Path) -> bool:
    text, changes = program
    suffix = {FIXED: ".f", OBJECT: ".f90", C: ".c", CXX: ".cpp"}[text]
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    path = folder / f"program{suffix}"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)].lower()
    return b"exchange_start" in after or b"mpi_irecv" in after


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    assert rewritten(GOES[name], tmp_path)


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert not rewritten(STAYS[name], tmp_path)


def test_given_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "given.h").write_text("      data dp_type /17/\n")
    block = "      block data\n      integer dp_type, me, nprocs, root\n"
    block += (
        "      common /mpistuff/ dp_type, me, nprocs, root\n      include 'given.h'\n      end\n"
    )
    assert not rewritten((FIXED, {BELOW: block + BELOW}), tmp_path)
