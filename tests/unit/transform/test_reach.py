"""What a message reaches besides the variable that its buffer names: structures, common blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
static double a[N], b[N];
struct part { double m; double x[3]; int id; };
struct vector { double x, y, z; };
struct inner { double x[N]; };
struct outer { int n; struct inner in; union { double d[N]; int k[N]; }; };
struct halo { double mine[N], theirs[N]; };
static struct outer whole;
static struct vector at[N];
static struct part parts[N];
static struct halo halo;
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
    double x = rank, y = rank;
    %s
    printf("%%g %%g %%g %%g\\n", a[1], b[2], x, y);
    MPI_Finalize();
    return 0;
}
"""
TO = "peer, 0, MPI_COMM_WORLD);"
# name: (top-level code, code in main, whether the call is rewritten, part of its reason)
STRUCTURES = {
    "structures on the heap": (
        "",
        "struct part *p = malloc(N * sizeof *p);"
        "for (int i = 0; i < N; i++) p[i].m = i;"
        f"MPI_Send(p, N, type, {TO} for (int i = 0; i < N; i++) p[i].x[0] = 7;",
        False,
        "behind it `p` is set",
    ),
    "structures in memory that is passed on": (
        "static void go(struct part *p, int peer) { for (int i = 0; i < N; i++) p[i].m = i;"
        f"MPI_Send(p, N, type, {TO} for (int i = 0; i < N; i++) p[i].x[0] = 7; }}",
        "go(calloc(N, sizeof(struct part)), peer);",
        False,
        "behind it `p` is set",
    ),
    "bytes of structures": (
        "",
        "void *v = malloc(N * sizeof(struct part)); struct part *p = v;"
        "for (int i = 0; i < N; i++) p[i].m = i;"
        f"MPI_Send(v, N, MPI_BYTE, {TO} for (int i = 0; i < N; i++) p[i].id = 7;",
        False,
        "`v` may be set through `p`",
    ),
    "numbers of structures": (
        "",
        "struct vector *p = malloc(N * sizeof *p); double *flat = (double *)p;"
        "for (int i = 0; i < N; i++) p[i].y = i;"
        f"MPI_Send(flat, 3 * N, MPI_DOUBLE, {TO} for (int i = 0; i < N; i++) p[i].z = 7;",
        False,
        "`flat` may be set through `p`",
    ),
    "other memory than the structures": (
        "",
        "struct part *p = malloc(N * sizeof *p); double *u = malloc(N * sizeof *u); work(u);"
        f"MPI_Send(u, N, MPI_DOUBLE, {TO} for (int i = 0; i < N; i++) p[i].m = 7; a[1] = p[3].m;",
        True,
        "computing statement",
    ),
    "a structure within a structure": (
        "",
        "for (int i = 0; i < N; i++) whole.in.x[i] = i;"
        f"MPI_Send(&whole, 1, type, {TO} for (int i = 0; i < N; i++) whole.in.x[i] = 7;",
        False,
        "`whole` may be set through `x`",
    ),
    "a union within a structure": (
        "",
        "for (int i = 0; i < N; i++) whole.d[i] = i;"
        f"MPI_Send(&whole, 1, type, {TO} for (int i = 0; i < N; i++) whole.k[i] = 7;",
        False,
        "may be set through",
    ),
    "the first member by a pointer": (
        "",
        "struct inner *p = (struct inner *)parts; for (int i = 0; i < N; i++) p->x[i] = i;"
        f"MPI_Send(parts, N, type, {TO} for (int i = 0; i < N; i++) p->x[i] = 7;",
        False,
        "`parts` may be set through `x`",
    ),
    "a datatype from the first field": (
        "",
        "for (int i = 0; i < N; i++) parts[i].m = i;"
        f"MPI_Send(&parts[0].m, N, type, {TO} for (int i = 0; i < N; i++) parts[i].id = 7;",
        False,
        "`id` may be set through `parts`",
    ),
    "numbers from the first field": (
        "",
        "for (int i = 0; i < N; i++) at[i].x = i;"
        f"MPI_Send(&at[0].x, 3 * N, MPI_DOUBLE, {TO} for (int i = 0; i < N; i++) at[i].z = 7;",
        False,
        "`z` may be set through `at`",
    ),
    "more than the field": (
        "",
        "work(halo.mine);"
        f"MPI_Send(halo.mine, 2 * N, MPI_DOUBLE, {TO}"
        "for (int i = 0; i < N; i++) halo.theirs[i] = 7;",
        False,
        "`theirs` may be set through `halo`",
    ),
    "more than is left of the field": (
        "",
        "work(halo.mine);"
        f"MPI_Send(&halo.mine[60], 50, MPI_DOUBLE, {TO}"
        "for (int i = 0; i < N; i++) halo.theirs[i] = 7;",
        False,
        "`theirs` may be set through `halo`",
    ),
    "what is left of the field": (
        "",
        "work(halo.mine);"
        f"MPI_Send(&halo.mine[60], 40, MPI_DOUBLE, {TO}"
        "for (int i = 0; i < N; i++) halo.theirs[i] = 7;",
        True,
        "computing statement",
    ),
    "more than is left of a field of many": (
        "",
        "for (int i = 0; i < N; i++) parts[i].x[1] = i;"
        f"MPI_Send(&parts[1].x[1], 3, MPI_DOUBLE, {TO}"
        "for (int i = 0; i < N; i++) parts[i].id = 7;",
        False,
        "`id` may be set through `parts`",
    ),
    "a field of many from its beginning": (
        "",
        "for (int i = 0; i < N; i++) parts[i].x[1] = i;"
        f"MPI_Send(&parts[1].x[0], 3, MPI_DOUBLE, {TO}"
        "for (int i = 0; i < N; i++) parts[i].id = 7;",
        True,
        "computing statement",
    ),
    "one field of two": (
        "",
        "work(halo.mine);"
        f"MPI_Send(halo.mine, N, MPI_DOUBLE, {TO}"
        "for (int i = 0; i < N; i++) halo.theirs[i] = 7;",
        True,
        "computing statement",
    ),
    "addresses of two variables in a datatype": (
        "static void build(double *p, double *q) { MPI_Aint at[2];"
        "MPI_Get_address(p, &at[0]); MPI_Get_address(q, &at[1]); at[1] -= at[0]; at[0] = 0;"
        "MPI_Datatype of[2] = {MPI_DOUBLE, MPI_DOUBLE}; int n[2] = {1, 1};"
        "MPI_Type_create_struct(2, n, at, of, &type); MPI_Type_commit(&type); }",
        f"build(&x, &y); MPI_Send(&x, 1, type, {TO} y = 3.0; work(a);",
        False,
        "behind it `y` is set",
    ),
    "addresses within a structure in a datatype": (
        "static void build(void) { MPI_Aint at[2];"
        "MPI_Get_address(&parts[0].m, &at[0]); MPI_Get_address(&parts[0].id, &at[1]); }",
        "build(); for (int i = 0; i < N; i++) parts[i].m = i;"
        f"MPI_Send(parts, N, type, {TO} work(a);",
        True,
        "computing statement",
    ),
}

FORTRAN = """      program p
      implicit none
      include 'mpif.h'
      integer rank, peer, ierr, i, n1, n2, n3
      double precision a(100), b(100), c(100), d(100)
      common /field/ a, b, c
      common /sizes/ n1, n2, n3
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
%s
      do i = 1, 100
         d(i) = 0.5d0 * d(i) + 1.d0
      end do
      n2 = 7
      b(2) = 7.d0
      n1 = 7
      a(1) = 7.d0
      call mpi_finalize(ierr)
      end
"""
# name: (the call, what ends its window)
COMMONS = {
    "one number": ("n1, 1, MPI_INTEGER", "`n1` is set"),
    "three numbers in a row": ("n1, 3, MPI_INTEGER", "`n2` is set"),
    "one array": ("a, 100, MPI_DOUBLE_PRECISION", "`a` is set"),
    "two arrays in a row": ("a, 200, MPI_DOUBLE_PRECISION", "`b` is set"),
    "what is left of an array": ("a(51), 50, MPI_DOUBLE_PRECISION", "the call of MPI_Finalize"),
    "more than is left of an array": ("a(51), 60, MPI_DOUBLE_PRECISION", "`b` is set"),
    "bytes in a row": ("n1, 12, MPI_BYTE", "`n2` is set"),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures(name: str, tmp_path: Path) -> None:
    top, body, rewritten, reason = STRUCTURES[name]
    path = tmp_path / "case.c"
    path.write_text(C % (top, body))
    decision = transform([path], Options()).decisions[0]
    assert (decision.decision == "rewritten") is rewritten, decision.reason
    assert reason in decision.reason.text


@pytest.mark.parametrize("name", COMMONS)
def test_common_blocks(name: str, tmp_path: Path) -> None:
    message, end = COMMONS[name]
    path = tmp_path / "case.f"
    call = f"      call mpi_send({message}, peer, 0,\n     &    MPI_COMM_WORLD, ierr)"
    path.write_text(FORTRAN % call)
    decision = transform([path], Options()).decisions[0]
    assert decision.decision == "rewritten"
    assert any(end in line for line in decision.details), decision.details


def test_a_block_for_each_process(tmp_path: Path) -> None:
    """MPI_Alltoall of one number sends as many as there are processes."""
    path = tmp_path / "case.f"
    call = "      call mpi_alltoall(n1, 1, MPI_INTEGER, m, 1,\n     &    MPI_INTEGER, "
    text = FORTRAN % (call + "MPI_COMM_WORLD, ierr)")
    text = text.replace("implicit none\n      include 'mpif.h'", "use mpi\n      implicit none")
    path.write_text(text.replace("integer rank", "integer m(100), rank"))
    decision = transform([path], Options()).decisions[0]
    assert decision.decision == "rewritten", decision.reason
    assert any("because `n2` is" in line for line in decision.details), decision.details
