"""Arguments of MPI's procedures by their names, as the MPI standard gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Options, read_program, transform
from imbrex.transform.readers.fortran_keywords import ordered

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
