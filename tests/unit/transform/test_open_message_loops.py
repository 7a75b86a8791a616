"""Loops of messages of Fortran whose number an argument or a variable of a module tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """\
module fluxes
  use mpi
  implicit none
  integer, parameter :: n = 32
  integer :: below, above, fields = 0, other = 0
contains
  subroutine exchange(u, nvar)
    integer, intent(in) :: nvar
    real(8), intent(inout) :: u(n, 0:1, *)
    integer :: l, ierr
    do l = 1, nvar
      call MPI_Sendrecv(u(1, 1, l), n, MPI_DOUBLE_PRECISION, above, 7, u(1, 0, l), n, &
        MPI_DOUBLE_PRECISION, below, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
  end subroutine exchange
end module fluxes

program main
  use fluxes
  implicit none
  real(8) :: u(n, 0:1, 8), w(n)
  integer :: i, ierr, m
  call MPI_Init(ierr)
  u = 1
  w = 2
  m = command_argument_count()
  fields = m
  call exchange(u, m)
  do i = 1, n
    w(i) = w(i) * i
  end do
  m = 8
  fields = 8
  print *, w(1), sum(u)
  call MPI_Finalize(ierr)
end program main
"""
LOOP = "    do l = 1, nvar\n"
HEAD = "    integer :: l, ierr\n"
ARGUMENT = "    integer, intent(in) :: nvar\n"
SHAPE = "u(n, 0:1, *)"
RECEIVED = "u(1, 0, l), n, &"

GO: dict[str, tuple[dict[str, str], str]] = {
    "an argument": ({}, "imbrex_loop_receives(nvar)"),
    "a variable of the module": (
        {LOOP: "    do l = 1, fields\n"},
        "imbrex_loop_receives(fields)",
    ),
    "both ends": (
        {LOOP: "    do l = below + 1, nvar\n"},
        "imbrex_loop_receives((nvar - (below + 1)) + 1)",
    ),
    "a constant of its own": (
        {LOOP: "    do l = first, nvar\n", HEAD: f"{HEAD}    integer, parameter :: first = 2\n"},
        "imbrex_loop_receives(nvar - first + 1)",
    ),
    "left ahead of it, where a declaration reads the number": (
        {SHAPE: "u(n, 0:1, nvar)", LOOP: f"    if (above == below) return\n{LOOP}"},
        "imbrex_loop_receives(nvar)",
    ),
    "on a condition, where a declaration reads the number": (
        {
            SHAPE: "u(n, 0:1, nvar)",
            LOOP: f"    if (above /= below) then\n{LOOP}",
            "    end do\n  end subroutine": "    end do\n    end if\n  end subroutine",
        },
        "imbrex_loop_receives(nvar)",
    ),
}
STAY: dict[str, dict[str, str]] = {
    "set in the procedure": {
        LOOP: f"    fields = nvar\n{LOOP.replace('nvar', 'fields')}",
    },
    "set in what it calls": {
        LOOP: f"    call count_fields\n{LOOP.replace('nvar', 'fields')}",
        "end module fluxes\n": "  subroutine count_fields\n    fields = other\n"
        "  end subroutine\nend module fluxes\n",
    },
    "received by a message": {
        LOOP: "    call MPI_Bcast(fields, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n"
        + LOOP.replace("nvar", "fields"),
    },
    "a variable of the procedure": {
        HEAD: f"{HEAD}    integer :: many\n",
        LOOP: f"    many = nvar\n{LOOP.replace('nvar', 'many')}",
    },
    "it may have no value where the procedure begins": {
        LOOP: f"    if (above == below) return\n{LOOP}",
    },
    "optional": {ARGUMENT: ARGUMENT.replace("intent(in)", "intent(in), optional")},
    "a pointer": {
        "fields = 0, other": "other",
        "contains\n  subroutine": "  integer, pointer :: fields\ncontains\n  subroutine",
        LOOP: LOOP.replace("nvar", "fields"),
        "  fields = m\n": "  allocate(fields)\n  fields = m\n",
    },
    "each second one": {LOOP: "    do l = 1, nvar, 2\n"},
    "an element": {
        "other = 0": "other(3) = 0",
        LOOP: LOOP.replace("nvar", "other(2)"),
    },
    "max is a variable": {HEAD: f"{HEAD}    integer :: max\n"},
    "one buffer for all of them": {RECEIVED: "u(1, 0, 1), n, &"},
    "a nest whose inner loop depends on the outer one": {
        LOOP: f"{LOOP}      do k = 1, l\n",
        HEAD: HEAD.replace("l, ", "l, k, "),
        RECEIVED: "u(k, 0, l), 1, &",
        "u(1, 1, l), n, ": "u(k, 1, l), 1, ",
        "    end do\n  end subroutine": "      end do\n    end do\n  end subroutine",
    },
    "two numbers that may both be below 0": {
        LOOP: f"{LOOP}      do k = 1, fields\n",
        HEAD: HEAD.replace("l, ", "l, k, "),
        RECEIVED: "u(k, 0, l), 1, &",
        "u(1, 1, l), n, ": "u(k, 1, l), 1, ",
        "    end do\n  end subroutine": "      end do\n    end do\n  end subroutine",
    },
}  # fmt: skip


def rewritten(folder: Path, text: str) -> tuple[str, str]:
    """What becomes of a program, and what is said of it."""
    file = folder / "program.f90"
    file.write_text(text)
    outcome = transform([file], Options())
    return outcome.after[str(file)].decode(), explain(outcome)


@pytest.mark.parametrize("name", GO)
def test_all_messages_are_started(tmp_path: Path, name: str) -> None:
    change, declared = GO[name]
    text, _ = rewritten(tmp_path, changed(PROGRAM, change))
    size = declared.removeprefix("imbrex_loop_receives")
    assert f"imbrex_loop_receives{size}" in text
    assert f"call MPI_Waitall(max{size[:-1]}, 0), imbrex_loop_receives, " in text


@pytest.mark.parametrize("name", STAY)
def test_what_stays(tmp_path: Path, name: str) -> None:
    text, _ = rewritten(tmp_path, changed(PROGRAM, STAY[name]))
    assert "imbrex_loop" not in text


@pytest.mark.parametrize("number", ["m", "fields"])
def test_halves_end_before_the_number_changes(tmp_path: Path, number: str) -> None:
    """The finish declares as many requests as the start has allocated."""
    change = {} if number == "m" else {LOOP: "    do l = 1, fields\n"}
    text, _ = rewritten(tmp_path, changed(PROGRAM, change))
    main = text[text.index("program main") :]
    assert main.index("call exchange_start(") < main.index("do i = 1, n")
    assert main.index("do i = 1, n") < main.index("call exchange_finish(")
    assert main.index("call exchange_finish(") < main.index(f"  {number} = 8")


def test_the_main_program_declares_nothing_of_such_a_size(tmp_path: Path) -> None:
    loop = PROGRAM[PROGRAM.index(LOOP) : PROGRAM.index("  end subroutine exchange\n")]
    inner = loop.replace("nvar", "fields")
    main = {"  call exchange(u, m)\n": inner, "i, ierr, m\n": "i, ierr, m, l\n"}
    text, _ = rewritten(tmp_path, changed(PROGRAM, main))
    assert "imbrex_loop" not in text[text.index("program main") :]
