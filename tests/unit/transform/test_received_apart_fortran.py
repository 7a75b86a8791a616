"""MPI_Sendrecv_replace of arrays of Fortran that are used meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
TORUS = (CASES / "torus.f90").read_text()
CHAIN = (CASES / "chain.f90").read_text()
HERE = "real(8) :: here(most)"
COUNT = "MPI_Sendrecv_replace(here, n,"
ROUND = "do k = 1, rounds"
BLOCK = "MPI_Sendrecv_replace(a, n * n,"

# name: the program, what is replaced, by what
APART: dict[str, tuple[str, str, str]] = {
    "blocks": (TORUS, "", ""),
    "bodies": (CHAIN, "", ""),
    "all of an array": (CHAIN, COUNT, "MPI_Sendrecv_replace(here, most,"),
    "a fixed size": (CHAIN, HERE, "real(8) :: here(500)"),
    "from its first element": (CHAIN, COUNT, "MPI_Sendrecv_replace(here(1), n,"),
    "all from another bound": (
        CHAIN.replace(COUNT, "MPI_Sendrecv_replace(here, most + 1,"),
        HERE,
        "real(8) :: here(0:most)",
    ),
    "a name that is taken": (CHAIN, HERE, HERE + ", here_came"),
    "arguments by their names": (
        CHAIN,
        "MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)\n    end do",
        "ierror=ierr, status=MPI_STATUS_IGNORE, comm=MPI_COMM_WORLD)\n    end do",
    ),
    "a status that is not read": (TORUS, "status, ierr)", "MPI_STATUS_IGNORE, ierr)"),
}
STAYS: dict[str, tuple[str, str, str]] = {
    "a part that begins inside": (CHAIN, COUNT, "MPI_Sendrecv_replace(here(2), n,"),
    "a part from another bound": (CHAIN, HERE, "real(8) :: here(0:most)"),
    "a part of a block": (TORUS, BLOCK, "MPI_Sendrecv_replace(a, n * n - 1,"),
    "a column": (TORUS, BLOCK, "MPI_Sendrecv_replace(a, n,"),
    "elements of another type": (CHAIN, HERE, "real(4) :: here(most)"),
    "another number each time": (CHAIN, ROUND, ROUND + "\n      n = n - 1"),
    "the loop is left": (CHAIN, ROUND, ROUND + "\n      if (f(1) > 1d9) return"),
    "a volatile array": (CHAIN, HERE, "real(8), volatile :: here(most)"),
    "how many have come is asked": (
        TORUS,
        "  total = 0.0d0",
        "  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, i, ierr)\n  total = i",
    ),
    "allocated in the loop": (
        TORUS.replace("allocate(a(n, n), b(", "allocate(b("),
        "do k = 1, q",
        "do k = 1, q\n    if (k == 1) allocate(a(n, n))",
    ),
    "an error handler, after which a status says nothing": (
        TORUS,
        "  n = 48",
        "  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)\n  n = 48",
    ),
    "an array named like an intrinsic function": (
        TORUS,
        "double precision :: total, all",
        "double precision :: total, all, ubound(3)",
    ),
    "allocated under a condition": (
        TORUS,
        "allocate(a(n, n), b(0:n-1, n), c(n, n))",
        "if (rank >= 0) then\n    allocate(a(n, n))\n  end if\n  allocate(b(0:n-1, n), c(n, n))",
    ),
    "one line": (TORUS, f"call {BLOCK}", f"if (k >= 0) call {BLOCK}"),
    "set while it waits": (CHAIN, ROUND, ROUND + "\n      here(1) = here(1) + f(k)"),
}


def _after(change: tuple[str, str, str], path: Path) -> str:
    text, old, new = change
    assert not old or old in text
    path.write_text(text.replace(old, new))
    return transform([path], Options()).after[str(path)].decode()


@pytest.mark.parametrize("name", APART)
def test_received_while_it_is_used(name: str, tmp_path: Path) -> None:
    after = _after(APART[name], tmp_path / "ring.f90")
    torus = "program torus" in after
    block, used = ("a", "call multiply(") if torus else ("here", "f(i) = f(i) + (here(j)")
    came = f"{block}_came{'2' if name == 'a name that is taken' else ''}"
    copy = next(line for line in after.splitlines() if f" = {came}(" in line)
    asked = after.index(f"MPI_DOUBLE_PRECISION, {block}_count, ierr)")
    allocated, sent = after.index(f"  allocate({came}("), after.index(f"call MPI_Isend({block}")
    assert allocated < after.index(f"call MPI_Irecv({came}") < after.index(used)
    assert allocated < sent < after.index(used) < asked < after.index(copy)
    assert after.index(copy) < after.index(f"  deallocate({came})")


def test_as_much_is_copied_as_has_come(tmp_path: Path) -> None:
    """Fewer may come than there is room for, and MPI_PROC_NULL leaves the array as it is."""
    after = _after(APART["bodies"], tmp_path / "ring.f90")
    assert "      here(1:here_count) = here_came(1:here_count)\n" in after
    after = _after(APART["all from another bound"], tmp_path / "ring.f90")
    assert "allocate(here_came(0:0 - 1 + most+1))" in after
    assert "here(0:0 - 1 + here_count) = here_came(0:0 - 1 + here_count)" in after
    after = _after(APART["blocks"], tmp_path / "ring.f90")
    assert "    if (a_count == n*n) a(:, :) = a_came(:, :)\n    if (a_count < n*n) then\n" in after


def test_each_call_asks_a_status_of_its_own(tmp_path: Path) -> None:
    """What one call's status says is not asked of another's; the last keeps that of the program."""
    after = _after(APART["blocks"], tmp_path / "ring.f90")
    assert "integer :: a_status(MPI_STATUS_SIZE)" in after
    assert "call MPI_Get_count(a_status, MPI_DOUBLE_PRECISION, a_count, ierr)" in after
    assert "call MPI_Get_count(status, MPI_DOUBLE_PRECISION, b_count, ierr)" in after


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    after = _after(STAYS[name], tmp_path / "ring.f90")
    block = "a" if "program torus" in after else "here"
    if name == "set while it waits":
        sent = after.find(f"call MPI_Isend({block}")
        assert sent < 0 or after.index("here(1) = here(1) + f(k)") < sent
    else:
        assert f" {block}_came" not in after
