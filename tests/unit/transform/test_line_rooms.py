"""Messages that end in the line which they begin, by the loops beside them, and others.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

ROWS = (Path(__file__).parent / "cases" / "rows.f").read_text()
CALLS = "         call exch\n         call relax\n"
NEST = "      do j = 1, ny\n         do i = 1, nx\n            v(i, j) = 0.25d0"
COMMON = "      common /grid/ u, v, nx, ny, up, down\n"
DOUBLE = "      double precision u(0:101,0:65), v(0:101,0:65)\n"
SEND = "      call mpi_sendrecv(u(1, 1)"
ALL_OF_IT = "      do j = 0, 65\n         do i = 0, 101\n"
AS_FAR_AS_USED = "      do j = 0, ny + 1\n         do i = 0, nx + 1\n"
SHORT_COPY = {"   do 10 i = 1, nx": "   do 10 i = 1, 10"}  # whose nest tells nothing then
# name: (replacements, whether the exchange is rewritten)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "a nest whose loops end at labels": ({CALLS: CALLS.replace("relax", "copy")}, True),
    "such a nest that is shorter": ({CALLS: CALLS.replace("relax", "copy"), **SHORT_COPY}, False),
    "a loop ahead": ({CALLS: CALLS.replace("relax", "copy"), ALL_OF_IT: AS_FAR_AS_USED}, True),
    "a loop ahead in a routine": (
        {
            "         call exch\n         call relax\n": "         call both\n",
            "      subroutine exch\n": "      subroutine both\n      call relax\n      call exch\n"
            "      end\n\n      subroutine exch\n",
        },
        True,
    ),
    "no loop": (
        {NEST: NEST.replace("nx", "10"), **SHORT_COPY},
        False,
    ),
    "a loop that is shorter": (
        {NEST: NEST.replace("nx", "nx - 2"), **SHORT_COPY},
        False,
    ),
    "a loop that may not run": (
        {NEST: NEST.replace("1, ny", "2, ny"), "do 20 j = 1, ny": "do 20 j = 2, ny"},
        False,
    ),
    "a loop that is not always there": (
        {CALLS: CALLS.replace("call relax", "if (mod(it, 2) .eq. 0) call relax"), **SHORT_COPY},
        False,
    ),
    "a routine that may return before it": (
        {NEST: f"      if (ny .lt. 3) return\n{NEST}", **SHORT_COPY},
        False,
    ),
    "the size changes": (
        {CALLS: CALLS.replace("exch\n", "exch\n         nx = nx - 1\n")},
        False,
    ),
    "the other size changes": (
        {CALLS: CALLS.replace("exch\n", "exch\n         ny = ny - 9\n")},
        False,
    ),
    "the other size changes behind a loop ahead": (
        {
            CALLS: CALLS.replace("relax", "copy"),
            ALL_OF_IT: AS_FAR_AS_USED,
            "         call copy\n      end do": "         ny = ny + 1\n      end do",
            **SHORT_COPY,
        },
        False,
    ),
    "the size changes in a routine": (
        {
            CALLS: CALLS.replace("exch\n", "exch\n         call less(nx)\n"),
            "      subroutine exch\n": "      subroutine less(n)\n      integer n\n"
            "      n = n - 1\n      end\n\n      subroutine exch\n",
        },
        False,
    ),
    "the size changes in the exchange": (
        {
            "      return\n      end\n\n      subroutine relax": "      nx = nx - 1\n      end\n\n"
            "      subroutine relax"
        },
        False,
    ),
    "the size is read": (
        {CALLS: CALLS.replace("exch\n", "exch\n         read(*, *) nx\n")},
        False,
    ),
    "the size is received": (
        {
            CALLS: CALLS.replace(
                "exch\n",
                "exch\n         call mpi_bcast(nx, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n",
            )
        },
        False,
    ),
    "the size changes behind a loop ahead": (
        {
            CALLS: CALLS.replace("relax", "copy"),
            ALL_OF_IT: AS_FAR_AS_USED,
            "         call copy\n      end do": "         nx = nx + 1\n      end do",
            **SHORT_COPY,
        },
        False,
    ),
    "an end between": (
        {CALLS: CALLS.replace("exch\n", "exch\n         if (ny .gt. 50) stop\n")},
        False,
    ),
    "another iteration between": (
        {CALLS: CALLS.replace("exch\n", "exch\n         if (it .gt. 10) cycle\n")},
        False,
    ),
    "a jump to behind a loop ahead": (
        {
            CALLS: CALLS.replace("relax", "copy"),
            ALL_OF_IT: f"      if (rank .gt. 3) goto 50\n{AS_FAR_AS_USED}",
            "      do it = 1, 20\n": "   50 continue\n      do it = 1, 20\n",
            **SHORT_COPY,
        },
        False,
    ),
    "another caller": (
        {
            "i = 1, nx\n            total": "i = 1, 10\n            total",
            "      total = 0.0d0\n": "      call other\n      total = 0.0d0\n",
            "      subroutine exch\n": "      subroutine other\n      call exch\n"
            "      end\n\n      subroutine exch\n",
        },
        False,
    ),
    "another caller with such a loop": (
        {
            "      total = 0.0d0\n": "      call other\n      total = 0.0d0\n",
            "      subroutine exch\n": "      subroutine other\n      call exch\n"
            "      call relax\n      end\n\n      subroutine exch\n",
        },
        True,
    ),
    "messages of other lengths": ({f"{SEND}, nx": f"{SEND}, nx + 3"}, False),
    "a message that begins further on": (
        {f"{SEND}, nx": "      call mpi_sendrecv(u(3, 1), nx"},
        False,
    ),
    "the block laid out otherwise": (
        {
            "      subroutine copy\n      implicit none\n      integer nx, ny, up, down, i, j\n"
            f"{DOUBLE}{COMMON}": "      subroutine copy\n      implicit none\n"
            "      integer nx, ny, up, down, i, j\n      double precision u(0:101,0:33),"
            f" v(0:101,0:65)\n{COMMON}"
        },
        False,
    ),
    "the size shares its memory": (
        {
            "      subroutine copy\n      implicit none\n": "      subroutine copy\n"
            "      implicit none\n      integer other\n      equivalence (other, nx)\n"
        },
        False,
    ),
    "the array shares its memory": (
        {
            "      subroutine copy\n      implicit none\n": "      subroutine copy\n"
            "      implicit none\n      double precision w(0:101,0:65)\n"
            "      equivalence (w, u)\n"
        },
        False,
    ),
    "it is read in part of a condition": (
        {
            "            v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j)\n"
            "     &                + u(i, j - 1) + u(i, j + 1))\n": "            if (i .lt. 4"
            " .and. u(i, j) .gt. 0) v(3, 3) = 1\n",
            "            u(i, j) = v(i, j)": "            u(1, 1) = v(1, 1)",
        },
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rows(name: str, tmp_path: Path) -> None:
    replacements, expected = CASES[name]
    path = tmp_path / "case.f"
    path.write_text(changed(ROWS, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    rewritten = [d for d in outcome.decisions if d.decision == "rewritten"]
    assert bool(rewritten) is expected, [d.reason.text for d in outcome.decisions]
    after = outcome.after[str(path)]
    assert transform([path], Options(contents={path: after})).after[str(path)] == after
