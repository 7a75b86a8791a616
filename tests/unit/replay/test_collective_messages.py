"""Collectives as messages: as long as their rounds where nothing is shared, and longer where two
senders meet at one receiver."""

from __future__ import annotations

import numpy as np
import pytest
from building import Builder, networks, programs
from hypothesis import given, settings

from imbrex.replay.arrays import Algorithm, Kind
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.evaluate import Network, Replayer, Route

ALGORITHMS = sorted(set(Algorithm) - {Algorithm.DIRECT, Algorithm.NO_MESSAGES})
ROUTE = Route(byte_ns=2, eager_bytes=1 << 20)


def run_ns(b: Builder, route: Route, shared: bool, spread: bool = True) -> float:
    schedule = as_messages(b.schedule()) if spread else b.schedule()
    replayed = Replayer(schedule).run(Network(route, route), trace=True, shared=shared)
    assert replayed.path is not None
    assert float(replayed.path["ns"].sum()) == pytest.approx(replayed.run_ns, abs=1e-3)
    return replayed.run_ns


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_alone_on_the_links_they_take_their_rounds(algorithm: Algorithm, ranks: int) -> None:
    b = Builder(ranks)
    for rank in range(ranks):
        b.calc(rank, 100 * rank)
    b.meet(algorithm, 840 * ranks, root=1)
    for rank in range(ranks):
        b.calc(rank, 100 * (ranks - rank))
    route = Route(latency_ns=1000, byte_ns=2, send_ns=10, receive_ns=20, eager_bytes=1 << 20)
    there = run_ns(b, route, shared=False, spread=False)
    assert run_ns(b, route, shared=False) == pytest.approx(there, abs=2 * ranks)
    assert not len(as_messages(b.schedule()).meetings)


def test_a_late_rank_makes_senders_meet_at_one_receiver() -> None:
    """Three messages of 1000 ns each way; rank 0 comes 500 ns late.

    Its first message has half of its way left at 1000, when rank 2's second one, to the same
    receiver, and its own second one begin: all three go half as fast until 2000. Then rank 1 sends
    its second one, until 3000; alone it would have been 2500.
    """
    b = Builder(3)
    b.calc(0, 500)
    b.meet(Algorithm.PAIRWISE, 1500)
    assert run_ns(b, ROUTE, shared=True, spread=False) == pytest.approx(2500)
    assert run_ns(b, ROUTE, shared=True) == pytest.approx(3000, rel=1e-3)


def test_those_without_messages_and_those_of_neighbours_stay() -> None:
    b = Builder(4)
    b.meet(Algorithm.RECURSIVE_DOUBLING, 8)
    b.meet(Algorithm.PAIRWISE, 4 * 256)
    b.meet(Algorithm.DIRECT, 1 << 20)
    b.meet(Algorithm.DISSEMINATION, 0)
    b.meet(Algorithm.NO_MESSAGES, 0)
    schedule = as_messages(b.schedule())
    assert schedule.meetings["algorithm"].tolist() == [Algorithm.DIRECT, Algorithm.NO_MESSAGES]
    assert np.isin(schedule.operations["kind"], (Kind.SEND,)).sum() == 4 * (2 + 3 + 2)
    Replayer(schedule).run(Network(ROUTE, ROUTE))


@settings(max_examples=40, deadline=None)
@given(programs(), networks())
def test_any_program_comes_to_its_end(program: Builder, network: Network) -> None:
    schedule = program.schedule()
    spread = as_messages(schedule)
    assert spread.computation_ns() == pytest.approx(schedule.computation_ns())
    assert len(spread.site) == len(spread.operations)  # type: ignore[arg-type]
    Replayer(spread).run(network, trace=True)
