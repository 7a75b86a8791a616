"""Replays of small recordings whose times can be worked out by hand (ns, 1 byte per ns)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from imbrex.network.points import NetworkPoints
from imbrex.profile.recording_format import ARRIVED, CALL, POST, SEND
from imbrex.replay.modes import (
    AS_WRITTEN,
    BOUNDARY_FIRST,
    BOUNDARY_LAST,
    NONE,
    REPLAY_MODES,
)
from imbrex.replay.replay import Replay, replay_s
from imbrex.replay.schedule import ReplayError, make_schedule

LATENCY, GAP = 100.0, 1.0
NETWORK = NetworkPoints(LATENCY * 1e-9, GAP * 1e-9)


def ns(schedule, mode: str, network: NetworkPoints = NETWORK, **more: object) -> float:  # type: ignore[no-untyped-def]
    return float(replay_s(schedule, network, mode, **more)[0]) * 1e9  # type: ignore[arg-type]


def test_a_message_as_written(one_way: Any) -> None:
    # Sent at 1000, there at 1000 + 100 + 400; then 800 of computation.
    assert ns(one_way(), AS_WRITTEN) == pytest.approx(2300)


def test_no_overlap_begins_when_both_are_inside(one_way: Any) -> None:
    # The receiver waits from 200 on, so nothing was hidden anyway.
    assert ns(one_way(), NONE) == pytest.approx(2300)
    # A receiver that comes at 1800 waits for the whole delay all the same.
    late = one_way()
    late.operations[1][0] = late.operations[1][0].__class__(10, ns=1800.0)
    assert ns(late, AS_WRITTEN) == pytest.approx(1800 + 800)
    assert ns(late, NONE) == pytest.approx(1800 + 500 + 800)


def test_independent_work_is_used_on_both_sides(one_way: Any) -> None:
    schedule = one_way(after=300.0, before=150.0)
    # Sent at 700, there at 1200; rank 1 computes from 200 to 350, then waits for it.
    assert ns(schedule, "independent") == pytest.approx(1200 + 800 - 150)


def test_the_consumer_takes_what_has_arrived(one_way: Any) -> None:
    # 16 pieces: 50 elements make two of 4 and then of 3. The first is needed at once: it is there
    # at 1000 + 100 + 400/16; of the last (from element 47 on) 400 bytes, needed 141 later.
    got = ns(one_way(), "consumer")
    first = 1000 + 100 + 400 / 16
    assert got == pytest.approx(max(first + 800, 1500 + 800 - 141))


def test_fine_grained_also_sends_what_is_written(one_way: Any) -> None:
    schedule = one_way()
    # The last piece leaves when its last element is written, at 1000, but pieces take 25 each and
    # are written every 6 to 8: the queue empties at start + 16 * 25.
    first_ready = 1000 - (2.0 * 49 - 2 * 3)
    end_of_queue = first_ready + 400
    assert ns(schedule, "fine-grained") == pytest.approx(end_of_queue + 100 + 800 - 141)
    # A gap of 20 ns per element makes it 60 to 63 per piece of 3.125 elements.
    slow = NetworkPoints(LATENCY * 1e-9, GAP * 1e-9, message_gap_s=20e-9)
    last = first_ready + 15 * 62.5
    assert ns(schedule, "fine-grained", slow) == pytest.approx(last + 25 + 100 + 800 - 141)


def test_what_the_processors_do_for_a_message_is_not_hidden(one_way: Any) -> None:
    def busy(send_s: float, receive_s: float) -> NetworkPoints:
        return NetworkPoints(LATENCY * 1e-9, GAP * 1e-9, 0.0, send_s, receive_s)

    # EEL has both in it, so that a message that is waited for takes no longer.
    assert ns(one_way(), AS_WRITTEN, busy(30e-9, 20e-9)) == pytest.approx(2300)
    # Sent at 100 and there at 600, before its receiver has computed 700 of its 800.
    early = one_way(after=900.0, before=700.0)
    assert ns(early, "independent") == pytest.approx(1000 + 10)
    assert ns(early, "independent", busy(30e-9, 0.0)) == pytest.approx(1000 + 30 + 10)
    assert ns(early, "independent", busy(0.0, 50e-9)) == pytest.approx(200 + 700 + 50 + 100)


def test_no_mode_is_better_than_none_of_the_network(one_way: Any) -> None:
    schedule = one_way(after=300.0, before=150.0)
    nothing = NetworkPoints(0.0, 0.0)
    for mode in REPLAY_MODES:
        assert ns(schedule, mode) >= ns(schedule, mode, nothing) - 1e-6


def test_many_networks_at_once_are_each_alone(one_way: Any) -> None:
    schedule = one_way(after=120.0, before=60.0)
    latency, gap = np.array([0, 1e-7, 5e-7, 1e-6]), np.array([1e-9, 5e-9, 1e-10, 0])
    for mode in REPLAY_MODES:
        vectorized = replay_s(schedule, NetworkPoints(latency, gap), mode)
        alone = [
            float(replay_s(schedule, NetworkPoints(x, y), mode)[0])
            for x, y in zip(latency.tolist(), gap.tolist(), strict=True)
        ]
        assert vectorized == pytest.approx(alone)


def test_messages_of_one_process_follow_each_other(message: Any, recorded: Any) -> None:
    messages = {
        0: [message(0, 0, 1, [0.0] * 10, is_send=True),
            message(0, 1, 2, [0.0] * 10, is_send=True)],
        1: [message(1, 0, 0, [0.0] * 10)],
        2: [message(2, 0, 0, [0.0] * 10)],
    }  # fmt: skip
    rows = {
        0: [(CALL, 0, 0.0), (SEND, 0, 0.0), (CALL, 0, 0.0), (SEND, 1, 0.0), (CALL, 3, 0.0)],
        1: [(CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0), (CALL, 3, 0.0)],
        2: [(CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0), (CALL, 3, 0.0)],
    }
    schedule = make_schedule(recorded(messages, rows))
    assert ns(schedule, AS_WRITTEN) == pytest.approx(100 + 2 * 80)
    # Each takes the link for g as well, which EEL has in it once.
    slow = NetworkPoints(LATENCY * 1e-9, GAP * 1e-9, message_gap_s=30e-9)
    assert ns(schedule, AS_WRITTEN, slow) == pytest.approx(100 - 30 + 2 * (30 + 80))
    # Without overlap each of two receivers waits for its own.
    assert ns(schedule, NONE, slow) == pytest.approx(100 + 80)


def test_messages_to_one_peer_keep_their_order(message: Any, recorded: Any) -> None:
    # The second is written long before the first is, and could leave first.
    messages = {
        0: [message(0, 0, 1, [0.0] * 10, is_send=True),
            message(0, 1, 1, [60.0] * 10, is_send=True)],
        1: [message(1, 0, 0, [0.0] * 10), message(1, 1, 0, [0.0] * 10)],
    }  # fmt: skip
    rows = {
        0: [(CALL, 0, 100.0), (SEND, 0, 0.0), (CALL, 0, 10.0), (SEND, 1, 0.0), (CALL, 3, 0.0)],
        1: [
            *((CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)),
            *((CALL, 1, 200.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0), (CALL, 3, 20.0)),
        ],
    }
    schedule = make_schedule(recorded(messages, rows))
    # The first is on the link from 100 to 180 and there at 280: the second does not share it.
    assert ns(schedule, AS_WRITTEN) == pytest.approx(280 + 200 + 20)
    assert ns(schedule, "independent") == pytest.approx(280 + 200 + 20)
    # Then the second, until 260, when nothing is computed in between.
    rows[1][3] = (CALL, 1, 0.0)
    schedule = make_schedule(recorded(messages, rows))
    assert ns(schedule, AS_WRITTEN) == pytest.approx(260 + 100 + 20)
    assert ns(schedule, "independent") == pytest.approx(260 + 100 + 20)


def test_collectives_are_met_by_all(recorded: Any) -> None:
    rows = {r: [(CALL, 2, 100.0 * (r + 1)), (CALL, 3, 50.0)] for r in range(4)}
    schedule = make_schedule(recorded({r: [] for r in range(4)}, rows))
    # The last comes at 400; 2 log2(4) latencies; 50 more.
    assert ns(schedule, AS_WRITTEN) == pytest.approx(400 + 4 * 100 + 50)


def test_a_large_blocking_send_waits_for_its_receiver(one_way: Any) -> None:
    size = 10_000
    schedule = one_way(size=size, call=4)
    small = one_way(call=4)
    assert ns(small, AS_WRITTEN) == pytest.approx(2300)
    ends = 1000 + 100 + 8 * size
    assert ns(schedule, AS_WRITTEN) == pytest.approx(ends + 800)


def test_loop_indexing_puts_all_else_before_the_first_read(one_way: Any) -> None:
    # Read at once, one element per 3 ns: 150 of the 800 ns are the message's own.
    schedule = one_way()
    got = ns(schedule, BOUNDARY_LAST)
    own = 3.0 * 50
    assert got == pytest.approx(max(1500, 200 + 800 - own) + own)
    # Written last, one per 2 ns: first in the loop it could leave at 100 instead of 1000.
    assert ns(schedule, BOUNDARY_FIRST) == pytest.approx(max(100 + 500, 200) + 800)


def test_only_one_site_is_changed(one_way: Any) -> None:
    schedule = one_way(after=300.0)
    other = ns(schedule, "independent", only=lambda m: m.site == "elsewhere.c:1")
    assert other == pytest.approx(ns(schedule, AS_WRITTEN))


def test_wildcards_cannot_be_replayed(message: Any, recorded: Any) -> None:
    messages = {0: [], 1: [message(1, 0, -1, [0.0])]}
    rows = {1: [(CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)]}
    with pytest.raises(ReplayError, match="any rank or tag"):
        make_schedule(recorded(messages, rows))


def test_missing_messages_are_noticed(message: Any, recorded: Any) -> None:
    messages = {0: [], 1: [message(1, 0, 0, [0.0])]}
    rows = {0: [(CALL, 3, 1.0)], 1: [(CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)]}
    with pytest.raises(ReplayError, match="wait for ever"):
        ns(make_schedule(recorded(messages, rows)), AS_WRITTEN)


def follow_each_other(message: Any, recorded: Any, count: int) -> Any:
    """`count` messages of 400 bytes, sent 50 ns apart as each is written, and taken one by one."""
    written = [1.0 * (49 - i) for i in range(50)]
    messages = {
        0: [message(0, 0, 1, written, is_send=True, calls=count)],
        1: [message(1, 0, 0, [0.0] * 50, calls=count)],
    }
    rows = {
        0: [row for _ in range(count) for row in ((CALL, 0, 50.0), (SEND, 0, 0.0))],
        1: [(CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)] * count,
    }
    return make_schedule(recorded(messages, rows))


@pytest.mark.parametrize("mode", REPLAY_MODES)
def test_a_link_carries_no_more_than_its_bandwidth(message: Any, recorded: Any, mode: str) -> None:
    schedule = follow_each_other(message, recorded, 20)
    assert ns(schedule, mode) >= 20 * 400
    # The link is the bottleneck: the first message is written meanwhile, or only before.
    assert ns(schedule, mode) <= 20 * 400 + 20 * LATENCY + 50


def test_messages_wait_for_all_that_left_before(message: Any, recorded: Any) -> None:
    # The second waits for the first, and so the third for both: also in the first of the replays.
    schedule = follow_each_other(message, recorded, 20)
    first = Replay(schedule, NETWORK, lambda _: AS_WRITTEN).run()
    assert float(first[1][0]) == pytest.approx(50 + 20 * 400 + LATENCY)
