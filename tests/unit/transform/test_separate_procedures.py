"""Procedures whose interface stands apart from them: `module procedure` of submodules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.command import explain
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

MODULE = """\
module sea
  use mpi
  implicit none
  integer, parameter :: n = 64, dp = kind(1d0)
  integer :: left, right
  interface
    module subroutine exchange(u, comm)
      real(dp), intent(inout) :: u(0:n + 1)
      integer, intent(in) :: comm
    end subroutine exchange
    module function total(v, comm) result(s)
      real(dp), intent(inout) :: v(n)
      integer, intent(in) :: comm
      real(dp) :: s
    end function total
  end interface
end module sea
"""
INNER = """\
submodule (sea) impl
  implicit none
contains
  module procedure exchange
    integer :: ierr
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, u(0), 1, MPI_DOUBLE_PRECISION, &
      left, 1, comm, MPI_STATUS_IGNORE, ierr)
  end procedure exchange

  module procedure total
    integer :: i, ierr
    s = sum(v)
    call MPI_Bcast(s, 1, MPI_DOUBLE_PRECISION, 0, comm, ierr)
    do i = 1, n
      v(i) = v(i) / 2
    end do
  end procedure total
end submodule impl
"""
MAIN = """\
program main
  use sea
  implicit none
  real(dp) :: u(0:n + 1), v(n), s
  integer :: ierr, i
  call MPI_Init(ierr)
  u = 1
  v = 2
  call exchange(u, MPI_COMM_WORLD)
  do i = 1, n
    v(i) = v(i) * i
  end do
  s = total(v, MPI_COMM_WORLD)
  print *, u(0), s, v(1)
  call MPI_Finalize(ierr)
end program main
"""
EXCHANGE = """\
  module procedure exchange
    integer :: ierr
"""
STATED = """\
  module subroutine exchange(u, comm)
    real(dp), intent(inout) :: u(0:n + 1)
    integer, intent(in) :: comm
    integer :: ierr
"""
PACKED = """\
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, u(0), 1, MPI_DOUBLE_PRECISION, &
      left, 1, comm, MPI_STATUS_IGNORE, ierr)
"""
PACKS = """\
    real(dp) :: out(2), in(2)
    out = u(n - 1:n)
    call MPI_Sendrecv(out, 2, MPI_DOUBLE_PRECISION, right, 1, in, 2, MPI_DOUBLE_PRECISION, &
      left, 1, comm, MPI_STATUS_IGNORE, ierr)
    u(0) = in(1) + in(2)
"""
ENDED = "    end subroutine exchange\n"
BODY = "    module subroutine exchange(u, comm)\n"
REWRITTEN = "MPI_Sendrecv in exchange: rewrite (wrappers,"


def told(folder: Path, *texts: str) -> tuple[str, Outcome]:
    """What is said of a program of these files, and what becomes of it."""
    files = [folder / f"{number}.f90" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    outcome = transform(files, Options())
    return explain(outcome), outcome


def written(outcome: Outcome) -> str:
    return "".join(text.decode() for _, text in sorted(outcome.after.items()))


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("stated", [False, True])
def test_callers_have_the_halves(tmp_path: Path, files: int, stated: bool) -> None:
    """The procedure repeats its arguments or does not, in one file with its module or not."""
    inner = INNER
    if stated:
        inner = changed(INNER, {EXCHANGE: STATED, "end procedure exchange": "end subroutine"})
    texts = [MODULE, inner, MAIN]
    found, outcome = told(tmp_path, *(texts if files == 3 else ["".join(texts)]))
    assert REWRITTEN in found
    text = written(outcome)
    assert text.count("    module subroutine exchange_start(u, comm, imbrex_requests)\n") == 1
    assert text.count("module subroutine exchange_start(u, comm, imbrex_requests)") == 2
    assert text.count("module subroutine exchange_finish(u, imbrex_requests)") == 2
    assert "procedure exchange" not in text
    assert "subroutine exchange(" not in text
    again, _ = told(tmp_path, *(t.decode() for _, t in sorted(outcome.after.items())))
    assert "rewrite" not in again


def test_a_message_within_the_procedure(tmp_path: Path) -> None:
    """Of a function the interface body names the result."""
    assert "MPI_Bcast in total: rewrite (collectives)" in told(tmp_path, MODULE + INNER + MAIN)[0]


def test_buffers_of_the_procedure(tmp_path: Path) -> None:
    """They are arguments of the halves, which both descriptions declare."""
    found, outcome = told(tmp_path, MODULE + changed(INNER, {PACKED: PACKS}) + MAIN)
    assert REWRITTEN in found
    text = written(outcome)
    finish = text[text.index("module subroutine exchange_finish(") :]
    assert "double precision :: in(1:2)" in finish[: finish.index("end subroutine")]
    assert re.match(r"module subroutine exchange_finish\(u, .*\bin\b.*\)\n", finish)
    assert "double precision :: exchange_in(1:2)" in text


@pytest.mark.parametrize("where", ["module", "inner", "both"])
def test_declarations_with_comments(tmp_path: Path, where: str) -> None:
    """A half has what either of its descriptions declares."""
    said = {":: comm\n    end sub": ":: comm ! all\n    end sub"}
    module = changed(MODULE, said) if where != "inner" else MODULE
    stated = STATED.replace(":: comm\n", ":: comm ! all\n") if where != "module" else STATED
    inner = changed(INNER, {EXCHANGE: stated, "end procedure exchange": "end subroutine"})
    found, outcome = told(tmp_path, module + inner + MAIN)
    assert REWRITTEN in found
    assert written(outcome).count("module subroutine exchange_finish(u, comm, imbrex_req") == 2


def test_in_the_module_itself(tmp_path: Path) -> None:
    """The module may contain the procedure, too."""
    contained = INNER.partition("implicit none\n")[2].replace("end submodule impl\n", "")
    text = changed(MODULE, {"end module sea\n": f"{contained}end module sea\n"})
    assert REWRITTEN in told(tmp_path, text + MAIN)[0]


def test_names_that_the_module_lists(tmp_path: Path) -> None:
    listed = {
        "  integer, parameter": "  private\n  public exchange, total, n, dp\n  integer, parameter"
    }
    main = changed(MAIN, {"  use sea\n": "  use mpi\n  use sea, only: exchange, total, n, dp\n"})
    found, outcome = told(tmp_path, changed(MODULE, listed) + INNER + main)
    assert REWRITTEN in found
    assert "public exchange_start, exchange_finish, total" in written(outcome)
    assert "only: exchange_start, exchange_finish, total" in written(outcome)


@pytest.mark.parametrize(
    ("where", "change"),
    [
        # Another build may have another interface, or none.
        ("module", {BODY: f"#ifndef SEA\n{BODY}", ENDED: f"{ENDED}#endif\n"}),
        # Its head has more to say, or is no statement of its own.
        ("module", {BODY: "    impure module subroutine exchange(u, comm)\n"}),
        ("inner", {PACKED: PACKS.replace("out(2)", "out(2 * size(u(1:1)))")}),
        # What the two halves are called is taken in another file.
        ("main", {"  use sea\n": "  use sea\n  external exchange_start\n"}),
        # What declares it does not say all of it.
        ("module", {BODY: f"{BODY}      target :: u\n"}),
        ("module", {BODY: BODY.replace("comm)", "comm) bind(c)")}),
        # A generic name stands for it too.
        ("module", {"  interface\n    module sub": "  interface swap\n    module sub"}),
    ],
)  # fmt: skip
def test_what_is_not_taken_apart(tmp_path: Path, where: str, change: dict[str, str]) -> None:
    texts = {"module": MODULE, "inner": INNER, "main": MAIN}
    texts[where] = changed(texts[where], change)
    found, outcome = told(tmp_path, *texts.values())
    assert "MPI_Sendrecv in exchange" in found
    assert "exchange_finish" not in written(outcome)
    assert not outcome.skipped


@pytest.mark.parametrize(
    ("where", "change"),
    [
        # The size of the argument is that of the module, and not of the procedure or its host.
        ("inner", {"contains\n": "  integer, parameter :: n = 8\ncontains\n"}),
        ("inner", {EXCHANGE: f"{EXCHANGE}    integer, parameter :: n = 8\n"}),
        ("inner", {EXCHANGE: f"{EXCHANGE}    use sizes, only: n\n"}),
        # The body knows it by a module of its own.
        ("module", {BODY: f"{BODY}      use sizes, only: n\n"}),
        ("module", {BODY: f"{BODY}      integer, parameter :: n = 8\n"}),
        # There is no body, or it is no procedure of a module, or has a line that is not read.
        ("module", {BODY: "    module subroutine exchanged(u, comm)\n"}),
        ("module", {BODY: "    subroutine exchange(u, comm)\n"}),
        ("module", {BODY: f"{BODY}#include <sizes.inc>\n"}),
        # Which one holds is not known.
        ("module", {BODY: f"{BODY}    end subroutine\n{BODY}"}),
    ],
)  # fmt: skip
def test_arguments_that_are_not_known(tmp_path: Path, where: str, change: dict[str, str]) -> None:
    """Such a procedure is not read, so that not all of the code of the program is known."""
    texts = {"sizes": "module sizes\n  integer, parameter :: n = 8\nend module\n"}
    texts |= {"module": MODULE, "inner": INNER, "main": MAIN}
    texts[where] = changed(texts[where], change)
    found, outcome = told(tmp_path, *texts.values())
    assert "MPI_Sendrecv in exchange" not in found
    assert any("the procedure exchange is not read" in note for note in outcome.notes)
    assert "exchange_finish" not in written(outcome)
    assert not outcome.skipped
    assert outcome.has_main


def test_what_a_procedure_that_is_not_read_may_do(tmp_path: Path) -> None:
    """It may change what the module has, and what it is given."""
    unread = {EXCHANGE: f"{EXCHANGE}    integer, parameter :: n = 8\n"}
    waiting = """\
  call MPI_Ibcast(u, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call exchange(v, MPI_COMM_WORLD)
"""
    main = changed(
        MAIN,
        {
            "integer :: ierr, i\n": "integer :: ierr, i, request\n",
            "  call exchange(u, MPI_COMM_WORLD)\n": waiting,
        },
    )
    found, _ = told(tmp_path, MODULE + changed(INNER, unread) + main)
    assert "rewrite" not in found


def test_one_of_another_name_that_is_not_read(tmp_path: Path) -> None:
    """A procedure that is read is none of the same name that is not."""
    unread = {EXCHANGE: f"{EXCHANGE}    integer, parameter :: n = 8\n"}
    beside = "subroutine exchange(u, comm)\n  real(8) :: u(66)\n  integer :: comm\nend subroutine\n"
    found, _ = told(tmp_path, MODULE + changed(INNER, unread) + beside + MAIN)
    assert "rewrite" not in found


def test_a_head_without_parentheses(tmp_path: Path) -> None:
    """It begins a procedure, and no module."""
    body = "    module subroutine report\n    end subroutine\n  end interface\n"
    module = changed(MODULE, {"  end interface\n": body})
    report = "  module subroutine report\n    print *, left\n  end subroutine report\n"
    inner = changed(INNER, {"contains\n": f"contains\n{report}"})
    main = changed(MAIN, {"  print *, u(0)": "  call report\n  print *, u(0)"})
    assert REWRITTEN in told(tmp_path, module + inner + main)[0]
