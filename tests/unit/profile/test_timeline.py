"""Time lines from logs: matched messages and collectives, the parts of calls, and what is typical.

Times are ns; each case is small enough to be drawn.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.analysis.jobs import (
    ALL,
    CANCELLED,
    COMPLETION,
    EPOCH,
    FIRST,
    FROM_ROOT,
    ITSELF,
    OPERATIONS,
    RECV,
    SEND,
    SYNC_SEND,
    TO_ROOT,
    VARYING,
    WILDCARD,
    Rank,
)

from imbrex.profile.call_log import CALL_DTYPE, OPEN, CallLog, Communicator
from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE
from imbrex.profile.job import Job
from imbrex.profile.run import Run
from imbrex.profile.sites import Site
from imbrex.profile.timeline import from_logs
from imbrex.profile.timeline.format import TIMELINE_DTYPE, UNKNOWN, Match
from imbrex.profile.timeline.timeline import Timeline, load_whole_timeline
from imbrex.profile.timeline.typical import typical_iteration


def log_of(rank: Rank, number: int, ranks: int, level: int = 0) -> CallLog:
    """The log of a rank whose records are numbered from 1 on."""
    calls = np.zeros(len(rank.ops), CALL_DTYPE)
    for i, op in enumerate(rank.ops):
        end = {ITSELF: i + 1, -1: OPEN}.get(op.end, op.end + 1)
        calls[i] = (
            *(op.enter, op.exit, 0, op.bytes, op.site, OPERATIONS.index(op.operation)),
            *(0, op.comm, op.peer, op.tag, op.sequence, end, op.kind, op.path, op.thread),
            *(op.flags, i + 1),
        )
    world = list(range(ranks))
    last = max((op.exit for op in rank.ops), default=1)
    return CallLog(
        file=Path(f"rank-{number}.log"),
        calls=calls,
        communicators={1: Communicator(1, number, False, False, False, False, world, world)},
        budget_bytes=1,
        window_ns=1 << 40,
        level=level,
        origin_ns=0,
        end_ns=last,
        lost=0,
        common_numbers=True,
        common_start=True,
        common_start_ns=5000 + rank.ahead,
        common_end_ns=5000 + rank.ahead + last,
    )


@pytest.fixture
def timeline_of(monkeypatch):
    """The time line of ranks."""

    def make(*ranks: Rank, level: int = 0) -> Timeline:
        logs = {f"rank-{n}": log_of(r, n, len(ranks), level) for n, r in enumerate(ranks)}
        monkeypatch.setattr(from_logs, "log_files", lambda run: [Path(n) for n in logs])
        monkeypatch.setattr(
            "imbrex.profile.timeline.timeline.log_files", lambda run: [Path(n) for n in logs]
        )
        monkeypatch.setattr(from_logs, "read_call_log", lambda file: logs[file.stem])
        run = Run(
            directory=Path("nowhere"),
            job=Job(operations=OPERATIONS),
            measures=np.empty(0, MEASURES_DTYPE),
            ranks=np.zeros(len(ranks), RANKS_DTYPE),
            sites=(Site(0), Site(1)),
        )
        found = load_whole_timeline(run)
        assert found is not None
        return found

    return make


def test_a_message_and_why_its_receive_took_so_long(timeline_of):
    """The receive is entered at 100, the send 300 later; rank 1 began 50 after rank 0."""
    a, b = Rank(), Rank(ahead=50)
    a.add(450, 470, "MPI_Send", SEND, 1000, 1, sequence=1)
    b.add(100, 500, "MPI_Recv", RECV, 1000, 0, sequence=1)
    found = timeline_of(a, b)
    assert found.messages.tolist() == [(0, 1)]
    send, receive = found.calls
    assert (send["enter_ns"], receive["enter_ns"], receive["exit_ns"]) == (450, 150, 550)
    assert (send["peer_enter_ns"], send["peer_exit_ns"]) == (150, 550)
    assert (receive["peer_enter_ns"], receive["match"], receive["peer"]) == (450, 1, 0)
    assert found.causes(1) == {
        "late_sender": (300e-9, 300e-9),
        "late_receiver": (0, 0),
        "late_collective": (0, 0),
        "transfer": (0, 100e-9),
        "stalled": (0, 100e-9),
        "library": (0, 0),
        "file_io": (0, 0),
        "unattributed": (0, 0),
    }


def test_ranks_that_died_know_the_offset_of_their_clocks():
    """Rank 1 began 50 after rank 0 and to log 40 later: that it logs late moves nothing."""
    times = np.array([0, 100])
    for died, began in ((Rank(), 5000), (Rank(ahead=50), 5050)):
        log = replace(log_of(died, 0, 2), origin_ns=40, end_ns=0, common_end_ns=0)
        assert log.common_ns(times).tolist() == [began, began + 100]
        never_compared = replace(log, common_start=False, common_start_ns=0)
        assert never_compared.common_ns(times).tolist() == [-40, 60]


def test_receives_of_a_stream_are_matched_in_the_order_of_posting(timeline_of):
    """Wildcards count when they complete: the second that was posted completed first."""
    a, b = Rank(), Rank()
    a.add(10, 20, "MPI_Send", SEND, 8, 1, sequence=1)
    a.add(30, 40, "MPI_Send", SEND, 8, 1, sequence=2)
    b.add(1, 2, "MPI_Irecv", RECV, 8, 0, sequence=2, end=3, flags=FIRST | WILDCARD)
    b.add(3, 4, "MPI_Irecv", RECV, 8, 0, sequence=1, end=2, flags=FIRST | WILDCARD)
    b.add(50, 60, "MPI_Wait", COMPLETION)
    b.add(70, 80, "MPI_Wait", COMPLETION)
    found = timeline_of(a, b)
    assert found.messages.tolist() == [(0, 2), (1, 3)]
    # with calls missing nobody knows which was first
    assert not len(timeline_of(a, b, level=1).messages)


def test_what_has_no_other_side(timeline_of):
    a, b = Rank(), Rank()
    a.add(10, 20, "MPI_Isend", SEND, 8, 1, sequence=1, end=-1)
    a.add(30, 40, "MPI_Recv", RECV, 8, 1, sequence=1, flags=FIRST | CANCELLED)
    b.add(10, 20, "MPI_Recv", RECV, 8, 0, sequence=1)
    b.add(30, 90, "MPI_Recv", RECV, 8, 0, sequence=2)
    calls = timeline_of(a, b).calls
    assert calls["match"].tolist() == [
        Match.END_UNKNOWN,
        Match.WITHDRAWN,
        Match.END_UNKNOWN,
        Match.NOT_LOGGED,
    ]
    assert calls["unattributed_min_ns"].tolist() == [0, 10, 10, 60]


def test_who_was_last_in_a_collective(timeline_of):
    ranks = [Rank(), Rank(), Rank()]
    for number, rank in enumerate(ranks):
        rank.add(100 * number, 250, "MPI_Alltoall", ALL, 8, sequence=1)
        # rank 1 is the root, and nobody needs more than it
        rank.add(300 + 100 * number, 600, "MPI_Bcast", FROM_ROOT, 8, 1, sequence=2)
    calls = timeline_of(*ranks).calls
    everybody = calls[calls["kind"] == ALL]
    assert everybody["peer"].tolist() == [2, 2, 2]
    assert everybody["late_collective_min_ns"].tolist() == [200, 100, 0]
    broadcast = calls[calls["kind"] == FROM_ROOT]
    assert broadcast["late_collective_min_ns"].tolist() == [100, 0, 0]
    assert broadcast["late_receiver_max_ns"].tolist() == [0, 100, 0]
    assert broadcast["peer"].tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("operation", "kind", "flags", "matched"),
    [
        ("MPI_Bcast", FROM_ROOT, 0, False),
        ("MPI_Bcast", FROM_ROOT, VARYING, True),
        ("MPI_Alltoall", ALL, 0, False),
        ("MPI_Alltoall", ALL, VARYING, True),
        ("MPI_Win_fence", EPOCH, 0, False),
        ("MPI_Win_fence", EPOCH, VARYING, True),
        ("MPI_Reduce", TO_ROOT, 0, True),
    ],
)
def test_who_need_not_wait_may_leave_a_collective_early(
    timeline_of, operation, kind, flags, matched
):
    """Rank 1 leaves before rank 0, the root, comes: at odds with the clocks only if it waits."""
    ranks = [Rank(), Rank()]
    for rank, enter, left in zip(ranks, (500, 0), (510, 10), strict=True):
        rank.add(enter, left, operation, kind, 8, 0, sequence=1, flags=FIRST | flags)
    calls = timeline_of(*ranks).calls
    early = calls[calls["rank"] == 1]
    assert (early["match"] == Match.MATCHED).tolist() == [matched]
    assert early["late_collective_min_ns"].tolist() == [0]


def test_a_fence_waits_for_the_last_rank(timeline_of):
    ranks = [Rank(), Rank()]
    for rank, enter in zip(ranks, (10, 40), strict=True):
        rank.add(enter, 45, "MPI_Win_fence", EPOCH, sequence=2)
    first, last = timeline_of(*ranks).calls
    assert (first["late_collective_min_ns"], first["late_collective_max_ns"]) == (30, 30)
    assert last["late_collective_max_ns"] == 0


def test_a_wait_has_the_causes_of_what_it_completes(timeline_of):
    """A synchronous send waits for its receiver until 80, a receive for its sender until 50."""
    a, b = Rank(), Rank()
    a.add(0, 1, "MPI_Isend", SYNC_SEND, 8, 1, sequence=1, end=2)
    a.add(2, 3, "MPI_Irecv", RECV, 8, 1, sequence=1, end=2)
    a.add(10, 100, "MPI_Waitall", COMPLETION)
    b.add(50, 51, "MPI_Isend", SEND, 8, 0, sequence=1, end=2)
    b.add(80, 81, "MPI_Irecv", RECV, 8, 0, sequence=1, end=2)
    b.add(90, 110, "MPI_Waitall", COMPLETION)
    found = timeline_of(a, b)
    wait = found.calls[2]
    assert (wait["late_sender_min_ns"], wait["late_receiver_min_ns"]) == (40, 30)
    assert (wait["transfer_max_ns"], wait["unattributed_max_ns"]) == (20, 0)
    assert found.calls["library_min_ns"][:2].tolist() == [1, 1]


def line(*calls: tuple[int, int, int, int]) -> Timeline:
    """A time line of (rank, site, enter, exit)."""
    table = np.zeros(len(calls), TIMELINE_DTYPE)
    for row, (rank, site, enter, exit_) in zip(table, calls, strict=True):
        row["rank"], row["site"], row["enter_ns"], row["exit_ns"] = rank, site, enter, exit_
        row["flags"], row["end_enter_ns"] = FIRST, UNKNOWN
    ends = table["exit_ns"].max() if len(table) else 0
    return Timeline(table, 0, int(ends), True, False)


def test_a_typical_iteration_is_neither_the_first_nor_the_long_one():
    calls = [(0, 1, 0, 900), *((0, 1, 1000 * k, 1000 * k + 100) for k in range(1, 9))]
    calls[4] = (0, 1, 4000, 4800)
    found = typical_iteration(line(*calls, (1, 1, 0, 10)), site=1)
    assert found is not None
    assert (found.rank, found.period_ns) == (0, 1000)
    assert found.row not in (0, 4)
    begin = calls[found.row][2]
    assert (found.begin_ns, found.end_ns) == (begin - 1000, begin + 1100)


def test_an_iteration_with_a_loop_in_it_is_not_the_loop():
    """Six calls of site 1, 10 apart, then one of site 2, every 1000; every fifth has two of those:
    what repeats is the whole, not the six."""
    calls = []
    for k in range(30):
        calls += [(0, 1, 1000 * k + 10 * n, 1000 * k + 10 * n + 5) for n in range(6)]
        calls += [(0, 2, 1000 * k + 500 + n, 1000 * k + 501 + n) for n in range(1 + (k % 15 == 7))]
    found = typical_iteration(line(*calls), site=1)
    assert found is not None
    assert found.period_ns == 1000


def test_the_site_with_most_time_is_taken_where_none_is_given():
    found = typical_iteration(line((0, 1, 0, 10), (1, 2, 5, 100)))
    assert found is not None
    assert (found.row, found.rank, found.period_ns) == (1, 1, 0)
    assert typical_iteration(line((0, 1, 0, 10)), site=7) is None
    assert typical_iteration(line()) is None


def test_a_part_of_a_time_line():
    whole = line((0, 1, 0, 10), (0, 1, 20, 30), (1, 1, 25, 40))
    assert whole.between(15, 22).calls["enter_ns"].tolist() == [20]
    assert whole.of_ranks([1]).calls["rank"].tolist() == [1]
