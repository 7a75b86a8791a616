"""The compiled engine: known answers worked out by hand, and agreement with the plain reference."""

from __future__ import annotations

from dataclasses import replace

import pytest
import reference
from building import Builder, networks, programs
from hypothesis import given, settings

from imbrex.errors import ImbrexError
from imbrex.replay.arrays import Algorithm
from imbrex.replay.evaluate import IDEAL, PARTS, Network, Replayer, Route, run_ns

ROUTE = Route(latency_ns=1000, byte_ns=2, gap_ns=50, send_ns=10, receive_ns=20, eager_bytes=100)
NETWORK = Network(ROUTE, ROUTE)


def test_an_eager_message_takes_o_l_g_and_o() -> None:
    b = Builder(2)
    b.calc(0, 500)
    b.send(0, 1, 30, blocking=True)
    b.recv(1, 0, blocking=True)
    ends = Replayer(b.schedule()).run(NETWORK, shared=False).end_ns
    # The sender goes on at once; 500 + 10 + 1000 + 2 * 30 + 20.
    assert ends.tolist() == [510, 1590]


def test_a_large_message_starts_when_its_receive_is_posted() -> None:
    b = Builder(2)
    b.send(0, 1, 200, blocking=True)
    b.calc(1, 3000)
    b.recv(1, 0, blocking=True)
    ends = Replayer(b.schedule()).run(NETWORK, shared=False).end_ns
    assert ends.tolist() == [3000 + 1000 + 400, 3000 + 1000 + 400 + 20]


def test_messages_follow_each_other_on_the_link() -> None:
    b = Builder(3)
    b.send(0, 1, 40)
    b.send(0, 2, 40)
    b.send(0, 1, 5)
    for peer, count in ((1, 2), (2, 1)):
        for _ in range(count):
            b.recv(peer, 0, blocking=True)
    ends = Replayer(b.schedule()).run(NETWORK, shared=False).end_ns
    # They go on the link at 10, and a gap of 50 and 80 for the bytes later, at 140 and 270.
    assert ends.tolist() == [30, 270 + 1000 + 10 + 20, 140 + 1000 + 80 + 20]


def test_messages_that_are_under_way_together_share_the_link() -> None:
    b = Builder(3)
    b.send(0, 1, 40)
    b.calc(0, 30)
    b.send(0, 2, 40)
    for peer in (1, 2):
        b.recv(peer, 0, blocking=True)
    ends = Replayer(b.schedule()).run(NETWORK).end_ns
    # 130 of the link each, the gap last, from 10 and from 50: alone to 50, together to 230, alone
    # to 270.
    assert ends.tolist() == pytest.approx([50, 180 + 1000 + 20, 220 + 1000 + 20])
    b.send(0, 1, 40)
    b.recv(1, 0, blocking=True)
    ends = Replayer(b.schedule()).run(NETWORK).end_ns
    # One more to rank 1 from 60 goes behind the first: together to 230 and to 310, alone to 400.
    assert ends.tolist() == pytest.approx([60, 350 + 1000 + 20, 260 + 1000 + 20])


def test_nothing_waits_on_the_link_for_a_message_that_starts_later() -> None:
    b = Builder(3)
    first, second = b.send(0, 1, 200), b.send(0, 2, 200)
    b.wait(first, second)
    b.calc(1, 50_000)
    b.recv(1, 0, blocking=True)
    b.recv(2, 0, blocking=True)
    ends = Replayer(b.schedule()).run(NETWORK, shared=False).end_ns
    assert ends[2] == 20 + 1000 + 400 + 20
    assert ends[1] == 50_000 + 1000 + 400 + 20


def test_a_receive_that_needs_a_later_message_of_the_same_sender_is_no_deadlock() -> None:
    b = Builder(2)
    large, small = b.send(0, 1, 200), b.send(0, 1, 8)
    b.wait(large, small)
    posted = b.recv(1, 0)
    b.recv(1, 0, blocking=True)
    b.wait(posted)
    assert run_ns(b.schedule(), NETWORK) > 0
    b = Builder(3)
    large = b.send(0, 1, 200)
    b.send(0, 2, 200, blocking=True)
    b.wait(large)
    b.recv(2, 0, blocking=True)
    b.send(2, 1, 8)
    b.recv(1, 2, blocking=True)
    b.recv(1, 0, blocking=True)
    # The second of rank 0 goes first, because the first is awaited only after it.
    ends = Replayer(b.schedule()).run(NETWORK, shared=False).end_ns
    second = 20 + 1000 + 400
    asked = second + 20 + 10 + 1000 + 16 + 20
    assert ends.tolist() == [asked + 1400, asked + 1420, second + 20 + 10]


def test_without_progress_large_messages_move_in_calls_alone() -> None:
    def ring(progress: str) -> list[float]:
        b = Builder(2)
        for rank in range(2):
            begun = b.recv(rank, 1 - rank), b.send(rank, 1 - rank, 1000)
            b.calc(rank, 10_000)
            b.wait(*begun)
        return (
            Replayer(b.schedule()).run(NETWORK.progressing(progress), shared=False).end_ns.tolist()
        )

    # With progress all of it moves beside the work; without, all of it after.
    assert ring("ideal") == [10_030, 10_030]
    assert ring("none") == [10_010 + 3000 + 20] * 2


def test_a_blocking_call_moves_what_else_is_open() -> None:
    b = Builder(2)
    large = b.send(0, 1, 1000)
    b.recv(0, 1, blocking=True)
    b.wait(large)
    b.recv(1, 0, blocking=True)
    b.send(1, 0, 8)
    # Rank 0 is in a call, waiting for the answer to what it sends.
    ends = Replayer(b.schedule()).run(NETWORK.progressing("none"), shared=False).end_ns
    assert ends.tolist() == [3010 + 20 + 10 + 1000 + 16 + 20, 3010 + 20 + 10]


def test_to_oneself_no_network_is_needed() -> None:
    b = Builder(1)
    begun = b.recv(0, 0), b.send(0, 0, 1 << 20)
    b.calc(0, 77)
    b.wait(*begun)
    assert run_ns(b.schedule(), NETWORK) == 77


def test_a_barrier_waits_for_the_last_and_takes_its_rounds() -> None:
    b = Builder(4)
    b.calc(2, 900)
    b.meet(Algorithm.DISSEMINATION)
    ends = Replayer(b.schedule()).run(NETWORK, shared=False).end_ns
    # Rank 2 tells 3, and 3 tells 1: o + L + o each. What the others need is under way before.
    late = 900 + 10 + 1000 + 20
    assert ends.tolist() == [2060, late + 10 + 1000 + 20, 2060, 2060]


def test_who_waits_for_ever_is_named() -> None:
    b = Builder(2)
    for rank in range(2):
        b.send(rank, 1 - rank, 1000, blocking=True)
        b.recv(rank, 1 - rank, blocking=True)
    with pytest.raises(ImbrexError, match=r"rank 0 waits for ever in operation 1, a send \(rank 1"):
        run_ns(b.schedule(), NETWORK)


def test_a_held_message_that_nobody_awaits_leads_to_the_end_of_its_sender() -> None:
    """Rank 1 never awaits its message, which moves when it ends: rank 2, for which it waits in its
    last call, is what all took so long for."""
    route = replace(ROUTE, held_by_sender=True)
    b = Builder(3)
    b.recv(0, 1, blocking=True)
    b.send(1, 0, 200)
    b.recv(1, 2, blocking=True)
    b.calc(2, 5000)
    b.send(2, 1, 10, blocking=True)
    found = Replayer(b.schedule()).run(Network(route, route), trace=True, shared=False)
    last = 5000 + 10 + 1000 + 20 + 20
    assert found.end_ns.tolist() == [last + 1000 + 400 + 20, last, 5010]
    assert found.path is not None
    computation = PARTS.index("computation")
    assert found.path["ns"][:, computation].sum() == 5000
    assert found.path["ns"].sum() == found.run_ns


@settings(max_examples=100, deadline=None)
@given(programs(), networks())
def test_engine_and_reference_agree(program: Builder, network: Network) -> None:
    schedule = program.schedule()
    traced = Replayer(schedule).run(network, trace=True, shared=False)
    assert traced.end_ns.tolist() == pytest.approx(reference.Reference(schedule, network).run())
    # The critical path is as long as the run.
    assert traced.path is not None
    assert float(traced.path["ns"].sum()) == pytest.approx(traced.run_ns, abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(programs(), networks())
def test_nothing_is_faster_than_its_longest_computation(program: Builder, network: Network) -> None:
    schedule = program.schedule()
    longest = float(schedule.computation_ns().max(initial=0))
    assert run_ns(schedule, IDEAL) >= longest - 1e-6
    path = Replayer(schedule).run(IDEAL, trace=True).path
    assert path is not None
    assert float(path["ns"][:, PARTS.index("latency")].sum()) == 0


@settings(max_examples=30, deadline=None)
@given(programs(), networks())
def test_longer_computation_is_all_else_shorter(program: Builder, network: Network) -> None:
    schedule = program.schedule()
    shorter = 2 * run_ns(schedule, network.faster(2))
    schedule.operations["calc_ns"] *= 2
    assert shorter == pytest.approx(run_ns(schedule, network), rel=1e-3)


@settings(max_examples=30, deadline=None)
@given(programs(), networks())
def test_longer_computation_takes_longer_where_no_message_waits_for_a_link(
    program: Builder, network: Network
) -> None:
    """Where messages share links, it may let them pass one after the other, and end earlier."""

    def without_links(route: Route) -> Route:
        return replace(route, byte_ns=0, gap_ns=0)

    network = replace(
        network, within=without_links(network.within), between=without_links(network.between)
    )
    schedule = program.schedule()
    before = run_ns(schedule, network)
    schedule.operations["calc_ns"] *= 2
    assert run_ns(schedule, network) >= before * (1 - 1e-6)


def test_sizes_whose_time_is_measured_take_it() -> None:
    # As 5, 50 and 1000 bytes of 2 ns; between two sizes on a line, which goes on beyond the last:
    # 1000 + 1800 · 950 / 900 bytes.
    sizes = ((10.0, 5.0), (100.0, 50.0), (1000.0, 1000.0))
    route = Route(latency_ns=100, byte_ns=2, gap_ns=7, sizes=sizes)
    for size, moves in ((4, 4), (10, 10), (55, 55), (550, 1050), (1000, 2000), (2800, 5800)):
        b = Builder(2)
        b.send(0, 1, size, blocking=True)
        b.send(0, 1, size, blocking=True)
        for _ in range(2):
            b.recv(1, 0, blocking=True)
        replayer = Replayer(b.schedule())
        for shared in (False, True):
            replayed = replayer.run(Network(route, route), trace=True, shared=shared)
            assert replayed.run_ns == pytest.approx(100 + 7 + 2 * moves)
            assert replayed.path is not None
            assert replayed.path["ns"].sum() == pytest.approx(replayed.run_ns)
    assert Replayer(b.schedule()).run(Network(route, route).faster(2)).run_ns == pytest.approx(
        5853.5
    )
