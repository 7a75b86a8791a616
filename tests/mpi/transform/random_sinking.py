"""Two routines without arguments: one exchanges ends of `c`, the next computes `d` from `c`.

How they are called, and what the exchange does, decides whether the exchange may go into the other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """The routines, and the statements that call them, in one language."""

    routines: str
    calls: list[str]


def c_pair(choice: random.Random, name: str, length: int) -> Pair:
    width = choice.choice([1, 3])
    start = choice.choice([0, 1])  # where what is received goes
    low, high = choice.choice([(1, length - 1), (1, 600), (2, length - 2)])
    fresh = choice.choice(["n = 0;", "n = 0;", "n = 1 - 1;", ""])
    back = "" if fresh else f" - {width}"
    factor = choice.randint(1, 63) / 64
    routines = f"""static void swap_{name}(void)
{{
    double out[4], in[4];
    MPI_Request q[2];
    int n = 0;
    for (int i = 0; i < {width}; i++) {{
        out[n] = c[{length} - 4 + i];
        n = n + 1;
    }}
    MPI_Irecv(in, {width}, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(out, n, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    {fresh}
    for (int i = 0; i < {width}; i++) {{
        c[{start} + i] = in[n{back}];
        n = n + 1;
    }}
}}

static void next_{name}(void)
{{
    double w = {choice.choice(["0.5", "0.5", "c[0]"])};
    for (int i = {low}; i < {high}; i++)
        d[i] = {factor} * d[i] + 0.25 * c[i - 1] + 0.125 * c[i + 1] + 0.0625 * w;
}}
"""
    calls = [f"swap_{name}();", f"next_{name}();"]
    return Pair(routines, _arranged(choice, calls, "s = 0.5 * s + c[0];"))


def fortran_pair(choice: random.Random, name: str, length: int, declarations: str) -> Pair:
    width = choice.choice([1, 3])
    start = choice.choice([1, 2])
    low, high = choice.choice([(2, length - 1), (2, 600), (3, length - 2)])
    fresh = choice.choice(["m = 0", "m = 0", "m = first(1)", "continue"])
    back = f" - {width}" if fresh == "continue" else ""
    factor = choice.randint(1, 63) / 64
    routines = f"""      subroutine swap{name}
{declarations}
      double precision out(4), in(4)
      integer q(2), m, i, ierr, first(2)
      first(1) = 0
      m = 0
      do i = 1, {width}
        m = m + 1
        out(m) = c({length} - 4 + i)
      end do
      call MPI_IRECV(in, {width}, MPI_DOUBLE_PRECISION, peer, 3,
     &  MPI_COMM_WORLD, q(1), ierr)
      call MPI_ISEND(out, m, MPI_DOUBLE_PRECISION, peer, 3,
     &  MPI_COMM_WORLD, q(2), ierr)
      call MPI_WAITALL(2, q, MPI_STATUSES_IGNORE, ierr)
      {fresh}
      do i = 1, {width}
        m = m + 1
        c({start - 1} + i) = in(m{back})
      end do
      end

      subroutine next{name}
{declarations}
      integer i
      do i = {low}, {high}
        d(i) = {factor}d0 * d(i) + 0.25d0 * c(i - 1)
     &    + 0.125d0 * c(i + 1)
      end do
      end
"""
    calls = [f"call swap{name}", f"call next{name}"]
    return Pair(routines, _arranged(choice, calls, "s = 0.5d0 * s + c(1)"))


def _arranged(choice: random.Random, calls: list[str], between: str) -> list[str]:
    """The calls, mostly one behind the other; else so that the exchange must stay."""
    kind = choice.random()
    if kind < 0.7:
        return calls
    if kind < 0.8:
        return [*calls, *calls]
    if kind < 0.9:
        return [calls[0], between, calls[1]]
    return [*calls, calls[1]]
