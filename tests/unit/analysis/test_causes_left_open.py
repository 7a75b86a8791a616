"""What has no cause for certain, and what clocks leave open, by hand."""

from __future__ import annotations

import pytest
from tests.unit.analysis.by_hand import PATH, told, two
from tests.unit.analysis.jobs import (
    ANY,
    COMPLETION,
    FIRST,
    OPEN,
    RECV,
    SEND,
    WILDCARD,
    Rank,
)

WILD = FIRST | WILDCARD


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
    assert told(rows.causes[0, 5, "MPI_File_open"]) == {"file_io": (700, 700)}


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
