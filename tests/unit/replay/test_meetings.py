"""Which calls of a log wait for each other, and what of their time a replay keeps."""

from __future__ import annotations

import numpy as np
import pytest

from imbrex.profile.call_log import CALL_DTYPE, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.run_log import Group, RunLog

OPERATIONS = ("MPI_Cart_create", "MPI_Allreduce")
ROUTE = Route(latency_ns=1000)


def one_call_each(operation: str, times: list[tuple[int, int]], end: int) -> LogSchedule:
    """Each rank is in one collective between these two times and computes until `end`."""
    count = len(times)
    records = np.zeros(count, CALL_DTYPE)
    records["enter_ns"], records["exit_ns"] = np.array(times).T
    records["operation"] = OPERATIONS.index(operation)
    records["kind"], records["comm"], records["sequence"] = Kind.ALL, 1, 1
    ranks = np.arange(count)
    log = RunLog(
        records=records, rank=ranks, stream=ranks, call=ranks, end=ranks,
        peer=np.full(count, -1), stream_rank=ranks, start_ns=np.zeros(count, np.int64),
        origin_ns=np.zeros(count, np.int64), end_ns=np.full(count, end),
        groups={1: Group(tuple(range(count)), inter=False, window=False)},
        operations=OPERATIONS, nodes=ranks, wall_ns=end,
    )  # fmt: skip
    return schedule_from_log(log)


def ends(made: LogSchedule) -> list[float]:
    return Replayer(made.schedule).run(Network(ROUTE, ROUTE)).end_ns.tolist()


def test_who_makes_a_communicator_waits_for_the_others() -> None:
    # The last comes at 5000 and tells the first; 300 and 400 ns are the library's own.
    made = one_call_each("MPI_Cart_create", [(1000, 5300), (5000, 5400)], 9000)
    assert ends(made) == pytest.approx([5000 + 1000 + 300 + 3700, 5000 + 400 + 3600])


def test_a_library_that_makes_communicators_without_waiting() -> None:
    # Rank 0 has left when rank 1 comes: each takes what it took.
    made = one_call_each("MPI_Cart_create", [(1000, 1200), (5000, 5400)], 9000)
    assert ends(made) == pytest.approx([9000, 9000])
    assert made.not_replayed == {}


def test_an_exchange_meets_whatever_the_clocks_say() -> None:
    made = one_call_each("MPI_Allreduce", [(1000, 1200), (5000, 5400)], 9000)
    assert ends(made) == pytest.approx([5000 + 1000 + 7800, 5000 + 3600])


def test_a_call_of_one_rank_alone_keeps_its_time() -> None:
    assert ends(one_call_each("MPI_Allreduce", [(1000, 1500)], 2000)) == pytest.approx([2000])
