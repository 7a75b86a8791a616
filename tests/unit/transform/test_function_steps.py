"""Steps of Fortran that are functions: divided as subroutines are, or whole."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

PROGRAM = (Path(__file__).parent / "cases" / "gathered.f90").read_text()
HEAD = "  function step(a, b) result(change)\n"
CALLED = "    res = step(u, unew)\n"
SET = "    change = 0\n"
DECLARED = "    real(dp) :: change\n"
GATHERED = "        if (abs(b(i, j) - a(i, j)) > change) change = abs(b(i, j) - a(i, j))\n"
OWN_NAME = {HEAD: "  function step(a, b)\n", "change": "step", "largest step": "largest change"}
FIXED = """\
      program main
      implicit none
      include 'mpif.h'
      double precision u(0:41,0:21), v(0:41,0:21), res
      integer me, peer
      common /field/ u, v, me, peer
      double precision step
      external step
      integer it, ierr
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
      peer = 1 - me
      do 10 it = 1, 5
        call swap
        res = step(2.0d0)
        call back
 10   continue
      print *, me, u(3,4), res
      call mpi_finalize(ierr)
      end
      subroutine swap
      implicit none
      include 'mpif.h'
      double precision u(0:41,0:21), v(0:41,0:21)
      integer me, peer, ierr
      common /field/ u, v, me, peer
      call mpi_sendrecv(u(0,20), 42, MPI_DOUBLE_PRECISION, peer, 1,
     &  u(0,0), 42, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD,
     &  MPI_STATUS_IGNORE, ierr)
      end
      double precision function step(w)
      implicit none
      double precision u(0:41,0:21), v(0:41,0:21), w
      integer me, peer, i, j
      common /field/ u, v, me, peer
      step = 0.0d0
      do j = 1, 20
        do i = 1, 40
          v(i,j) = w * u(i,j) - u(i,j-1)
          if (abs(v(i,j)) .gt. step) step = abs(v(i,j))
        end do
      end do
      end
      subroutine back
      implicit none
      double precision u(0:41,0:21), v(0:41,0:21)
      integer me, peer, i, j
      common /field/ u, v, me, peer
      do j = 1, 20
        do i = 1, 40
          u(i,j) = v(i,j)
        end do
      end do
      end
"""

GOES: dict[str, tuple[str, dict[str, str]]] = {
    "as it is": (PROGRAM, {}),
    "by its own name": (PROGRAM, OWN_NAME),
    "with its type in front": (
        PROGRAM,
        {HEAD: "  real(dp) function step(a, b)\n", DECLARED: "", "change": "step"}
        | {"largest step": "largest change"},
    ),
    "with its type in front and a result": (
        PROGRAM,
        {HEAD: "  real(dp) function step(a, b) result(change)\n", DECLARED: ""},
    ),
    "without a name at its end": (PROGRAM, {"  end function step\n": "  end\n"}),
    "a number of points": (
        PROGRAM,
        {
            "real(dp) :: change": "integer :: change",
            "real(dp) :: res": "integer :: res",
            GATHERED: "        if (b(i, j) > a(i, j)) change = change + 1\n",
            "res < 1d-9": "res < 1",
            "2es24.16": "es24.16, i8",
        },
    ),
    "into a variable of the module": (
        PROGRAM,
        {"  integer :: me, many": "  real(dp) :: res\n  integer :: me, many"}
        | {"  integer :: i, j, it, ierr\n  real(dp) :: res\n": "  integer :: i, j, it, ierr\n"},
    ),
    "called elsewhere too": (
        PROGRAM,
        {"  do it = 1, 20\n": "  print *, 2 * step(u, unew)\n  do it = 1, 20\n"},
    ),
    "fixed form": (FIXED, {}),
}
STAYS: dict[str, tuple[str, dict[str, str]]] = {
    "a value that is computed with": (PROGRAM, {CALLED: "    res = 2 * step(u, unew)\n"}),
    "a value that is added": (PROGRAM, {CALLED: "    res = res + step(u, unew)\n"}),
    "a value of another type": (PROGRAM, {"  real(dp) :: res\n": "  real :: res\n"}),
    "another kind of that name": (
        PROGRAM,
        {"  real(dp) :: res\n": "  real(sp) :: res\n", "dp = kind(1.0d0)": "dp = 8, sp = 4"},
    ),
    "an element": (
        PROGRAM,
        {
            "  real(dp) :: res\n": "  real(dp) :: res(2)\n",
            CALLED: "    res(1) = step(u, unew)\n",
            "res < 1d-9": "res(1) < 1d-9",
            "sum(u), res": "sum(u), res(1)",
        },
    ),
    "given itself": (
        PROGRAM,
        {
            CALLED: "    res = step(u, unew, res)\n",
            "step(a, b) result": "step(a, b, w) result",
            DECLARED: f"{DECLARED}    real(dp), intent(in) :: w\n",
            "0.25d0 * (a": "w * (a",
        },
    ),
    "known by another name": (
        PROGRAM,
        {
            "  integer :: me, many": "  real(dp) :: res\n  integer :: me, many",
            "  integer :: i, j, it, ierr\n  real(dp) :: res\n": "  integer :: i, j, it, ierr\n",
            "b(i, j) = 0.25d0 * (": "b(i, j) = 0.25d0 * (res + ",
        },
    ),
    "a target": (
        PROGRAM,
        {
            "  real(dp) :: res\n": "  real(dp), target :: res\n",
            "  integer :: me, many": "  real(dp), pointer :: p\n  integer :: me, many",
            "  call mpi_init(ierr)\n": "  p => res\n  call mpi_init(ierr)\n",
            "b(i, j) = 0.25d0 * (": "b(i, j) = 0.25d0 * (p + ",
        },
    ),
    "volatile": (PROGRAM, {"  real(dp) :: res\n": "  real(dp), volatile :: res\n"}),
    "begins with what came in": (PROGRAM, {SET: "    change = a(3, 0)\n"}),
    "begins twice": (PROGRAM, {SET: f"{SET}    if (a(1, 0) > 1) change = 2\n"}),
    "changed behind the loops": (
        PROGRAM,
        {"    end do\n  end function": "    end do\n    change = sqrt(change)\n  end function"},
    ),
    "a sum, rounded in another order": (
        PROGRAM,
        {GATHERED: "        change = change + abs(b(i, j) - a(i, j))\n"},
    ),
    "the last one": (PROGRAM, {GATHERED: "        change = b(i, j)\n"}),
    "not begun": (PROGRAM, {SET: ""}),
    "pure": (PROGRAM, {HEAD: "  impure function step(a, b) result(change)\n"}),
    "recursive": (PROGRAM, {HEAD: "  recursive function step(a, b) result(change)\n"}),
    "a head of two lines": (PROGRAM, {HEAD: "  function step(a, &\n      b) result(change)\n"}),
    "read between": (PROGRAM, {CALLED: f"    print *, res\n{CALLED}"}),
    "in a condition": (PROGRAM, {CALLED: "    if (step(u, unew) < 1d-9) exit\n"}),
    "on a line with another": (PROGRAM, {CALLED: "    res = step(u, unew); me = me\n"}),
    "under a condition": (PROGRAM, {CALLED: "    if (it > 2) res = step(u, unew)\n"}),
    "a product": (FIXED, {"step(2.0d0)": "3 * step(2.0d0)"}),
    "a statement function": (
        FIXED,
        {
            "      external step\n      integer it, ierr\n": "      double precision w\n"
            "      integer it, ierr\n      step(w) = 2 * w\n"
        },
    ),
}


def divided(
    name: str, table: dict[str, tuple[str, dict[str, str]]], folder: Path
) -> tuple[bool, Path]:
    text, changes = table[name]
    path = folder / ("program.f" if text is FIXED else "program.f90")
    path.write_text(changed(text, changes))
    outcome = transform([path], Options())
    assert not outcome.skipped
    after = outcome.after[str(path)]
    path.write_bytes(after)
    assert transform([path], Options()).after[str(path)] == after
    return b"step_interior" in after, path


@pytest.mark.parametrize("name", GOES)
def test_a_function_is_divided(name: str, tmp_path: Path) -> None:
    done, path = divided(name, GOES, tmp_path)
    text = path.read_text()
    assert done
    finish = re.search(r"call \w+_finish", text)
    assert finish is not None
    assert text.index("call step_interior(") < finish.start()
    assert "step_boundary" in text
    if shutil.which("gfortran"):
        command = [
            "gfortran",
            "-fsyntax-only",
            "-std=legacy",
            "-I",
            str(HEADERS),
            "-J",
            str(tmp_path),
        ]
        made = subprocess.run([*command, str(path)], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", STAYS)
def test_a_function_stays_whole(name: str, tmp_path: Path) -> None:
    assert not divided(name, STAYS, tmp_path)[0]


def test_what_sets_the_variable_in_front_stays_there(tmp_path: Path) -> None:
    path = tmp_path / "program.f90"
    path.write_text(changed(PROGRAM, {CALLED: f"    unew(1, 1) = res\n    res = 1\n{CALLED}"}))
    text = transform([path], Options()).after[str(path)].decode()
    assert "    res = 1\n" in text
    assert "call step_interior" not in text[: text.index("    res = 1\n")]
