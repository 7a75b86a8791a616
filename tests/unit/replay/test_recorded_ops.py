"""Recorded runs in the compiled engine: by hand, and beside the replay that cuts messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from imbrex.network.points import NetworkPoints
from imbrex.profile.recording_format import ARRIVED, CALL, POST, SEND
from imbrex.replay.modes import AS_WRITTEN, BOUNDARY_LAST
from imbrex.replay.recorded_ops import WHOLE_MODES
from imbrex.replay.replay import Replay, replay_s
from imbrex.replay.schedule import make_schedule

NETWORK = NetworkPoints(100e-9, 1e-9)


def ns(schedule: Any, mode: str = AS_WRITTEN, **more: Any) -> float:
    return float(replay_s(schedule, NETWORK, mode, **more)[0]) * 1e9


@pytest.mark.parametrize("mode", sorted(WHOLE_MODES))
@pytest.mark.parametrize("after", [0.0, 250.0])
def test_one_message_is_as_in_the_other_replay(one_way: Any, mode: str, after: float) -> None:
    schedule = one_way(after=after, before=120.0)
    there = Replay(schedule, NETWORK, lambda _: mode).run()
    assert ns(schedule, mode) == pytest.approx(max(float(wall[0]) for wall in there.values()))


def meeting(message: Any, recorded: Any) -> Any:
    """Ranks 0 and 1 send 80 bytes each to rank 2 at once."""
    sends = {r: [message(r, 0, 2, [0.0] * 10, is_send=True)] for r in (0, 1)}
    messages = sends | {2: [message(2, 0, 0, [0.0] * 10), message(2, 1, 1, [0.0] * 10)]}
    rows = {r: [(CALL, 0, 0.0), (SEND, 0, 0.0), (CALL, 3, 0.0)] for r in (0, 1)}
    rows[2] = [(CALL, 1, 0.0), (POST, 0, 0.0), (POST, 1, 0.0), (ARRIVED, 0, 0.0)]
    rows[2] += [(ARRIVED, 1, 0.0), (CALL, 3, 0.0)]
    return make_schedule(recorded(messages, rows))


def test_senders_share_the_link_of_their_receiver(message: Any, recorded: Any) -> None:
    assert ns(meeting(message, recorded)) == pytest.approx(100 + 2 * 80)


def two_to_one(message: Any, recorded: Any) -> Any:
    """Rank 0 sends 80 and then 160 bytes to rank 1, which computes 500 ns between taking them."""
    messages = {
        0: [message(0, 0, 1, [0.0] * 10, is_send=True),
            message(0, 1, 1, [0.0] * 20, is_send=True)],
        1: [message(1, 0, 0, [0.0] * 10), message(1, 1, 0, [0.0] * 20)],
    }  # fmt: skip
    rows = {
        0: [(CALL, 0, 0.0), (SEND, 0, 0.0), (CALL, 0, 0.0), (SEND, 1, 0.0), (CALL, 3, 0.0)],
        1: [
            *((CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)),
            *((CALL, 1, 500.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0), (CALL, 3, 0.0)),
        ],
    }
    return make_schedule(recorded(messages, rows))


def test_messages_to_one_peer_follow_each_other_or_share(message: Any, recorded: Any) -> None:
    schedule = two_to_one(message, recorded)
    assert ns(schedule) == pytest.approx(80 + 100 + 500)
    assert ns(schedule, in_order=False) == pytest.approx(160 + 100 + 500)


def test_computation_may_be_long(message: Any, recorded: Any) -> None:
    """More than 2^32 ns between two operations."""
    long = 12e9
    messages = {
        0: [message(0, 0, 1, [0.0] * 10, is_send=True)],
        1: [message(1, 0, 0, [0.0] * 10)],
    }
    rows = {
        0: [(CALL, 0, long), (SEND, 0, 0.0), (CALL, 3, 1.0)],
        1: [(CALL, 1, 5.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0), (CALL, 3, long)],
    }
    schedule = make_schedule(recorded(messages, rows))
    assert ns(schedule) == pytest.approx(2 * long + 180, abs=1)


def test_a_sweep_is_each_network_alone(message: Any, recorded: Any) -> None:
    schedule = two_to_one(message, recorded)
    latency, gap = np.array([1e-7, 1e-6]), np.array([1e-9, 4e-9])
    vectorized = replay_s(schedule, NetworkPoints(latency, gap), AS_WRITTEN)
    alone = [
        float(replay_s(schedule, NetworkPoints(float(x), float(y)), AS_WRITTEN)[0])
        for x, y in zip(latency, gap, strict=True)
    ]
    assert vectorized.tolist() == alone


@pytest.mark.parametrize(
    ("before_ns", "spread_ns", "behind"),
    [(0.0, 0.0, True), (10.0, 0.0, False), (10.0, 30.0, True), (10.0, 5.0, False)],
)
def test_a_send_is_made_behind_a_collective_where_most_are(
    before_ns: float, spread_ns: float, behind: bool, message: Any, recorded: Any
) -> None:
    """Both ranks compute 1000 ns and meet; rank 0 sends 80 bytes at once, written 10 ns before it
    in the mean: each time, or some hundred ns before it now and then, and else behind.

    Rank 0 is the root of the tree: it goes on after one latency, rank 1 after two.
    """

    def run(sends: bool) -> Any:
        spread = np.full(10, spread_ns)
        messages = {
            0: [message(0, 0, 1, [before_ns] * 10, is_send=True, spread_ns=spread)],
            1: [message(1, 0, 0, [0.0] * 10)],
        }
        rows = {0: [(CALL, 2, 1000.0), (CALL, 0, 0.0)], 1: [(CALL, 2, 1000.0), (CALL, 1, 0.0)]}
        if sends:
            rows[0].append((SEND, 0, 0.0))
            rows[1] += [(POST, 0, 0.0), (ARRIVED, 0, 0.0)]
        return make_schedule(
            recorded(messages, {rank: [*own, (CALL, 3, 0.0)] for rank, own in rows.items()})
        )

    assert ns(run(False), "independent") == pytest.approx(1000 + 100 + 100)
    late = 1000 + 100 + 100 + 80
    assert ns(run(True), "independent") == pytest.approx(late if behind else 1000 + 100 + 100)
    assert ns(run(True)) == pytest.approx(late)


@pytest.mark.parametrize(("before_ns", "late"), [(500.0, 0), (0.0, 100)])
def test_what_was_ready_before_a_collective_leaves_before_all_waits_behind_it(
    before_ns: float, late: int, message: Any, recorded: Any
) -> None:
    """Both ranks compute 1000 ns, meet, and exchange 80 bytes twice, one exchange after the other.

    Rank 1 leaves the tree at 1200 ns, rank 0 at 1100. Of messages that rank 0 takes before it sends
    the second it has the first at 1380 ns.
    """
    spread = np.full(10, 600.0)
    both: dict[int, Any] = {}
    rows: dict[int, Any] = {}
    for rank in (0, 1):
        both[rank] = []
        rows[rank] = [(CALL, 2, 1000.0)]
        for turn in (0, 1):
            sent, taken = 2 * turn, 2 * turn + 1
            both[rank] += [
                message(rank, sent, 1 - rank, [before_ns] * 10, is_send=True, spread_ns=spread),
                message(rank, taken, 1 - rank, [0.0] * 10),
            ]
            rows[rank] += [
                *((CALL, 0, 0.0), (POST, taken, 0.0), (SEND, sent, 0.0)),
                (ARRIVED, taken, 0.0),
            ]
        rows[rank].append((CALL, 3, 0.0))
    schedule = make_schedule(recorded(both, rows))
    assert ns(schedule, "independent") == pytest.approx(1200 + 2 * 80 + 100 + late)


def test_all_elements_of_messages_are_last_in_their_loop_together(
    message: Any, recorded: Any
) -> None:
    """Rank 0 sends 80 bytes twice after 1500 ns. Rank 1 takes both, and computes 1000 ns, of which
    10 elements of each message take 10 ns each, one message's at once, the other's at the end."""
    first, last = ([at + 10.0 * k for k in range(10)] for at in (0.0, 900.0))
    messages = {
        0: [message(0, k, 1, [0.0] * 10, is_send=True) for k in (0, 1)],
        1: [message(1, 0, 0, first), message(1, 1, 0, last)],
    }
    rows = {
        0: [(CALL, 0, 1500.0), (SEND, 0, 0.0), (CALL, 0, 0.0), (SEND, 1, 0.0), (CALL, 3, 0.0)],
        1: [
            *((CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)),
            *((CALL, 1, 0.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0), (CALL, 3, 1000.0)),
        ],
    }
    schedule = make_schedule(recorded(messages, rows))
    assert ns(schedule, BOUNDARY_LAST) == pytest.approx(1500 + 2 * 80 + 100 + 200)
