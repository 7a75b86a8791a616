"""What routines are given of arrays: which elements they touch, and that these are some at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.analysed import Analysis
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
C = (CASES / "layered.c").read_text()
WAIT = "    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);\n"
ENDS = "    send_and_receive(r, &a[1], &a[n + 1], 1, r->left, r->right, 2);\n"
HEAD = "static void send_and_receive(struct ranks *r,"


def _analysed(path: Path, text: str) -> Analysis:
    path.write_text(text)
    return Analysis([path], Options())


@pytest.mark.parametrize(
    ("replaced", "known"),
    [
        ({}, True),
        ({WAIT: WAIT + "    if (count < 0)\n        MPI_Abort(r->comm, 1);\n"}, False),
        ({WAIT: WAIT + "    if (count < 0)\n        exit(1);\n"}, False),
        ({WAIT: WAIT + "    if (count > 1)\n        send_and_receive(r, sent, received, count - 1,"
                       " to, from, tag);\n"}, False),
        ({WAIT: WAIT + "    if (count > 1)\n        fields_of(r);\n",
          HEAD: "void fields_of(struct ranks *);\n" + HEAD}, False),
        ({WAIT: WAIT + "    goto out;\nout:\n    return;\n"}, False),
        ({ENDS: "    n--;\n" + ENDS}, False),
        ({ENDS: ENDS.replace("send_and_receive(r", "if (n > 1) send_and_receive(r")}, False),
        ({ENDS: ENDS.replace("    send", "    (void)((n > 1) && (send").replace(");", "), 0));")},
         False),
        ({ENDS: "    for (int i = 0; i < 3; i++)\n        a[i] = 0.5;\n" + ENDS}, True),
        ({ENDS: "    if (a[0] > 1e30)\n        return;\n" + ENDS}, False),
    ],
)  # fmt: skip
def test_a_place_that_is_given_is_one_of_its_array(
    replaced: dict[str, str], known: bool, tmp_path: Path
) -> None:
    """`&a[n + 1]` says that `n + 1` is not below 0, where all messages are made or none is."""
    found = _analysed(tmp_path / "layered.c", changed(C, replaced))
    calls = [
        call
        for routine in found.program.routines.values()
        if routine.name == "ends"
        for statement in routine.statements()
        for call in statement.calls
        if call.name == "send_and_receive"
    ]
    first = calls[0].known
    assert any(f.constant == 1 and f.terms for f in first) is known


FORTRAN = """module m
  implicit none
  integer, parameter :: n = 10
  double precision :: a(n, 0:6)
  integer :: k
contains
  subroutine post(s, l)
    integer, intent(in) :: l
    double precision, intent(inout) :: s(l)
    integer :: i
    do i = 1, l
      s(i) = 0d0
    end do
  end subroutine post
  subroutine give()
    call post(a(1, 2), 3)
  end subroutine give
end module m
program p
  use m
  call give()
end program p
"""
CALL = "call post(a(1, 2), 3)"
DUMMY = "double precision, intent(inout) :: s(l)"
ARRAY = "  double precision :: a(n, 0:6)\n"


@pytest.mark.parametrize(
    ("replaced", "section"),
    [
        ({}, [(1, 3), (2, 2)]),
        ({CALL: "call post(a(4, 0), 3)"}, [(4, 6), (0, 0)]),
        ({CALL: "call post(a(8, 2), 3)"}, [(8, 10), (2, 2)]),
        ({CALL: "call post(a(8, 2), 4)"}, None),
        ({CALL: "call post(a(1, 2), 20)"}, [(1, 10), (2, 3)]),
        ({CALL: "call post(a(1, 2), 15)"}, None),
        ({CALL: "call post(a(1, k), 3)"}, "k"),
        ({"do i = 1, l": "do i = 2, l"}, [(2, 3), (2, 2)]),
        ({DUMMY: DUMMY.replace("s(l)", "s(0:l - 1)"), "do i = 1, l": "do i = 0, l - 1"},
         [(1, 3), (2, 2)]),
        ({DUMMY: DUMMY.replace("s(l)", "s(*)")}, [(1, 3), (2, 2)]),
        ({DUMMY: DUMMY.replace("s(l)", "s(1, l)"), "s(i)": "s(1, i)"}, None),
        ({ARRAY: "  real :: a(n, 0:6)\n"}, None),
        ({ARRAY: "  double precision, pointer :: a(:, :)\n"}, None),
        ({ARRAY: ARRAY + "  double precision :: b(70)\n  equivalence (a, b)\n"}, None),
        ({CALL: "call post(a(:, 2), 3)"}, [(1, 10), (2, 2)]),
        ({CALL: "call post(a(2:5, 2), 3)"}, [(2, 5), (2, 2)]),
        ({CALL: "call post(a(2:9:2, 2), 3)"}, None),
        ({CALL: "call post(a(3, :), 3)"}, None),
    ],
)  # fmt: skip
def test_elements_from_one_on(replaced: dict[str, str], section: object, tmp_path: Path) -> None:
    """What `post` sets of `a`, which it is given from one element on, or a section of."""
    found = _analysed(tmp_path / "p.f90", changed(FORTRAN, replaced))
    (give,) = (r for r in found.program.routines.values() if r.name == "give")
    (statement,) = (s for s in give.statements() if s.calls)
    touched = [
        access.section
        for access in found.footprints.of(statement, give.file).accesses
        if access.write and found.program.variables[access.variable].name == "a"
    ]
    assert touched
    if section is None:
        assert None in touched
    elif section == "k":
        assert all(each is not None and each[1].low == each[1].high for each in touched)
        assert all(each is not None and each[1].low.terms for each in touched if each)
    else:
        assert all(
            each is not None
            and [(r.low.constant, r.high.constant) for r in each if r.low and r.high] == section
            for each in touched
        )


HAND = (CASES / "layered.f90").read_text()
HAND = (
    HAND[: HAND.index("  subroutine send_and_receive(")]
    + """\
  subroutine begin(sent, received, n, to, from, tag, requests)
    integer, intent(in) :: n, to, from, tag
    double precision, intent(in) :: sent(n)
    double precision, intent(inout) :: received(n)
    integer, intent(inout) :: requests(2)
    integer :: ierr
    call MPI_Irecv(received, n, MPI_DOUBLE_PRECISION, from, tag, comm, requests(1), ierr)
    call MPI_Isend(sent, n, MPI_DOUBLE_PRECISION, to, tag, comm, requests(2), ierr)
  end subroutine begin
  subroutine finish(sent, received, n, requests)
    integer, intent(in) :: n
    double precision, intent(in) :: sent(n)
    double precision, intent(inout) :: received(n)
    integer, intent(inout) :: requests(2)
    integer :: ierr
    integer(MPI_ADDRESS_KIND) :: address
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call MPI_Get_address(sent, address, ierr)
    call MPI_Get_address(received, address, ierr)
  end subroutine finish
"""
    + HAND[HAND.index("end module messages") :]
)
HAND = HAND.replace("    call send_and_receive(a(2, m), a(2, 0), n - 2, right, left, 3)\n", "")
HAND = HAND.replace(
    "    call send_and_receive(a(:, m), a(:, 0), n, right, left, 1)\n"
    "    call send_and_receive(a(:, 1), a(:, m + 1), n, left, right, 2)\n",
    "    integer :: requests(4)\n"
    "    call begin(a(:, m), a(:, 0), n, right, left, 1, requests)\n"
    "    call begin(a(:, 1), a(:, m + 1), n, left, right, 2, requests(3))\n"
    "    call finish(a(:, m), a(:, 0), n, requests)\n"
    "    call finish(a(:, 1), a(:, m + 1), n, requests(3))\n",
)
END = """:: received(n)
    integer, intent(inout) :: requests(2)
    integer :: ierr
    integer(MPI_ADDRESS_KIND) :: address
"""


@pytest.mark.parametrize(
    ("replaced", "split"),
    [
        ({}, True),
        ({f"double precision, intent(inout) {END}": f"double precision, intent(in) {END}"}, False),
        ({"call finish(a(:, m), a(:, 0), n": "call finish(a(:, m), a(:, 2), n"}, False),
        ({"call finish(a(:, m), a(:, 0), n": "call finish(a(:, m), a(:, m), n"}, False),
        ({"    call begin(a(:, 1), a(:, m + 1), n, left, right, 2, requests(3))\n": "",
          "    call finish(a(:, m), a(:, 0), n, requests)\n":
          "    call finish(a(:, m), a(:, 0), n, requests)\n"
          "    call begin(a(:, 1), a(:, m + 1), n, left, right, 2, requests(2))\n",
          "m + 1), n, requests(3))": "m + 1), n, requests(2))"}, False),
    ],
)  # fmt: skip
def test_an_end_is_given_what_it_ends(
    replaced: dict[str, str], split: bool, tmp_path: Path
) -> None:
    """A compiler must expect that the memory of messages changes where they end."""
    text = rewritten(tmp_path / "hand.f90", changed(HAND, replaced))
    assert ("subroutine columns_start" in text) is split
