"""Causes of calls that wait for partitioned messages, by hand."""

from __future__ import annotations

import pytest
from tests.unit.analysis.by_hand import PATH, told, two
from tests.unit.analysis.jobs import COMPLETION, Rank

from imbrex.profile.call_log import Kind

NEXT_INIT = 1 << 20
"""What the second request of a peer and tag adds to the numbers of its starts (call_log.h)."""


def send(
    rank: Rank, start: int, ready: tuple[int, ...], wait: tuple[int, int], number: int = 1
) -> None:
    """A start, two partitions of 500 bytes that become ready, and a wait."""
    same = {"peer": 1, "sequence": number}
    first = len(rank.ops)
    end = first + 1 + len(ready)
    rank.add(start, start + 10, "MPI_Start", Kind.PARTS_SEND, 1000, end=end, site=1, **same)
    for moment in ready:
        rank.add(moment, moment + 10, "MPI_Pready", Kind.PART_READY, 500, site=2, **same)
    rank.add(*wait, "MPI_Wait", COMPLETION, site=3)


def receive(rank: Rank, start: int, wait: tuple[int, int], number: int = 1, site: int = 3) -> None:
    first = len(rank.ops)
    same = {"peer": 0, "sequence": number}
    rank.add(start, start + 10, "MPI_Start", Kind.PARTS_RECV, 1000, end=first + 1, **same)
    rank.add(*wait, "MPI_Wait", COMPLETION, site=site)


def test_a_receive_needs_the_last_partition(driver):
    """The second of two partitions is ready at 5000, and the receive complete at 5200. How long
    partitions take is not known of the whole."""
    a, b = two()
    send(a, 500, (2000, 5000), (5010, 5300))
    receive(b, 1000, (1010, 5200))
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 3, "MPI_Wait"]) == {
        "late_sender": (3990, 3990),
        "transfer": (0, 200),
        "stalled": (0, 200),
    }
    assert rows.partners[1, 0]["late_min_ns"] == 3990
    assert rows.waits[1, 3, "MPI_Wait", 1, "MPI_Start"]["late_min_ns"] == 3990
    assert told(rows.causes[0, 2, "MPI_Pready"]) == {"library": (20, 20)}
    assert rows.states == {0: {"matched": 2}, 1: {"matched": 1}}


def test_a_partition_that_is_polled_for_needs_the_first_that_is_ready(driver):
    """Partitions are ready at 2000 and 5000, and one is there at 5200; 20 ns are between the polls,
    which began at 1020. Which Pready it was does not follow."""
    a, b = two()
    send(a, 500, (2000, 5000), (5010, 5300))
    same = {"peer": 0, "sequence": 1}
    b.add(1000, 1010, "MPI_Start", Kind.PARTS_RECV, 1000, end=2, **same)
    b.add(5190, 5200, "MPI_Parrived", Kind.PART_ARRIVED, 500, site=4, **same)
    b.add(5210, 5220, "MPI_Wait", COMPLETION, site=3)
    b.unlogged[1], b.polls[1] = 4150, (1020, 4150)
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 4, "MPI_Parrived"]) == {
        "late_sender": (980 - 20, 3980),
        "transfer": (0, 3200),
        "stalled": (0, 3200),
    }
    assert told(rows.causes[1, 3, "MPI_Wait"])["transfer"] == (0, 10)
    assert rows.states == {0: {"matched": 2}, 1: {"matched": 1}}


def test_a_send_may_wait_for_its_receive(driver):
    """All is ready at 2000; the receive starts at 4000, and the send is complete at 4300."""
    a, b = two()
    send(a, 500, (1000, 2000), (2010, 4300))
    receive(b, 4000, (4010, 4400))
    assert told(driver.analyze([a, b], PATH).causes[0, 3, "MPI_Wait"]) == {
        "late_receiver": (0, 1990),
        "transfer": (0, 2290),
        "stalled": (0, 2290),
        "library": (0, 2290),
    }


def test_a_send_that_was_complete_before_its_receive_did_not_wait_for_it(driver):
    a, b = two()
    send(a, 500, (1000, 2000), (2010, 2300))
    receive(b, 4000, (4010, 4400))
    assert "late_receiver" not in told(driver.analyze([a, b], PATH).causes[0, 3, "MPI_Wait"])


def test_a_send_that_another_thread_makes_ready_has_no_cause_for_its_wait(driver):
    """It waits from 1000 on for a partition that its own process has at 3000."""
    a, b = two()
    same = {"peer": 1, "sequence": 1}
    a.add(500, 510, "MPI_Start", Kind.PARTS_SEND, 1000, end=1, **same)
    a.add(1000, 3300, "MPI_Wait", COMPLETION, site=3)
    a.add(700, 710, "MPI_Pready", Kind.PART_READY, 500, site=2, thread=1, **same)
    a.add(3000, 3010, "MPI_Pready", Kind.PART_READY, 500, site=2, thread=1, **same)
    receive(b, 600, (610, 3200))
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[0, 3, "MPI_Wait"]) == {"unattributed": (2300, 2300)}
    assert told(rows.causes[1, 3, "MPI_Wait"])["late_sender"] == (2390, 2390)


def test_where_not_all_partitions_were_seen_nothing_is_known(driver):
    a, b = two()
    send(a, 500, (2000,), (5010, 5300))
    receive(b, 1000, (1010, 5200))
    rows = driver.analyze([a, b], PATH)
    assert told(rows.causes[1, 3, "MPI_Wait"]) == {"unattributed": (4190, 4190)}
    assert rows.states[1] == {"not logged": 1}


@pytest.mark.parametrize("first", [1, 2])
def test_two_requests_of_one_peer_and_tag_are_told_apart(driver, first):
    """The second one's partitions are ready long after the first one's, whichever the receiver
    starts first."""
    a, b = two()
    send(a, 500, (1000, 2000), (2010, 2300))
    send(a, 7000, (7500, 9000), (9010, 9300), NEXT_INIT + 1)
    numbers = (1, NEXT_INIT + 1) if first == 1 else (NEXT_INIT + 1, 1)
    waits = ((300, 2200), (2300, 9200)) if first == 1 else ((300, 9200), (9300, 9400))
    for site, number, wait in zip((4, 5), numbers, waits, strict=True):
        receive(b, wait[0] - 100, wait, number, site)
    causes = driver.analyze([a, b], PATH).causes
    late = [told(causes[1, site, "MPI_Wait"]).get("late_sender", (0, 0)) for site in (4, 5)]
    assert late == ([(1700, 1700), (6700, 6700)] if first == 1 else [(8700, 8700), (0, 0)])
