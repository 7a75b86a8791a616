"""All-to-alls that ranks enter apart: hand-worked, and moved in every way that is claimed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.unit.analysis.jobs import ALL, VARYING, AnalysisDriver, Rank

BOUNDS = ("overlap_min_ns", "overlap_max_ns", "exposed_min_ns", "exposed_max_ns")
many = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def table(x: int, early: int, ranks: int) -> list[str]:
    points = [f"point {size} {x} {x} -1 {early}" for size in (1, 100)]
    return [f"collective MPI_Alltoall {ranks} any intra-node", *points]


def found(driver: AnalysisDriver, ranks: list[Rank], lines: list[str]) -> list[tuple[int, ...]]:
    rows = driver.analyze(ranks, lines).evidence
    return [
        tuple(rows[r, 1, "MPI_Alltoall"][f"expected_{name}"] for name in BOUNDS)
        for r in range(len(ranks))
    ]


def apart(operation: str = "MPI_Alltoall") -> list[Rank]:
    """Rank 0 waits in it from 0 on, rank 1 comes at 5000, when 300 are left."""
    ranks = [Rank(), Rank()]
    for rank, enter in zip(ranks, (0, 5000), strict=True):
        rank.add(enter, 5300, operation, ALL, 100)
    return ranks


def test_what_waits_for_the_last_is_not_hidden_from_it(driver: AnalysisDriver) -> None:
    assert found(driver, apart(), table(200, 0, 2)) == [(0, 0, 200, 200), (0, 0, 200, 200)]


def test_what_comes_before_may_be_hidden(driver: AnalysisDriver) -> None:
    assert found(driver, apart(), table(200, 30, 2))[1] == (0, 30, 170, 200)


def test_without_a_measurement_all_may_have_moved_before(driver: AnalysisDriver) -> None:
    assert found(driver, apart(), table(200, -1, 2))[1] == (0, 200, 0, 200)


def test_what_is_left_of_it_when_a_rank_is_done_is_hidden_from_that(driver: AnalysisDriver) -> None:
    ranks = apart()
    ranks[1].ops[0].exit = 5250
    assert found(driver, ranks, table(200, 0, 2))[1] == (0, 50, 150, 200)


def test_a_nonblocking_one_may_move_in_another_way(driver: AnalysisDriver) -> None:
    ranks = apart("MPI_Ialltoall")
    for rank in ranks:
        rank.ops[0].end = rank.add(5400, 5500, "MPI_Wait", 7, site=2)
    rows = driver.analyze(ranks, table(200, 0, 2)).evidence
    assert rows[1, 1, "MPI_Ialltoall"]["expected_overlap_max_ns"] == 200


def test_one_that_is_faster_than_what_is_left_contradicts(driver: AnalysisDriver) -> None:
    rows = driver.analyze(apart(), table(400, 0, 2)).evidence
    row = rows[1, 1, "MPI_Alltoall"]
    assert row["contradicted"] == 1
    assert row["expected_overlap_max_ns"] == row["matched_overlap_max_ns"] == 400


def test_what_was_left_at_the_last_entry_is_transfer_for_both(driver: AnalysisDriver) -> None:
    """200 of the 300, less what moved before; also of blocks that differ."""
    for flags in (1, 1 | VARYING):
        ranks = apart()
        for rank in ranks:
            rank.ops[0].flags = flags
        rows = driver.analyze(ranks, table(200, 30, 2)).causes
        for r in range(2):
            assert rows[r, 1, "MPI_Alltoall"]["transfer_min_ns"] >= 170
    rows = driver.analyze(ranks, table(200, -1, 2)).causes
    assert rows[1, 1, "MPI_Alltoall"]["transfer_min_ns"] == 0


def moved(driver: AnalysisDriver, data: st.DataObject, claimed: int, true: int) -> list[str]:
    """Move the data of each rank for as long, in any ns behind its entry, and up to `true` of it
    before; what breaks bounds that assume `claimed`."""
    count, x = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 30))
    random = data.draw(st.randoms(use_true_random=False))
    enters = [data.draw(st.integers(0, 60)) for _ in range(count)]
    exits = [max(enters) + data.draw(st.integers(1, 40)) for _ in range(count)]
    exits[0] = max(exits[0], max(enters) + x)
    ranks = []
    for enter, leave in zip(enters, exits, strict=True):
        ranks.append(Rank())
        ranks[-1].add(enter, leave, "MPI_Alltoall", ALL, 100)
    broken = []
    bounds = found(driver, ranks, table(x, claimed, count))
    for enter, leave, four in zip(enters, exits, bounds, strict=True):
        early = data.draw(st.integers(0, min(true, x, enter - min(enters))))
        when = random.sample(range(min(enters), enter), early)
        when += random.sample(range(enter, max(exits)), x - early)
        exposed = sum(enter <= t < leave for t in when)
        for value, low, high in ((x - exposed, *four[:2]), (exposed, *four[2:])):
            if not low <= value <= high:
                broken.append(f"{value}, claimed {low} to {high}")
    return broken


@many
@given(data=st.data(), early=st.integers(0, 10))
def test_what_moves_behind_the_entry_is_within_the_bounds(
    driver: AnalysisDriver, data: st.DataObject, early: int
) -> None:
    assert not moved(driver, data, early, early)


def test_one_that_moves_before_the_entry_breaks_bounds(driver: AnalysisDriver) -> None:
    """The test above is able to fail."""

    @settings(many, max_examples=400, database=None, phases=[Phase.generate])
    @given(data=st.data())
    def all_within(data: st.DataObject) -> None:
        assert not moved(driver, data, 0, 10)

    with pytest.raises(AssertionError):
        all_within()


def overstated(driver: AnalysisDriver, data: st.DataObject, claimed: int, true: int) -> list[str]:
    """Two ranks, of whose data up to `true` moves before the last one's entry; what is said to move
    in their calls once both are there, and did not."""
    x, random = data.draw(st.integers(1, 30)), data.draw(st.randoms(use_true_random=False))
    enters = [data.draw(st.integers(0, 60)) for _ in range(2)]
    exits = [max(enters) + data.draw(st.integers(1, 40)) for _ in range(2)]
    exits[0] = max(exits[0], max(enters) + x)
    early = data.draw(st.integers(0, min(true, x, max(enters) - min(enters))))
    when = random.sample(range(min(enters), max(enters)), early)
    when += random.sample(range(max(enters), max(exits)), x - early)
    ranks = [Rank(), Rank()]
    for rank, enter, leave in zip(ranks, enters, exits, strict=True):
        rank.add(enter, leave, "MPI_Alltoall", ALL, 100, flags=1 | VARYING)
    rows = driver.analyze(ranks, table(x, claimed, 2)).causes
    wrong = []
    for r, leave in enumerate(exits):
        moved_in_it = sum(max(enters) <= t < leave for t in when)
        if rows[r, 1, "MPI_Alltoall"]["transfer_min_ns"] > moved_in_it:
            wrong.append(f"rank {r}: {rows} of {moved_in_it}")
    return wrong


@many
@given(data=st.data(), early=st.integers(0, 10))
def test_no_more_is_transfer_than_moves_in_the_call(
    driver: AnalysisDriver, data: st.DataObject, early: int
) -> None:
    assert not overstated(driver, data, early, early)


def test_one_that_moves_before_the_entry_is_less_transfer(driver: AnalysisDriver) -> None:
    """The test above is able to fail."""

    @settings(many, max_examples=400, database=None, phases=[Phase.generate])
    @given(data=st.data())
    def all_within(data: st.DataObject) -> None:
        assert not overstated(driver, data, 0, 10)

    with pytest.raises(AssertionError):
        all_within()
