"""Arguments of MPI's procedures by their names, as the MPI standard gives them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.fortran_keywords import ordered
from imbrex.transform.reading import read_program
from imbrex.transform.text.keywords import is_keyword
from imbrex.transform.text.loop_guards import LoopGuards

CASE = Path(__file__).parent / "cases" / "keywords.f90"
SENDRECV = (
    "sendbuf sendcount sendtype dest sendtag recvbuf recvcount recvtype source recvtag comm status"
)


def _order(name: str, *texts: str) -> list[str] | None:
    found = ordered(name, list(texts))
    return None if found is None else [texts[number][inside:] for number, inside in found]


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("MPI_Send", "buf count datatype dest tag comm"),
        ("MPI_Recv", "buf count datatype source tag comm status"),
        ("MPI_Isend", "buf count datatype dest tag comm request"),
        ("MPI_Irecv", "buf count datatype source tag comm request"),
        ("MPI_Sendrecv", SENDRECV),
        (
            "MPI_Sendrecv_replace",
            "buf count datatype dest sendtag source recvtag comm status",
        ),
        ("MPI_Bcast", "buffer count datatype root comm"),
        ("MPI_Reduce", "sendbuf recvbuf count datatype op root comm"),
        ("MPI_Allreduce", "sendbuf recvbuf count datatype op comm"),
        ("MPI_Gatherv", "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype root comm"),
        ("MPI_Scatterv", "sendbuf sendcounts displs sendtype recvbuf recvcount recvtype root comm"),
        (
            "MPI_Alltoallv",
            "sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype comm",
        ),
        ("MPI_Reduce_scatter", "sendbuf recvbuf recvcounts datatype op comm"),
        ("MPI_Wait", "request status"),
        ("MPI_Waitall", "count array_of_requests array_of_statuses"),
        ("MPI_Waitany", "count array_of_requests index status"),
        ("MPI_Waitsome", "incount array_of_requests outcount array_of_indices array_of_statuses"),
        ("MPI_Get_count", "status datatype count"),
        ("MPI_Probe", "source tag comm status"),
        ("MPI_Comm_size", "comm size"),
        ("MPI_Cart_shift", "comm direction disp rank_source rank_dest"),
    ],
)
def test_the_names_of_the_standard(name: str, names: str) -> None:
    """In their own order, and the other way round, with the error code and without it."""
    for given in (names.split(), [*names.split(), "ierror"]):
        values = [f"{each}={each[:2]}x" for each in given]
        wanted = [f"{each[:2]}x" for each in given]
        assert _order(name, *values) == wanted
        assert _order(name, *reversed(values)) == wanted
        assert _order(name, wanted[0], *reversed(values[1:])) == wanted


def test_not_known() -> None:
    assert _order("MPI_Send", "u", "n", "kind=x") is None  # no name of its arguments
    assert _order("MPI_Send", "u", "n", "count=x") is None  # given twice
    assert _order("MPI_Send", "u", "tag=1") is None  # some are missing
    assert _order("MPI_Send", "u", "a==b") == ["u", "a==b"]  # a comparison
    assert _order("MPI_Comm_rank", "w", "r", "ierror=e") == ["w", "r", "e"]


def test_arguments_are_read_where_they_belong() -> None:
    program = read_program([CASE], Options())
    call = next(call for call in program.calls() if call.name == "MPI_Sendrecv")
    assert [argument.text for argument in call.arguments[5:]] == [
        "u(0)", "1", "MPI_REAL8", "left", "1", "MPI_COMM_WORLD", "MPI_STATUS_IGNORE",
    ]  # fmt: skip
    source = program.files[str(CASE)].data
    argument = call.arguments[8]
    assert source[argument.start : argument.end] == b"left"


def test_rewritten_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "main.f90"
    path.write_bytes(CASE.read_bytes())
    after = transform([path], Options()).after[str(path)].decode()
    assert "call MPI_Irecv(u(0), 1, MPI_REAL8, left, 1, MPI_COMM_WORLD, imbrex_req" in after
    assert "call MPI_Isend(u(n), 1, MPI_REAL8, right, 1, MPI_COMM_WORLD, imbrex_req" in after


def test_a_name_that_mpi_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "main.f90"
    path.write_text(CASE.read_text().replace("recvbuf=u(0)", "recvbuffer=u(0)"))
    outcome = transform([path], Options())
    assert "call MPI_Sendrecv(" in outcome.after[str(path)].decode()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("call MPI_Send(u, n, tag=tag)", [True, False]),
        ("call MPI_Send(tag = tag, buf=u)", [True, False]),
        ("call MPI_Send(u, n, &\n    tag=tag)", [True, False]),
        ("call MPI_Send(u, n, & ! (see tag\n    & tag=tag)", [False, True, False]),
        ("      CALL MPI_SEND(U, N,\n     1  TAG=TAG)", [True, False]),
        ("tag = 5", [False]),
        ("if (tag == 5) tag = 6", [False, False]),
        ("call work(a, tag==b)", [False]),
        ("p%tag = 1", [False]),
        ("a(tag) = tag", [False, False]),
        ("use m, only: r, tag => other", [False]),
    ],
)
def test_where_a_name_is_that_of_an_argument(text: str, kept: list[bool]) -> None:
    places = [m.span() for m in re.finditer(r"(?i)\btag\b", text)]
    assert [is_keyword(text, *place) for place in places] == kept


def test_the_next_iteration_of_an_argument_by_its_name() -> None:
    """A loop's index that has the name of an argument: its value changes, the name does not."""
    guards = LoopGuards("root", "", "root < n", "0", "root + 1", 1, fortran=True)
    call = "call MPI_Bcast(u(root), n, MPI_REAL, root=root, comm=comm)"
    next_call = "call MPI_Bcast(u((root + 1)), n, MPI_REAL, root=(root + 1), comm=comm)"
    assert guards.at_next(call) == next_call
    assert guards.at_first(call) == call.replace("(root)", "(0)").replace("=root", "=0")


PACKED = """
program packed
  use mpi_f08
  implicit none
  real(8) :: buf(500), u(500), v(500), w(20000)
  integer :: rank, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  u = rank
  v = 2 * rank
  do i = 1, 500
    buf(i) = u(i)
  end do
  call MPI_Send(buf=buf, count=500, datatype=MPI_REAL8, dest=rank, tag=1, comm=MPI_COMM_WORLD)
  do i = 1, 20000
    w(i) = i
  end do
  do i = 1, 500
    buf(i) = v(i)
  end do
  call MPI_Send(buf=buf, count=500, datatype=MPI_REAL8, dest=rank, tag=2, comm=MPI_COMM_WORLD)
  do i = 1, 20000
    w(i) = w(i) + i
  end do
  call MPI_Recv(u, 500, MPI_REAL8, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Recv(v, 500, MPI_REAL8, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  print *, sum(u), sum(v), sum(w)
  call MPI_Finalize()
end program packed
"""


def test_a_buffer_of_its_own_is_passed_by_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "main.f90"
    path.write_text(PACKED)
    options = Options(rewrites=frozenset({"private-buffers", "nonblocking"}))
    after = transform([path], options).after[str(path)].decode()
    assert "call MPI_Isend(buf2, 500, MPI_REAL8, rank, 2," in after
