"""Who shares a link with whom, worked out by hand: L = 1000 ns, G = 2 ns, o = 10 and 20 ns."""

from __future__ import annotations

import pytest
from building import Builder

from imbrex.replay.evaluate import Network, Replayer, Route

ROUTE = Route(latency_ns=1000, byte_ns=2, send_ns=10, receive_ns=20)
NETWORK = Network(ROUTE, ROUTE)


def ends(b: Builder) -> list[float]:
    return list(Replayer(b.schedule()).run(NETWORK).end_ns)


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
