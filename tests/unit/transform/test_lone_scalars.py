"""Wrappers whose messages are numbers of their own: the caller has these until the finish.

What ends with the start stays a reason to leave a wrapper whole: the library would read or write
memory that is something else by then.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdio.h>
struct msg { double a[2]; double b; };
static struct msg kept;
static double u[102], w[102], share = 0.5;
%(before)s
static void put(%(given)s)
{
    %(body)s
}
static void relax(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = 0.25 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank;
    double got = 0.0;
    struct msg own = {{1, 2}, 3};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    own.b = kept.b = rank;
    put(%(call)s);
    relax(u, 100);
    printf("%%g %%g %%g\\n", u[50], own.b + kept.b, got);
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Ssend(%s, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);"
BOTH = (
    "MPI_Sendrecv(&out, 1, MPI_DOUBLE, to, 0, &in, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD,\\n"
    "        MPI_STATUS_IGNORE);"
).replace("\\n", "\n")
PLAIN = {"before": "", "given": "double v, int to", "call": "3.0, 1 - rank"}
OUT = {"given": "double v, int to, double *got", "call": "3.0, 1 - rank, &got"}


def sends(declared: str, buffer: str = "&out") -> dict[str, str]:
    return {"body": f"{declared}\n    {SEND % buffer}"}


HANDED_ON = ["*imbrex_out = out;", "MPI_Issend(imbrex_out, 1", "put_start(3.0, 1 - rank, put_out, "]
SPLIT = [
    (sends("double out = v * 2.0;"), ["double out = v * 2.0;", "double put_out[1];", *HANDED_ON]),
    (sends("double out;\n    out = v;"), ["    out = v;", *HANDED_ON]),
    (sends("double out = v, in = 2.0;\n    out += in;"), ["    out += in;", *HANDED_ON]),
    (
        sends("double out = 0.0;\n    for (int i = 0; i < 9; i++)\n        out += v * w[i];"),
        HANDED_ON,
    ),
    (
        {**OUT, "body": f"double in = 0.0, out = v;\n    {BOTH}\n    *got = in + 1.0;"},
        ["*got = in[0] + 1.0;", "double in = 0.0, out = v;", "*imbrex_in = in;"],
    ),
    (
        {**OUT, "body": f"double in, out = v;\n    {BOTH}\n    *got = in + 1.0;"},
        ["*got = in[0] + 1.0;", "double out = v;", "MPI_Irecv(&in[0], 1"],
    ),
    (
        sends("double out;\n    if (to)\n        out = v;\n    else\n        out = 1;"),
        ["out[0] = 1;"],
    ),
    (sends("double out = v; /* out */"), HANDED_ON),
    (sends("const double out = v * 2.0;"), ["const double out = v * 2.0;", *HANDED_ON]),
    (sends("long n = 2;\n    double out = n * v;"), ["long n = 2;", *HANDED_ON]),
    (
        {"body": f"double out = v;\n    if (to >= 0)\n        {SEND % '&out'}"},
        ["    out[0] = v;", "MPI_Issend(&out[0], 1"],
    ),
    (
        {
            "body": f"MPI_Request r;\n    double out = v;\n    {SEND[:-2] % '&out'}, &r);\n"
            "    MPI_Wait(&r, MPI_STATUS_IGNORE);".replace("Ssend", "Issend")
        },
        [
            "*imbrex_out = out;",
            "MPI_Issend(imbrex_out, 1",
            "put_start(3.0, 1 - rank, put_r, put_out)",
        ],
    ),
    ({"given": "struct msg *m, int to", "call": "&own, 1 - rank", **sends("", "&m->b")}, ["&m->b"]),
    (sends("", "&kept.b"), ["&kept.b"]),
    (sends("double out[2];\n    out[0] = out[1] = v;", "out"), ["double put_out[2];"]),
]
WHOLE = [
    {**sends("", "&v")},
    {**sends("v *= 2.0;", "&v")},
    {**sends("struct msg out = {{v, v}, v};", "&out.b")},
    {**sends("struct msg out;\n    out.a[0] = v;", "out.a")},
    {**sends("struct msg out;\n    out.b = v;\n    struct msg *p = &out;", "&p->b")},
    {**sends("struct msg out[2];\n    out[0].b = v;", "&out[0].b")},
    {"given": "struct msg m, int to", "call": "own, 1 - rank", **sends("", "&m.b")},
    {"given": "struct msg m, int to", "call": "own, 1 - rank", **sends("", "m.a")},
    {"given": "struct msg m, int to", "call": "own, 1 - rank", **sends("(void)m;", "&kept.b")},
    {**sends("double out = v;\n    double *p = &out;", "p")},
    {**sends("double out = v;\n    double more = out;\n    share = more;")},
    {**sends("double out = v;\n    goto on;\non:")},
    {"before": "#define DOUBLED out = 2 * v", **sends("double out = v;\n    DOUBLED;")},
    {"before": "struct o { double out; };", **sends("struct o s = {v}; double out = s.out;")},
]


def written(folder: Path, name: str, changes: dict[str, str]) -> str:
    file = folder / name
    file.write_text(C % {**PLAIN, **changes})
    return transform([file], Options()).after[str(file)].decode()


@pytest.mark.parametrize(("changes", "texts"), SPLIT, ids=str)
@pytest.mark.parametrize("name", ["put.c", "put.cpp"])
def test_the_callers_have_the_number(
    tmp_path: Path, name: str, changes: dict[str, str], texts: list[str]
) -> None:
    after = written(tmp_path, name, changes)
    assert "put_start(" in after
    assert all(text in after for text in texts)


@pytest.mark.parametrize("changes", WHOLE, ids=str)
@pytest.mark.parametrize("name", ["put.c", "put.cpp"])
def test_what_ends_with_the_start(tmp_path: Path, name: str, changes: dict[str, str]) -> None:
    assert "put_start(" not in written(tmp_path, name, changes)


def test_the_finish_is_not_given_what_it_does_not_name(tmp_path: Path) -> None:
    after = written(tmp_path, "put.c", sends("double out = v;"))
    assert "put_finish(put_requests);" in after
    assert "void put_finish(MPI_Request *imbrex_requests)" in after


F = """module messages
  use mpi
  implicit none
  type :: msg
    sequence
    real(8) :: a, b
  end type
contains
  subroutine put(v, to)
    real(8), intent(in)%(by)s :: v
    integer, intent(in) :: to
    integer :: ierr
    %(declared)s
    %(body)s
    call MPI_Ssend(out, %(count)s, to, 0, MPI_COMM_WORLD, ierr)
  end subroutine
end module

program main
  use mpi
  use messages
  implicit none
  integer :: rank, ierr, i
  real(8) :: u(100), given
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  u = rank
  given = 3.0d0
  call put(given, 1 - rank)
  do i = 1, 100
    u(i) = 0.25d0*u(i) + 1.0d0
  end do
  print *, u(50)
  call MPI_Finalize(ierr)
end program
"""
IN_FORTRAN = [
    ("real(8) :: out", "out = 2*v", "1, MPI_DOUBLE_PRECISION", True),
    ("real(kind=8) :: out", "out = 2*v", "1, MPI_DOUBLE_PRECISION", True),
    ("complex(8) :: out", "out = cmplx(v, v, 8)", "1, MPI_DOUBLE_COMPLEX", True),
    ("integer :: out", "out = int(v)", "1, MPI_INTEGER", True),
    ("real(8), save :: out", "out = 2*v", "1, MPI_DOUBLE_PRECISION", True),
    ("character(len=8) :: out", "out = 'abcdefgh'", "8, MPI_CHARACTER", False),
    ("type(msg) :: out", "out%%a = v\n    out%%b = v", "16, MPI_BYTE", False),
    ("real(8), allocatable :: out", "allocate(out)\n    out = v", "1, MPI_REAL8", False),
]


@pytest.mark.parametrize(("declared", "body", "count", "splits"), IN_FORTRAN, ids=str)
@pytest.mark.parametrize("by", ["", ", value"])
def test_numbers_of_fortran(
    tmp_path: Path, declared: str, body: str, count: str, splits: bool, by: str
) -> None:
    file = tmp_path / "put.f90"
    parts = {"declared": declared, "body": body.replace("%%", "%"), "count": count, "by": by}
    file.write_text(F % parts)
    after = transform([file], Options()).after[str(file)].decode()
    assert ("put_start" in after) is splits
    if splits and "save" not in declared:
        assert "put_start(given, 1-rank, put_out, put_requests)" in after


def test_a_number_of_fortran_that_is_passed_by_its_value(tmp_path: Path) -> None:
    parts = {"declared": "", "body": "", "count": "1, MPI_DOUBLE_PRECISION", "by": ", value"}
    file = tmp_path / "put.f90"
    file.write_text((F % parts).replace("Ssend(out", "Ssend(v"))
    assert b"put_start" not in transform([file], Options()).after[str(file)]
    file.write_text((F % {**parts, "by": ""}).replace("Ssend(out", "Ssend(v"))
    assert b"put_start" in transform([file], Options()).after[str(file)]
