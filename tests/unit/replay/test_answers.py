"""Large messages on connections that keep their order, worked out by hand: L = 1000 ns, G = 2 ns,
o = 10 and 20 ns; 40,000 bytes are 80,000 ns of the link."""

from __future__ import annotations

from dataclasses import replace

import pytest
from building import Builder, networks, programs
from hypothesis import given, settings
from hypothesis import strategies as st

from imbrex.replay.evaluate import Network, Replayer, Route

LARGE = 40_000
ROUTE = Route(
    latency_ns=1000, byte_ns=2, send_ns=10, receive_ns=20, eager_bytes=100,
    held_by_sender=True, held_by_receiver=True, kept_bytes=float("inf"),
)  # fmt: skip
KEPT = Network(ROUTE, ROUTE)


def ends(b: Builder, network: Network = KEPT) -> list[float]:
    """Of each rank; the critical path is as long as the run."""
    replayed = Replayer(b.schedule()).run(network, trace=True)
    assert replayed.path is not None
    assert replayed.path["ns"].sum() == pytest.approx(replayed.run_ns)
    return list(replayed.end_ns)


def read_before(receive_first: bool = True) -> Builder:
    """Rank 1 waits for rank 2, until 3,230, and so reads what rank 0 announces; then it posts its
    receive and sends, and computes until 23,240; rank 0 until 50,010."""
    b = Builder(3)
    begun = b.recv(0, 1), b.send(0, 1, LARGE)
    b.calc(0, 50_000)
    b.wait(*begun)
    b.recv(1, 2, blocking=True)
    if receive_first:
        begun = b.recv(1, 0), b.send(1, 0, LARGE)
    else:
        sent = b.send(1, 0, LARGE)
        begun = b.recv(1, 0), sent
    b.calc(1, 20_000)
    b.wait(*begun)
    b.calc(2, 2000)
    b.send(2, 1, 100, blocking=True)
    return b


def test_who_meets_in_a_call_exchanges_both_ways_together() -> None:
    b = Builder(2)
    for rank, work in ((0, 10_000), (1, 12_000)):
        begun = b.recv(rank, 1 - rank), b.send(rank, 1 - rank, LARGE)
        b.calc(rank, work)
        b.wait(*begun)
    # Rank 1 comes last, at 12,010: it answers and finds the answer.
    both = 12_010 + 80_000 + 1000 + 20
    assert ends(b) == [both, both]


def test_an_answer_waits_behind_the_message_that_was_begun_before_it() -> None:
    # Rank 0 finds first the answer, which was given as the receive was posted, and begins its
    # message; only then the announcement, whose answer arrives with the message's end.
    there = 50_010 + 80_000 + 1000
    back = there + 80_000 + 1000
    # Rank 1 hands its message over and goes on.
    assert ends(read_before()) == [back + 20, there + 20, 2010]


def test_an_answer_that_is_sent_before_the_announcement_waits_for_nothing() -> None:
    both = 50_010 + 80_000 + 1000 + 20
    assert ends(read_before(receive_first=False)) == [both, both, 2010]


@pytest.mark.parametrize("kept_bytes", [0.0, LARGE - 1.0])
def test_messages_that_no_buffer_takes_stay_with_their_sender(kept_bytes: float) -> None:
    route = replace(ROUTE, kept_bytes=kept_bytes)
    both = 50_010 + 80_000 + 1000 + 20
    assert ends(read_before(), Network(route, route)) == [both, both, 2010]


@pytest.mark.parametrize("in_turns", [False, True])
def test_an_exchange_in_step_falls_out_of_step_by_a_little(in_turns: bool) -> None:
    b = Builder(2)
    for _ in range(2):
        for rank in range(2):
            begun = b.recv(rank, 1 - rank), b.send(rank, 1 - rank, LARGE)
            b.calc(rank, 100_000)
            b.wait(*begun)
    # The first exchange ends at 181,030. In the second rank 1 is still inside when rank 0, a little
    # ahead, announces: it answers as it posts, and rank 0's message goes first.
    second = 181_030 + 10 + 100_000 + 80_000 + 1000
    turn = second + 80_000 + 1000
    found = ends(b, replace(KEPT, in_turns=in_turns))
    assert found == ([turn + 20, second + 20] if in_turns else [second + 20, second + 20])


@settings(max_examples=150, deadline=None)
@given(programs(), networks(), st.sampled_from([100.0, 5000.0, float("inf")]), st.booleans())
def test_no_program_waits_for_ever_and_paths_are_as_long_as_runs(
    program: Builder, network: Network, kept_bytes: float, in_turns: bool
) -> None:
    route = replace(network.between, held_by_sender=True, held_by_receiver=True)
    route = replace(route, kept_bytes=kept_bytes)
    ends(program, Network(route, route, in_turns=in_turns))
