"""Partitioned messages: from the log to times that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from imbrex.profile.call_log import CALL_DTYPE, Kind
from imbrex.replay.arrays import Kind as OpKind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.run_log import NOWHERE, Group, RunLog

OPERATIONS = ("MPI_Start", "MPI_Pready", "MPI_Parrived", "MPI_Wait")
ROUTE = Route(latency_ns=1000, byte_ns=1, eager_bytes=4000)
END = 20_000
OF_PARTS = (Kind.PART_READY, Kind.PART_ARRIVED)

Row = tuple[str, Kind, int, int, int, int]
"""Operation, kind, enter, exit, bytes, and which start of the request it is about."""


def made_of(
    sender: list[Row],
    receiver: list[Row],
    polled_ns: int = 0,
    shift: tuple[int, int] = (0, 0),
    parts: tuple[list[int], list[int]] = ([], []),
) -> LogSchedule:
    """Two ranks that end at END; starts are complete in the call of MPI_Wait with their number.
    MPI_Parrived follows looks that found nothing and took `polled_ns` together. `parts`: what the
    log has above the path of the records of partitions of both ranks."""
    rows = [(0, row) for row in sender] + [(1, row) for row in receiver]
    records = np.zeros(len(rows), CALL_DTYPE)
    end = np.full(len(rows), NOWHERE, np.int64)
    for k, (rank, (name, kind, enter, leave, size, number)) in enumerate(rows):
        records[k]["enter_ns"], records[k]["exit_ns"] = enter, leave
        records[k]["operation"], records[k]["kind"] = OPERATIONS.index(name), kind
        records[k]["comm"], records[k]["peer"], records[k]["bytes"] = 1, 1 - rank, size
        records[k]["sequence"] = number if kind != Kind.COMPLETION else 0
        waited = [j for j, (r, row) in enumerate(rows) if r == rank and row[0] == "MPI_Wait"]
        ends = [j for j in waited if rows[j][1][5] == number]
        end[k] = ends[0] if name == "MPI_Start" and ends else NOWHERE
    for rank in (0, 1):
        about = [k for k, (r, row) in enumerate(rows) if r == rank and row[1] in OF_PARTS]
        for k, number in zip(about, parts[rank], strict=False):
            records[k]["path"] = 2 | number << 2
        own = [k for k, (r, _) in enumerate(rows) if r == rank]
        inside = 0
        for k in own:
            inside += polled_ns if rows[k][1][0] == "MPI_Parrived" else 0
            records[k]["call_before_ns"] = inside
            inside += int(records[k]["exit_ns"] - records[k]["enter_ns"])
    ranks = np.array([rank for rank, _ in rows])
    log = RunLog(
        records=records,
        rank=ranks,
        stream=ranks,
        call=np.arange(len(rows)),
        end=end,
        peer=records["peer"].astype(np.int64),
        stream_rank=np.arange(2),
        start_ns=np.array(shift, np.int64),
        origin_ns=np.zeros(2, np.int64),
        end_ns=np.full(2, END),
        groups={1: Group((0, 1), inter=False, window=False)},
        operations=OPERATIONS,
        nodes=np.arange(2),
        wall_ns=END,
    )
    return schedule_from_log(log)


def ends(made: LogSchedule, route: Route = ROUTE) -> list[float]:
    assert made.not_replayed == {}
    found: list[float] = Replayer(made.schedule).run(Network(route, route)).end_ns.tolist()
    return found


def sender(first: int, second: int, waits: int, leaves: int, number: int = 1) -> list[Row]:
    """Two partitions of 500 bytes, ready at these times."""
    return [
        ("MPI_Start", Kind.PARTS_SEND, 100, 100, 1000, number),
        ("MPI_Pready", Kind.PART_READY, first, first, 500, number),
        ("MPI_Pready", Kind.PART_READY, second, second, 500, number),
        ("MPI_Wait", Kind.COMPLETION, waits, leaves, 0, number),
    ]


def receiver(looks: list[tuple[int, int]], waits: int, leaves: int, number: int = 1) -> list[Row]:
    return [
        ("MPI_Start", Kind.PARTS_RECV, 100, 100, 1000, number),
        *(("MPI_Parrived", Kind.PART_ARRIVED, *look, 500, number) for look in looks),
        ("MPI_Wait", Kind.COMPLETION, waits, leaves, 0, number),
    ]


def test_a_message_that_moves_whole_leaves_when_all_of_it_is_ready() -> None:
    # Away at 3000, there at 5000, where the wait of 1000 ends; 15,000 of work follow.
    made = made_of(sender(1000, 3000, 3100, 3200), receiver([], 1000, 5000))
    assert ends(made) == pytest.approx([3100 + 16_800, 5000 + 15_000])


def test_a_look_waits_for_a_message_that_moves_whole() -> None:
    # Rank 1 looks from 500 on and finds at 5000, computes for 2000 and completes at once.
    seen = receiver([(4990, 5000)], 7000, 7000)
    made = made_of(sender(1000, 3000, 3100, 3200), seen, polled_ns=4490)
    assert ends(made)[1] == pytest.approx(5000 + 2000 + 13_000)
    # With three times the latency it finds it 2000 later.
    far = replace(ROUTE, latency_ns=3000)
    assert ends(made, far)[1] - ends(made)[1] == pytest.approx(2000)
    # Whoever sends later moves it too.
    made.schedule.start_ns[0] += 1500
    assert ends(made, far)[1] - ends(made, ROUTE)[1] == pytest.approx(2000)


def test_partitions_that_came_before_the_last_was_ready_move_by_themselves() -> None:
    # The first was seen at 2500, before the second was ready at 8000: they leave at 1000 and 8000
    # and are there at 2500 and 9500.
    seen = receiver([(2490, 2500), (9490, 9500)], 10_000, 10_000)
    made = made_of(sender(1000, 8000, 8100, 8200), seen, polled_ns=2380)
    found = ends(made)
    assert found[1] == pytest.approx(9500 + 500 + 10_000)
    # Eager partitions are over for their sender when they have left.
    assert found[0] == pytest.approx(8100 + 11_800)
    # With a tenth of the bandwidth the last takes 4500 more; of the first computation hides that.
    slow = replace(ROUTE, byte_ns=10)
    assert ends(made, slow)[1] - found[1] == pytest.approx(4500)
    large = replace(ROUTE, eager_bytes=100)
    assert ends(made, large)[0] == pytest.approx(9500 + 11_800)


def test_the_wait_needs_partitions_that_nobody_looked_for() -> None:
    seen = receiver([(2490, 2500)], 3000, 9500)
    made = made_of(sender(1000, 8000, 8100, 8200), seen, polled_ns=2380)
    assert ends(made)[1] == pytest.approx(9500 + 10_500)


def test_one_early_partition_tells_how_the_library_moves_all() -> None:
    first = sender(1000, 8000, 8100, 8200)
    second = [(n, k, a + 9000, b + 9000, s, 2) for n, k, a, b, s, _ in sender(100, 600, 700, 800)]
    seen = receiver([(2490, 2500)], 3000, 9500)
    again = [(n, k, a + 9900, b + 9900, s, 2) for n, k, a, b, s, _ in receiver([], 200, 1200)]
    made = made_of(first + second, seen + again, polled_ns=2380)
    # Rank 0's first wait takes nothing, so that the last partition leaves at 9500 and is there at
    # 11,000; 8900 of work follow.
    assert ends(made)[1] == pytest.approx(11_000 + 8900)
    sends = made.schedule.operations[made.schedule.operations["kind"] == 1]
    assert sends["bytes"].tolist() == [500] * 4


def test_when_a_partition_was_ready_is_asked_on_the_clock_of_all() -> None:
    # Rank 1 began 6000 later: it found the first at 8500, when both were ready (7000): whole.
    seen = receiver([(2490, 2500)], 3000, 3500)
    made = made_of(sender(1000, 7000, 7100, 7200), seen, polled_ns=2380, shift=(0, 6000))
    sends = made.schedule.operations[made.schedule.operations["kind"] == 1]
    assert sends["bytes"].tolist() == [1000]


@pytest.mark.parametrize(
    ("sent", "asked", "size", "waits_for"),
    [
        # Numbers count from 1; the first was made ready at 1000, the others at 2000 and 8000.
        ([1, 2, 3], [1], 500, 0),
        ([2, 1, 3], [1], 500, 1),
        # A partition of 750 bytes is of the first two of the sender.
        ([1, 2, 3], [1], 750, 1),
        ([3, 1, 2], [2], 750, 2),
        # Not told: the last that was ready when it was found.
        ([1, 2, 3], [0], 500, 1),
        ([0, 0, 0], [1], 500, 1),
        ([1, 2, 3], [63], 500, 1),
    ],
)
def test_a_look_waits_for_the_partition_that_it_asks_for(
    sent: list[int], asked: list[int], size: int, waits_for: int
) -> None:
    ready = [("MPI_Pready", Kind.PART_READY, at, at, 500, 1) for at in (1000, 2000, 8000)]
    sender: list[Row] = [
        ("MPI_Start", Kind.PARTS_SEND, 100, 100, 1500, 1),
        *ready,
        ("MPI_Wait", Kind.COMPLETION, 8100, 8200, 0, 1),
    ]
    receiver: list[Row] = [
        ("MPI_Start", Kind.PARTS_RECV, 100, 100, 1500, 1),
        ("MPI_Parrived", Kind.PART_ARRIVED, 2590, 2600, size, 1),
        ("MPI_Wait", Kind.COMPLETION, 3000, 9500, 0, 1),
    ]
    made = made_of(sender, receiver, polled_ns=2000, parts=(sent, asked))
    assert made.not_replayed == {}
    operations = made.schedule.operations
    # Those behind it are of the wait, which needs all.
    own = operations[int(made.schedule.first[1]) :]
    look = int(made.schedule.first[1]) + int(np.argmax(own["kind"] == OpKind.WAIT_ARRIVAL))
    sends = np.flatnonzero(operations["kind"] == OpKind.SEND)
    assert operations["partner"][look] == sends[waits_for]
