"""What Fortran passes by reference and MPI takes by value: no start goes above where it is set."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """program values
  use {interface}
  implicit none
  integer, parameter :: n = 1000
  double precision :: a(n), b(n)
  integer :: peer(2), tags(3), counts(2), ierr, rank, i
  {handle} :: comms(2), comm
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  a = rank
  b = 1.0d0
  do i = 1, n
    b(i) = b(i) * 2.0d0 + i
  end do
  {value} = {given}
  {call}
  print *, a(1), b(1)
  call MPI_Finalize(ierr)
end program values
"""
RECV = "call MPI_Recv(a, {}, MPI_DOUBLE_PRECISION, {}, {}, {}, MPI_STATUS_IGNORE, ierr)"
VALUES = {
    "a rank in an array": ("peer(1)", "1 - rank", ("n", "peer(1)", "5", "MPI_COMM_WORLD")),
    "a tag in an array": ("tags(2)", "5", ("n", "0", "tags(2)", "MPI_COMM_WORLD")),
    "a count in an array": ("counts(2)", "20", ("counts(2)", "0", "5", "MPI_COMM_WORLD")),
    "an element by an index": ("peer(i - n)", "0", ("n", "peer(1)", "5", "MPI_COMM_WORLD")),
    "a communicator": ("comm", "MPI_COMM_WORLD", ("n", "0", "5", "comm")),
    "a communicator in an array": ("comms(1)", "MPI_COMM_WORLD", ("n", "0", "5", "comms(1)")),
}


def reason_of(text: str, folder: Path) -> str:
    path = folder / "values.f90"
    path.write_text(text)
    (decision,) = transform([path], Options()).decisions
    assert decision.decision != "rewritten"
    return decision.reason.text


@pytest.mark.parametrize("interface", ["mpi", "mpi_f08"])
@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_read_where_the_message_starts(
    name: str, interface: str, tmp_path: Path
) -> None:
    value, given, words = VALUES[name]
    handle = "integer" if interface == "mpi" else "type(MPI_Comm)"
    text = PROGRAM.format(
        interface=interface, handle=handle, value=value, given=given, call=RECV.format(*words)
    )
    told = reason_of(text, tmp_path)
    stops = (f"`{value.partition('(')[0]}` is used or set", "an assignment of a derived type")
    assert told.partition("behind it")[0].count("before it") and any(s in told for s in stops)
