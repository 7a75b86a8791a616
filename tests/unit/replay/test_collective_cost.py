"""What collectives cost, worked out by hand; a tree's bytes as a simulator moves them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from imbrex.network.points import NetworkPoints
from imbrex.profile.recording_format import ARRIVED, CALL, POST, SEND
from imbrex.replay.collective_cost import (
    collective_cost,
    mean_bytes,
    parent_and_children,
)
from imbrex.replay.modes import AS_WRITTEN
from imbrex.replay.replay import replay_s
from imbrex.replay.schedule import make_schedule


@pytest.mark.parametrize(
    ("function", "size", "latencies", "link_bytes"),
    [
        ("MPI_Barrier", 0.0, 12, 0),
        # Six levels: up 6 messages, down 6 + 5 + 4 + 3 + 2 + 1 share links.
        ("MPI_Reduce", 8.0, 6, 6 * 8),
        ("MPI_Bcast", 8.0, 6, 21 * 8),
        ("MPI_Allreduce", 8.0, 12, 27 * 8),
        ("MPI_Allreduce", 1e6, 12, 2e6),
        ("MPI_Bcast", 1e6, 6, 2e6),
        ("MPI_Gather", 512.0, 6, 512),
        ("MPI_Alltoall", 512.0, 12, 512),
        # Straight to the neighbours.
        ("MPI_Neighbor_alltoallw", 16000.0, 1, 16000),
    ],
)
def test_costs_on_64_processes(
    function: str, size: float, latencies: float, link_bytes: float
) -> None:
    cost = collective_cost(function, 64, size)
    assert cost is not None
    assert cost.latencies == pytest.approx(latencies)
    assert cost.link_bytes == pytest.approx(link_bytes)


def test_alone_nothing_is_moved_and_other_calls_are_none() -> None:
    for function in ("MPI_Allreduce", "MPI_Alltoall", "MPI_Bcast"):
        cost = collective_cost(function, 1, 1e6)
        assert cost is not None
        assert cost.seconds(NetworkPoints(1.0, 1.0, message_gap_s=1.0)) == 0
    assert collective_cost("MPI_Send", 4, 8.0) is None
    assert collective_cost("MPI_Iallreduce", 4, 8.0) is None


def test_the_largest_side_counts(message: Any) -> None:
    buffers = [
        message(0, 0, -1, [0.0], is_send=True, operation="MPI_Gather"),
        message(0, 1, -1, [0.0] * 4, operation="MPI_Gather"),
        message(1, 0, -1, [0.0], is_send=True, operation="MPI_Gather"),
    ]
    assert mean_bytes(buffers) == {"MPI_Gather": 32.0}


def test_a_replayed_collective_takes_its_bytes_time(message: Any, recorded: Any) -> None:
    rows = {r: [(CALL, 2, 100.0), (CALL, 3, 50.0)] for r in range(4)}
    run = recorded({r: [] for r in range(4)}, rows)
    assert run.functions[2] == "MPI_Allreduce"
    for rank in range(4):
        run.collectives[rank] = [
            message(rank, 0, -1, [0.0] * 5, is_send=True, operation="MPI_Allreduce")
        ]
    latency, gap = np.array([1e-7, 1e-7]), np.array([0.0, 1e-9])
    network = NetworkPoints(latency, gap)
    free, priced = (replay_s(make_schedule(run), network, AS_WRITTEN) * 1e9).tolist()
    assert free == pytest.approx(150 + 4 * 100)
    # Two levels up, and 2 + 1 messages down, of 40 bytes.
    assert priced - free == pytest.approx(5 * 40)
    # The second child of the root is sent to a gap later.
    slow = NetworkPoints(latency, gap, message_gap_s=3e-8)
    spaced = (replay_s(make_schedule(run), slow, AS_WRITTEN) * 1e9).tolist()
    assert spaced == pytest.approx([free + 30, priced + 30])


def test_the_tree() -> None:
    assert parent_and_children(0, 8) == (-1, [1, 2, 4])
    assert parent_and_children(4, 8) == (0, [5, 6])
    assert parent_and_children(7, 8) == (6, [])
    assert parent_and_children(4, 6) == (0, [5])
    assert parent_and_children(0, 1) == (-1, [])


def test_what_is_sent_next_shares_the_link_with_the_tree(
    message: Any, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: dict[int, list[Any]] = {r: [] for r in range(4)}
    messages[0] = [message(0, 0, 3, [0.0] * 10, is_send=True)]
    messages[3] = [message(3, 0, 0, [0.0] * 10)]
    rows: dict[int, list[tuple[int, int, float]]] = {r: [(CALL, 2, 100.0)] for r in range(4)}
    rows[0] += [(CALL, 0, 0.0), (SEND, 0, 0.0)]
    rows[3] += [(CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)]
    for own in rows.values():
        own.append((CALL, 3, 50.0))
    run = recorded(messages, rows)
    for rank in range(4):
        run.collectives[rank] = [
            message(rank, 0, -1, [0.0] * 5, is_send=True, operation="MPI_Allreduce")
        ]
    network = NetworkPoints(1e-7, 1e-9)
    schedule = make_schedule(run)
    # Up: 40 bytes are there at 240, and at 380. Three share the link of the root then, two of 40
    # bytes, which have left at 500: process 2 has its own at 600, process 3 at 740.
    assert float(replay_s(schedule, network, AS_WRITTEN)[0]) * 1e9 == pytest.approx(740 + 50)
    # Too many to follow them all: one step of 4 latencies and 5 messages, and the message behind.
    monkeypatch.setattr("imbrex.replay.schedule.MOST_TREE_MESSAGES", 7)
    one_step = replay_s(make_schedule(run), network, AS_WRITTEN)
    assert float(one_step[0]) * 1e9 == pytest.approx(700 + 180 + 50)
