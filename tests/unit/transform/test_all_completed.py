"""Requests of Fortran that live on: a routine is divided that waits for all that it starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

MODULE = """module halo
  use mpi
  implicit none
  integer :: req(6) = MPI_REQUEST_NULL
  integer :: n, left, right
  double precision :: u(0:101), v(0:101)
contains
  subroutine exchange
    integer :: e
    n = 0
    if (left >= 0) then
      n = n + 1
      call MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, req(n), e)
      n = n + 1
      call MPI_Isend(u(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, req(n), e)
    end if
    if (right >= 0) then
      n = n + 1
      call MPI_Irecv(u(101), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, req(n), e)
      n = n + 1
      call MPI_Isend(u(100), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, req(n), e)
    end if
    call MPI_Waitall(n, req, MPI_STATUSES_IGNORE, e)
  end subroutine exchange
end module halo
program p
  use mpi
  use halo
  implicit none
  integer :: e, i, t, me, np
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  call MPI_Comm_size(MPI_COMM_WORLD, np, e)
  left = me - 1
  right = merge(me + 1, -1, me + 1 < np)
  u = me
  do t = 1, 5
    call exchange
    do i = 1, 100
      v(i) = u(i - 1) + u(i + 1)
    end do
    u(1:100) = v(1:100)
  end do
  print *, u(50)
  call MPI_Finalize(e)
end program p
"""
OF_OBJECTS = {
    "another's requests": {"MPI_Waitall(a%n, a%req": "MPI_Waitall(a%n, h%req"},
    "another's counter": {"MPI_Waitall(a%n, a%req": "MPI_Waitall(h%n, a%req"},
    "another's reset": {"    a%n = 0\n": "    h%n = 0\n"},
    "another's start": {
        "right, 1, MPI_COMM_WORLD, a%req(a%n)": "right, 1, MPI_COMM_WORLD, h%req(a%n)"
    },
    "one of many": {
        "  type(grid) :: g, h\n": "  type(grid) :: g, h, many(3)\n",
        "a%req": "many(a%left)%req",
    },
}
WAIT = "    call MPI_Waitall(n, req, MPI_STATUSES_IGNORE, e)\n"
CONSTANT = {
    "      n = n + 1\n": "",
    "left, 1, MPI_COMM_WORLD, req(n)": "left, 1, MPI_COMM_WORLD, req(1)",
    "left, 2, MPI_COMM_WORLD, req(n)": "left, 2, MPI_COMM_WORLD, req(2)",
    "right, 2, MPI_COMM_WORLD, req(n)": "right, 2, MPI_COMM_WORLD, req(3)",
    "right, 1, MPI_COMM_WORLD, req(n)": "right, 1, MPI_COMM_WORLD, req(4)",
    "    n = 0\n": "    req = MPI_REQUEST_NULL\n",
    "MPI_Waitall(n,": "MPI_Waitall(4,",
}
F08 = {
    "use mpi\n": "use mpi_f08\n",
    "integer :: req(6) =": "type(MPI_Request) :: req(6) =",
    ", e)": ")",
}
BLOCKING = "MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, req(n), e)"


def divided(text: str, tmp_path: Path) -> bool:
    path = tmp_path / "halo.f90"
    path.write_text(text)
    found = transform([path], Options())
    assert not found.skipped, found.skipped
    path.write_bytes(found.after[str(path)])
    again = transform([path], Options())
    assert again.before == again.after
    return b"call exchange_start" in path.read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        CONSTANT,
        F08,
        F08 | CONSTANT,
        {"    n = 0\n": "    e = 3\n    n = 0\n    e = 4\n"},
        {"      n = n + 1\n": "      n = n + 2\n", "req(6)": "req(8)"},
        CONSTANT | {"MPI_Waitall(4,": "MPI_Waitall(6,"},
        {
            "  integer :: n, left": "  integer :: left",
            "    integer :: e\n    n": "    integer :: e, n\n    n",
        },
        # Another routine waits for them too, and sets what the counter says.
        {
            "end module": "  subroutine other\n    integer :: e\n    n = 9\n"
            "    call MPI_Wait(req(2), MPI_STATUS_IGNORE, e)\n  end subroutine\nend module"
        },
    ],
)
def test_it_is_divided(changes: dict[str, str], tmp_path: Path) -> None:
    assert divided(changed(MODULE, changes), tmp_path)


STAYS = {
    "fewer": {WAIT: WAIT.replace("(n,", "(n - 1,")},
    "from the second": {WAIT: WAIT.replace("req", "req(2)")},
    "one of them": {WAIT: "    call MPI_Wait(req(1), MPI_STATUS_IGNORE, e)\n"},
    "another number": {WAIT: WAIT.replace("(n,", "(left,")},
    "not begun": {"    n = 0\n": ""},
    "begun at another number": {"    n = 0\n": "    n = -1\n"},
    "begun in some cases": {"    n = 0\n": "    if (left > 3) n = 0\n"},
    "begun again": {"    if (right >= 0) then\n": "    n = 0\n    if (right >= 0) then\n"},
    "goes down": {WAIT: f"    n = n - 1\n{WAIT}"},
    "is set": {WAIT: f"    n = left\n{WAIT}"},
    "is set elsewhere": {
        WAIT: f"    call other\n{WAIT}",
        "end module": "  subroutine other\n    n = 1\n  end subroutine other\nend module",
    },
    "the element before": {
        "right, 1, MPI_COMM_WORLD, req(n)": "right, 1, MPI_COMM_WORLD, req(n + 1)"
    },
    "forgotten": {WAIT: f"    req(2) = MPI_REQUEST_NULL\n{WAIT}"},
    "in some cases": {WAIT: WAIT.replace("call", "if (left > 3) call")},
    "left before": {WAIT: f"    if (left > 3) return\n{WAIT}"},
    "started behind": {
        WAIT: f"{WAIT}    n = n + 1\n    call {BLOCKING}\n",
    },
    "started elsewhere": {
        "end module": f"  subroutine other\n    integer :: e\n    call {BLOCKING}\n"
        "  end subroutine other\nend module",
        "  u = me\n": "  u = me\n  call other\n",
    },
    "copied from elsewhere": {
        "end module": "  subroutine other(r)\n    integer :: r\n    req(5) = r\n"
        "  end subroutine other\nend module",
    },
    "a pointer": {"integer :: req(6) = MPI_REQUEST_NULL": "integer, pointer :: req(:)"},
}
STAYS_CONSTANT = {
    "fewer": {"MPI_Waitall(4,": "MPI_Waitall(3,"},
    "later": {"MPI_Waitall(4, req": "MPI_Waitall(4, req(2)"},
    "an index": {"req(4)": "req(left)"},
    "set by the program": {
        "use mpi\n": "use mpi_f08\n",
        "integer :: req(6) =": "type(MPI_Request) :: req(6) =",
        ", e)": ")",
        "contains\n": """  interface assignment(=)
    module procedure takes
  end interface
contains
  subroutine takes(a, b)
    type(MPI_Request), intent(out) :: a
    type(MPI_Request), intent(in) :: b
    u(1) = 3
    a%MPI_VAL = b%MPI_VAL
  end subroutine takes
""",
    },
}


@pytest.mark.parametrize("name", STAYS)
def test_it_stays(name: str, tmp_path: Path) -> None:
    assert not divided(changed(MODULE, STAYS[name]), tmp_path)


@pytest.mark.parametrize("name", STAYS_CONSTANT)
def test_elements_that_are_numbers_stay(name: str, tmp_path: Path) -> None:
    text = changed(changed(MODULE, CONSTANT), STAYS_CONSTANT[name])
    assert not divided(text, tmp_path)


OBJECTS = """module halo
  use mpi
  implicit none
  type grid
    integer :: req(6), n, left, right
    double precision, allocatable :: u(:), v(:)
  end type grid
  type(grid) :: g, h
contains
  subroutine exchange(a)
    type(grid), intent(inout) :: a
    integer :: e
    a%n = 0
    if (a%left >= 0) then
      a%n = a%n + 1
      call MPI_Irecv(a%u(0), 1, MPI_DOUBLE_PRECISION, a%left, 1, MPI_COMM_WORLD, a%req(a%n), e)
    end if
    if (a%right >= 0) then
      a%n = a%n + 1
      call MPI_Isend(a%u(100), 1, MPI_DOUBLE_PRECISION, a%right, 1, MPI_COMM_WORLD, a%req(a%n), e)
    end if
    call MPI_Waitall(a%n, a%req, MPI_STATUSES_IGNORE, e)
  end subroutine exchange
end module halo
program p
  use mpi
  use halo
  implicit none
  integer :: e, i, t, me, np
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  call MPI_Comm_size(MPI_COMM_WORLD, np, e)
  allocate (g%u(0:101), g%v(0:101), h%u(0:101), h%v(0:101))
  g%left = me - 1
  g%right = merge(me + 1, -1, me + 1 < np)
  h%left = -1
  h%right = -1
  g%u = me
  do t = 1, 5
    call exchange(g)
    do i = 1, 100
      g%v(i) = g%u(i - 1) + g%u(i + 1)
    end do
    g%u(1:100) = g%v(1:100)
  end do
  print *, g%u(50)
  call MPI_Finalize(e)
end program p
"""


def test_requests_of_an_object(tmp_path: Path) -> None:
    assert divided(OBJECTS, tmp_path)
    assert divided(changed(OBJECTS, {"a%req": "g%req"}), tmp_path)


@pytest.mark.parametrize("name", OF_OBJECTS)
def test_requests_of_several_objects(name: str, tmp_path: Path) -> None:
    assert not divided(changed(OBJECTS, OF_OBJECTS[name]), tmp_path)
