"""The whole run in few stretches, hand-worked. Times are ns."""

from __future__ import annotations

from tests.unit.analysis.jobs import COMPLETION, RECV, SEND, Rank, script

from imbrex.profile.timeline.overview import OVERVIEW_DTYPE

PATH = ("path intra-node", "point 1 1 2 -1 -1", "point 1000 100 200 -1 -1")
NAMES = ("rank", *(OVERVIEW_DTYPE.names or ())[2:])


def overview(driver, ranks, stretches):
    lines = script(ranks, PATH)
    lines.insert(-1, f"excerpt {stretches}")
    rows = [line.split()[1:] for line in driver.run(lines) if line.startswith("overview")]
    return [dict(zip(NAMES, map(int, row), strict=True)) for row in rows]


def test_a_wait_is_divided_into_the_stretches_that_it_lies_in(driver):
    """Rank 1 waits from 120 to 600; its message is sent at 443, and 157 are transfer or stalled."""
    a, b = Rank(), Rank()
    a.add(443, 463, "MPI_Send", SEND, 1000, 1)
    b.add(100, 110, "MPI_Irecv", RECV, 1000, 0, site=3, end=1)
    b.add(120, 600, "MPI_Wait", COMPLETION, site=4)
    rows = [row for row in overview(driver, (a, b), 4) if row["rank"] == 1]
    assert [row["begin_ns"] for row in rows] == [0, 150, 300, 450]
    assert {row["length_ns"] for row in rows} == {row["logged_ns"] for row in rows} == {150}
    assert [row["call_ns"] for row in rows] == [10 + 30, 150, 150, 150]
    assert [row["late_sender_ns"] for row in rows] == [30, 150, 143, 0]
    rest = [row["call_ns"] - row["late_sender_ns"] - row["library_ns"] for row in rows]
    assert rest[1:] == [0, 7, 150]


def test_polls_in_turn_with_others_have_their_share_of_each_stretch(driver):
    """Half of the time from 120 to 600 is in tests of this site. The sender came at 443: of these
    323 ns at least 83 were in the tests."""
    a, b = Rank(), Rank()
    a.add(443, 463, "MPI_Send", SEND, 1000, 1)
    b.add(100, 110, "MPI_Irecv", RECV, 1000, 0, site=3, end=1)
    b.add(590, 600, "MPI_Test", COMPLETION, site=4)
    b.unlogged[1] = 470
    b.polls[1] = 120, 230
    rows = [row for row in overview(driver, (a, b), 4) if row["rank"] == 1]
    assert [row["call_ns"] for row in rows] == [10 + 15, 75, 75, 75]
    assert [row["late_sender_ns"] for row in rows] == [15, 68, 0, 0]


def test_the_stretches_hold_all_calls(driver):
    a, b = Rank(), Rank()
    for step in range(50):
        a.add(step * 1000 + 400, step * 1000 + 410, "MPI_Send", SEND, 1000, 1)
        b.add(step * 1000, step * 1000 + 550, "MPI_Recv", RECV, 1000, 0, site=2)
    for stretches in (1, 7, 1000):
        rows = overview(driver, (a, b), stretches)
        for rank, length in ((0, 10), (1, 550)):
            mine = [row for row in rows if row["rank"] == rank]
            assert len(mine) <= stretches
            assert sum(row["call_ns"] for row in mine) == 50 * length
        assert sum(row["late_sender_ns"] for row in rows) == 50 * 400
