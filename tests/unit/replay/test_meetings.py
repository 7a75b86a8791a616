"""Which calls of a log wait for each other, and what of their time a replay keeps."""

from __future__ import annotations

import numpy as np
import pytest

from imbrex.profile.call_log import CALL_DTYPE, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.run_log import Group, RunLog

OPERATIONS = ("MPI_Cart_create", "MPI_Allreduce", "MPI_Win_fence", "MPI_Comm_idup")
ROUTE = Route(latency_ns=1000)


def one_call_each(
    operation: str,
    times: list[tuple[int, int]],
    end: int,
    kind: Kind = Kind.ALL,
    ended: bool = True,
) -> LogSchedule:
    """Each rank is in one collective between these two times and computes until `end`."""
    count = len(times)
    records = np.zeros(count, CALL_DTYPE)
    records["enter_ns"], records["exit_ns"] = np.array(times).T
    records["operation"] = OPERATIONS.index(operation)
    records["kind"], records["comm"], records["sequence"] = kind, 1, 1
    ranks = np.arange(count)
    log = RunLog(
        records=records, rank=ranks, stream=ranks, call=ranks,
        end=ranks if ended else np.full(count, -1),
        peer=np.full(count, -1), stream_rank=ranks, start_ns=np.zeros(count, np.int64),
        origin_ns=np.zeros(count, np.int64), end_ns=np.full(count, end),
        groups={1: Group(tuple(range(count)), inter=False, window=False)},
        operations=OPERATIONS, nodes=ranks, wall_ns=end,
    )  # fmt: skip
    return schedule_from_log(log)


def ends(made: LogSchedule) -> list[float]:
    return Replayer(made.schedule).run(Network(ROUTE, ROUTE)).end_ns.tolist()


def test_who_makes_a_communicator_waits_for_the_others() -> None:
    # The last comes at 5000; 300 and 400 ns are the library's own, whatever messages it sends.
    made = one_call_each("MPI_Cart_create", [(1000, 5300), (5000, 5400)], 9000)
    assert ends(made) == pytest.approx([5000 + 300 + 3700, 5000 + 400 + 3600])
    # A wait of 2000 ns more for rank 1 moves both.
    made = one_call_each("MPI_Cart_create", [(1000, 5300), (5000, 5400)], 9000)
    made.schedule.start_ns[1] += 2000
    assert ends(made) == pytest.approx([11_000, 11_000])


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


def test_a_fence_is_the_messages_of_a_barrier() -> None:
    # The 300 and 400 ns are its messages, which the replay sends itself: they are no work.
    made = one_call_each("MPI_Win_fence", [(1000, 5300), (5000, 5400)], 9000, Kind.EPOCH)
    assert ends(made) == pytest.approx([5000 + 1000 + 3700, 5000 + 3600])


def test_a_communicator_in_the_background_takes_the_call_that_begins_it() -> None:
    # Rank 0 begins it in 200 ns, rank 1 in 400; nobody waits for it.
    made = one_call_each("MPI_Comm_idup", [(1000, 1200), (5000, 5400)], 9000, ended=False)
    assert ends(made) == pytest.approx([9000, 9000])
