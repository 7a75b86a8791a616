"""Generic interfaces of Fortran: a reference may be any of the procedures that the name is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.options import Options

PROGRAM = """module sums
  implicit none
  include 'mpif.h'
  interface gsum
    %s
  end interface gsum
  integer :: seen
contains
  subroutine gsum_i(v)
    integer, intent(inout) :: v
    integer :: w, e
    call mpi_allreduce(v, w, 1, mpi_integer, mpi_sum, mpi_comm_world, e)
    v = w
  end subroutine gsum_i
  subroutine gsum_d(v)
    double precision, intent(inout) :: v
    %s
  end subroutine gsum_d
end module sums
program p
  use sums%s
  implicit none
  integer :: n, e, i
  double precision :: a(1000), d
  %s
  call mpi_init(e)
  n = 3
  d = 1.0d0
  call gsum(d)
  call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, e)
  do i = 1, 1000
    a(i) = i
  end do
  print *, n, a(5)
  call mpi_finalize(e)
end program p
"""
BOTH = "module procedure gsum_i, gsum_d"


def outcome(
    tmp_path: Path, listed: str = BOTH, body: str = "v = v", use: str = "", more: str = ""
) -> Outcome:
    path = tmp_path / "p.f90"
    path.write_text(PROGRAM % (listed, body, use, more))
    found = transform([path], Options())
    assert not found.skipped, found.skipped
    return found


def of_broadcast(found: Outcome) -> tuple[str, str]:
    (decision,) = [d for d in found.decisions if d.site.call.name == "MPI_Bcast"]
    return decision.decision, " ".join([decision.reason.text, *decision.details])


@pytest.mark.parametrize(
    "listed",
    [
        BOTH,
        "procedure :: gsum_i, gsum_d",
        "module procedure gsum_i\n    module procedure :: gsum_d",
    ],
)
def test_the_calls_are_those_of_all_procedures(listed: str, tmp_path: Path) -> None:
    """A call with a real number may be the reduction, where compilers do not ask for its type."""
    decision, said = of_broadcast(outcome(tmp_path, listed, more="! ignore_tkr"))
    assert decision == "rewritten"
    assert "MPI_Allreduce: another collective" in said
    decision, said = of_broadcast(outcome(tmp_path, listed))
    assert decision == "rewritten"
    assert "MPI_Allreduce" not in said


def test_what_any_of_them_does_counts(tmp_path: Path) -> None:
    decision, said = of_broadcast(outcome(tmp_path, body="call elsewhere(v)"))
    assert decision == "refused"
    assert "elsewhere, whose source is not among the files" in said


@pytest.mark.parametrize(
    ("listed", "use", "more"),
    [
        ("module procedure gsum_i, gsum_x", "", ""),
        (f"{BOTH}\n    include 'more.inc'", "", ""),
        (BOTH, ", only: mpi_integer, mpi_comm_world", "external gsum"),
        (BOTH, "\n  use others", ""),
    ],
)
def test_a_procedure_that_is_not_known_may_do_anything(
    listed: str, use: str, more: str, tmp_path: Path
) -> None:
    decision, said = of_broadcast(outcome(tmp_path, listed, use=use, more=more))
    assert decision == "refused"
    assert "whose source is not among the files" in said or "is not known" in said


def test_a_name_that_is_not_used_is_another(tmp_path: Path) -> None:
    """Without the module's name an external procedure is called."""
    decision, _ = of_broadcast(outcome(tmp_path, use=", only: seen, mpi_integer"))
    assert decision == "refused"


HALO = """module halo
  implicit none
  include 'mpif.h'
  {access}
  interface swap
    module procedure swap_d{other}
  end interface swap
contains
  subroutine swap_d(u, n, peer)
    integer, intent(in) :: n, peer
    integer :: e
    double precision :: u(n)
    call mpi_sendrecv(u(2), 1, mpi_double_precision, peer, 0, u(n), 1, &
      mpi_double_precision, peer, 0, mpi_comm_world, mpi_status_ignore, e)
  end subroutine swap_d
  subroutine swap_i(u, n, peer)
    integer, intent(in) :: n, peer
    integer :: u(n)
    u(1) = {value}
  end subroutine swap_i
end module halo
program p
  use halo{only}
  implicit none
  integer :: e, i, me
  double precision :: u(1000), v(1000)
  call mpi_init(e)
  call mpi_comm_rank(mpi_comm_world, me, e)
  u = me
  {call}
  do i = 1, 1000
    v(i) = i
  end do
  {again}
  print *, u(1000) + v(3)
  call mpi_finalize(e)
end program p
"""
NAMES = "public :: swap, mpi_comm_world"
PLAIN = {
    "access": "",
    "other": "",
    "value": "peer",
    "only": "",
    "call": "call swap(u, 1000, 1 - me)",
    "again": "",
}


def split(tmp_path: Path, **changes: str) -> tuple[str, str]:
    path = tmp_path / "halo.f90"
    path.write_text(HALO.format(**PLAIN | changes))
    found = transform([path], Options())
    assert not found.skipped, found.skipped
    again = tmp_path / "again.f90"
    again.write_bytes(found.after[str(path)])
    second = transform([again], Options())
    assert second.after == second.before
    decision = found.decisions[0]
    barred = [] if decision.barred is None else [decision.barred.text]
    return again.read_text(), " ".join([decision.reason.text, *barred, *decision.details])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"other": ", swap_i"},
        {"call": "call swap_d(u, 1000, 1 - me)"},
        {"again": "call swap(u, 1000, 1 - me)"},
        {"call": "CALL Swap (u, peer=1 - me, n=1000)", "other": ", swap_i"},
    ],
)
def test_a_wrapper_is_split_where_a_generic_name_means_it(
    changes: dict[str, str], tmp_path: Path
) -> None:
    text, _ = split(tmp_path, **changes)
    assert "call swap_d_start(u, " in text
    assert "call swap_d_finish(u, " in text
    assert "subroutine swap_d(u, n, peer)" in text  # the generic name stands for it


def test_what_the_module_does_not_give_out_is_given_out(tmp_path: Path) -> None:
    text, _ = split(tmp_path, access=f"private\n  {NAMES}, mpi_status_ignore", other=", swap_i")
    assert "  public :: swap_d_start, swap_d_finish\n" in text
    only = ", only: swap, mpi_comm_world, mpi_double_precision"
    text, _ = split(tmp_path, access="integer, private :: k", other=", swap_i", only=only)
    assert "use halo, only: swap_d_start, swap_d_finish" in text


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        # Compilers are told not to ask which type the array has.
        ({"other": ", swap_i", "value": "peer\n!dir$ ignore_tkr u"}, "by a generic name too"),
        ({"access": "private :: swap_d"}, "cannot be made known"),
        ({"again": "10 if (me < 0) call swap(u, 5, 6)"}, "is not a statement of its own"),
    ],
)
def test_a_wrapper_with_a_generic_name_stays(
    changes: dict[str, str], reason: str, tmp_path: Path
) -> None:
    text, said = split(tmp_path, **changes)
    assert "swap_d_start" not in text
    assert reason in said


def test_the_kind_takes_the_name() -> None:
    assert ReasonKind.GENERIC(routine="a").text == "a is known by a generic name too"


OF_MPI = """module names
  implicit none
  interface mp_%s
    subroutine mpi_%s(%s)
      integer :: %s
    end subroutine
  end interface
end module
program p
  use names, only: mp_%s
  implicit none
  include 'mpif.h'
  integer :: e, i, n, me
  double precision :: a(1000)
  call mpi_init(e)
  n = 3
  %s
  call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, e)
  do i = 1, 1000
    a(i) = sqrt(dble(i))
  end do
  print *, a(n)
  call mpi_finalize(e)
end program p
"""


@pytest.mark.parametrize(
    ("name", "arguments", "call", "moves"),
    [
        ("comm_rank", "c, me, e", "call mp_comm_rank(mpi_comm_world, me, e)", True),
        ("win_fence", "a, w, e", "call mp_win_fence(0, n, e)", False),
        ("bcast", "b, n, t, r, c, e", "call mp_bcast(me, 1, mpi_integer, 0, n, e)", False),
    ],
)
def test_functions_of_mpi_by_a_generic_name(
    name: str, arguments: str, call: str, moves: bool, tmp_path: Path
) -> None:
    """They are what they are; one that communicates stays, and what it may match."""
    path = tmp_path / "p.f90"
    path.write_text(OF_MPI % (name, name, arguments, arguments, name, call))
    text = transform([path], Options()).after[str(path)]
    assert (b"mpi_ibcast" in text) is moves
