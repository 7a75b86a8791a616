"""Causes of calls that find nothing, one behind the other, by hand."""

from __future__ import annotations

from tests.unit.analysis.by_hand import PATH, gain, told, two
from tests.unit.analysis.jobs import (
    COMPLETION,
    RECV,
    SEND,
    Rank,
)


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


BEGINS, ENDS = -101, -102
"""Tags of epochs towards a member of a group (log_view.h)."""


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


def test_of_sites_that_poll_in_turn_each_waits_for_its_own(driver):
    """Of the 4130 ns 2060 are in tests at site 2, and what is in no call of that site, 2070, may
    belong to any part. Those at site 3 have found nothing yet."""
    a, b = polling_receiver(5140, 5000)
    b.polls[len(b.ops) - 1] = 1020, 2050
    b.measured[:] = [
        (2, "MPI_Test", 0, 21, 2060 + 70, 10_000),
        (3, "MPI_Test", 0, 20, 2050, 10_000),
    ]
    rows = driver.analyze((a, b), PATH)
    assert told(rows.causes[1, 2, "MPI_Test"]) == {
        "late_sender": (3980 - 2070, 2060),
        "transfer": (0, 150),
        "stalled": (0, 50),
        "library": (70, 70),
    }
    assert told(rows.causes[1, 3, "MPI_Test"]) == {"library": (2050, 2050)}


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
