"""Messages that wait for a handshake: hand-worked, and moved in every way that a handshake allows.
Times are ns; a message takes 1000 to 1200."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.unit.analysis.jobs import COMPLETION, RECV, SEND, AnalysisDriver, Rank

PROC_NULL = -2
POINTS = ("path intra-node", "point 1 1000 1200 -1 -1", "point 100 1000 1200 -1 -1")


def table(needs: int, before: int = 0, latency: int = 25) -> list[str]:
    return [*POINTS, f"handshake 1 {needs} {before} {latency}"]


def overlapped() -> list[Rank]:
    """Both begin at once and compute; rank 0, the sender, waits from 5000 on, rank 1 from 3000."""
    ranks = [Rank(), Rank()]
    for rank, enter, name, kind, peer in ((0, 20, "Isend", SEND, 1), (1, 10, "Irecv", RECV, 0)):
        ranks[rank].add(enter, enter + 20, f"MPI_{name}", kind, 100, peer)
    for rank, enter in ((0, 5000), (1, 3000)):
        ranks[rank].ops[0].end = ranks[rank].add(enter, 6100, "MPI_Waitall", COMPLETION, site=2)
    return ranks


def expected(driver: AnalysisDriver, ranks: list[Rank], lines: list[str]) -> list[tuple[int, ...]]:
    """Hidden and exposed of the sender, then of the receiver."""
    rows = driver.analyze(ranks, lines).evidence
    found = []
    for rank, name in ((0, "MPI_Isend"), (1, "MPI_Irecv")):
        row = rows[rank, 1, name]
        names = [f"{part}_{end}_ns" for part in ("overlap", "exposed") for end in ("min", "max")]
        found.append(tuple(row[f"expected_{n}"] for n in names))
        # What a weaker evidence says is never left.
        for low, high in (names[:2], names[2:]):
            assert row[f"matched_{low}"] <= row[f"expected_{low}"]
            assert row[f"expected_{high}"] <= row[f"matched_{high}"]
    return found


ALL_EXPOSED = (0, 0, 1000, 1100)


def test_nothing_moves_while_both_compute(driver: AnalysisDriver) -> None:
    """The receiver answers in its Waitall from 3000 on, the sender acts on that from 5000 on."""
    found = expected(driver, overlapped(), table(3))
    assert found == [ALL_EXPOSED, ALL_EXPOSED]


def test_the_receiver_alone_moves_it(driver: AnalysisDriver) -> None:
    """From 3000 on, while the sender computes for 2000 and waits for 1100."""
    sender, receiver = expected(driver, overlapped(), table(2))
    assert sender == (0, 1200, 0, 1100)
    assert receiver == (0, 0, 1000, 1200)


def test_the_sender_alone_moves_it(driver: AnalysisDriver) -> None:
    """From 5000 on, when both are inside."""
    found = expected(driver, overlapped(), table(1))
    assert found == [ALL_EXPOSED, ALL_EXPOSED]


def test_nothing_is_known_without_a_handshake(driver: AnalysisDriver) -> None:
    for lines in (table(0), list(POINTS)):
        assert all(bounds[:2] == (0, 1200) for bounds in expected(driver, overlapped(), lines))


def test_what_comes_with_the_announcement_may_be_hidden(driver: AnalysisDriver) -> None:
    found = expected(driver, overlapped(), table(3, before=130))
    assert found == [(0, 130, 870, 1120), (0, 130, 870, 1200)]


@pytest.mark.parametrize(
    ("operation", "kind", "peer", "drives"),
    [
        ("MPI_Isend", SEND, PROC_NULL, False),
        ("MPI_Irecv", RECV, PROC_NULL, False),
        ("MPI_Test", COMPLETION, -1, True),
        ("MPI_Send", SEND, PROC_NULL, True),
    ],
)
def test_calls_in_between_drive_it_unless_they_only_start_something(
    driver: AnalysisDriver, operation: str, kind: int, peer: int, drives: bool
) -> None:
    ranks = overlapped()
    for rank in ranks:
        last = rank.ops.pop()
        rank.add(2000, 2001, operation, kind, 8, peer, site=3)
        rank.ops.append(last)
        rank.ops[0].end = 2
    found = expected(driver, ranks, table(3))
    assert all((bounds[1] == 1200) == drives for bounds in found)


def test_calls_that_are_not_logged_may_drive_it(driver: AnalysisDriver) -> None:
    ranks = overlapped()
    ranks[0].unlogged[1] = 1
    # The receiver answers at 3000; the sender may see that at once.
    assert [bounds[1] for bounds in expected(driver, ranks, table(3))] == [1200, 0]
    ranks[1].unlogged[1] = 1
    assert [bounds[1] for bounds in expected(driver, ranks, table(3))] == [1200, 1200]


def test_another_thread_may_drive_it(driver: AnalysisDriver) -> None:
    ranks = overlapped()
    for rank in ranks:
        rank.add(100, 200, "MPI_Barrier", COMPLETION, site=9, thread=1)
    assert [bounds[1] for bounds in expected(driver, ranks, table(3))] == [1200, 1200]


def test_a_thread_whose_calls_are_not_logged_may_drive_it(driver: AnalysisDriver) -> None:
    ranks = overlapped()
    ranks[0].silent = 5
    assert [bounds[1] for bounds in expected(driver, ranks, table(3))] == [1200, 0]


def test_a_receive_that_is_posted_behind_the_announcement_answers_it(
    driver: AnalysisDriver,
) -> None:
    """Its own start is a call in which the announcement can be there: the answer is on its way."""
    ranks = overlapped()
    ranks[1].ops[0].enter, ranks[1].ops[0].exit = 100, 120
    sender, receiver = expected(driver, ranks, table(2))
    assert (sender[1], receiver[1]) == (1200, 1200)
    # But 85 ns after it began the announcement cannot be there when that start is over.
    sender, receiver = expected(driver, ranks, table(2, latency=101))
    assert (sender[1], receiver[1]) == (1200, 0)


def test_a_message_that_did_not_wait_contradicts(driver: AnalysisDriver) -> None:
    """It was over 100 ns after the sender came back, which no message is."""
    ranks = overlapped()
    for rank in ranks:
        rank.ops[1].exit = 5100
    rows = driver.analyze(ranks, table(3)).evidence
    for row in rows.values():
        assert row["contradicted"] == 1
        assert row["expected_overlap_max_ns"] == row["matched_overlap_max_ns"] == 1200


def test_clocks_that_may_differ_leave_room(driver: AnalysisDriver) -> None:
    ranks = overlapped()
    ranks[1].error = 30
    assert [bounds[1] for bounds in expected(driver, ranks, table(3, 0, 200))] == [120, 60]


many = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
LIKE = {"MPI_Test": COMPLETION, "MPI_Isend": SEND}


def schedule(data: st.DataObject, name: str, kind: int, peer: int, late: int) -> Rank:
    """A start, computation with calls in it, and a wait."""
    gaps = st.integers(1, 30)
    rank = Rank()
    rank.add(late, late + data.draw(gaps), name, kind, 100, peer, sequence=1)
    for operation in data.draw(st.lists(st.sampled_from(sorted(LIKE)), max_size=3)):
        begin = rank.ops[-1].exit + data.draw(gaps)
        rank.add(begin, begin + data.draw(gaps), operation, LIKE[operation], 8, PROC_NULL, site=5)
    begin = rank.ops[-1].exit + data.draw(gaps)
    rank.ops[0].end = rank.add(begin, begin + data.draw(gaps), "MPI_Wait", COMPLETION, site=6)
    return rank


def drive_times(rank: Rank) -> list[int]:
    """When a side can act on what came: in its own start, in tests, in its wait and later."""
    own = [op for i, op in enumerate(rank.ops) if i == 0 or op.operation != "MPI_Isend"]
    times = [t for op in own for t in range(op.enter, op.exit)]
    return [*times, *range(rank.ops[-1].exit, rank.ops[-1].exit + 200)]


def moved(driver: AnalysisDriver, data: st.DataObject, claimed: int, true: int) -> list[str]:
    """Move one message as a handshake of `true` allows; what breaks bounds that assume `claimed`.

    It moves from when the handshake is complete, in any of the ns that follow, and its first part
    in any before.
    """
    latency, before = data.draw(st.integers(0, 12)), data.draw(st.integers(0, 8))
    starts = [data.draw(st.integers(0, 40)) for _ in range(2)]
    ranks = [
        schedule(data, "MPI_Isend", SEND, 1, starts[0]),
        schedule(data, "MPI_Irecv", RECV, 0, starts[1]),
    ]
    moment = starts[0]
    for side, bit in ((1, 2), (0, 1)):
        if true & bit:
            reached = max(moment + latency, starts[side])
            moment = min(t for t in drive_times(ranks[side]) if t >= reached)
    size = data.draw(st.integers(1, 40))
    last = ranks[1].ops[-1]
    last.exit = max(last.exit, moment + size, starts[0] + 1)
    first = data.draw(st.integers(0, min(before, size, moment - starts[0])))
    random = data.draw(st.randoms(use_true_random=False))
    early = random.sample(range(starts[0], moment), first)
    later = random.sample(range(moment, last.exit), size - first)
    lines = [
        "path intra-node",
        *(f"point {bytes_} {size} {size} -1 -1" for bytes_ in (1, 200)),
        f"handshake 1 {claimed} {before} {latency}",
    ]
    rows = driver.analyze(ranks, lines).evidence
    broken = []
    for rank, name in ((0, "MPI_Isend"), (1, "MPI_Irecv")):
        row = rows[rank, 1, name]
        calls = ranks[rank].ops
        exposed = sum(any(c.enter <= t < c.exit for c in calls) for t in (*early, *later))
        for part, value in (("overlap", size - exposed), ("exposed", exposed)):
            low, high = (row[f"expected_{part}_{end}_ns"] for end in ("min", "max"))
            if not low <= value <= high:
                broken.append(f"{name} {part} {value}, claimed {low} to {high}: {ranks}")
    return broken


@many
@given(data=st.data(), needs=st.integers(0, 3))
def test_what_a_handshake_allows_is_within_the_bounds(
    driver: AnalysisDriver, data: st.DataObject, needs: int
) -> None:
    assert not moved(driver, data, needs, needs)


@pytest.mark.parametrize("needs", [1, 2, 3])
def test_a_handshake_that_is_none_breaks_bounds(driver: AnalysisDriver, needs: int) -> None:
    """The test above is able to fail."""

    @settings(many, max_examples=400, database=None, phases=[Phase.generate])
    @given(data=st.data())
    def all_within(data: st.DataObject) -> None:
        assert not moved(driver, data, needs, 0)

    with pytest.raises(AssertionError):
        all_within()
