"""Causes of calls that send and receive, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.analysis.by_hand import BUFFERED, PATH, WAITS_FOR_RECEIVE, gain, told, two
from tests.unit.analysis.jobs import (
    BUFFERED_SEND,
    COMPLETION,
    PROBE,
    RECV,
    SEND,
    SYNC_SEND,
    Rank,
)


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


def test_latencies_count_only_of_calls_that_wait_for_the_one_message(driver):
    """MPI_Waitany looks at requests in turn: the shortest message took 180 ns when a call waited
    for it, but this one may have been there before it was looked at, after what its bytes take."""
    table = (*PATH[:2], "point 1000 100 200 -1 -1 180")
    least = {}
    for operation in ("MPI_Wait", "MPI_Waitany"):
        a, b = two()
        a.add(5000, 5150, "MPI_Send", SEND, 1000, 1)
        b.add(1000, 1010, "MPI_Irecv", RECV, 1000, 0, end=1)
        b.add(1010, 5190, operation, COMPLETION, site=2)
        row = driver.analyze([a, b], table).causes[1, 2, operation]
        least[operation] = row["transfer_min_ns"]
    assert least == {"MPI_Wait": 180, "MPI_Waitany": 100}
