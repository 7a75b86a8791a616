"""Causes of collectives, by hand."""

from __future__ import annotations

import pytest
from tests.unit.analysis.by_hand import PATH, gain, told
from tests.unit.analysis.jobs import (
    ALL,
    COMPLETION,
    FROM_ROOT,
    HERE,
    NOTHING,
    SCAN,
    TO_ROOT,
    VARYING,
    Rank,
)

ALLTOALL = ("collective MPI_Alltoall 3 any intra-node", "point 1000 100 200 -1 -1")


def rooted(name: str, kind: int, enters: tuple[int, ...], exits: tuple[int, ...]) -> list[Rank]:
    """Rank 0 is the root."""
    ranks = [Rank() for _ in enters]
    for rank, enter, leave in zip(ranks, enters, exits, strict=True):
        rank.add(enter, leave, name, kind, 1000, 0)
    return ranks


BEGINS, ENDS = -101, -102
"""Tags of epochs towards a member of a group (log_view.h)."""


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


GROUPS = {2: (0, 1, "|", 2, 3)}
"""A communicator between two groups."""
ALLTOALL_OF_FOUR = ("collective MPI_Alltoall 4 any intra-node", "point 1000 100 200 -1 -1")


def between_groups(operation: str, kind: int, peers: tuple[int, ...], size: int) -> list[Rank]:
    """Entered at 1000, 4000, 2000 and 3000 by ranks 0 to 3, left by all at 5000."""
    ranks = [Rank() for _ in range(4)]
    for rank, enter, peer in zip(ranks, (1000, 4000, 2000, 3000), peers, strict=True):
        rank.add(enter, 5000, operation, kind, size, peer, comm=2)
    return ranks


def test_between_groups_a_rank_needs_those_of_the_other_one(driver):
    """Ranks 0 and 1 need 2 and 3, the last of which enters at 3000; these need 1, which enters at
    4000. That rank 0 also waits for rank 1, of its own group, is possible. No calibration is one of
    groups, so that nothing says how long the data needs."""
    ranks = between_groups("MPI_Alltoall", ALL, (-1,) * 4, 1000)
    rows = driver.analyze(ranks, ALLTOALL_OF_FOUR, GROUPS)
    parts = [told(rows.causes[r, 1, "MPI_Alltoall"]) for r in range(4)]
    assert parts[0] == {
        "late_collective": (2000, 3000),
        "transfer": (0, 2000),
        "stalled": (0, 2000),
    }
    assert parts[1] == {"transfer": (0, 1000), "stalled": (0, 1000)}
    assert [part["late_collective"] for part in parts[2:]] == [(2000, 2000), (1000, 1000)]
    assert [next(p for r, p in rows.partners if r == rank) for rank in (0, 2, 3)] == [3, 1, 1]
    assert all(states == {"matched": 1} for states in rows.states.values())


def test_a_broadcast_between_groups_waits_for_its_root(driver):
    """Rank 1 is the root (MPI_ROOT) and enters at 4000; ranks 2 and 3 name it, and rank 0 takes no
    part (MPI_PROC_NULL)."""
    ranks = between_groups("MPI_Bcast", FROM_ROOT, (NOTHING, HERE, 1, 1), 1000)
    rows = driver.analyze(ranks, PATH, GROUPS)
    assert told(rows.causes[0, 1, "MPI_Bcast"]) == {"library": (4000, 4000)}
    assert "late_receiver" not in told(rows.causes[1, 1, "MPI_Bcast"])
    assert told(rows.causes[2, 1, "MPI_Bcast"])["late_collective"][0] == 2000
    assert told(rows.causes[3, 1, "MPI_Bcast"])["late_collective"][0] == 1000
    assert rows.partners[2, 1]["late_min_ns"] == 2000


def test_a_reduction_between_groups_waits_for_the_last_of_the_other_one(driver):
    """Rank 2 is the root, and needs rank 1."""
    ranks = between_groups("MPI_Reduce", TO_ROOT, (0, 0, HERE, NOTHING), 1000)
    rows = driver.analyze(ranks, PATH, GROUPS)
    assert told(rows.causes[2, 1, "MPI_Reduce"])["late_collective"] == (2000, 2000)
    assert "late_collective" not in told(rows.causes[0, 1, "MPI_Reduce"])


def test_a_wait_between_groups_lost_overlap_since_those_that_it_needs_were_there(driver):
    """Rank 0 computes from 1010 to 4500; the other group is there from 3000 on, and its own from
    4000 on."""
    ranks = between_groups("MPI_Alltoall", ALL, (-1,) * 4, 1000)
    ranks[0] = Rank()
    ranks[0].add(1000, 1010, "MPI_Ialltoall", ALL, 1000, comm=2, end=1)
    ranks[0].add(4500, 9000, "MPI_Wait", COMPLETION, site=2)
    row = driver.analyze(ranks, ALLTOALL_OF_FOUR, GROUPS).causes[0, 2, "MPI_Wait"]
    assert gain(row, "lost_overlap") == (500, 1500)
