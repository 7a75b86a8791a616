"""Puts, gets, persistent requests and the Krylov solver, judged from rows of a known truth."""

from __future__ import annotations

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.network.exchanges import Exchange, Side
from imbrex.probe.krylov import krylov
from imbrex.probe.one_sided import one_sided
from imbrex.probe.persistent import persistent

FLUSH, TRANSFER, WORK = 10, 100, 1000


def epochs(operation: str, origin_s: float, target_s: float, both_s: float) -> list[list[str]]:
    """Rows of an operation of TRANSFER and a flush of FLUSH; these shares move during work."""

    def row(situation: str, started: float, wait: float, done: float, target: float) -> list[str]:
        times = [0, 0, 0, started, wait, done, target, done + 5]
        words = ["intra-node", "0", "1", operation, "4096", situation]
        return words + [str(t) for t in [WORK, *times[1:]]]

    left = [TRANSFER * (1 - share) for share in (origin_s, target_s, both_s)]
    done_at_target = TRANSFER + FLUSH if target_s == 1 else WORK + left[1] + FLUSH
    rows = [
        row("empty", 0, 0, FLUSH, 0),
        row("none-compute", 0, 0, TRANSFER + FLUSH, 0),
        row("origin-computes", 0, WORK, WORK + left[0] + FLUSH, 0),
        row("target-computes", 0, 0, done_at_target, WORK),
        row("both-compute", 0, WORK, WORK + left[2] + FLUSH, WORK),
    ]
    return rows * 9


@pytest.mark.parametrize(
    ("operation", "shares", "name", "moved"),
    [
        ("MPI_Put", (1, 1, 1), "third-party", (1, 1)),
        ("MPI_Put", (0, 1, 0), "one-sided", (0, 1)),
        ("MPI_Get", (0, 1, 0), "one-sided", (1, 0)),
        ("MPI_Rget", (1, 0, 0), "one-sided", (0, 1)),
        ("MPI_Put", (0, 0, 0), "two-sided", (0, 0)),
    ],
)
def test_class_of_a_put_or_get(
    operation: str, shares: tuple[int, int, int], name: str, moved: tuple[int, int]
) -> None:
    """The data of a get come from the target: it is the sender."""
    ((found, path, (r,)),) = one_sided(epochs(operation, *shares), whole=True)
    assert (found, path, r.transfer_class) == (operation, "intra-node", name)
    assert (r.moved.sender_computing, r.moved.receiver_computing) == pytest.approx(moved)
    assert r.moved.both_computing == pytest.approx(shares[2])
    assert r.synchronization is (shares[1] == 1)
    assert r.to_bytes is None and r.confidence > 0.75


def test_fence_waits_for_both() -> None:
    ((_, _, (r,)),) = one_sided(epochs("MPI_Put/MPI_Win_fence", 1, 0, 0), whole=True)
    assert r.synchronization is None


def test_where_the_flush_is_all_nothing_is_said() -> None:
    rows = epochs("MPI_Put/MPI_Win_flush", 1, 1, 1)
    for row in rows:
        if row[5] == "empty":
            row[11] = str(TRANSFER)
    ((_, _, (r,)),) = one_sided(rows, whole=True)
    assert r.transfer_class == "unknown" and r.moved.sender_computing is None


def test_torn_rows_are_refused() -> None:
    with pytest.raises(ImbrexError, match="torn row"):
        one_sided([["intra-node", "0", "1", "MPI_Put/MPI_Win_flush", "x"]], whole=True)
    with pytest.raises(ImbrexError, match="torn row"):
        krylov([["2", "intra-node", "100"]])


def test_partitioned_and_persistent_are_kept_apart() -> None:
    def rows(prefix: str, left: float) -> list[Exchange]:
        def one(label: str, sender: Side, receiver: Side) -> Exchange:
            where = ("intra-node", prefix + label, 1024, "registers")
            return Exchange(*where, 0, 0, 0, 0, 0, sender, receiver)

        late, ready = Side(0, 1, 50_000, 50_000 + left), Side(0, 1, 1, 5000)
        done = 5000 if left < 2500 else 50_000 + left
        return [
            one("none-compute", ready, ready),
            one("sender-computes", late, Side(0, 1, 1, done)),
            one("receiver-computes", ready, late),
            one("both-compute", late, late),
        ] * 9

    found = persistent([*rows("persistent-", 0), *rows("partitioned-", 5000)], whole=True)
    assert [(o, r.transfer_class, r.synchronization) for o, _, (r,) in found] == [
        ("MPI_Send_init/MPI_Recv_init", "third-party", True),
        ("MPI_Psend_init/MPI_Precv_init", "two-sided", False),
    ]


def solves(separate: float, overlapped: float, residual: str = "1e-9") -> list[list[str]]:
    random = np.random.default_rng(3)
    noise = 1 + 0.02 * random.standard_normal((20, 2))
    return [
        [
            *("2", "intra-node", "10000", str(i), str(separate * a), str(overlapped * b)),
            *("343", "343", "1e-9", residual),
        ]
        for i, (a, b) in enumerate(noise)
    ]


def test_improvement_lies_in_its_interval() -> None:
    found = krylov(solves(100e6, 80e6))
    assert found is not None
    assert found.improvement_low < 0.2 < found.improvement_high
    assert found.improvement_high - found.improvement_low < 0.05
    assert found.separate_s == pytest.approx(0.1, rel=0.03)
    assert found.same_residuals and found.notes == []


def test_more_than_overlap_can_give_is_flagged() -> None:
    """The T3E's 78.6 % of table I came from a fault in the library."""
    found = krylov(solves(55.61e9, 14.85e9))
    assert found is not None
    assert "more than overlap can give" in found.notes[0]


def test_other_residuals_are_flagged() -> None:
    found = krylov(solves(100e6, 80e6, residual="1.0000000000000002e-9"))
    assert found is not None and not found.same_residuals
    assert "different residuals" in found.notes[0]
    assert krylov([]) is None
