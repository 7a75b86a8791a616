"""A routine with fences of an earlier rewrite, which is split around its callers' work."""

from __future__ import annotations

import re
from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

SHARED = """      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 3001)
      double precision c(n), d(n)
      integer peer
      common /shared/ c, d, peer
"""
PROGRAM = f"""      program steps
{SHARED}      double precision e(n)
      integer i, ierr, rank
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      peer = rank
      do i = 1, n
        c(i) = i
        d(i) = 1
      end do
      do i = 1, n
        e(i) = 0.5d0 * d(i) + i
      end do
      call swap
      call next
      print *, d(1), d(600), e(n)
      call MPI_FINALIZE(ierr)
      end

      subroutine swap
{SHARED}      double precision out(4), in(4)
      integer q(2), m, i, ierr, first(2)
      first(1) = 0
      m = 0
      do i = 1, 3
        m = m + 1
        out(m) = c(3000 - 4 + i)
      end do
      call MPI_IRECV(in, 3, MPI_DOUBLE_PRECISION, peer, 3,
     &  MPI_COMM_WORLD, q(1), ierr)
      call MPI_ISEND(out, m, MPI_DOUBLE_PRECISION, peer, 3,
     &  MPI_COMM_WORLD, q(2), ierr)
      call MPI_WAITALL(2, q, MPI_STATUSES_IGNORE, ierr)
      m = first(1)
      do i = 1, 3
        m = m + 1
        c(1 + i) = in(m)
      end do
      end

      subroutine next
{SHARED}      integer i
      do i = 2, 600
        d(i) = 0.5d0 * d(i) + 0.25d0 * c(i - 1)
     &    + 0.125d0 * c(i + 1)
      end do
      end
"""


def test_each_half_declares_their_variable_once(tmp_path: Path) -> None:
    path = tmp_path / "main.f"
    path.write_text(PROGRAM)
    once = transform([path], Options(rewrites=frozenset({"motion"}))).after[str(path)]
    assert b"call MPI_GET_ADDRESS(out, imbrex_address, ierr)" in once
    path.write_bytes(once)
    after = transform([path], Options()).after[str(path)].decode().lower()
    halves = re.findall(r"(?s)\n      subroutine (swap_\w+)\(.*?\n      end\n", after)
    assert halves == ["swap_start", "swap_finish"]
    for text in re.findall(r"(?s)\n      subroutine .*?\n      end\n", after):
        fenced = "call mpi_get_address(" in text
        declared = re.findall(r"(?m)^ *integer\(kind=mpi_address_kind\) imbrex_address$", text)
        assert len(declared) == fenced
