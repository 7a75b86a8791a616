"""One program in the styles that Fortran is written in: what is divided does not depend on them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.text.labels import relabelled

PROGRAM = """module steps
  use mpi
  implicit none
  integer, parameter :: nx = 60, ny = 40
  real(8) :: u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1)
contains
  subroutine sweep(a, b)
    real(8), intent(in) :: a(0:nx+1, 0:ny+1)
    real(8), intent(inout) :: b(0:nx+1, 0:ny+1)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        b(i, j) = 0.25d0*(a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
      end do
    end do
  end subroutine sweep
end module steps
program main
  use mpi
  use steps
  implicit none
  integer :: ierr, rank, size, t, i, j, up, down
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  up = mod(rank + 1, size)
  down = mod(rank + size - 1, size)
  u = rank
  v = 0.0d0
  do t = 1, 10
    call MPI_Sendrecv(u(1, ny), nx, MPI_DOUBLE_PRECISION, up, 0, u(1, 0), nx, &
                      MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1, 1), nx, MPI_DOUBLE_PRECISION, down, 1, u(1, ny+1), nx, &
                      MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call sweep(u, v)
    do j = 1, ny
      do i = 1, nx
        u(i, j) = v(i, j)
      end do
    end do
  end do
  call MPI_Finalize(ierr)
end program main
"""
Style = Callable[[str], str]
SWEEP = "    do j = 1, ny\n      do i = 1, nx\n        b"
ENDS = "      end do\n    end do\n  end sub"
TIME = "  do t = 1, 10\n"
LAST = "  end do\n  call MPI_Finalize"


def one(old: str, new: str) -> Style:
    def apply(text: str) -> str:
        assert text.count(old) == 1, old
        return text.replace(old, new)

    return apply


def both(*styles: Style) -> Style:
    def apply(text: str) -> str:
        for style in styles:
            text = style(text)
        return text

    return apply


def each_line(pattern: str, new: str) -> Style:
    return lambda text: re.sub(pattern, new, text, flags=re.MULTILINE)


NAMED_TIME = both(one(TIME, f"  time: {TIME.strip()}\n"), one(LAST, LAST.replace("do", "do time")))
NAMED_SWEEP = both(
    one(SWEEP, SWEEP.replace("do j", "rows: do j").replace("do i", "row: do i")),
    one(ENDS, "      end do row\n    end do rows\n  end sub"),
)
GO: dict[str, Style] = {
    "as it is": lambda text: text,
    "capitals": str.upper,
    "lines of DOS": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: text.replace("  ", "\t"),
    "without blanks": lambda text: text.replace("end do", "enddo").replace(", ", ","),
    "ends alone": each_line(r"end (subroutine|program) \w+", r"end \1"),
    "comments behind": each_line(r"^(.*[a-z0-9)])$", r"\1 ! done"),
    "comments between": each_line(r"^( *)(do|call)", r'\1! with " and & in it\n\1\2'),
    "a pure sweep": one("  subroutine sweep", "  pure subroutine sweep"),
    "a hint": one(SWEEP, f"    !dir$ ivdep\n{SWEEP}"),
    "two hints": one(SWEEP, f"    !GCC$ ivdep\n    !gcc$ unroll 4\n{SWEEP}"),
    "hints within": one(
        SWEEP, SWEEP.replace("      do i", "      !DEC$ vector always\n      do i")
    ),
    "a named sweep": NAMED_SWEEP,
    "named time": NAMED_TIME,
    "named time left at its end": both(
        NAMED_TIME, one("  end do time", "    if (t == 8) exit time\n  end do time")
    ),
    "named time while": both(
        NAMED_TIME,
        one("do t = 1, 10\n", "do while (t < 10)\n    t = t + 1\n"),
        one("v = 0", "t = 0\n  v = 0"),
    ),
    "other kinds": lambda text: text.replace("real(8)", "real(selected_real_kind(15, 307))"),
    "of assumed shape": lambda text: re.sub(r"(:: [ab])\(0:nx\+1, 0:ny\+1\)", r"\1(0:, 0:)", text),
}
STAY: dict[str, Style] = {
    "another directive": one(SWEEP, f"    !dir$ parallel\n{SWEEP}"),
    "of an accelerator": one(SWEEP, f"    !$acc parallel loop\n{SWEEP}"),
    "rows left by name": both(
        NAMED_SWEEP, one("        b(i, j)", "        if (i > j) cycle rows\n        b(i, j)")
    ),
    "time left from within": both(
        NAMED_TIME,
        one("    call sweep(u, v)", "    if (u(1, 0) > 9) exit time\n    call sweep(u, v)"),
    ),
}


@pytest.mark.parametrize("style", GO.values(), ids=GO)
def test_it_is_divided(style: Style, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.f90", style(PROGRAM)).lower()
    assert re.search(r"\bcall sweep_interior\(u, ?v\)", text)
    assert text.index("mpi_irecv") < text.index("call sweep_interior") < text.index("mpi_wait")


@pytest.mark.parametrize("style", STAY.values(), ids=STAY)
def test_it_stays(style: Style, tmp_path: Path) -> None:
    assert "sweep_interior" not in rewritten(tmp_path / "main.f90", style(PROGRAM))


def inline(text: str) -> str:
    """The program with the sweep where it is called."""
    inner = text[re.search(r"(?m)^ +(rows: )?do j", text).start() : text.index("  end sub")]
    return text.replace("    call sweep(u, v)\n", inner.replace("a(", "u(").replace("b(", "v("))


def test_a_loop_is_divided_where_it_stands(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.f90", inline(PROGRAM))
    assert "    do j = 2, ny - 1\n" in text


@pytest.mark.parametrize("name", ["rows", "row"])
def test_no_two_loops_get_one_name(name: str, tmp_path: Path) -> None:
    """Where a named loop stands each of both parts has a name of its own."""
    other = "row" if name == "rows" else "rows"
    text = re.sub(rf"\b{other}: do", "do", NAMED_SWEEP(PROGRAM)).replace(
        f"end do {other}\n", "end do\n"
    )
    text = rewritten(tmp_path / "main.f90", inline(text))
    assert text.count(f" {name}: do") == 2  # in the routine and where it is called
    assert text.count(f" {name}2: do") == text.count(f"end do {name}2\n") == 1
    assert ": do j = 2, ny - 1" in text or "    do j = 2, ny - 1" in text


NEST = """    rows: do j = 1, ny
      row: do i = 1, nx
        v(i, j) = u(i, j)
      end do row
    end do rows
"""
SOURCE = SourceFile(Path("n.f90"), "n.f90", NEST.encode(), Language.FORTRAN_FREE)
INNER = "      row: do i = 1, nx\n"
KEPT: dict[str, dict[str, str]] = {
    "in a comment": {INNER: f"      ! a row of all\n{INNER}"},
    "in other cases": {"end do row\n": "END DO Row\n", "row: do": "ROW : do"},
    "left by its name": {INNER: f"{INNER}        if (i > 70) exit row\n"},
}
TAKEN: dict[str, dict[str, str]] = {
    "of a component": {INNER: f"{INNER}        t%row = i\n"},
    "of an argument": {INNER: f"{INNER}        call note(row=i)\n"},
}


@pytest.mark.parametrize("changes", KEPT.values(), ids=KEPT)
def test_names_are_changed_wherever_they_stand(changes: dict[str, str]) -> None:
    found = relabelled(SOURCE, changed(NEST, changes))
    assert found is not None
    code = re.sub("!.*", "", found).lower()
    assert not re.search(r"\brows?\b", code) and code.count("row2") >= 2


@pytest.mark.parametrize("changes", TAKEN.values(), ids=TAKEN)
def test_what_else_has_the_name_keeps_the_loop_whole(changes: dict[str, str]) -> None:
    assert relabelled(SOURCE, changed(NEST, changes)) is None


def test_no_new_name_is_one_of_the_file() -> None:
    source = SourceFile(Path("n.f90"), "n.f90", b"row2 = 1\n", Language.FORTRAN_FREE)
    assert "row3: do" in (relabelled(source, NEST) or "")
