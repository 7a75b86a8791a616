"""The calls around a typical iteration, hand-worked. Times are ns."""

from __future__ import annotations

import pytest
from tests.unit.analysis.jobs import COMPLETION, OPERATIONS, RECV, SEND, Rank, script

from imbrex.profile.timeline.format import TIMELINE_DTYPE

PATH = ("path intra-node", "point 1 1 2 -1 -1", "point 1000 100 200 -1 -1")
NAMES = ("rank", "site", "operation", "peer", "match")
NAMES = (*NAMES, *(TIMELINE_DTYPE.names or ())[14:])


def excerpts(driver, ranks, room):
    """By rank (stake, middle, reach), and the rows as dictionaries."""
    lines = script(ranks, PATH)
    lines.insert(-1, f"excerpt {room}")
    proposals, rows = [], []
    for line in driver.run(lines):
        kind, *words = line.split()
        if kind == "proposal":
            proposals.append(tuple(map(int, words[1:])))
        elif kind == "timeline":
            rows.append(dict(zip(NAMES, map(int, words), strict=True)))
    return proposals, rows


def iterations(periods):
    """Rank 1 receives once an iteration, for 400 of it before the send and 150 after."""
    a, b = Rank(), Rank()
    now = 0
    for period in periods:
        a.add(now + 400, now + 410, "MPI_Send", SEND, 1000, 1)
        b.add(now, now + 550, "MPI_Recv", RECV, 1000, 0, site=2)
        now += period
    return a, b


def test_the_middle_is_a_call_like_the_others(driver):
    """Of periods 1000, 1000, 5000, 1000, ... it is none next to the long one; the stake is all of
    the calls."""
    ranks = iterations([1000, 1000, 5000, 1000, 1000, 1000, 9000, 1000, 1000])
    proposals, rows = excerpts(driver, ranks, 1000)
    stake, middle, reach = proposals[1]
    assert (stake, reach) == (9 * 550, -1)
    begins = [row["enter_ns"] for row in rows if row["rank"] == 1]
    assert len(begins) == 9
    begin = middle - 275
    assert begins[begins.index(begin) + 1] - begin == 1000


@pytest.mark.parametrize("room", [1, 2, 5])
def test_no_more_rows_than_there_is_room_for(driver, room):
    _, rows = excerpts(driver, iterations([1000] * 20), room)
    mine = [row["enter_ns"] for row in rows if row["rank"] == 1]
    assert room - 1 <= len(mine) <= room
    assert mine == list(range(mine[0], mine[0] + 1000 * len(mine), 1000))
    assert 5000 <= mine[0] <= 12000


def test_a_row_has_its_other_side_and_its_parts(driver):
    a, b = Rank(ahead=7), Rank()
    a.add(450, 470, "MPI_Send", SEND, 1000, 1)
    b.add(100, 110, "MPI_Irecv", RECV, 1000, 0, site=3, end=1)
    b.add(120, 600, "MPI_Wait", COMPLETION, site=4)
    _, rows = excerpts(driver, (a, b), 10)
    send, receive, wait = rows
    assert OPERATIONS[receive["operation"]] == "MPI_Irecv"
    assert (send["rank"], send["peer"], send["match"]) == (0, 1, 1)
    assert (send["peer_enter_ns"], send["peer_exit_ns"]) == (107, 607)
    assert (receive["end_enter_ns"], receive["end_exit_ns"]) == (120, 600)
    assert (receive["peer_enter_ns"], receive["peer"]) == (443, 0)
    assert (receive["x_lo_ns"], receive["x_hi_ns"]) == (100, 200)
    # all of it came after the receiver had begun to wait
    assert receive["hidden_max_ns"] == 0
    assert (wait["late_sender_min_ns"], wait["transfer_max_ns"]) == (443 - 120, 157)
    assert (wait["peer"], wait["end_exit_ns"], receive["late_sender_min_ns"]) == (-1, 600, 0)


def test_a_rank_that_made_no_call(driver):
    a, b = Rank(), Rank()
    a.add(0, 10, "MPI_Test", COMPLETION)
    proposals, rows = excerpts(driver, (a, b), 10)
    assert proposals[1][0] == -1
    assert [row["rank"] for row in rows] == [0]
