"""Many networks in one pass: to the last bit what a replay of each finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from building import Builder, networks, programs
from hypothesis import given, settings
from hypothesis import strategies as st

from imbrex.errors import ImbrexError
from imbrex.replay import evaluate
from imbrex.replay.arrays import Kind
from imbrex.replay.compiled import LANES
from imbrex.replay.evaluate import Network, Replayer, Route

ROUTE = Route(latency_ns=1000, byte_ns=2, gap_ns=50, send_ns=10, receive_ns=20, eager_bytes=100)
NETWORK = Network(ROUTE, ROUTE)


def one_by_one(replayer: Replayer, over: list[Network]) -> list[float]:
    return [replayer.run(network, shared=False).run_ns for network in over]


@settings(deadline=None, max_examples=150)
@given(programs(), networks(), st.lists(st.integers(0, 20_000), min_size=1, max_size=40))
def test_each_lane_is_a_replay_of_its_network(
    program: Builder, network: Network, latencies: list[int]
) -> None:
    replayer = Replayer(program.schedule())
    over = [network.with_latency(float(ns)) for ns in latencies]
    over += [network.with_byte_ns(ns / 1000.0) for ns in latencies]
    found, passes = replayer.run_ns_of(over)
    assert found.tolist() == one_by_one(replayer, over)
    assert 1 <= passes <= len(over)


def two_answers() -> Builder:
    """Rank 0 asks ranks 1 and 2, which answer once they have computed: latency or work decides."""
    b = Builder(3)
    for sender, work in ((1, 4000), (2, 1000)):
        b.calc(sender, work)
        b.recv(sender, 0, blocking=True)
        b.send(sender, 0, 50, blocking=True)
    b.send(0, 1, 90)
    b.send(0, 2, 5)
    b.recv(0, 1, blocking=True)
    b.recv(0, 2, blocking=True)
    return b


def test_a_thousand_points_take_one_pass() -> None:
    replayer = Replayer(two_answers().schedule())
    over = [NETWORK.with_latency(float(ns)) for ns in np.linspace(0.0, 100_000.0, 1000)]
    found, passes = replayer.run_ns_of(over)
    assert passes == 1
    assert found.tolist() == one_by_one(replayer, over)
    more = over + over[: LANES - 1000] + over[:3]
    found, passes = replayer.run_ns_of(more)
    assert passes == 2
    assert found.tolist() == one_by_one(replayer, more)


def test_fewer_go_together_where_many_messages_are_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """2,000 messages have come before the first is taken: each has a time in every lane."""
    b = Builder(2)
    for _ in range(2000):
        b.send(0, 1, 50)
    for _ in range(2000):
        b.recv(1, 0, blocking=True)
    replayer = Replayer(b.schedule())
    over = [NETWORK.with_latency(float(ns)) for ns in np.linspace(0.0, 100_000.0, 300)]
    expected = one_by_one(replayer, over)
    found, passes = replayer.run_ns_of(over)
    assert (found.tolist(), passes) == (expected, 1)
    # There are 2048 rows in the end. Those of 304 lanes take more than half as much, so that rank 0
    # comes no further than to its last message; then 76 go together.
    monkeypatch.setattr(evaluate, "LANES_BYTES", 1024 * 304 * 8)
    found, passes = replayer.run_ns_of(over)
    assert (found.tolist(), passes) == (expected, 4.5)
    # Not even the clocks have room: 304, 76 and, whatever they take, 20 at a time.
    monkeypatch.setattr(evaluate, "LANES_BYTES", 1 << 10)
    found, passes = replayer.run_ns_of(over)
    assert (found.tolist(), passes) == (expected, 15)


def waiting_for_each_other() -> tuple[Builder, Network]:
    """Ranks 0 and 2 each send a large message to rank 4, which asks for it last, and behind it one
    to rank 5, which everybody needs to go on. Rank 0 is started within its node, rank 2 from
    another: which of both is ready first depends on the latency between nodes."""
    b = Builder(6, nodes=[0, 0, 1, 2, 3, 3])
    b.recv(4, 5, blocking=True)
    for one, near, late in ((0, 1, 3000), (2, 3, 0)):
        b.calc(near, late)
        b.send(near, one, 0, blocking=True)
        b.recv(one, near, blocking=True)
        b.wait(b.send(one, 4, 500), b.send(one, 5, 700))
    b.wait(*[b.recv(5, one) for one in (0, 2)])
    b.send(5, 4, 0, blocking=True)
    b.wait(*[b.recv(4, one) for one in (0, 2)])
    return b, Network(replace(ROUTE, latency_ns=500), ROUTE)


def test_where_all_wait_each_lane_takes_its_own_first_message() -> None:
    b, network = waiting_for_each_other()
    replayer = Replayer(b.schedule())
    over = [network.with_latency(float(ns)) for ns in (0, 100, 2500, 3400, 3600, 9000)]
    found, passes = replayer.run_ns_of(over)
    assert found.tolist() == one_by_one(replayer, over)
    # Rank 0 is ready at 3540, rank 2 at 40 and a latency. When both have sent all lanes go on
    # together: the rest is gone through once.
    assert 1 < passes < 2


def test_a_message_moves_in_a_call_that_completes_another() -> None:
    """Rank 0 is in MPI_Waitall since 510 ns, which the message of rank 2 does not change."""
    b = Builder(3)
    sent = b.send(0, 1, 500)
    b.calc(0, 500)
    b.wait(b.recv(0, 2), b.recv(0, 1))
    b.wait(sent)
    b.calc(2, 5000)
    b.send(2, 0, 0, blocking=True)
    b.recv(1, 0, blocking=True)
    b.send(1, 0, 0, blocking=True)
    held = replace(ROUTE, held_by_sender=True)
    replayer = Replayer(b.schedule())
    over = [Network(held, held).with_latency(float(ns)) for ns in (0, 100, 9000)]
    found, passes = replayer.run_ns_of(over)
    assert passes == 1
    assert found.tolist() == one_by_one(replayer, over)
    # 510 + 1000 + L + 20 + 10 + L + 20, or 5010 + L + 20 and the second receive.
    assert found.tolist() == [5050, 5150, 19_560]


def probing(size: int) -> Builder:
    """Rank 1 probes for a message, announced or there, and takes it later."""
    b = Builder(2)
    b.calc(0, 1000)
    b.send(0, 1, size, blocking=True)
    b.add(1, Kind.WAIT_ARRIVAL, peer=0, begun=0)
    b.calc(1, 300)
    b.recv(1, 0, blocking=True)
    return b


@pytest.mark.parametrize("size", [0, 90, 500])
def test_what_a_probe_sees(size: int) -> None:
    schedule = probing(size).schedule()
    schedule.operations["partner"][2] = 1
    replayer = Replayer(schedule)
    over = [NETWORK.with_latency(float(ns)) for ns in (0, 400, 1000, 5000)]
    found, passes = replayer.run_ns_of(over)
    assert passes == 1
    assert found.tolist() == one_by_one(replayer, over)
    # It is sent at 1010; an eager one has come a latency and its bytes later, a large one is known
    # a latency later and asked for 300 ns after that.
    moves = 2 * size
    eager = [1010 + ns + moves + 300 + 20 for ns in (0, 400, 1000, 5000)]
    large = [1010 + ns + 300 + ns + moves + 20 for ns in (0, 400, 1000, 5000)]
    assert found.tolist() == (large if size > 100 else eager)


def test_threads_of_a_process_share_its_link() -> None:
    b = Builder(4)
    for thread in (0, 1):
        b.calc(thread, 30 * thread)
        b.wait(*[b.send(thread, 2, 95) for _ in range(3)])
    for thread, count in ((0, 3), (1, 3)):
        for _ in range(count):
            b.recv(2, thread, blocking=True)
    schedule = replace(
        b.schedule(),
        rank=np.array([0, 0, 1, 2], np.uint32),
        node=np.array([0, 1, 2], np.uint32),
    )
    replayer = Replayer(schedule)
    over = [NETWORK.with_byte_ns(ns) for ns in (0.0, 0.3, 1.0, 40.0)]
    found, passes = replayer.run_ns_of(over)
    assert passes == 1
    assert found.tolist() == one_by_one(replayer, over)


def test_ranks_that_wait_for_ever_are_told() -> None:
    b = Builder(2)
    b.recv(0, 1, blocking=True)
    b.recv(1, 0, blocking=True)
    b.send(0, 1, 0)
    b.send(1, 0, 0)
    with pytest.raises(ImbrexError, match="rank 0 waits for ever"):
        Replayer(b.schedule()).run_ns_of([NETWORK] * 3)
