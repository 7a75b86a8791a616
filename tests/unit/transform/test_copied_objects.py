"""Objects of numbers alone that are set to one another (`p(i) = p(n)`) keep no message waiting.

Each program that must stay, or wait in front of the copies, differs in what the copy may be or in
what it does to the messages.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "refilled.f90").read_text()
COPY = "      p(i) = p(n - i + 1)\n"
CONTAINS = "end module cells"
SENT = "mpi_isend(w, 500,"
DEFINED = """\
  interface assignment(=)
    module procedure copy
  end interface
contains
  subroutine copy(a, b)
    type(particle), intent(out) :: a
    type(particle), intent(in) :: b
    a%q = b%q
  end subroutine copy
end module cells"""
# name: (replacements, whether the wait goes behind the loop)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "elements": ({}, True),
    "an element of another array": ({COPY: "      p(i) = kept(i)\n"}, True),
    "a component that is an object": ({COPY: "      p(i)%at = p(n - i + 1)%at\n"}, True),
    "a variable between": ({COPY: f"      first = p(i)\n{COPY}"}, True),
    "a section": ({COPY: "      p(i:i+1) = kept(3:4)\n"}, True),
    "the whole array": ({COPY: "      p = kept\n"}, True),
    "with a pointer": (
        {"    integer :: id\n": "    integer :: id\n    double precision, pointer :: more(:)\n"},
        False,
    ),
    "with memory of its own": (
        {"    integer :: id\n": "    integer :: id\n    real, allocatable :: more(:)\n"},
        False,
    ),
    "with a procedure": (
        {"    integer :: id\n": "    integer :: id\n    procedure(), pointer, nopass :: f\n"},
        False,
    ),
    "an assignment of its own": ({CONTAINS: DEFINED}, False),
    "the value of a function": (
        {
            COPY: "      p(i) = moved(p(n))\n",
            CONTAINS: "contains\n  function moved(a) result(b)\n"
            "    type(particle), intent(in) :: a\n"
            "    type(particle) :: b\n    b%q = a%q\n    print *, b%q\n  end function moved\n"
            "end module cells",
        },
        False,
    ),
    "whose end is a procedure": (
        {
            "    integer :: id\n    character(len=8) :: name\n": "    integer :: id\n"
            "    character(len=8) :: name\n  contains\n    final :: ends\n",
            CONTAINS: "contains\n  subroutine ends(a)\n    type(particle), intent(inout) :: a\n"
            "    print *, a%id\n  end subroutine ends\nend module cells",
        },
        False,
    ),
    "that are sent": (
        {
            "kept(200), first": "kept(200), first\n  integer :: of_all",
            SENT: "mpi_isend(p, 200,",
            "mpi_double_precision, mod(rank + 1": "of_all, mod(rank + 1",
            "  w = rank\n": "  w = rank\n  call mpi_type_contiguous(56, mpi_byte, of_all, ierr)\n"
            "  call mpi_type_commit(of_all, ierr)\n",
        },
        False,
    ),
    "of which a component is sent": ({SENT: "mpi_isend(p(7)%at%x, 3,"}, False),
    "of which a component comes": ({"mpi_irecv(v, 500,": "mpi_irecv(p(9)%q, 1,"}, False),
    "of which one is sent that is read": (
        {SENT: "mpi_isend(kept(7)%at%x, 3,", COPY: "      p(i) = kept(i)\n"},
        False,
    ),
    "of which one comes that is read": (
        {"mpi_irecv(v, 500,": "mpi_irecv(kept(7)%at%x, 3,", COPY: "      p(i) = kept(i)\n"},
        False,
    ),
    "that tells where a message ends": (
        {
            SENT: "mpi_isend(w(p(1)%id), 3,",
            "    w = w + v\n": "    w(p(1)%id) = 3\n    w = w + v\n",
        },
        True,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_waits(name: str, tmp_path: Path) -> None:
    replacements, behind = CASES[name]
    text = rewritten(tmp_path / "case.f90", changed(PROGRAM, replacements)).lower()
    loop, last = text.index("do i = 1, n / 2"), text.rindex("p(i)%at%x(1)\n    end do")
    waits = [at for at in range(len(text)) if text.startswith("call mpi_wait", at)]
    assert waits, text
    before = [at for at in waits if at < loop]
    assert (not before and max(waits) > last) is behind, text


def test_a_message_ends_where_the_copied_number_said(tmp_path: Path) -> None:
    """`w(p(1)%id)` is another element behind the copy: the wait stays in front of both."""
    copied = {
        SENT: "mpi_isend(w(p(1)%id), 1,",
        COPY: f"{COPY}      w(p(1)%id) = 3\n",
    }
    text = rewritten(tmp_path / "case.f90", changed(PROGRAM, copied)).lower()
    assert text.index("call mpi_wait") < text.index("w(p(1)%id) = 3"), text


def test_a_request_that_is_copied(tmp_path: Path) -> None:
    """What is waited for by the copy is not known: nothing moves."""
    copied = {
        "    integer :: id\n": "    integer :: id, request\n",
        "requests(1), ierr)": "first%request, ierr)",
        "    call mpi_waitall(2, requests, mpi_statuses_ignore, ierr)\n": "    kept(1) = first\n"
        "    call mpi_wait(kept(1)%request, mpi_status_ignore, ierr)\n"
        "    call mpi_wait(requests(2), mpi_status_ignore, ierr)\n",
    }
    text = rewritten(tmp_path / "case.f90", changed(PROGRAM, copied)).lower()
    assert text.index("kept(1)%request, mpi") < text.index("do i = 1, n / 2"), text
