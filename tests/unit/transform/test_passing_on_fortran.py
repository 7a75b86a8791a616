"""Routines of Fortran that do nothing but call exchanges, and calls that end what others begin."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

CASES = Path(__file__).parent / "cases"
PROGRAM = (CASES / "relayed.f90").read_text()
BOTH = "    call exchange(f%u, f%nx, f%ny)\n    call exchange(f%p, f%nx, f%ny)\n"
FIRST = "    call exchange(f%u, f%nx, f%ny)\n"
CALL = "    call exchange_all(f)\n"
REQUESTS = "    integer :: r(4), ierr\n"
RECEIVE = (
    "    call MPI_Irecv(a(0,0), nx+2, MPI_DOUBLE_PRECISION, up, 0, MPI_COMM_WORLD, r(1), ierr)\n"
)
WAIT = "    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)\n"
PACKED = {
    REQUESTS: f"{REQUESTS}    real(8) :: out(200), in(200)\n    integer :: i\n"
    "    do i = 0, nx+1\n      out(i+1) = a(i,1)\n    end do\n",
    "MPI_Isend(a(0,1),": "MPI_Isend(out,",
    "MPI_Irecv(a(0,ny+1),": "MPI_Irecv(in,",
    WAIT: f"{WAIT}    if (down /= MPI_PROC_NULL) then\n      do i = 0, nx+1\n"
    "        a(i,ny+1) = in(i+1)\n      end do\n    end if\n",
}

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "one field": {BOTH: FIRST},
    "with mpi_f08": {
        "use mpi\n": "use mpi_f08\n",
        REQUESTS: "    type(MPI_Request) :: r(4)\n    integer :: ierr\n",
    },
    "requests from 0": {
        REQUESTS: REQUESTS.replace("r(4)", "r(0:3)"),
        "r(1), ierr)": "r(0), ierr)",
        "r(2), ierr)": "r(1), ierr)",
        "r(3), ierr)": "r(2), ierr)",
        "r(4), ierr)": "r(3), ierr)",
    },
    "with buffers": PACKED,
    "a start on a condition": {
        RECEIVE: f"    r = MPI_REQUEST_NULL\n    if (up /= MPI_PROC_NULL) then\n  {RECEIVE}"
        "    end if\n",
    },
    "as many as are started": {
        REQUESTS: REQUESTS.replace("ierr", "n, ierr") + "    n = 0\n",
        "    call MPI_I": "    n = n + 1\n    call MPI_I",
        "r(1), ierr)": "r(n), ierr)",
        "r(2), ierr)": "r(n), ierr)",
        "r(3), ierr)": "r(n), ierr)",
        "r(4), ierr)": "r(n), ierr)",
        "Waitall(4,": "Waitall(n,",
    },
    "a return ahead of all": {RECEIVE: f"    if (nproc == 1) return\n{RECEIVE}"},
    "on a condition": {BOTH: f"    if (f%nx > 3) then\n{FIRST}    end if\n"},
    "in a select": {BOTH: f"    select case (f%nx)\n    case (3)\n{FIRST}    end select\n"},
    "on a condition in one line": {BOTH: FIRST + BOTH.replace(FIRST, "    if (f%nx > 3)")},
    "in both branches": {
        BOTH: f"    if (f%nx > 3) then\n{FIRST}    else\n{BOTH.replace(FIRST, '')}    end if\n"
    },
    "a return ahead of the calls": {BOTH: f"    if (f%nx == 1) return\n{BOTH}"},
    "on a condition of its caller": {CALL: f"    if (f%nx > 1) {CALL.lstrip()}"},
    "one that may be absent": {
        "  subroutine exchange_all(f)\n": "  subroutine exchange_all(f, more)\n"
        "    integer, intent(in), optional :: more\n",
        BOTH: FIRST + BOTH.replace(FIRST, "    if (present(more))"),
    },
    "bound to the type": {
        "  end type\n": "  contains\n    procedure :: all => exchange_all\n  end type\n",
        "    type(field_t), intent(inout) :: f": "    class(field_t), intent(inout) :: f",
        CALL: "    call f%all()\n",
    },
}
STAY: dict[str, dict[str, str]] = {
    "in a loop": {
        BOTH: "    integer :: k\n    do k = 1, 2\n      call exchange(f%u, f%nx, f%ny)\n"
        "    end do\n",
    },
    "in a select with the rest in front": {
        BOTH: "    select case (f%nx)\n    case default\n      f%nx = 0 + f%nx\n    case (3)\n"
        f"{FIRST}    end select\n"
    },
    "requests that are saved": {REQUESTS: REQUESTS.replace("integer", "integer, save")},
    "a buffer that is saved": {
        **PACKED,
        REQUESTS: PACKED[REQUESTS].replace("real(8) :: out", "real(8), save :: out"),
    },
}
# The routine stays, in which both exchanges are under way together.
TOGETHER: dict[str, dict[str, str]] = {
    "no work behind": {CALL: f"{CALL}    call MPI_Barrier(MPI_COMM_WORLD, ierr)\n"},
    "what is sent is set meanwhile": {
        "        f%v(i,j) = 0.25d0": "        f%u(i,j) = 2*f%u(i,j)\n        f%v(i,j) = 0.25d0",
    },
}
# The second exchange needs what the first one brings: the finish begins it.
IN_TURN: dict[str, dict[str, str]] = {
    "one field twice": {BOTH: 2 * FIRST},
    "on a condition that what comes decides": {
        BOTH: FIRST + BOTH.replace(FIRST, "    if (f%u(0,0) > -1d30)"),
    },
}


def halves(replaced: dict[str, str], folder: Path) -> str:
    return rewritten(folder / "fields.f90", changed(PROGRAM, replaced))


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_both_are_split(replaced: dict[str, str], tmp_path: Path) -> None:
    text = halves(replaced, tmp_path)
    start, finish = (
        text.index("call exchange_all_start(f"),
        text.index("call exchange_all_finish(f"),
    )
    assert "do j = 2, f%ny - 1" in text[start:finish]
    assert "do j = 1, f%ny, max(f%ny - 1, 1)" in text[finish:]


@pytest.mark.parametrize("replaced", IN_TURN.values(), ids=IN_TURN)
def test_the_finish_begins_the_second(replaced: dict[str, str], tmp_path: Path) -> None:
    text = halves(replaced, tmp_path)
    start, finish = (text.index(f"subroutine exchange_all_{end}(") for end in ("start", "finish"))
    main = text.index("program", finish)
    assert text[start:finish].count("call exchange_start(") == 1
    assert text[finish:main].count("call exchange_start(") == 1


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    text = halves(replaced, tmp_path)
    assert "exchange_all_start" not in text
    assert "exchange_start" not in text


@pytest.mark.parametrize("replaced", TOGETHER.values(), ids=TOGETHER)
def test_they_go_together(replaced: dict[str, str], tmp_path: Path) -> None:
    text = halves(replaced, tmp_path)
    assert "exchange_all_start" not in text
    body = text[text.index("subroutine exchange_all(") :]
    body = body[: body.index("end subroutine")]
    assert re.findall(r"call exchange_(\w+)\(", body) == ["start", "start", "finish", "finish"]
