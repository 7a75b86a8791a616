"""Hidden share of nonblocking collectives, by hand."""

from __future__ import annotations

import pytest

from imbrex.errors import ImbrexError
from imbrex.probe.collective_overlap import hidden_collectives
from imbrex.probe.point_to_point import Operation
from imbrex.probe.terminal import collective_shares


def rows(size: int, tests: int, inside: float) -> list[list[str]]:
    line = f"MPI_Iallreduce 2 intra-node {size} {tests} 1000 2000 2500 {inside}"
    return [line.split()] * 7


def test_share_is_what_start_and_wait_do_not_hold() -> None:
    made = rows(8, 0, 900) + rows(8, 100, 100) + rows(64, 0, 2000) + rows(64, 100, 300)
    (found,) = hidden_collectives(made, whole=True)
    assert (found.operation, found.path) == ("MPI_Iallreduce", "intra-node")
    small, large = found.without_calls
    assert small.moved.both_computing == pytest.approx(0.1)
    assert (small.from_bytes, small.to_bytes) == (1, 63)
    assert (large.from_bytes, large.to_bytes) == (64, None)
    assert large.moved.both_computing == 0
    assert [r.transfer_class for r in found.without_calls] == ["unknown", "unknown"]
    assert [r.transfer_class for r in found.with_calls] == ["third-party", "third-party"]
    assert all(r.synchronization is None and r.confidence == 1 for r in found.without_calls)


def test_cut_short_the_last_range_is_closed() -> None:
    (found,) = hidden_collectives(rows(8, 0, 1) + rows(8, 100, 1), whole=False)
    assert found.without_calls[-1].to_bytes == 8


def test_torn_row() -> None:
    with pytest.raises(ImbrexError, match="torn row"):
        hidden_collectives([["MPI_Ibcast", "2", "intra-node"]], whole=True)


@pytest.mark.parametrize(("inside", "completes"), [(100, True), (950, False), (450, None)])
def test_a_barrier_has_no_data_and_completes_or_not(inside: float, completes: bool | None) -> None:
    (found,) = hidden_collectives(rows(0, 0, inside) + rows(0, 100, 1), whole=True)
    (r,) = found.without_calls
    assert (r.from_bytes, r.to_bytes, r.transfer_class) == (0, None, "unknown")
    assert r.synchronization is completes
    assert r.moved.both_computing is None


def test_shares_by_size_and_barriers_apart() -> None:
    """Operations down, sizes across; what was measured of one only leaves a gap in the others."""
    made = rows(8, 0, 900) + rows(8, 100, 100) + rows(64, 0, 2000) + rows(64, 100, 300)
    barrier = [["MPI_Ibarrier", *row[1:]] for row in rows(0, 0, 950) + rows(0, 100, 1)]
    bcast = [["MPI_Ibcast", *row[1:]] for row in rows(64, 0, 500) + rows(64, 100, 0)]
    operations = [
        Operation(c.operation, c.path, c.without_calls, c.with_calls, None)
        for c in hidden_collectives([*made, *barrier, *bcast], whole=True)
    ]
    found = collective_shares(operations)
    assert found.sizes == ("8", "64")
    assert found.rows == (
        ("MPI_Iallreduce", ("10 -> 90 %", "0 -> 70 %")),
        ("MPI_Ibcast", ("-", "50 -> 100 %")),
    )
    assert found.barriers == (("MPI_Ibarrier", "no", "yes"),)
