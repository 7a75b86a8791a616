"""Who shares a link with whom, worked out by hand: L = 1000 ns, G = 2 ns, o = 10 and 20 ns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from building import Builder

from imbrex.replay.arrays import Kind
from imbrex.replay.evaluate import Network, Replayer, Route

ROUTE = Route(latency_ns=1000, byte_ns=2, send_ns=10, receive_ns=20)
FREE = Route(latency_ns=1000, byte_ns=2)


def ends(b: Builder, route: Route = ROUTE) -> list[float]:
    return list(Replayer(b.schedule()).run(Network(route, route)).end_ns)


def test_two_senders_share_the_link_of_their_receiver() -> None:
    b = Builder(3)
    b.send(1, 0, 40)
    b.send(2, 0, 40)
    b.recv(0, 1, blocking=True)
    b.recv(0, 2, blocking=True)
    # 80 ns of the link each, from 10 on: both are through at 170.
    assert ends(b) == pytest.approx([170 + 1000 + 20 + 20, 10, 10])


def test_a_message_moves_at_the_pace_of_the_busier_end() -> None:
    b = Builder(4)
    b.send(0, 1, 60)
    b.send(0, 2, 30)
    b.send(3, 1, 30)
    for receiver, sender in ((2, 0), (1, 0), (1, 3)):
        b.recv(receiver, sender, blocking=True)
    # From 10: half of rank 1's link each (0 to 1, 3 to 1). From 20: half of rank 0's (0 to 1 and
    # 0 to 2). 3 to 1 has 60 ns to move: through at 130. 0 to 2 too, from 20: through at 140.
    # 0 to 1 has moved 65 of its 120 by then, and goes on alone: through at 195.
    assert ends(b) == pytest.approx([20, 195 + 1000 + 2 * 20, 140 + 1000 + 20, 10])


def test_messages_to_one_peer_follow_each_other() -> None:
    b = Builder(3)
    b.send(0, 1, 40)
    b.send(0, 1, 40)
    b.send(2, 1, 80)
    for sender in (0, 0, 2):
        b.recv(1, sender, blocking=True)
    # Two connections into rank 1: the messages of rank 0 take 160 ns each, that of rank 2 all 320.
    # The last two have come when rank 1 takes them.
    assert ends(b) == pytest.approx([20, 330 + 1000 + 2 * 20, 10])


def test_messages_to_one_peer_share_where_they_have_a_connection_each() -> None:
    b = Builder(3)
    b.send(0, 1, 40)
    b.send(0, 1, 40)
    b.send(2, 1, 80)
    for sender in (0, 0, 2):
        b.recv(1, sender, blocking=True)
    route = replace(FREE, send_ns=0)
    network = Network(route, route, in_order=False)
    # Three connections into rank 1: 80 ns of rank 0's are through at 240, and 80 of rank 2's, which
    # has the link to itself for the other 80.
    assert Replayer(b.schedule()).run(network).end_ns.tolist() == pytest.approx([0, 1320, 0])


def test_messages_of_a_rank_start_in_the_order_of_time_not_of_the_program() -> None:
    """A large message to a receiver that comes late lets the small one behind it pass."""
    b = Builder(3)
    large = b.send(0, 1, 1 << 20)
    b.send(0, 2, 50)
    b.wait(large)
    b.calc(1, 5000)
    b.recv(1, 0, blocking=True)
    b.recv(2, 0, blocking=True)
    moved = 5000 + 2.0 * (1 << 20) + 1000
    assert ends(b, FREE) == pytest.approx([moved, moved, 100 + 1000])


def test_who_comes_late_makes_others_late_in_turn() -> None:
    """What a sender does next depends on what it shared its link with before: rank 1 waits for a
    message that shares, and its own then meets another at rank 3."""
    b = Builder(4)
    b.send(0, 1, 100)
    b.send(0, 2, 100)
    b.recv(1, 0, blocking=True)
    b.send(1, 3, 100)
    b.calc(2, 1300)
    b.send(2, 3, 100)
    b.recv(2, 0, blocking=True)
    b.recv(3, 1, blocking=True)
    b.recv(3, 2, blocking=True)
    # Both of rank 0's are through at 400: rank 1 sends from 1400 on, rank 2 from 1300 on. From 1400
    # to 1600 they share, when rank 2's is through; rank 1's goes on alone until 1700.
    assert ends(b, FREE) == pytest.approx([0, 1400, 1400, 2700])


def test_what_a_busier_far_end_leaves_goes_to_the_others() -> None:
    b = Builder(5)
    for sender in (0, 3, 4):
        b.send(sender, 1, 60)
    b.send(0, 2, 40)
    b.recv(2, 0, blocking=True)
    for sender in (0, 3, 4):
        b.recv(1, sender, blocking=True)
    # Three share rank 1's link from 10 on: 120 ns each at a third are through at 370. Rank 0 sends
    # to rank 2 from 20 on with the other two thirds: 80 ns are through at 140.
    assert ends(b) == pytest.approx([20, 370 + 1000 + 3 * 20, 140 + 1000 + 20, 10, 10])


def test_what_is_left_is_handed_on_from_link_to_link() -> None:
    b = Builder(8)
    for sender in (0, 4, 6, 7):
        b.send(sender, 1, 90)
    b.send(0, 2, 60)
    b.send(0, 3, 60)
    b.send(5, 2, 125)
    for sender in (0, 4, 6, 7):
        b.recv(1, sender, blocking=True)
    for receiver, sender in ((2, 0), (2, 5), (3, 0)):
        b.recv(receiver, sender, blocking=True)
    # Rank 1's link gives each a quarter, so rank 0's has three eighths for each of the others, and
    # rank 2's five eighths for rank 5. At 320 rank 0's are through, and rank 5's has 50 of its 250
    # ns left: through at 370. Those into rank 1 are at 720.
    assert ends(b, FREE) == pytest.approx([0, 1720, 1370, 1320, 0, 0, 0, 0])


def fair_rates(pairs: list[tuple[int, int]]) -> list[float]:
    """Progressive filling: all rates grow alike until a link is full, whose rates stay then."""
    rates = np.zeros(len(pairs))
    links = [(0, a) for a, _ in pairs], [(1, b) for _, b in pairs]
    growing = np.ones(len(pairs), bool)
    while growing.any():
        users = {
            e: [e in ends_of for ends_of in zip(*links, strict=True)]
            for e in (*links[0], *links[1])
        }
        room = {
            e: (1 - rates[u].sum()) / growing[u].sum() for e, u in users.items() if growing[u].any()
        }
        least = min(room.values())
        rates[growing] += least
        for e, more in room.items():
            if more <= least * (1 + 1e-9):
                growing[users[e]] = False
    return rates.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_any_messages_share_as_progressive_filling_has_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    ranks = int(random.integers(3, 9))
    every = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    pairs = sorted(every[k] for k in random.permutation(len(every))[: random.integers(2, 25)])
    b = Builder(ranks)
    begins, work = [], []
    clock = dict.fromkeys(range(ranks), 0)
    for sender, receiver in pairs:
        pause, size = int(random.integers(0, 60)), int(random.integers(20, 200))
        b.calc(sender, pause)
        b.send(sender, receiver, size)
        clock[sender] += pause
        begins.append(clock[sender])
        work.append(2.0 * size)
    for sender, receiver in pairs:
        b.recv(receiver, sender, blocking=True)
    now, through = 0.0, dict[int, float]()
    while len(through) < len(pairs):
        active = [k for k in range(len(pairs)) if begins[k] <= now and k not in through]
        rates = fair_rates([pairs[k] for k in active])
        step = min((begin - now for begin in begins if begin > now), default=np.inf)
        step = min([step, *(work[k] / rate for k, rate in zip(active, rates, strict=True))])
        now += step
        for k, rate in zip(active, rates, strict=True):
            work[k] -= step * rate
            if work[k] < 1e-6:
                through[k] = now
    schedule = b.schedule()
    replayer = Replayer(schedule)
    replayer.run(Network(FREE, FREE))
    arrived = replayer.time_ns[schedule.operations["kind"] == Kind.SEND]
    # Both are in the order of senders.
    assert arrived == pytest.approx([through[k] + 1000 for k in range(len(pairs))], abs=1e-3)


def test_late_in_a_long_run_sharing_comes_to_an_end() -> None:
    # At such times a double's last digit is longer than what rounding leaves of a message.
    b = Builder(3)
    for rank in range(3):
        for _ in range(40):
            b.calc(rank, 2_100_000_000)
    for number in range(50):
        for rank in range(3):
            peers = [(rank + 1) % 3, (rank + 2) % 3]
            begun = [b.send(rank, peer, 3 + number) for peer in peers]
            begun += [b.recv(rank, peer) for peer in peers]
            b.wait(*begun)
    assert max(ends(b)) > 84e9


def exchange(b: Builder, first: int, seed: int) -> None:
    """Eight ranks from `first` on exchange messages of one size with some of each other, often
    through at the same time."""
    random = np.random.default_rng(seed)
    for _ in range(8):
        size = int(random.choice([1000, 4096, 65536]))
        pairs = [(a, c) for a in range(8) for c in range(8) if random.random() < 0.5]
        begun = []
        for rank in range(8):
            b.calc(first + rank, 1000)
        for k in random.permutation(len(pairs)):
            a, c = pairs[k]
            begun += [b.send(first + a, first + c, size), b.recv(first + c, first + a)]
        for rank in range(8):
            b.wait(*(one for one in begun if one[0] == first + rank))


@pytest.mark.parametrize("seed", [50, 60, 64, 69, 79, 81])
def test_what_is_replayed_beside_changes_no_bit(seed: int) -> None:
    """Of messages that are through at the same time the lowest sender's is first, whatever was
    before: with the order that a heap happens to have, each of these seeds differs."""
    route = Route(latency_ns=1000, byte_ns=1, gap_ns=100, receive_ns=200, eager_bytes=0)

    def times(*firsts: int) -> list[float]:
        b = Builder(8 * len(firsts))
        for first in firsts:
            exchange(b, first, seed)
        replayer = Replayer(b.schedule())
        replayer.run(Network(route, route))
        found: list[float] = replayer.time_ns.tolist()
        return found

    alone = times(0)
    assert times(0, 8) == alone + alone
