"""Collectives whose blocks differ: who sends how much to whom, from the log to the replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from building import Builder
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from imbrex.profile.block_sizes import BlockSizes, block_sizes
from imbrex.profile.call_log import CALL_DTYPE, Flag, Kind
from imbrex.replay.arrays import Algorithm, ArraySchedule, Layout
from imbrex.replay.arrays import Kind as OpKind
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.collectives import Choice, Collectives
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.goal_writer import Lacking, goal_lines
from imbrex.replay.rounds import rounds
from imbrex.replay.run_log import Group, RunLog

OPERATIONS = ("MPI_Alltoallv", "MPI_Gatherv", "MPI_Start", "MPI_Alltoallv_init", "MPI_Allgatherv")
ROUTE = Route(latency_ns=1000, byte_ns=2, eager_bytes=1 << 20)
NETWORK = Network(ROUTE, ROUTE)
BY_HAND = [[7, 100, 200], [10, 7, 300], [50, 400, 7]]


def with_blocks(schedule: ArraySchedule, blocks: list[float], layout: Layout) -> ArraySchedule:
    """All meetings have these."""
    meetings = schedule.meetings.copy()
    meetings["layout"] = layout
    return replace(schedule, meetings=meetings, blocks=np.array(blocks, np.float64))


def alltoallv_by_hand() -> ArraySchedule:
    b = Builder(3)
    b.meet(Algorithm.PAIRWISE, 9999)
    return with_blocks(b.schedule(), np.ravel(BY_HAND).tolist(), Layout.PER_PAIR)


@pytest.mark.parametrize("spread", [False, True])
def test_an_alltoallv_of_three_by_hand(spread: bool) -> None:
    """Round 1, to the next: 100, 300 and 50 bytes arrive at 1200 (rank 1), 1600 (rank 2) and 1100
    (rank 0), who then send 10, 400 and 200 bytes on to the next but one: they arrive at
    1200 + 1000 + 20 (rank 0), 1600 + 1000 + 800 (rank 1) and 1100 + 1000 + 400 (rank 2)."""
    schedule = alltoallv_by_hand()
    replayed = Replayer(as_messages(schedule) if spread else schedule)
    ends = replayed.run(NETWORK, trace=True, shared=False)
    assert ends.end_ns.tolist() == pytest.approx([2220, 3400, 2500])
    assert ends.path is not None
    assert ends.path["bytes"].sum() == pytest.approx(300 + 400)
    assert ends.path["ns"].sum() == pytest.approx(3400)


def test_the_same_in_goal() -> None:
    text = "".join(goal_lines(alltoallv_by_hand(), str, Lacking(), lambda _: None))
    second = text.split("rank 1 {")[1].split("}")[0]
    sent = [line.split(": ")[1].split(" tag")[0] for line in second.splitlines() if "tag" in line]
    assert sent == ["send 300b to 2", "recv 100b from 0", "send 10b to 0", "recv 400b from 2"]


@pytest.mark.parametrize(
    "algorithm",
    [
        Algorithm.RING_ALLGATHER,
        Algorithm.DOUBLING_ALLGATHER,
        Algorithm.BINOMIAL_SCATTER,
        Algorithm.BINOMIAL_GATHER,
    ],
)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_blocks_of_members_arrive_where_they_belong(algorithm: Algorithm, ranks: int) -> None:
    """Sizes are powers of two, so that the bytes of a message say which blocks are in it."""
    own = tuple(float(1 << k) for k in range(ranks))
    everything, root = (1 << ranks) - 1, 1
    at_start = everything if algorithm == Algorithm.BINOMIAL_SCATTER else 0
    has = [1 << k | (at_start if k == root else 0) for k in range(ranks)]
    for messages in rounds(algorithm, ranks, root, 0.0, own):
        for sender, _, size in messages:
            assert int(size) & ~has[sender] == 0
        for _, receiver, size in messages:
            assert algorithm == Algorithm.BINOMIAL_SCATTER or int(size) & has[receiver] == 0
            has[receiver] |= int(size)
    if algorithm in (Algorithm.RING_ALLGATHER, Algorithm.DOUBLING_ALLGATHER):
        assert has == [everything] * ranks
    elif algorithm == Algorithm.BINOMIAL_GATHER:
        assert has[root] == everything
    b = Builder(ranks)
    b.meet(algorithm, 0, root)
    schedule = with_blocks(b.schedule(), list(own), Layout.PER_MEMBER)
    alone = Replayer(schedule).run(NETWORK).run_ns
    assert Replayer(as_messages(schedule)).run(NETWORK, shared=False).run_ns == alone > 1000


def told(*sizes: float, operation: int = 0) -> BlockSizes:
    return BlockSizes(operation, np.array(sizes, np.float64))


def from_log(
    operation: str,
    bytes_: list[int],
    blocks: dict[int, BlockSizes],
    kind: Kind = Kind.ALL,
    collectives: Collectives | None = None,
    persistent: bool = False,
) -> LogSchedule:
    """Everybody comes to one collective at once, at time 0, and leaves it at 5000."""
    count = len(bytes_)
    records = np.zeros(count, CALL_DTYPE)
    records["exit_ns"], records["bytes"], records["site"] = 5000, bytes_, 3
    records["operation"] = OPERATIONS.index(operation)
    records["kind"], records["comm"], records["sequence"] = kind, 1, 1
    records["flags"] = Flag.FIRST | (Flag.PERSISTENT if persistent else 0)
    ranks = np.arange(count)
    log = RunLog(
        records=records, rank=ranks, stream=ranks, call=ranks,
        end=np.full(count, -1) if persistent else ranks,
        peer=np.full(count, -1), stream_rank=ranks, start_ns=np.zeros(count, np.int64),
        origin_ns=np.zeros(count, np.int64), end_ns=np.full(count, 5000),
        groups={1: Group(tuple(range(count)), inter=False, window=False)},
        operations=OPERATIONS, nodes=ranks, wall_ns=5000,
        blocks={rank: {(1, 1, persistent): own} for rank, own in blocks.items()},
    )  # fmt: skip
    return schedule_from_log(log, collectives)


ROWS = {rank: told(*row, 0) for rank, row in enumerate(BY_HAND)}


def test_each_rank_tells_what_it_sends() -> None:
    made = from_log("MPI_Alltoallv", [600, 600, 600], ROWS)
    assert made.schedule.blocks_of(0) is not None
    assert made.schedule.blocks_of(0).tolist() == BY_HAND  # type: ignore[union-attr]
    assert not made.divided_equally
    ends = Replayer(made.schedule).run(NETWORK).end_ns.tolist()
    assert ends == pytest.approx([2220, 3400, 2500])


def test_a_rank_without_sizes_sends_equal_blocks() -> None:
    rows = {rank: ROWS[rank] for rank in (0, 2)}
    made = from_log("MPI_Alltoallv", [600, 33, 600], rows)
    expected = [BY_HAND[0], [11, 11, 11], BY_HAND[2]]
    assert made.schedule.blocks_of(0).tolist() == expected  # type: ignore[union-attr]
    assert not made.divided_equally


@pytest.mark.parametrize("own", [told(), told(1, 2, 3, 4, 5, 6, 7, 8)])
def test_sizes_that_are_not_told_are_equal_and_counted(own: BlockSizes) -> None:
    made = from_log("MPI_Alltoallv", [600, 33, 600], {**ROWS, 1: own})
    assert made.schedule.blocks_of(0)[1].tolist() == [11, 11, 11]  # type: ignore[index]
    assert made.divided_equally == {3: 1}
    made = from_log("MPI_Alltoallv", [600, 33, 600], dict.fromkeys(range(3), own))
    assert made.schedule.blocks_of(0) is None
    assert made.divided_equally == {3: 1}


def test_without_any_all_are_equal() -> None:
    made = from_log("MPI_Alltoallv", [600, 600, 600], {})
    assert made.schedule.blocks_of(0) is None
    assert not made.divided_equally


def test_the_root_tells_the_blocks_of_all() -> None:
    made = from_log("MPI_Gatherv", [0, 9, 9], {2: told(5, 6, 7, 0)}, Kind.TO_ROOT)
    assert made.schedule.blocks_of(0).tolist() == [5, 6, 7]  # type: ignore[union-attr]


def test_algorithms_that_cannot_have_sizes_of_their_own() -> None:
    chosen = Collectives({"MPI_Alltoallv": Choice(Algorithm.BRUCK, Algorithm.BRUCK)})
    made = from_log("MPI_Alltoallv", [600, 600, 600], ROWS, collectives=chosen)
    assert made.schedule.blocks_of(0) is None
    Replayer(made.schedule).run(NETWORK)


def test_a_persistent_one_is_what_its_init_says() -> None:
    init = OPERATIONS.index("MPI_Alltoallv_init")
    rows = {rank: told(*row, 0, operation=init) for rank, row in enumerate(BY_HAND)}
    made = from_log("MPI_Start", [600, 600, 600], rows, persistent=True)
    assert made.schedule.meetings["algorithm"].tolist() == [Algorithm.PAIRWISE]
    assert made.schedule.blocks_of(0).tolist() == BY_HAND  # type: ignore[union-attr]


def test_messages_of_as_many_bytes_as_the_blocks() -> None:
    schedule = as_messages(from_log("MPI_Alltoallv", [600, 600, 600], ROWS).schedule)
    sends = schedule.operations["kind"] == OpKind.SEND
    assert sorted(schedule.operations["bytes"][sends]) == [10, 50, 100, 200, 300, 400]


def records(*rows: tuple[int, int, int, list[int]], flags: int = 0) -> NDArray[np.void]:
    """Each of: communicator, sequence, unit, four sizes."""
    made = np.zeros(len(rows), CALL_DTYPE)
    for k, (comm, sequence, unit, sizes) in enumerate(rows):
        words = np.array(sizes, "<u4")
        made[k]["comm"], made[k]["sequence"], made[k]["path"] = comm, sequence, unit
        made[k]["bytes"] = words[:2].view("<i8")[0]
        made[k]["peer"], made[k]["tag"] = words[2:].view("<i4")
        made[k]["kind"], made[k]["id"], made[k]["flags"] = Kind.BLOCKS, 64 + k, flags
    return made


def test_sizes_of_several_records() -> None:
    large = 0xFFFFFFFF
    found = block_sizes(
        records((1, 1, 0, [1, 2, 3, large]), (2, 1, 1, [large, 0, large, 7]),
                (1, 1, 0, [5, 0, 0, 0]), (1, 2, 255, [0, 0, 0, 0]))
    )  # fmt: skip
    assert {key: own.bytes.tolist() for key, own in found.items()} == {
        (1, 1, False): [1, 2, 3, large, 5, 0, 0, 0],
        (2, 1, False): [2 * large, 0, 2 * large, 14],
        (1, 2, False): [],
    }
    assert found[1, 1, False].of_members(5) is not None
    assert found[1, 1, False].of_members(4) is None


@pytest.mark.parametrize("units", [(0, 1), (32, 32), (200, 200), (255, 0)])
def test_records_that_contradict_each_other_tell_nothing(units: tuple[int, int]) -> None:
    found = block_sizes(records(*((1, 1, unit, [1, 1, 1, 1]) for unit in units)))
    assert found[1, 1, False].bytes.tolist() == []


@given(st.binary(min_size=0, max_size=8 * CALL_DTYPE.itemsize))
def test_whatever_records_hold_sizes_are_sizes(noise: bytes) -> None:
    whole = len(noise) // CALL_DTYPE.itemsize * CALL_DTYPE.itemsize
    found = block_sizes(np.frombuffer(noise[:whole], CALL_DTYPE))
    for own in found.values():
        assert (own.bytes >= 0).all()
        rows = {rank: replace(own, operation=0) for rank in range(3)}
        Replayer(as_messages(from_log("MPI_Alltoallv", [9, 9, 9], rows).schedule)).run(NETWORK)
        made = from_log("MPI_Gatherv", [9, 9, 9], rows, Kind.TO_ROOT)
        Replayer(as_messages(made.schedule)).run(NETWORK)


def test_those_of_an_init_are_others() -> None:
    found = block_sizes(records((1, 1, 0, [1, 2, 3, 4]), flags=int(Flag.PERSISTENT)))
    assert list(found) == [(1, 1, True)]
