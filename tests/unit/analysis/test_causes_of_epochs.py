"""Causes of the epochs of a window, by hand."""

from __future__ import annotations

from tests.unit.analysis.by_hand import PATH, gain, told, two
from tests.unit.analysis.jobs import (
    EPOCH,
    FIRST,
    PUT,
    VARYING,
    Rank,
)

from imbrex.profile.call_log import Kind

BEGINS, ENDS = -101, -102
"""Tags of epochs towards a member of a group (log_view.h)."""


def epoch(rank: Rank, enter: int, leave: int, kind: Kind, tag: int, peer: int, site: int) -> None:
    """A post, start, complete or wait of a group of one, the first of each."""
    rank.add(enter, leave, "MPI_Win_fence", EPOCH, site=site)
    member = {"peer": peer, "tag": tag, "sequence": 1, "site": site, "flags": 0}
    rank.add(enter, leave, "MPI_Win_fence", kind, **member)


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


def test_tests_of_an_exposure_wait_for_the_complete(driver):
    """From 60100 on the target tests for the complete that is entered at 150000, and finds it at
    150500; 100 ns of that were between its calls."""
    origin, target = two()
    epoch(origin, 50_000, 60_500, Kind.ACCESS, BEGINS, 1, 1)
    epoch(origin, 150_000, 150_400, Kind.ACCESS, ENDS, 1, 2)
    epoch(target, 60_000, 60_010, Kind.EXPOSURE, BEGINS, 0, 3)
    found = target.add(150_450, 150_500, "MPI_Test", EPOCH, site=4)
    ends = {"peer": 0, "tag": ENDS, "sequence": 1, "site": 4, "flags": 0}
    target.add(150_450, 150_500, "MPI_Test", Kind.EXPOSURE, **ends)
    target.polls[found] = 60_100, 150_450 - 60_100 - 100
    target.unlogged[found] = 150_450 - 60_100 - 100
    rows = driver.analyze([origin, target], PATH)
    assert told(rows.causes[1, 4, "MPI_Test"]) == {
        "late_sender": (89_800, 89_900),
        "unattributed": (400, 500),
    }
