"""Messages of datatypes that join variables: all of them are under way, whatever the buffer names.

In each program `b`, or `s2`, is set behind the message, which would carry the new values if that
were moved over.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

C = """#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 100
static double a[N], b[N], w[N];
struct part { double m; double x[3]; int id; };
struct other { int id; double m; };
static struct part s1, s2;
static struct other o;
static MPI_Datatype type;
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
%s
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Aint at[2] = {0, 0};
    int n[2] = {N, N};
    MPI_Datatype of[2] = {MPI_DOUBLE, MPI_DOUBLE};
    work(a), work(b);
    s1.m = s2.m = o.m = rank;
    %s
    printf("%%g %%g %%g %%g %%g\\n", a[1], b[2], w[1], s2.m, o.m);
    MPI_Finalize();
    return 0;
}
"""
MAKE = "MPI_Type_create_struct(2, n, at, of, &type); MPI_Type_commit(&type);"
SEND = "MPI_Send(a, 1, type, peer, 0, MPI_COMM_WORLD); work(b); work(w);"
ONE = "n[0] = n[1] = 1;" + MAKE
SEND_S1 = "MPI_Send(%s, 1, type, peer, 0, MPI_COMM_WORLD); s2.m = 3.0; o.m = 2.0; work(w);"
# name: (top-level code, code in main)
JOINED = {
    "a distance of bytes": ("", "at[1] = (char *)b - (char *)a;" + MAKE + SEND),
    "in another routine": (
        "static void build(char *p, char *q, MPI_Aint *at) { at[1] = q - p; }",
        "build((char *)a, (char *)b, at);" + MAKE + SEND,
    ),
    "of numbers": ("", "at[1] = (intptr_t)b - (intptr_t)a;" + MAKE + SEND),
    "of numbers in variables": (
        "",
        "size_t u = (size_t)b; u -= (size_t)a; at[1] = u;" + MAKE + SEND,
    ),
    "in a list": (
        "",
        "MPI_Aint by[2] = {0, (char *)&b[0] - (char *)&a[0]};" + MAKE.replace("at,", "by,") + SEND,
    ),
    "of numbers in a union": (
        "union address { double *p; intptr_t n; };",
        "union address u, v; u.p = a; v.p = b; at[1] = v.n - u.n;" + MAKE + SEND,
    ),
    "of numbers that are copies": (
        "",
        "intptr_t u, v; double *p = a, *q = b; memcpy(&u, &p, sizeof u); memcpy(&v, &q, sizeof v);"
        "at[1] = v - u;" + MAKE + SEND,
    ),
    "addresses in a loop": (
        "",
        "double *both[2] = {a, b};"
        "for (int k = 0; k < 2; k++) MPI_Get_address(both[k], &at[k]);"
        "at[1] -= at[0]; at[0] = 0;" + MAKE + SEND,
    ),
    "in a macro": (
        "#define FROM(p, q) ((char *)(q) - (char *)(p))",
        "at[1] = -FROM(b, a);" + MAKE + SEND,
    ),
    "as an extent": (
        "",
        "MPI_Type_create_resized(MPI_DOUBLE, 0, (char *)b - (char *)a, &type);" + SEND,
    ),
    "through a wrapper": (
        "static void put(double *p, int peer) { MPI_Send(p, 1, type, peer, 0, MPI_COMM_WORLD); }",
        "at[1] = (char *)b - (char *)a;" + MAKE + "put(a, peer); work(b); work(w);",
    ),
    "in elements": (
        "",
        "int k[2] = {0, b - a}; MPI_Type_indexed(2, n, k, MPI_DOUBLE, &type);" + SEND,
    ),
    "as a stride": ("", "MPI_Type_vector(2, N, b - a, MPI_DOUBLE, &type);" + SEND),
    "as a stride of bytes": (
        "",
        "MPI_Type_create_hvector(2, N, (char *)b - (char *)a, MPI_DOUBLE, &type);" + SEND,
    ),
    "blocks of bytes": (
        "",
        "at[1] = (char *)b - (char *)a;"
        "MPI_Type_create_hindexed(2, n, at, MPI_DOUBLE, &type); MPI_Type_commit(&type);" + SEND,
    ),
    "two allocations": (
        "static double *made(void) { return malloc(N * sizeof(double)); }",
        "double *p = made(), *q = made(); work(p); work(q); at[1] = (char *)q - (char *)p;"
        + MAKE
        + SEND.replace("(a,", "(p,").replace("work(b)", "work(q)")
        + 'printf("%g", q[1]);',
    ),
    "structures": ("", "at[1] = (char *)&s2 - (char *)&s1;" + ONE + SEND_S1 % "&s1"),
    "structures of two types": (
        "",
        "at[1] = (char *)&o.m - (char *)&s1.m;" + ONE + SEND_S1 % "&s1.m",
    ),
    "addresses in structures": (
        "",
        "MPI_Get_address(&s1.m, &at[0]); MPI_Get_address(&s2.m, &at[1]);"
        "at[1] -= at[0]; at[0] = 0;" + ONE + SEND_S1 % "&s1.m",
    ),
    "addresses through a pointer": (
        "",
        "struct part *p = &s1; MPI_Get_address(&p->m, &at[0]); p = &s2;"
        "MPI_Get_address(&p->m, &at[1]); at[1] -= at[0]; at[0] = 0;" + ONE + SEND_S1 % "&s1.m",
    ),
    "removed functions": (
        "",
        "MPI_Address(a, &at[0]); MPI_Address(b, &at[1]); at[1] -= at[0]; at[0] = 0;"
        "MPI_Type_struct(2, n, at, of, &type); MPI_Type_commit(&type);" + SEND,
    ),
    "absolute addresses": (
        "",
        "MPI_Get_address(a, &at[0]); MPI_Get_address(b, &at[1]);"
        + MAKE
        + SEND.replace("(a,", "(MPI_BOTTOM,"),
    ),
    "absolute addresses by conversion": (
        "",
        "at[0] = (MPI_Aint)a; at[1] = (MPI_Aint)b;" + MAKE + SEND.replace("(a,", "(NULL,"),
    ),
    "a collective": (
        "",
        "at[1] = (char *)b - (char *)a;"
        + MAKE
        + "MPI_Bcast(a, 1, type, 0, MPI_COMM_WORLD); work(b); work(w);",
    ),
    "blocks of processes": (
        "",
        "int from[2] = {0, (int)(b - a)};"
        "MPI_Gatherv(w, N, MPI_DOUBLE, a, n, from, MPI_DOUBLE, 0, MPI_COMM_WORLD); work(b);",
    ),
}
UNKNOWN_TARGETS = {  # of those with `b`: the message may lie anywhere, or is the wrapper's
    "of numbers in a union",
    "of numbers that are copies",
    "absolute addresses",
    "absolute addresses by conversion",
    "through a wrapper",
}
WITHIN = {
    "fields of one structure": (
        "",
        "at[1] = (char *)&s1.x[1] - (char *)&s1.m;" + ONE + SEND_S1 % "&s1" + "work(b);",
    ),
    "offsets in a type": ("", "at[1] = offsetof(struct part, x);" + ONE + SEND_S1 % "&s1"),
    "offsets by hand": (
        "",
        "at[1] = (MPI_Aint)&((struct part *)0)->x;" + ONE + SEND_S1 % "&s1",
    ),
    "a text": (
        "",
        'char t[9] = "a b"; char *p = t; p++; long l = p - t; at[1] = l;' + MAKE + SEND,
    ),
}
FORTRAN = """      program p
      use mpi
      use iso_c_binding
      implicit none
      integer rank, peer, ierr, i, t, n(2), of(2)
      double precision, target :: a(100), b(100), w(100)
      integer(MPI_ADDRESS_KIND) at(2)
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
      a = rank
      w = 0
      n = 100
      of = MPI_DOUBLE_PRECISION
      at = 0
%s
      call mpi_type_create_struct(2, n, at, of, t, ierr)
      call mpi_type_commit(t, ierr)
      call mpi_send(%s, 1, t, peer, 0, MPI_COMM_WORLD, ierr)
      do i = 1, 100
         w(i) = 2*w(i)+1
      end do
      do i = 1, 100
         b(i) = 2*b(i)+1
      end do
      print *, a(1), b(1), w(1)
      call mpi_finalize(ierr)
      end
"""
ADDRESSES = """      call mpi_get_address(a, at(1), ierr)
      call mpi_get_address(b, at(2), ierr)
"""
JOINED_FORTRAN = {
    "loc": ("      at(2) = loc(b) - loc(a)", "a"),
    "absolute by loc": ("      at(1) = loc(a)\n      at(2) = loc(b)", "MPI_BOTTOM"),
    "C addresses": ("      at(2) = transfer(c_loc(b), at(1)) - transfer(c_loc(a), at(1))", "a"),
    "MPI_Get_address": (ADDRESSES + "      at(2) = at(2) - at(1)\n      at(1) = 0", "a"),
    "absolute by MPI_Get_address": (ADDRESSES, "MPI_BOTTOM"),
}


@pytest.mark.parametrize("name", JOINED)
def test_joined(name: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(C % JOINED[name])
    outcome = transform([path], Options())
    assert outcome.after == outcome.before
    (decision,) = outcome.decisions
    assert decision.decision != "rewritten"
    known = re.search(
        r"behind it `(b|m|s1|s2|p|allocated memory)` (is|may be) (used|set)", decision.reason.text
    )
    assert known or "wrapper" in name or "names is not known" in decision.reason.text


@pytest.mark.parametrize(
    "name", [name for name in JOINED if "work(b); work(w);" in JOINED[name][1]]
)
def test_reaches_no_further(name: str, tmp_path: Path) -> None:
    """What the program knows no address of as a number is no part of the message."""
    path = tmp_path / "case.c"
    before, code = JOINED[name]
    path.write_text(C % (before, code.replace("work(b); work(w);", "work(w); work(b);")))
    outcome = transform([path], Options())
    decision = outcome.decisions[0]
    if name in UNKNOWN_TARGETS:
        assert "names is not known" in decision.reason.text or "wrapper" in name
        return
    assert decision.decision == "rewritten"
    text = outcome.after[str(path)].decode()
    places = [text.rindex(part) for part in ("MPI_I", "work(w)", "MPI_Wait", "work(b)")]
    assert places == sorted(places)


@pytest.mark.parametrize("form", ["", "static double c[N], *nowhere = MPI_BOTTOM;"])
def test_another_message_beside(form: str, tmp_path: Path) -> None:
    """A type of the program's own that joins nothing is not moved over what another one joins."""
    begin = "nowhere" if form else "w"
    code = (
        "MPI_Get_address(a, &at[0]); MPI_Get_address(b, &at[1]); at[1] -= at[0]; at[0] = 0;"
        + MAKE
        + "MPI_Datatype row; MPI_Type_vector(4, 5, 10, MPI_DOUBLE, &row); MPI_Type_commit(&row);"
        + f"MPI_Send({begin}, 1, row, peer, 0, MPI_COMM_WORLD); work(c); work(b);"
    )
    path = tmp_path / "case.c"
    path.write_text(C % (form or "static double c[N];", code))
    outcome = transform([path], Options())
    (decision,) = outcome.decisions
    if form:
        assert decision.decision == "refused"
        return
    assert decision.decision == "rewritten"
    text = outcome.after[str(path)].decode()
    places = [text.rindex(part) for part in ("MPI_Isend", "work(c)", "MPI_Wait", "work(b)")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", WITHIN)
def test_within_one(name: str, tmp_path: Path) -> None:
    """Distances that join nothing do not stand in the way."""
    path = tmp_path / "case.c"
    path.write_text(C % WITHIN[name])
    decision = transform([path], Options()).decisions[0]
    assert "names is not known" not in decision.reason.text
    if "text" in name:
        assert decision.decision == "rewritten"


@pytest.mark.parametrize("name", JOINED_FORTRAN)
def test_joined_in_fortran(name: str, tmp_path: Path) -> None:
    path = tmp_path / "case.f90"
    path.write_text(FORTRAN.replace("      ", "  ") % JOINED_FORTRAN[name])
    decision = transform([path], Options()).decisions[0]
    assert decision.decision == "refused"
    assert "names is not known" in decision.reason.text
