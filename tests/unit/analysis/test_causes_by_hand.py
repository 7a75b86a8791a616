"""Hand-worked causes: each case is small enough to be drawn. Times are ns; a message of 1,000 bytes
takes 100 to 200 ns."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.analysis.jobs import (
    ALL,
    ANY,
    BUFFERED_SEND,
    COMPLETION,
    EPOCH,
    FIRST,
    FROM_ROOT,
    OPEN,
    PROBE,
    PUT,
    RECV,
    SCAN,
    SEND,
    SYNC_SEND,
    TO_ROOT,
    VARYING,
    WILDCARD,
    Rank,
)

from imbrex.profile.call_log import Kind

PATH = ("path intra-node", "point 1 1 2 -1 -1", "point 1000 100 200 -1 -1")
WAITS_FOR_RECEIVE = (*PATH, "class 1 0 0 1000 0 1000 0 1000 0 1000")
BUFFERED = (*PATH, "class 1 1 0 1000 0 1000 0 1000 0 1000")
CAUSES = ("late_sender", "late_receiver", "late_collective", "transfer", "stalled", "library")
CAUSES = (*CAUSES, "unattributed")
WILD = FIRST | WILDCARD


def told(row: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The causes of a row that are not nothing."""
    parts = {name: (row[f"{name}_min_ns"], row[f"{name}_max_ns"]) for name in CAUSES}
    assert sum(low for low, _ in parts.values()) <= row["call_ns"]
    assert sum(high for _, high in parts.values()) >= row["call_ns"]
    return {name: part for name, part in parts.items() if part != (0, 0)}


def gain(row: dict[str, int], name: str = "gainable") -> tuple[int, int]:
    return row[f"{name}_min_ns"], row[f"{name}_max_ns"]


def two() -> tuple[Rank, Rank]:
    return Rank(), Rank()


def test_late_sender_then_transfer(driver):
    """The receive is entered at 1000, the send at 5000; the receive returns 150 ns after that: all
    of it was transfer, and at least 100 ns are certain."""
    a, b = two()
    a.add(5000, 5150, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 5150, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 1, "MPI_Recv"]) == {
        "late_sender": (4000, 4000),
        "transfer": (100, 150),
        "stalled": (0, 50),
    }
    assert gain(rows.causes[1, 1, "MPI_Recv"]) == (150, 150)
    assert rows.partners[1, 0] == {
        "messages": 1,
        "bytes": 1000,
        "late_min_ns": 4000,
        "late_max_ns": 4000,
    }


@pytest.mark.parametrize(
    ("sent", "moved"), [(5000, (180, 190)), (4980, (180, 200)), (5050, (100, 140))]
)
def test_a_late_message_takes_its_latencies_too(driver, sent, moved):
    """The shortest message took 180 ns from its send to its arrival; one that is faster still needs
    what its bytes take."""
    a, b = two()
    a.add(sent, 5190, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 5190, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], (*PATH[:2], "point 1000 100 200 -1 -1 180"))
    assert told(rows.causes[1, 1, "MPI_Recv"])["transfer"] == moved


@pytest.mark.parametrize(("size", "least"), [(500, 90), (1000, 180), (4000, 200)])
def test_the_shortest_time_between_and_beyond_the_sizes_that_were_measured(driver, size, least):
    """Between 2 and 180 ns in proportion; of more bytes no less, and there X_lo is more: 200 ns."""
    a, b = two()
    a.add(5000, 5600, "MPI_Send", SEND, size, 1)
    b.add(1000, 5600, "MPI_Recv", RECV, size, 0)
    table = (PATH[0], "point 1 0 2 -1 -1 2", "point 1000 50 200 -1 -1 180")
    assert told(driver.analyze([a, b], table).causes[1, 1, "MPI_Recv"])["transfer"][0] == least


def test_latencies_may_be_over_before_a_late_receive(driver):
    """Of 180 ns 150 may be over when the receive is entered."""
    a, b = two()
    a.add(1000, 1100, "MPI_Send", SEND, 1000, 1)
    b.add(1150, 1300, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], (*PATH[:2], "point 1000 100 200 -1 -1 180"))
    assert told(rows.causes[1, 1, "MPI_Recv"]) == {"transfer": (30, 150), "stalled": (0, 120)}


def test_stalled_beyond_the_slowest_transfer(driver):
    """Both are there at 1000, and it takes 5000: 200 at most were transfer."""
    a, b = two()
    a.add(1000, 6000, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 6000, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 1, "MPI_Recv"]) == {"transfer": (100, 200), "stalled": (4800, 4900)}
    assert gain(rows.causes[1, 1, "MPI_Recv"]) == (5000, 5000)


@pytest.mark.parametrize(
    ("table", "operation", "kind", "expected"),
    [
        (PATH, "MPI_Ssend", SYNC_SEND, {"late_receiver": (4000, 4000)}),
        (WAITS_FOR_RECEIVE, "MPI_Send", SEND, {"late_receiver": (4000, 4000)}),
        (BUFFERED, "MPI_Send", SEND, {"library": (4150, 4150)}),
        (PATH, "MPI_Bsend", BUFFERED_SEND, {"library": (4150, 4150)}),
    ],
)
def test_late_receiver_as_far_as_the_protocol_is_known(driver, table, operation, kind, expected):
    """What moved after the receive came may have moved before it: at most 150 ns were transfer."""
    a, b = two()
    a.add(1000, 5150, operation, kind, 1000, 1)
    b.add(5000, 5150, "MPI_Recv", RECV, 1000, 0)
    found = told(driver.analyze([a, b], table).causes[0, 1, operation])
    if "late_receiver" in expected:
        expected = {**expected, "transfer": (0, 150), "stalled": (0, 150)}
    assert found == expected


def test_an_unknown_protocol_leaves_a_late_receiver_open(driver):
    a, b = two()
    a.add(1000, 5150, "MPI_Send", SEND, 1000, 1)
    b.add(5000, 5150, "MPI_Recv", RECV, 1000, 0)
    assert told(driver.analyze([a, b], PATH).causes[0, 1, "MPI_Send"]) == {
        "late_receiver": (0, 4000),
        "transfer": (0, 200),
        "stalled": (0, 4150),
        "library": (0, 4150),
    }


@pytest.mark.parametrize("first", [SEND, RECV])
def test_half_of_a_send_and_receive_at_the_edge_has_no_partner(driver, first):
    """What is to nobody waits for nobody; the call waits for the other half."""
    a, b = two()
    proc_null = -2
    if first == SEND:
        a.add(1000, 5150, "MPI_Send", SEND, 1000, proc_null)
        a.add(1000, 5150, "MPI_Send", RECV, 1000, 1, end=0, flags=0)
    else:
        a.add(1000, 5150, "MPI_Send", RECV, 1000, 1)
        a.add(1000, 5150, "MPI_Send", SEND, 1000, proc_null, end=0, flags=0)
    b.add(5000, 5150, "MPI_Send", SEND, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[0, 1, "MPI_Send"]) == {
        "late_sender": (4000, 4000),
        "transfer": (100, 150),
        "stalled": (0, 50),
    }


def test_a_send_to_nobody_waits_for_nobody(driver):
    a, b = two()
    a.add(1000, 1100, "MPI_Send", SEND, 1000, -2)
    b.add(1000, 1100, "MPI_Recv", RECV, 1000, -2)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[0, 1, "MPI_Send"]) == {"library": (100, 100)}
    assert told(rows.causes[1, 1, "MPI_Recv"]) == {"library": (100, 100)}


def test_a_send_that_returned_before_its_receive_did_not_wait_for_it(driver):
    a, b = two()
    a.add(1000, 1300, "MPI_Send", SEND, 1000, 1)
    b.add(5000, 5150, "MPI_Recv", RECV, 1000, 0)
    assert told(driver.analyze([a, b], PATH).causes[0, 1, "MPI_Send"]) == {
        "transfer": (0, 200),
        "stalled": (0, 300),
        "library": (0, 300),
    }


@pytest.mark.parametrize(
    ("received", "exit", "posted", "expected"),
    [
        # The receiver is two messages behind: but for the copy of at most 200 ns all is waiting.
        (9000, 5000, 9500, {"late_receiver": (3800, 4000), "library": (0, 200)}),
        # It posts the receive at 3000, and the send goes on for 2000: that is MPI's own time.
        (2900, 5000, 3000, {"late_receiver": (1800, 2000), "library": (2000, 2200)}),
        # The message before was received by then: there is room, whatever took so long.
        (900, 5000, 9500, {"library": (4000, 4000)}),
        # A copy may take as long as this.
        (9000, 1200, 9500, {"library": (200, 200)}),
    ],
)
def test_a_buffered_send_waits_for_room_where_the_receiver_lags(
    driver, received, exit, posted, expected
):
    a, b = two()
    a.add(500, 600, "MPI_Send", SEND, 1000, 1)
    a.add(1000, exit, "MPI_Send", SEND, 1000, 1, site=2)
    b.add(700, received, "MPI_Recv", RECV, 1000, 0)
    b.add(posted, posted + 50, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], BUFFERED)
    assert told(rows.causes[0, 2, "MPI_Send"]) == expected
    late = expected.get("late_receiver", (0, 0))
    partner = rows.partners[0, 1]
    assert (partner["late_min_ns"], partner["late_max_ns"]) == late
    assert gain(rows.causes[0, 2, "MPI_Send"]) == (0, 0)


def test_waitany_of_a_buffered_send_may_have_waited_for_another(driver):
    a, b = two()
    a.add(500, 600, "MPI_Send", SEND, 1000, 1)
    a.add(700, 710, "MPI_Isend", SEND, 1000, 1, end=2)
    a.add(1000, 5000, "MPI_Waitany", COMPLETION, site=2)
    b.add(700, 9000, "MPI_Recv", RECV, 1000, 0)
    b.add(9500, 9600, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], BUFFERED)
    assert told(rows.causes[0, 2, "MPI_Waitany"]) == {"library": (4000, 4000)}


def test_waitall_waits_for_the_last_of_its_senders(driver):
    """Three ranks: the receives of rank 0 complete together; rank 2 comes at 7000."""
    a, b, c = Rank(), Rank(), Rank()
    a.add(100, 110, "MPI_Irecv", RECV, 1000, 1, site=1, end=2)
    a.add(110, 120, "MPI_Irecv", RECV, 1000, 2, site=2, end=2)
    a.add(2000, 7300, "MPI_Waitall", COMPLETION, site=3)
    b.add(3000, 3100, "MPI_Send", SEND, 1000, 0)
    c.add(7000, 7100, "MPI_Send", SEND, 1000, 0)
    rows = driver.analyze([a, b, c], PATH)
    row = rows.causes[0, 3, "MPI_Waitall"]
    assert told(row) == {"late_sender": (5000, 5000), "transfer": (100, 300), "stalled": (0, 200)}
    assert gain(row) == (300, 300)
    # From when the later of the two was there, no computation was left that could have hidden it;
    # of the other rank 1 came at 3000, in the wait as well.
    assert gain(row, "lost_overlap") == (0, 0)
    late = rows.waits[0, 3, "MPI_Waitall", 2, "MPI_Irecv"]
    early = rows.waits[0, 3, "MPI_Waitall", 1, "MPI_Irecv"]
    assert (late["late_min_ns"], late["late_max_ns"]) == (5000, 5000)
    assert (early["late_min_ns"], early["late_max_ns"]) == (0, 0)
    assert (late["moving_min_ns"], late["moving_max_ns"]) == (0, 300)
    assert rows.partners[0, 2]["late_min_ns"] == 5000
    assert rows.partners[0, 1]["late_max_ns"] == 0
    assert rows.causes[0, 1, "MPI_Irecv"]["library_min_ns"] == 10


def test_waitany_waits_for_the_one_that_it_returns(driver):
    a, b, c = Rank(), Rank(), Rank()
    a.add(100, 110, "MPI_Irecv", RECV, 1000, 1, site=1, end=2)
    a.add(110, 120, "MPI_Irecv", RECV, 1000, 2, site=2, end=3)
    a.add(2000, 3100, "MPI_Waitany", COMPLETION, site=3)
    a.add(3100, 7200, "MPI_Waitany", COMPLETION, site=4)
    b.add(3000, 3100, "MPI_Send", SEND, 1000, 0)
    c.add(7000, 7100, "MPI_Send", SEND, 1000, 0)
    rows = driver.analyze([a, b, c], PATH)
    assert rows.causes[0, 3, "MPI_Waitany"]["late_sender_min_ns"] == 1000
    assert rows.causes[0, 4, "MPI_Waitany"]["late_sender_max_ns"] == 3900


def test_lost_overlap_is_compute_time_with_everybody_there(driver):
    """Both posted by 200, the receiver computes until 10200, then waits for 500."""
    a, b = two()
    a.add(100, 150, "MPI_Isend", SEND, 1000, 1, end=1)
    a.add(10200, 10700, "MPI_Wait", COMPLETION, site=2)
    b.add(150, 200, "MPI_Irecv", RECV, 1000, 0, end=1)
    b.add(10200, 10700, "MPI_Wait", COMPLETION, site=2)
    row = driver.analyze([a, b], PATH).causes[1, 2, "MPI_Wait"]
    assert told(row) == {"transfer": (0, 200), "stalled": (300, 500)}
    assert gain(row) == (500, 500)
    assert gain(row, "lost_overlap") == (500, 500)


def test_lost_overlap_is_no_more_than_there_was_of_computation(driver):
    a, b = two()
    a.add(100, 150, "MPI_Isend", SEND, 1000, 1, end=1)
    a.add(300, 5000, "MPI_Wait", COMPLETION, site=2)
    b.add(150, 200, "MPI_Irecv", RECV, 1000, 0, end=1)
    b.add(260, 5000, "MPI_Wait", COMPLETION, site=2)
    row = driver.analyze([a, b], PATH).causes[1, 2, "MPI_Wait"]
    assert gain(row, "lost_overlap") == (60, 60)


def test_a_fence_waits_for_the_last_rank(driver):
    """The second fence of a window, in which nothing was put: all of the wait is for rank 1."""
    a, b = two()
    a.add(1000, 4100, "MPI_Win_fence", EPOCH, sequence=2)
    b.add(4000, 4100, "MPI_Win_fence", EPOCH, sequence=2)
    rows = driver.analyze([a, b])
    assert told(rows.causes[0, 1, "MPI_Win_fence"]) == {
        "late_collective": (3000, 3000),
        "library": (100, 100),
    }
    assert told(rows.causes[1, 1, "MPI_Win_fence"]) == {"library": (100, 100)}
    assert rows.partners[0, 1]["late_min_ns"] == 3000


def test_what_was_put_may_move_once_all_have_entered_the_fence(driver):
    a, b = two()
    a.add(500, 600, "MPI_Put", PUT, 1000, 1, end=1)
    a.add(1000, 4300, "MPI_Win_fence", EPOCH, sequence=2)
    b.add(4000, 4300, "MPI_Win_fence", EPOCH, sequence=2)
    row = driver.analyze([a, b], PATH).causes[0, 1, "MPI_Win_fence"]
    assert told(row) == {"late_collective": (3000, 3000), "unattributed": (300, 300)}
    assert gain(row) == (0, 300)


def test_a_fence_that_ends_no_epoch_need_not_wait(driver):
    """It returned behind the last entry, perhaps by chance: how much of it was waiting is open."""
    a, b = two()
    a.add(1000, 4100, "MPI_Win_fence", EPOCH, sequence=1, flags=FIRST | VARYING)
    b.add(4000, 4100, "MPI_Win_fence", EPOCH, sequence=1, flags=FIRST | VARYING)
    row = driver.analyze([a, b]).causes[0, 1, "MPI_Win_fence"]
    assert told(row) == {"late_collective": (0, 3000), "library": (100, 3100)}


def test_epochs_that_are_no_fence_stay_unattributed(driver):
    a, b = two()
    a.add(1000, 4100, "MPI_Win_fence", EPOCH)
    b.add(4000, 4100, "MPI_Win_fence", EPOCH)
    row = driver.analyze([a, b]).causes[0, 1, "MPI_Win_fence"]
    assert told(row) == {"unattributed": (3100, 3100)}


def test_a_barrier_waits_for_the_last_rank(driver):
    ranks = [Rank(), Rank(), Rank()]
    for rank, enter in zip(ranks, (1000, 4000, 2500), strict=True):
        rank.add(enter, 4100, "MPI_Barrier", ALL)
    rows = driver.analyze(ranks)
    assert told(rows.causes[0, 1, "MPI_Barrier"]) == {
        "late_collective": (3000, 3000),
        "library": (100, 100),
    }
    assert told(rows.causes[1, 1, "MPI_Barrier"]) == {"library": (100, 100)}
    assert rows.partners[0, 1]["late_min_ns"] == 3000
    assert rows.partners[2, 1]["late_max_ns"] == 1500


ALLTOALL = ("collective MPI_Alltoall 3 any intra-node", "point 1000 100 200 -1 -1")


@pytest.mark.parametrize(("flags", "least"), [(1, 3000), (1 | VARYING, 0)])
def test_all_to_all_waits_for_all_unless_blocks_may_be_empty(driver, flags, least):
    ranks = [Rank(), Rank(), Rank()]
    name = "MPI_Alltoallv" if flags & VARYING else "MPI_Alltoall"
    for rank, enter in zip(ranks, (1000, 4000, 2500), strict=True):
        rank.add(enter, 4300, name, ALL, 1000, flags=flags)
    found = told(driver.analyze(ranks, ALLTOALL).causes[0, 1, name])
    assert found["late_collective"] == (least, 3000)
    if least:
        assert found["transfer"] == (50, 200)
        assert found["stalled"] == (100, 250)


@pytest.mark.parametrize(("leaves", "least"), [(4300, 50), (4270, 20), (4200, 0)])
def test_the_last_to_enter_an_all_to_all_sends_a_block_to_each(driver, leaves, least):
    """Of 100 ns half a block's is certain; what it sends may move after it has left."""
    ranks = [Rank(), Rank(), Rank()]
    for rank, enter, leave in zip(ranks, (1000, 4000, 2500), (4300, leaves, 4290), strict=True):
        rank.add(enter, leave, "MPI_Alltoall", ALL, 1000)
    causes = driver.analyze(ranks, ALLTOALL).causes
    assert told(causes[1, 1, "MPI_Alltoall"])["transfer"] == (least, 200)
    assert told(causes[0, 1, "MPI_Alltoall"])["transfer"] == (50, 200)
    assert told(causes[2, 1, "MPI_Alltoall"])["transfer"] == (50, 200)


def rooted(name: str, kind: int, enters: tuple[int, ...], exits: tuple[int, ...]) -> list[Rank]:
    """Rank 0 is the root."""
    ranks = [Rank() for _ in enters]
    for rank, enter, leave in zip(ranks, enters, exits, strict=True):
        rank.add(enter, leave, name, kind, 1000, 0)
    return ranks


def test_a_broadcast_waits_for_its_root(driver):
    """The root comes at 3000; rank 2 is later still, and rank 1 may get its data through it."""
    ranks = rooted("MPI_Bcast", FROM_ROOT, (3000, 1000, 5000), (3100, 5100, 5200))
    rows = driver.analyze(ranks)
    found = told(rows.causes[1, 1, "MPI_Bcast"])
    assert found["late_collective"] == (2000, 4000)
    assert told(rows.causes[0, 1, "MPI_Bcast"])["late_receiver"] == (0, 100)
    assert rows.partners[1, 0]["late_min_ns"] == 2000


def test_a_reduction_to_a_root_waits_for_the_last_contributor(driver):
    ranks = rooted("MPI_Reduce", TO_ROOT, (1000, 2000, 6000), (6200, 2100, 6100))
    rows = driver.analyze(ranks)
    assert told(rows.causes[0, 1, "MPI_Reduce"])["late_collective"] == (5000, 5000)
    assert told(rows.causes[1, 1, "MPI_Reduce"])["late_receiver"] == (0, 100)
    assert rows.partners[0, 2]["late_min_ns"] == 5000


def test_a_scan_needs_ranks_that_the_log_does_not_name(driver):
    ranks = [Rank(), Rank()]
    ranks[0].add(1000, 1100, "MPI_Scan", SCAN, 1000)
    ranks[1].add(500, 1200, "MPI_Scan", SCAN, 1000)
    found = told(driver.analyze(ranks).causes[1, 1, "MPI_Scan"])
    assert found["late_collective"] == (0, 500)


def test_a_nonblocking_collective_is_late_in_its_wait(driver):
    ranks = [Rank(), Rank()]
    for rank, enter, wait in zip(ranks, (1000, 4000), (2000, 4100), strict=True):
        rank.add(enter, enter + 10, "MPI_Ialltoall", ALL, 1000, end=1)
        rank.add(wait, 4400, "MPI_Wait", COMPLETION, site=2)
    table = (ALLTOALL[0].replace(" 3 ", " 2 "), ALLTOALL[1])
    rows = driver.analyze(ranks, table)
    assert told(rows.causes[0, 2, "MPI_Wait"]) == {
        "late_collective": (2000, 2000),
        "transfer": (100, 200),
        "stalled": (200, 300),
    }
    # Rank 0 was in MPI when all were there; rank 1 computed 90 ns after that.
    assert gain(rows.causes[0, 2, "MPI_Wait"], "lost_overlap") == (0, 0)
    assert gain(rows.causes[1, 2, "MPI_Wait"], "lost_overlap") == (90, 90)


def test_what_is_not_matched_is_not_attributed(driver):
    a, b = two()
    b.add(1000, 5150, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 1, "MPI_Recv"]) == {"unattributed": (4150, 4150)}
    assert rows.states[1] == {"not logged": 1}


def test_one_unmatched_message_leaves_only_what_is_certain(driver):
    a, b, c = Rank(), Rank(), Rank()
    a.add(100, 110, "MPI_Irecv", RECV, 1000, 1, end=2)
    a.add(110, 120, "MPI_Irecv", RECV, 1000, 2, end=2)
    a.add(2000, 7300, "MPI_Waitall", COMPLETION, site=3)
    b.add(3000, 3100, "MPI_Send", SEND, 1000, 0)
    assert told(driver.analyze([a, b, c], PATH).causes[0, 3, "MPI_Waitall"]) == {
        "late_sender": (1000, 1000),
        "unattributed": (4300, 4300),
    }


def test_calls_that_wait_for_nobody_are_the_librarys(driver):
    """A test that completes does not wait; of what is not logged the operation decides."""
    a, b = two()
    a.add(1000, 1100, "MPI_Isend", SEND, 1000, 1, end=1)
    a.add(9000, 9050, "MPI_Test", COMPLETION, site=2)
    a.measured = [(2, "MPI_Test", 0, 4, 200, 10**9), (5, "MPI_File_open", 0, 1, 700, 10**9)]
    b.add(8000, 8100, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    row = rows.causes[0, 2, "MPI_Test"]
    assert (row["count"], row["logged"], row["call_ns"]) == (4, 1, 200)
    assert told(row) == {"library": (200, 200)}
    assert told(rows.causes[0, 5, "MPI_File_open"]) == {"unattributed": (700, 700)}


def test_a_probe_waits_for_the_message_that_the_receive_gets(driver):
    a, b = two()
    a.add(5000, 5100, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 5200, "MPI_Probe", PROBE, 1000, 0)
    b.add(5300, 5400, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 1, "MPI_Probe"]) == {
        "late_sender": (4000, 4000),
        "library": (200, 200),
    }


def test_no_row_gains_more_than_the_rank_computed(driver):
    a, b = two()
    a.add(1000, 6000, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 6000, "MPI_Recv", RECV, 1000, 0)
    b.measured = [(1, "MPI_Recv", 0, 1, 5000, 1200)]
    assert gain(driver.analyze([a, b], PATH).causes[1, 1, "MPI_Recv"]) == (1200, 1200)


@pytest.mark.parametrize("ahead", [0, 10**9, -(10**9)])
def test_clock_errors_widen_what_is_said_of_others(driver, ahead):
    a, b = Rank(error=5), Rank(ahead=ahead, error=7)
    a.add(5000, 5150, "MPI_Send", SEND, 1000, 1)
    b.add(1000 + ahead, 5150 + ahead, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 1, "MPI_Recv"]) == {
        "late_sender": (3988, 4012),
        "transfer": (64, 162),
        "stalled": (0, 98),
    }


def test_a_message_that_came_before_it_left_is_not_believed(driver):
    a, b = two()
    a.add(5000, 5150, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 4000, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert rows.states[1] == {"clocks": 1}
    assert told(rows.causes[1, 1, "MPI_Recv"]) == {"unattributed": (3000, 3000)}


def test_causes_add_up_when_two_kinds_are_late(driver):
    """A Waitall that needs a late sender (until 3000) and a late receiver (until 5000)."""
    a, b = two()
    a.add(100, 110, "MPI_Irecv", RECV, 1000, 1, end=2)
    a.add(110, 120, "MPI_Isend", SYNC_SEND, 1000, 1, end=2)
    a.add(1000, 5400, "MPI_Waitall", COMPLETION, site=3)
    b.add(3000, 3100, "MPI_Send", SEND, 1000, 0)
    b.add(5000, 5300, "MPI_Recv", RECV, 1000, 0)
    found: dict[str, Any] = told(driver.analyze([a, b], PATH).causes[0, 3, "MPI_Waitall"])
    assert found["late_sender"] == (2000, 2000)
    assert found["late_receiver"] == (2000, 2000)
    assert found["transfer"][1] == 400


def test_undriven_is_the_time_in_which_the_partner_computes(driver):
    """Rank 0 starts at 100 and computes from 150 to 8000, but for a test of 50 ns; rank 1 waits
    from 1000 to 8500. So rank 0 was away for 7000 ns of that, less at most 50."""
    a, b = two()
    a.add(100, 150, "MPI_Isend", SEND, 1000, 1, end=2)
    a.add(3000, 3050, "MPI_Test", COMPLETION, site=3)
    a.add(8000, 8500, "MPI_Wait", COMPLETION, site=2)
    b.add(1000, 8500, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert gain(rows.causes[1, 1, "MPI_Recv"], "undriven") == (6950, 7000)
    assert gain(rows.causes[0, 2, "MPI_Wait"], "undriven") == (0, 0)


def test_a_partner_that_is_inside_a_call_drives(driver):
    a, b = two()
    a.add(100, 5000, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 5000, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert gain(rows.causes[1, 1, "MPI_Recv"], "undriven") == (0, 0)


def test_a_partner_that_was_late_is_away_only_from_when_it_had_begun(driver):
    a, b = two()
    a.add(4000, 4100, "MPI_Isend", SEND, 1000, 1, end=1)
    a.add(6000, 6500, "MPI_Wait", COMPLETION, site=2)
    b.add(1000, 6500, "MPI_Recv", RECV, 1000, 0)
    row = driver.analyze([a, b], PATH).causes[1, 1, "MPI_Recv"]
    assert told(row)["late_sender"] == (3000, 3000)
    assert gain(row, "undriven") == (1900, 1900)


def test_an_open_wildcard_leaves_the_receives_behind_it_open(driver):
    """The process ended before it saw its Irecv of any source complete, which was posted between
    two receives: the first one got message 1; the other one's may be number 2 or 3. Behind a
    wildcard of another tag nothing is open."""
    for tag, state in ((0, "ambiguous"), (5, "matched")):
        a, b = two()
        a.add(1000, 1100, "MPI_Send", SEND, 1000, 1)
        a.add(2000, 2100, "MPI_Send", SEND, 1000, 1)
        a.add(3000, 3100, "MPI_Send", SEND, 1000, 1)
        b.add(900, 1150, "MPI_Recv", RECV, 1000, 0)
        b.add(1200, 1210, "MPI_Irecv", RECV, 1000, ANY, tag=tag, flags=WILD, end=OPEN)
        b.add(1300, 3200, "MPI_Recv", RECV, 1000, 0)
        rows = driver.analyze([a, b], PATH)
        states = rows.states[1]
        assert states.get("end unknown") == 1
        assert states["matched"] == (2 if state == "matched" else 1)
        assert states.get("ambiguous", 0) == (1 if state == "ambiguous" else 0)


def polling_receiver(entered: int, sent: int) -> tuple[Rank, Rank]:
    """Rank 1 receives 1,000 bytes that rank 0 sends; it tests for them from 1020 to 5150, 20 ns of
    that between its calls."""
    a, b = two()
    a.add(sent, sent + 150, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 1010, "MPI_Irecv", RECV, 1000, 0, end=1)
    found = b.add(entered, 5150, "MPI_Test", COMPLETION, site=2)
    b.unlogged[found] = entered - 1020 - 20
    b.polls[found] = 1020, entered - 1020 - 20
    b.measured.append((2, "MPI_Test", 0, 42, 5150 - 1020 - 20 + 70, 10_000))
    return a, b


def test_tests_that_find_nothing_wait_for_what_the_last_one_finds(driver):
    """From 1020 to 5000 the sender was late, then the message moved: 4130 ns, of which 20 were in
    no call, whatever part they belong to. Further tests, of 70 ns, found nothing and wait for
    nothing."""
    rows = driver.analyze(polling_receiver(5140, 5000), PATH)
    row = rows.causes[1, 2, "MPI_Test"]
    assert told(row) == {
        "late_sender": (3960, 3980),
        "transfer": (80, 150),
        "stalled": (0, 50),
        "library": (70, 70),
    }
    assert row["call_ns"] == 4110 + 70
    assert row["logged"] == 1
    assert row["count"] == 42
    assert gain(row) == (130, 150)
    assert rows.partners[1, 0]["late_min_ns"] == 3960
    late = rows.waits[1, 2, "MPI_Test", 1, "MPI_Irecv"]
    assert (late["late_min_ns"], late["late_max_ns"]) == (3960, 3980)


def test_a_test_that_finds_something_as_it_is_called_waits_for_nothing(driver):
    a, b = polling_receiver(5140, 900)
    b.polls.clear()
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 2, "MPI_Test"]) == {"library": (4180, 4180)}


def test_polls_for_what_no_rank_is_known_to_have_sent_have_no_cause(driver):
    a, b = polling_receiver(5140, 5000)
    a.ops.clear()
    rows = driver.analyze([a, b], PATH)
    parts = {"library": (70, 70), "unattributed": (4110, 4110)}
    assert told(rows.causes[1, 2, "MPI_Test"]) == parts


BEGINS, ENDS = -101, -102
"""Tags of epochs towards a member of a group (log_view.h)."""


def epoch(rank: Rank, enter: int, leave: int, kind: Kind, tag: int, peer: int, site: int) -> None:
    """A post, start, complete or wait of a group of one, the first of each."""
    rank.add(enter, leave, "MPI_Win_fence", EPOCH, site=site)
    member = {"peer": peer, "tag": tag, "sequence": 1, "site": site, "flags": 0}
    rank.add(enter, leave, "MPI_Win_fence", kind, **member)


def test_a_wait_of_a_group_needs_the_complete_and_a_start_the_post(driver):
    """The target posts at 60000, for which the start waits from 10000 on, but for 20 us that a
    start may be busy by itself; the wait from 60100 on is over behind the complete, at 150000, and
    what comes then may be data that still moves. The complete finds the post there."""
    origin, target = two()
    epoch(origin, 10_000, 60_500, Kind.ACCESS, BEGINS, 1, 1)
    epoch(origin, 150_000, 151_000, Kind.ACCESS, ENDS, 1, 2)
    epoch(target, 60_000, 60_010, Kind.EXPOSURE, BEGINS, 0, 3)
    epoch(target, 60_100, 152_000, Kind.EXPOSURE, ENDS, 0, 4)
    rows = driver.analyze([origin, target], PATH)
    assert told(rows.causes[0, 1, "MPI_Win_fence"]) == {
        "late_receiver": (30_000, 50_000),
        "library": (500, 20_500),
    }
    assert told(rows.causes[0, 2, "MPI_Win_fence"]) == {"library": (1000, 1000)}
    assert told(rows.causes[1, 3, "MPI_Win_fence"]) == {"library": (10, 10)}
    assert told(rows.causes[1, 4, "MPI_Win_fence"]) == {
        "late_sender": (89_900, 89_900),
        "unattributed": (2000, 2000),
    }
    assert rows.partners[0, 1]["late_min_ns"] == 30_000
    assert rows.partners[1, 0]["late_max_ns"] == 89_900
    assert rows.states == {0: {}, 1: {}}


def test_a_complete_may_wait_for_the_post_where_its_start_did_not(driver):
    """The start is over before the post at 60000; the complete lasts from 20000 to 60500."""
    origin, target = two()
    epoch(origin, 10_000, 10_100, Kind.ACCESS, BEGINS, 1, 1)
    epoch(origin, 20_000, 60_500, Kind.ACCESS, ENDS, 1, 2)
    epoch(target, 60_000, 60_010, Kind.EXPOSURE, BEGINS, 0, 3)
    epoch(target, 60_100, 60_600, Kind.EXPOSURE, ENDS, 0, 4)
    rows = driver.analyze([origin, target], PATH)
    assert told(rows.causes[0, 1, "MPI_Win_fence"]) == {"library": (100, 100)}
    late = rows.causes[0, 2, "MPI_Win_fence"]
    assert told(late) == {"late_receiver": (0, 40_000), "library": (500, 40_500)}
