"""Fortran programs in which a call must not be rewritten, each with the reason to be given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """      program main
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 100)
      double precision a(n), b(n), c(n), e(10, 10), s
      integer rank, peer, ierr, i, k, status(MPI_STATUS_SIZE)
%s
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
%s
      call MPI_FINALIZE(ierr)
      end

      subroutine work(x)
      double precision x(*)
      integer i
      do 10 i = 1, 100
   10 x(i) = 0.5d0 * x(i)
      end
"""
SEND = "      call MPI_SEND(a, n, MPI_DOUBLE_PRECISION, peer, 0,\n     &  MPI_COMM_WORLD, ierr)\n"
RECV = (
    "      call MPI_RECV(b, n, MPI_DOUBLE_PRECISION, peer, 0,\n"
    "     &  MPI_COMM_WORLD, status, ierr)\n"
)
WORK = "      call work(c)\n"
BARRIER = "      call MPI_BARRIER(MPI_COMM_WORLD, ierr)\n"

BCAST = """      call MPI_BCAST(a, n, MPI_DOUBLE_PRECISION, 0,
     &  MPI_COMM_WORLD, ierr)
"""
REFUSED: dict[str, tuple[str, str, str]] = {
    "any source": (
        "",
        WORK + BARRIER + RECV.replace("peer", "MPI_ANY_SOURCE") + BARRIER + WORK,
        "MPI_Barrier",
    ),
    "a stored wildcard": (
        "",
        "      peer = mpi_any_source\n" + WORK + BARRIER + RECV + BARRIER + WORK,
        "MPI_Barrier",
    ),
    "an error code that is read": (
        "",
        SEND + "      if (ierr .ne. 0) k = 1\n      ierr = k\n" + WORK,
        "error code may be checked",
    ),
    "an equivalence": (
        "      double precision z(n)\n      equivalence (a, z)",
        SEND + "      z(3) = 1\n" + WORK,
        "EQUIVALENCE",
    ),
    "a common block in two layouts": (
        "      common /blk/ a, b",
        SEND + WORK + "      end\n      subroutine other\n      double precision q(7)\n"
        "      common /blk/ q\n      integer ierr",
        "laid out in two ways",
    ),
    "a computed go to": (
        "",
        SEND + "      go to (10, 20), k\n   10 continue\n   20 continue\n" + WORK,
        "a GO TO",
    ),
    "a label in the window": (
        "",
        "      k = 0\n" + SEND + "   10 k = k + 1\n" + WORK + "      if (k .lt. 3) go to 10\n",
        "the label 10",
    ),
    "a label of the conditional": (
        "",
        "   10 if (k .lt. 3) then\n"
        + SEND
        + "      end if\n"
        + WORK
        + "      if (k .gt. 9) go to 10\n",
        "the label 10",
    ),
    "an arithmetic if": (
        "",
        SEND + "      if (k) 10, 20, 20\n   10 continue\n   20 continue\n" + WORK,
        "arithmetic IF",
    ),
    "output": ("", SEND + "      write (*, *) rank\n" + WORK, "input or output"),
    "a noncontiguous section": (
        "",
        WORK + SEND.replace("(a, n", "(e(1, 1:10), 10") + WORK,
        "temporary copy",
    ),
    "a strided section": ("", WORK + SEND.replace("(a,", "(a(1:n:2),") + WORK, "temporary copy"),
    "an expression": ("", WORK + SEND.replace("(a,", "((a),") + WORK, "not known"),
    "a buffer that is set": ("", SEND + "      a(5) = 2\n" + WORK, "`a` is set"),
    "a callee that sets it": ("", SEND + "      call work(a)\n      call work(a)\n", "`a` is set"),
    "an unknown procedure": ("", SEND + "      call elsewhere(c)\n" + WORK, "elsewhere"),
    "an unknown function": (
        "      double precision outside\n      external outside",
        SEND + "      s = outside(c)\n" + WORK,
        "outside",
    ),
    "a return": ("", SEND + "      if (k .gt. 3) return\n" + WORK, "leave by return"),
    "a directive": ("", SEND + "c$omp parallel\n" + WORK + "c$omp end parallel", "c$omp parallel"),
    "a preprocessor line": ("", SEND + "#ifdef X\n" + WORK + "#endif", "#ifdef"),
    "a missing include": ("      include 'nowhere.h'", SEND + WORK, "nowhere.h"),
    "two statements on a line": ("", SEND + "      k = 1; k = 2\n" + WORK, "several statements"),
    "a barrier": ("", WORK + "      call MPI_BARRIER(MPI_COMM_WORLD, ierr)\n" + WORK, "no data"),
    "a floating-point sum": (
        "",
        WORK
        + "      call MPI_ALLREDUCE(a, e, n, MPI_DOUBLE_PRECISION, MPI_SUM,\n"
        + "     &  MPI_COMM_WORLD, ierr)\n"
        + WORK,
        "another order",
    ),
    "a matching collective in another unit": (
        "",
        BCAST + WORK + "      if (k .eq. 1) call other\n      end\n      subroutine other\n"
        "      include 'mpif.h'\n      integer ierr\n      double precision q(7)\n"
        + BCAST.replace("(a, n", "(q, 7")
        + "      if (ierr .ne. 0) q(1) = 1\n      ierr = 3",
        "would have to change too",
    ),
    "a collective's buffer that is set": ("", BCAST + "      a(5) = 2\n" + WORK, "`a` is used"),
    "the statement that ends a loop": (
        "",
        "      do 10 i = 1, 3\n" + WORK + "   10 " + SEND.lstrip() + WORK,
        "ends a loop",
    ),
    "two types through mpif.h": (
        "",
        "      call MPI_ISEND(k, 1, MPI_INTEGER, peer, 5, MPI_COMM_WORLD,\n"
        "     &  i, ierr)\n" + SEND + WORK,
        "two types",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path, same_reasons: Callable[[str, Outcome], None]) -> None:
    top, body, reason = REFUSED[name]
    source = tmp_path / "program.f"
    source.write_text(PROGRAM % (top, body))
    outcome = transform([source], Options(rewrites=IN_PLACE))
    assert not outcome.skipped
    told = [
        text for decision in outcome.decisions for text in (decision.reason.text, *decision.details)
    ]
    assert outcome.after == outcome.before, told
    assert any(reason in text for text in told), told
    same_reasons(name, outcome)


def test_the_frame_alone_is_rewritten(tmp_path: Path) -> None:
    source = tmp_path / "program.f"
    source.write_text(PROGRAM % ("", SEND + WORK))
    text = transform([source], Options()).after[str(source)].decode()
    assert "MPI_ISEND" in text
    assert all(len(line) <= 72 for line in text.splitlines())


@pytest.mark.parametrize("place", ["first", "later"])
def test_code_from_an_include_file_is_not_known(tmp_path: Path, place: str) -> None:
    """What an include file with statements does may match any call of the program."""
    (tmp_path / "more.inc").write_text(BCAST)
    include = "      include 'more.inc'\n"
    body = include + WORK if place == "first" else WORK + include
    other = (
        "      end\n      subroutine other(a, c)\n      include 'mpif.h'\n      integer n, ierr\n"
        "      parameter (n = 100)\n      double precision a(n), c(n)\n" + body
    )
    text = PROGRAM % ("", BCAST + WORK + "      if (k .eq. 1) call other(a, c)\n")
    source = tmp_path / "program.f"
    alone = text.replace("call other(a, c)", "call work(c)")
    source.write_text(alone)
    assert b"IBCAST" in transform([source], Options()).after[str(source)]
    head, tail = text.split("      end\n", 1)
    source.write_text(head + other + "      end\n" + tail)
    outcome = transform([source], Options())
    assert outcome.after == outcome.before
    assert "not all of its code is known" in outcome.decisions[0].reason.text


@pytest.mark.parametrize(
    "body",
    [
        "      do 90 i = 1, n\n        c(i) = 1.0d0\n   90 end do\n",
        "      check: if (k .eq. 1) then\n        if (i .eq. 2) call work(a(1))\n"
        "      end if check\n",
    ],
)
def test_ends_of_constructs_are_found(tmp_path: Path, body: str) -> None:
    """A labelled END DO ends its loop; a one-line IF opens nothing inside a named one."""
    source = tmp_path / "program.f"
    source.write_text(PROGRAM % ("", body + SEND + WORK))
    outcome = transform([source], Options())
    assert not outcome.skipped
    assert "MPI_ISEND" in outcome.after[str(source)].decode()


PREPROCESSED = {
    "a macro in the call": ("#define COUNT n\n", SEND.replace("n,", "COUNT,", 1), "macro COUNT"),
    "a macro around the window": (
        "#define STEP 2\n",
        "      k = STEP\n" + SEND + "      k = STEP\n",
        "macro STEP",
    ),
    "a macro from a header": ('#include "names.h"\n', SEND.replace("peer", "PEER"), "macro PEER"),
    "a macro from a header's header": ('#include "all.h"\n', SEND, "macro MPI_SEND"),
    "a header that is not found": ('#include "gone.h"\n', SEND, "gone.h is not found"),
}


@pytest.mark.parametrize("name", PREPROCESSED)
def test_preprocessed(name: str, tmp_path: Path) -> None:
    """What a macro may change is not what the user's file says: the macro is named."""
    first, body, reason = PREPROCESSED[name]
    (tmp_path / "names.h").write_text("#define PEER (1 - rank)\n")
    (tmp_path / "all.h").write_text('#include "deep.h"\n')
    (tmp_path / "deep.h").write_text('#include "all.h"\n# define MPI_SEND my_send\n')
    source = tmp_path / "program.F"
    source.write_text(first + PROGRAM % ("", WORK + body + WORK))
    outcome = transform([source], Options())
    assert outcome.after == outcome.before
    told = [
        text for decision in outcome.decisions for text in (decision.reason.text, *decision.details)
    ]
    assert any(reason in text for text in told) or not outcome.decisions, told


def test_a_macro_on_the_command_line_is_named(tmp_path: Path) -> None:
    source = tmp_path / "program.F"
    source.write_text(PROGRAM % ("", SEND + WORK))
    assert transform([source], Options()).after != {str(source): source.read_bytes()}
    outcome = transform([source], Options(flags=["-Dpeer=1"]))
    assert outcome.after == outcome.before
    assert "macro peer" in outcome.decisions[0].reason.text if outcome.decisions else True


RECEIVER = """
   real :: a(100), c(1000)
   integer :: ierr, i
   call MPI_Init(ierr)
   call MPI_Recv(a, 100, MPI_REAL, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
   do i = 1, 1000
      c(i) = 2.0*i
   end do
   print *, a, c
   call MPI_Finalize(ierr)
end program main
"""


def check_known(source: Path, text: str, known: bool) -> None:
    """What is added would name what is not known."""
    source.write_text(text)
    (decision,) = transform([source], Options()).decisions
    assert decision.decision == ("rewritten" if known else "refused"), decision.reason
    assert ("nor a module of MPI" in decision.reason.text) != known


@pytest.mark.parametrize("only", ["MPI_Recv, real => MPI_REAL", "MPI_Recv, MPI_REAL", ""])
def test_a_part_of_a_module(only: str, tmp_path: Path) -> None:
    listed = f", only: MPI_Init, MPI_Finalize, {only}" if only else ""
    text = f"program main\n   use mpi{listed}{RECEIVER}"
    check_known(tmp_path / "main.f90", text, known="=>" not in only)


# What a module declares besides its own names, how it is used, whether all of MPI is known then.
MODULES = [
    ("use mpi", "use params", True),
    ("use mpi_f08", "use params", True),
    ("include 'mpif.h'", "use params", True),
    ("use mpi\n   integer, private :: x", "use params, m => n", True),
    ("use mpi\n   private\n   public :: n", "use params", False),
    ("use mpi\n   private :: MPI_Wait", "use params", False),
    ("use mpi, again => MPI_Wait", "use params", False),
    ("use mpi", "use params, again => MPI_Wait", False),
    ("use mpi", "use params, only: n, MPI_REAL", False),
]


@pytest.mark.parametrize(("inside", "use", "known"), MODULES)
def test_mpi_through_a_module(inside: str, use: str, known: bool, tmp_path: Path) -> None:
    """The names that are added reach the routine through a module that uses MPI."""
    own = inside.partition("\n")
    include = own[0].startswith("include")
    head = f"implicit none\n   {inside}" if include else f"{own[0]}\n   implicit none\n{own[2]}"
    module = f"module params\n   {head}\n   integer :: n\nend module params\n"
    program = f"program main\n   {use}\n   implicit none{RECEIVER}"
    check_known(tmp_path / "main.f90", module + program, known)
