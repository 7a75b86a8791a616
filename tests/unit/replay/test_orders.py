"""Lanes in which another message is first: each order is gone through until both are the same."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from building import Builder
from hypothesis import given, settings
from hypothesis import strategies as st

from imbrex.replay import evaluate
from imbrex.replay.arrays import Algorithm
from imbrex.replay.compiled import engine
from imbrex.replay.evaluate import Network, Replayer, Route

HELD = Route(
    latency_ns=1000,
    byte_ns=1,
    gap_ns=50,
    send_ns=10,
    receive_ns=20,
    eager_bytes=100,
    held_by_sender=True,
    held_by_receiver=True,
)
WORK_NS = 50_000, 200_000
MEETINGS = (Algorithm.TREE_UP_DOWN, Algorithm.DISSEMINATION, Algorithm.PAIRWISE)


def waits_for_any(
    ranks: int,
    rounds: int,
    seed: int = 0,
    size: int = 160_000,
    meets: float = 0.0,
    a_call: int = 1,
) -> Builder:
    """All send to all, and take so many at once, in another order each time, as they came; large
    messages move in calls alone, so that all ranks wait. Some rounds end in a collective, or a
    smaller message is sent behind a large one."""
    b = Builder(ranks, nodes=[rank // 2 for rank in range(ranks)])
    draw = Random(seed)
    for _ in range(rounds):
        for rank in range(ranks):
            b.calc(rank, draw.randrange(*WORK_NS))
        pairs = [(a, c) for a in range(ranks) for c in range(ranks) if a != c]
        receives = {pair: b.recv(*pair) for pair in pairs}
        sends = {pair: b.send(*pair, size if draw.random() > meets else 60) for pair in pairs}
        for rank in range(ranks):
            own = [pair for pair in pairs if pair[0] == rank]
            came = draw.sample(own, len(own))
            for k in range(0, len(came), a_call):
                b.wait(*(receives[pair] for pair in came[k : k + a_call]))
            b.wait(*(sends[pair] for pair in own))
        if draw.random() < meets:
            b.meet(draw.choice(MEETINGS), draw.choice((0, 8, 5000)))
    return b


def one_by_one(replayer: Replayer, over: list[Network]) -> list[float]:
    return [replayer.run(network, shared=False).run_ns for network in over]


def by_latency(top_ns: float, points: int = 1000) -> list[Network]:
    network = Network(HELD, HELD)
    return [network.with_latency(float(ns)) for ns in np.linspace(0, top_ns, points)]


def test_orders_that_are_the_same_again_are_gone_through_once() -> None:
    replayer = Replayer(waits_for_any(4, 100).schedule())
    over = by_latency(100_000)
    found, passes = replayer.run_ns_of(over)
    assert found.tolist() == one_by_one(replayer, over)
    # Some of the curve's pieces fall off against the one before: orders are other ones there.
    slopes = np.diff(found) / 100.1
    assert (np.diff(slopes) < -1e-6).any()
    assert (np.abs(np.diff(slopes)) > 1e-6).sum() > 10
    assert 1 < passes < 2


def test_a_call_that_takes_several_is_entered_once_in_each_order() -> None:
    replayer = Replayer(waits_for_any(5, 30, a_call=2).schedule())
    over = by_latency(100_000, 250)
    found, passes = replayer.run_ns_of(over)
    assert found.tolist() == one_by_one(replayer, over)
    assert passes > 1


@pytest.mark.parametrize(
    ("ranks", "rounds", "networks", "top_ns", "by_themselves"),
    [(9, 4, 1000, 300_000, False), (10, 5, 100, 300_000, True)],
)
def test_too_many_orders_are_gone_through_later(
    ranks: int,
    rounds: int,
    networks: int,
    top_ns: int,
    by_themselves: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In another pass; where hardly two networks have the same order, each in one of its own."""
    replayer = Replayer(waits_for_any(ranks, rounds).schedule())
    draw = Random(1)
    over = [
        Network(HELD, HELD).with_latency(draw.uniform(0, top_ns)).with_byte_ns(draw.uniform(0.2, 3))
        for _ in range(networks)
    ]
    expected, wide, alone = one_by_one(replayer, over), [], []
    run = replayer.run

    def counted_run(*given: object, **named: object) -> object:
        alone.append(1)
        return run(*given, **named)  # type: ignore[arg-type]

    def counted_engine() -> object:
        wide.append(1)
        return engine()

    monkeypatch.setattr(evaluate, "engine", counted_engine)
    monkeypatch.setattr(replayer, "run", counted_run)
    found, passes = replayer.run_ns_of(over)
    assert found.tolist() == expected
    assert bool(alone) == by_themselves
    assert len(wide) - len(alone) == (1 if by_themselves else 2)
    assert len(alone) < passes < networks + 20


def test_what_is_past_in_all_orders_is_compared_no_more() -> None:
    """Orders that are never all the same again; what each has changed would grow with the run."""
    network = Network(HELD, HELD)
    found = []
    for rounds in (20, 40):
        replayer = Replayer(waits_for_any(8, rounds).schedule())
        over = [network.with_latency(float(ns)) for ns in np.linspace(0, 100_000, 200)]
        run_ns, passes = replayer.run_ns_of(over)
        assert run_ns.tolist() == one_by_one(replayer, over)
        found.append(passes)
    assert found[0] > 5
    assert found[1] > 5


def test_what_several_orders_wait_for_needs_more_rows() -> None:
    # More messages are under way than rows are made at first.
    replayer = Replayer(waits_for_any(8, 1).schedule())
    rounds = Replayer(waits_for_any(17, 1).schedule())
    for each in (replayer, rounds):
        over = by_latency(2_000, 20)
        found, passes = each.run_ns_of(over)
        assert found.tolist() == one_by_one(each, over)
        assert passes < 20


@settings(deadline=None, max_examples=60)
@given(
    ranks=st.integers(3, 5),
    rounds=st.integers(1, 6),
    seed=st.integers(0, 1 << 30),
    size=st.sampled_from([101, 5000, 160_000]),
    meets=st.sampled_from([0.0, 0.3]),
    held=st.sampled_from([(True, True), (True, False), (False, True), (False, False)]),
    top_ns=st.sampled_from([1_000, 30_000, 300_000]),
    a_call=st.integers(1, 3),
)
def test_each_lane_is_a_replay_whatever_comes_first(
    ranks: int,
    rounds: int,
    seed: int,
    size: int,
    meets: float,
    held: tuple[bool, bool],
    top_ns: int,
    a_call: int,
) -> None:
    replayer = Replayer(waits_for_any(ranks, rounds, seed, size, meets, a_call).schedule())
    route = replace(HELD, held_by_sender=held[0], held_by_receiver=held[1])
    network = Network(replace(route, latency_ns=300, byte_ns=0.5), route)
    over = [network.with_latency(float(ns)) for ns in np.linspace(0, top_ns, 150)]
    over += [network.with_byte_ns(float(ns)) for ns in np.linspace(0, 3, 50)]
    found, passes = replayer.run_ns_of(over)
    assert found.tolist() == one_by_one(replayer, over)
    assert 1 <= passes <= len(over)
