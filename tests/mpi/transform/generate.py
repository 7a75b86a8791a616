"""Whole random programs for two ranks, in C and in fixed-form Fortran: see random_body.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

from random_body import ARRAYS, LENGTH, Generator  # type: ignore[import-not-found]
from random_labels import with_labels  # type: ignore[import-not-found]

C_HEAD = f"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define LENGTH {LENGTH}
static double a[LENGTH + 1], b[LENGTH + 1], c[LENGTH + 1], d[LENGTH + 1], e[LENGTH + 1];
static double f[LENGTH + 1];
static double s, t, *p = a;
static int rank, peer, m[2];

static void work(double *x, int n)
{{
    for (int i = 0; i < n; i++)
        x[i] = 0.5 * x[i] + 0.25;
}}

static void mix(double x[], const double y[700])
{{
    for (int i = 0; i < 700; i++)
        x[i] = 0.5 * (x[i] + y[i]);
}}

static double *part(double *x, int i) {{ return x + i; }}

static void globally(void)
{{
    for (int i = 0; i < 20; i++)
        c[i] = 0.5 * c[i] + s;
}}
"""
C_MAIN = """
int main(int argc, char **argv)
{{
    double *all[] = {{a, b, c, d, e, f}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    if (!freopen(rank ? "rank1.txt" : "rank0.txt", "a", stdout))
        return 1;
    for (int j = 0; j < 6; j++)
        for (int i = 0; i <= LENGTH; i++)
            all[j][i] = (i * 7 + j * 3 + rank * 5) % 32 / 32.0;
{calls}
    MPI_Finalize();
    return 0;
}}
"""
C_CHECK = """    for (int j = 0; j < 6; j++) {{
        double sum = 0.0;
        for (int i = 0; i <= LENGTH; i++)
            sum += all[j][i] * (1 + i % 13);
        printf("program {number} rank %d array %d %.17g %.17g %.17g\\n", rank, j, sum, s, t);
    }}"""

C_POINTERS = """    double *first = e, *second = f, *old = NULL;
    double *e = malloc((LENGTH + 1) * sizeof(double));
    double *f = malloc((LENGTH + 1) * sizeof(double));
    for (int i = 0; i <= LENGTH; i++) {{
        e[i] = first[i];
        f[i] = second[i];
    }}
{body}
    for (int i = 0; i <= LENGTH; i++) {{
        first[i] = e[i];
        second[i] = f[i];
    }}
    (void)old;"""


def c_source(seeds: list[int], kind: Callable[..., Any] | None = None) -> str:
    """One program that runs the random routine of each seed in turn.

    `kind`: what generates the statements.
    """
    routines, calls = [], []
    for number in seeds:
        generator = (kind or Generator)(number, fortran=False)
        body = "\n".join(generator.body())
        if generator.exchanging:
            body = C_POINTERS.format(body=body)
        if number % 4 == 1:  # addresses that a function computes
            body = re.sub(r"(MPI_\w+\()&([a-f])\[([^\]]+)\]", r"\1part(\2, \3)", body)
        requests = "    MPI_Request r[4];\n" if "r[" in body else ""
        requests = "    int j = 0, at = 0;\n    double q = 0.0;\n" + requests
        routines += generator.routines
        routines.append(f"static void program_{number}(void)\n{{\n{requests}{body}\n}}\n")
        calls.append(f"    program_{number}();\n" + C_CHECK.format(number=number))
    text = C_HEAD + "\n" + "\n".join(routines) + C_MAIN.format(calls="\n".join(calls))
    if Random(seeds[0]).random() < 0.5:  # the datatype is in a variable
        text = text.replace("MPI_DOUBLE,", "dtype,")
        text = text.replace("static int rank", "static MPI_Datatype dtype;\nstatic int rank")
        text = text.replace("    peer = 1", "    dtype = MPI_DOUBLE;\n    peer = 1")
    return text


F_DECLARATIONS = f"""      implicit none
      include 'mpif.h'
      integer n
      parameter (n = {LENGTH} + 1)
      double precision c(n), d(n), s, t
      integer rank, peer
      common /shared/ c, d, s, t, rank, peer
"""
F_HEAD = f"""      program random
{F_DECLARATIONS}
      double precision a(n), b(n), e(n), f(n)
      integer i, ierr
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
      open(6, file='rank'//char(48 + rank)//'.txt', position='append')
      s = 0.0d0
      t = 0.0d0
      do i = 1, n
        a(i) = mod(i*7 + rank*5, 32) / 32.0d0
        b(i) = mod(i*7 + 3 + rank*5, 32) / 32.0d0
        c(i) = mod(i*7 + 6 + rank*5, 32) / 32.0d0
        d(i) = mod(i*7 + 9 + rank*5, 32) / 32.0d0
        e(i) = mod(i*7 + 12 + rank*5, 32) / 32.0d0
        f(i) = mod(i*7 + 15 + rank*5, 32) / 32.0d0
      end do
"""
F_TAIL = f"""
      subroutine check(number, which, x)
{F_DECLARATIONS}
      integer number, which, i
      double precision x(n), sum
      sum = 0.0d0
      do i = 1, n
        sum = sum + x(i) * (1 + mod(i, 13))
      end do
      write(*, '(3i8,3es25.17)') number, rank, which, sum, s, t
      end

      subroutine work(x, m)
      integer m, i
      double precision x(m)
      do 10 i = 1, m
        x(i) = 0.5d0 * x(i) + 0.25d0
 10   continue
      end

      subroutine mix(x, y)
      integer i
      double precision x(*), y(*)
      do i = 1, 700
        x(i) = 0.5d0 * (x(i) + y(i))
      end do
      end

      subroutine glob
{F_DECLARATIONS}
      integer i
      do i = 1, 20
        c(i) = 0.5d0 * c(i) + s
      end do
      end
"""


def fortran_source(
    seeds: list[int], suffix: str = "", kind: Callable[..., Any] | None = None
) -> str:
    """The same in fixed form: two arrays in COMMON, two dummy arguments, two local.

    The names of the helpers, which have no file scope as in C, end with `suffix`. `kind`: what
    generates the statements.
    """
    calls, routines = [], []
    for number in seeds:
        calls.append(f"      call p{number}(a, b, e, f)")
        for which, name in enumerate(ARRAYS):
            calls.append(f"      call check({number}, {which}, {name})")
        generator = (kind or Generator)(number, fortran=True, declarations=F_DECLARATIONS)
        body = "\n".join(generator.body())
        routines += generator.routines
        shared = generator.shared()
        routines.append(
            f"      subroutine p{number}(a, b, e0, f0)\n{F_DECLARATIONS}"
            "      double precision a(n), b(n), e0(n), f0(n), e(n), f(n)\n"
            f"      integer i, j, k, mm, ierr, at, r(4)\n      double precision q\n{shared}"
            "      at = 0\n"
            "      do i = 1, n\n        e(i) = e0(i)\n        f(i) = f0(i)\n      end do\n"
            f"{body}\n"
            "      do i = 1, n\n        e0(i) = e(i)\n        f0(i) = f(i)\n      end do\n"
            "      end\n"
        )
    main = F_HEAD + "\n".join(calls) + "\n      call MPI_FINALIZE(ierr)\n      end\n"
    text = main + "\n" + "\n".join(routines) + F_TAIL
    if Random(seeds[0]).random() < 0.5:  # the datatype is in a variable
        text = text.replace("MPI_DOUBLE_PRECISION", "dtype")
        shared = "      common /shared/"
        text = text.replace(shared, f"      integer dtype\n      common /types/ dtype\n{shared}")
        text = text.replace(
            "      peer = 1 - rank\n", "      peer = 1 - rank\n      dtype = MPI_DOUBLE_PRECISION\n"
        )
    text = re.sub(r"\b(check|work|mix|glob)\b", rf"\g<1>{suffix}", text)
    return with_labels(text) if seeds[0] % 20 == 0 else text
