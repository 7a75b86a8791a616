"""Fortran programs for the rewrites that make room: which are taken, and which must not be."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.rewrites.registry import REWRITES

pytestmark = pytest.mark.slow

PROGRAM = """      program main
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 9000)
      double precision a(n), b(n), c(n), s
      integer rank, peer, ierr, i, k, status(MPI_STATUS_SIZE)
      common /fields/ b, c
%s
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
      s = 1.0d0
%s
      print *, a(1), b(1), c(1), s
      call MPI_FINALIZE(ierr)
      end

      subroutine draw(x)
      implicit none
      integer i
      double precision x(100), r
      do i = 1, 100
         call random_number(r)
         x(i) = x(i) + r
      end do
      end
      subroutine work(x)
      integer i
      double precision x(9000)
      do i = 2, 9000
         x(i) = 0.5d0 * x(i) + x(i - 1)
      end do
      end

      subroutine use(x, y)
      integer i
      double precision x(9000), y(9000)
      do i = 2, 9000
         x(i) = 0.5d0 * x(i - 1) + y(i)
      end do
      end

      subroutine touch(x)
      integer n
      parameter (n = 9000)
      double precision x(n), b(n), c(n)
      common /fields/ b, c
      call work(x)
      c(1) = b(2)
      end
"""
SEND = """      call MPI_SEND(a, n, MPI_DOUBLE_PRECISION, peer, 0,
     &              MPI_COMM_WORLD, ierr)
"""
RECV = """      call MPI_RECV(a, n, MPI_DOUBLE_PRECISION, peer, 0,
     &              MPI_COMM_WORLD, status, ierr)
"""
LOOP, END = "      do k = 1, 9\n", "      end do\n"

# name: (code, whether calls change places)
REARRANGED = {
    "two calls": (RECV + "      call use(b, a)\n      call work(c)\n", True),
    "before a send": ("      call work(c)\n      call use(a, b)\n" + SEND, True),
    "through a common block": (RECV + "      call use(b, a)\n      call touch(s)\n", False),
    "random numbers": (RECV + "      call draw(a)\n      call draw(c)\n", False),
    "what the first sets": (RECV + "      call use(b, a)\n      call use(c, b)\n", False),
    "output between": (
        RECV + "      call use(b, a)\n      print *, s\n      call work(c)\n",
        False,
    ),
    "a label": (RECV + "      call use(b, a)\n   20 call work(c)\n", False),
    "a jump": (
        RECV
        + "      call use(b, a)\n      if (s .gt. 3) goto 30\n      call work(c)\n   30 s = 2\n",
        False,
    ),
    "a directive": (RECV + "      call use(b, a)\n!$omp barrier\n      call work(c)\n", False),
}


def decided(
    declarations: str, code: str, tmp_path: Path, rewrites: frozenset[str] = IN_PLACE
) -> tuple[str, list[str], set[str]]:
    """The text, what is said, and the rewrites."""
    path = tmp_path / "case.f"
    path.write_text(PROGRAM % (declarations, code))
    outcome = transform([path], Options(rewrites=rewrites))
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)]
    assert all(len(line) <= 72 for line in after.decode().splitlines())
    assert (
        transform([path], Options(rewrites=rewrites, contents={path: after})).after[str(path)]
        == after
    )
    done = [d for d in outcome.decisions if d.decision == "rewritten"]
    told = [line for d in outcome.decisions for line in (d.reason.text, *d.details)]
    return after.decode(), told, {name for d in done for name in d.rewrites}


@pytest.mark.parametrize("name", REARRANGED)
def test_rearrangement(name: str, tmp_path: Path) -> None:
    code, done = REARRANGED[name]
    assert ("rearrangement" in decided("", code, tmp_path, frozenset(REWRITES))[2]) is done


CARRIED = {
    "a send": (LOOP + "      call work(b)\n      call work(a)\n" + SEND + END, True),
    "filled at the top": (LOOP + "      call work(a)\n      call work(b)\n" + SEND + END, False),
    "read at the top": (LOOP + "      s = s + a(3)\n      call work(b)\n" + RECV + END, False),
    "a labelled end": (
        "      do 40 k = 1, 9\n      call work(b)\n      call work(a)\n"
        + SEND
        + "   40 continue\n",
        True,
    ),
    "a labelled end that is gone to": (
        "      do 40 k = 1, 9\n      call work(b)\n      if (s .gt. 3) goto 40\n"
        "      call work(a)\n" + SEND + "   40 continue\n",
        False,
    ),
    "an exit behind the start": (
        LOOP
        + "      call work(b)\n      call work(a)\n"
        + SEND
        + "      if (s .gt. 3) exit\n"
        + END,
        False,
    ),
    "a status that is read": (
        LOOP
        + "      call work(b)\n      call work(a)\n"
        + RECV
        + "      s = s + status(MPI_TAG)\n"
        + END,
        False,
    ),
}


@pytest.mark.parametrize("name", CARRIED)
def test_next_iteration(name: str, tmp_path: Path) -> None:
    """Without a copy to send from, which would give some of them a window as well."""
    code, done = CARRIED[name]
    text, told, _ = decided("", code.replace("n, MPI_D", "n - 1, MPI_D"), tmp_path)
    assert any("next iteration" in line for line in told) is done
    if done:
        assert text.count("call MPI_WAIT(") == 2


SENT = {
    "in a loop": (LOOP + "      call work(a)\n" + SEND + END, True),
    "a part": (LOOP + "      call work(a)\n" + SEND.replace("n,", "n - 1,", 1) + END, False),
    "not in a loop": ("      call work(a)\n" + SEND, False),
    "an expression": (LOOP + "      call work(a)\n" + SEND.replace("(a,", "((a),") + END, False),
    "in one line with a condition": (
        LOOP + "      call work(a)\n      if (rank .eq. 0)\n     & " + SEND[5:] + END,
        False,
    ),
}


@pytest.mark.parametrize("name", SENT)
def test_sent_from_a_copy(name: str, tmp_path: Path) -> None:
    code, done = SENT[name]
    assert ("a_sent = a" in decided("", code, tmp_path)[0]) is done


def test_sent_memory_that_is_shared(tmp_path: Path) -> None:
    shared = "      double precision z(n)\n      equivalence (a, z)"
    code = LOOP + "      call work(a)\n" + SEND + END
    assert "a_sent" not in decided(shared, code, tmp_path)[0]


BRANCHES = {
    "a use in a branch": ("      if (s .gt. 3) then\n         s = a(2)\n      end if\n", 2),
    "a return in a branch": ("      if (s .gt. 3) then\n         return\n      end if\n", 2),
    "a use in the condition": ("      if (a(1) .gt. 3) then\n         s = 2\n      end if\n", 0),
    "in one line": ("      if (s .gt. 3) s = a(2)\n", 0),
    "a use behind it": (
        "      if (s .gt. 3) then\n      s = a(2)\n      end if\n      s = a(1)\n",
        0,
    ),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name: str, tmp_path: Path) -> None:
    choice, waits = BRANCHES[name]
    text, told, _ = decided(
        "", "      s = peer\n" + RECV + choice + "      call work(c)\n", tmp_path
    )
    assert text.count("call MPI_WAIT(") == waits, told


def test_a_wait_behind_an_if_of_which_nothing_is_left(tmp_path: Path) -> None:
    receive = "      if (rank .eq. 1) call MPI_RECV(b, 10, MPI_DOUBLE_PRECISION,\n"
    receive += "     & peer, 0, MPI_COMM_WORLD, status, ierr)\n"
    send = "      if (rank .eq. 0) then\n   " + SEND.replace("n,", "10,", 1) + "      end if\n"
    work = "      call work(c)\n"
    text, _, _ = decided(
        "", LOOP + work + "      call touch(a)\n" + send + work + receive + END, tmp_path
    )
    assert "MPI_RECV" not in text
    assert text.count("call MPI_WAIT(") == 3
