"""What must hold for any program on any network, and a plain reference for the arithmetic."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imbrex.model.program import Collective, Program
from imbrex.model.solve import (
    equivalent_bandwidth,
    sufficient_cpu_speed,
    tolerated_latency,
)
from imbrex.network.envelope import UpperEnvelope
from imbrex.network.message import MODES, IndependentWork, Message
from imbrex.network.points import NetworkPoints

TIMES = st.floats(0, 1e-4)
PERIODS = st.floats(0, 1e-6)


@st.composite
def messages(draw: st.DrawFn, name: str = "m") -> Message:
    sent = draw(st.integers(1, 12))
    produced = sent + draw(st.integers(0, 5))
    consumed = sent + draw(st.integers(0, 5))
    pipelined = draw(st.booleans())
    known = draw(st.sampled_from([sent, sent, sent, sent - 1]))
    produced_at = draw(st.permutations(range(produced)))[:known]
    consumed_at = draw(st.permutations(range(consumed)))[:known]
    work = IndependentWork(after_produce_s=0.0 if pipelined else draw(TIMES))
    return Message(
        name=name,
        n_sent=sent,
        element_bytes=draw(st.sampled_from([1, 8, 1024])),
        count=draw(st.sampled_from([1.0, 3.0])),
        t_produce_s=draw(PERIODS),
        t_consume_s=draw(PERIODS),
        n_produced=produced,
        n_consumed=consumed,
        produced_at=np.array(produced_at, dtype=np.int64),
        consumed_at=np.array(consumed_at, dtype=np.int64),
        independent=work,
        overlappable=draw(st.sampled_from([True, True, True, False])),
        pipelined=pipelined,
        delay=draw(st.sampled_from(["message", "element"])),
        overhead_s=draw(st.sampled_from([None, 0.0, 1e-7])),
    )


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = draw(st.integers(1, 3))
    collectives = draw(
        st.lists(st.builds(Collective, st.just("c"), st.integers(2, 4096)), max_size=2)
    )
    return Program(
        "p",
        draw(st.floats(1e-6, 1e-2)),
        tuple(draw(messages(f"m{i}")) for i in range(count)),
        tuple(collectives),
    )


networks = st.builds(
    NetworkPoints,
    st.floats(1e-7, 1e-4),
    st.floats(1e-11, 1e-6),
    st.sampled_from([0.0, 1e-7, 1e-6]),
    st.sampled_from([0.0, 1e-7]),
)
speeds = st.floats(0.1, 10)


def reference_exposed_s(
    message: Message, mode: str, latency: float, gap: float, g: float, o: float, speed: float
) -> float:
    """The formulas of docs/theory/predict.md, element by element, in plain Python."""
    size = message.n_sent * message.element_bytes
    delay = latency + gap * size
    if mode == "none" or not message.overlappable:
        return delay
    work = message.independent.total_s / speed
    t_p, t_c = message.t_produce_s / speed, message.t_consume_s / speed
    known = min(message.n_sent, len(message.produced_at), len(message.consumed_at))
    exposed = max(delay - work, 0.0)
    if mode == "independent" or known == 0:
        return exposed
    whole = message.delay == "message"
    late = 0.0
    for k in range(message.n_sent):
        if k < known:
            arrival = delay if whole else latency + gap * message.element_bytes * (k + 1)
            late = max(late, arrival - work - t_c * int(message.consumed_at[k]))
        else:
            late = max(late, delay - work)
    exposed = min(exposed, late)
    if mode == "consumer" or known < message.n_sent:
        return exposed
    element = gap * message.element_bytes
    step = max(t_p, g)
    produced = [int(x) for x in message.produced_at]
    consumed = [int(x) for x in message.consumed_at]
    if message.pipelined:
        step = max(step, element)
        first = produced[consumed.index(min(consumed))]
        stall = max(
            step * max(p - first, 0) - t_c * c for p, c in zip(produced, consumed, strict=True)
        )
        late = latency + element * (first + 1) + max(stall, 0.0)
    else:
        step = step if whole else max(step, element)
        one = delay if whole else latency + element
        late = 0.0
        for p, c in zip(produced, consumed, strict=True):
            sent_before_the_end = t_p * (message.n_produced - 1) - step * p
            late = max(late, one - work - sent_before_the_end - t_c * c)
    overhead = o if message.overhead_s is None else message.overhead_s
    return min(exposed, late + message.n_sent * overhead)


@given(messages(), networks, speeds)
def test_vectorized_equals_the_plain_formulas(
    message: Message, network: NetworkPoints, speed: float
) -> None:
    points = NetworkPoints(
        np.array([network.latency_s, 2e-6]),
        np.array([network.gap_s_per_byte, 1e-9]),
        network.message_gap_s,
        network.overhead_s,
    )
    for mode in MODES:
        values = message.exposed_s(mode, points, speed)
        for i in range(2):
            expected = reference_exposed_s(
                message,
                mode,
                float(np.asarray(points.latency_s)[i]),
                float(np.asarray(points.gap_s_per_byte)[i]),
                float(network.message_gap_s),
                float(network.overhead_s),
                speed,
            )
            assert values[i] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@given(programs(), networks, speeds)
def test_no_mode_is_slower_than_the_one_before_and_none_beats_computation(
    program: Program, network: NetworkPoints, speed: float
) -> None:
    times = [float(program.normalized_time(mode, network, speed)) for mode in MODES]
    assert all(value >= 1 for value in times)
    for slower, faster in itertools.pairwise(times):
        assert faster <= slower * (1 + 1e-12)
    shares = program.shares(MODES[-1], network, speed)
    assert sum(float(value) for value in shares.values()) == pytest.approx(1)


@given(messages(), TIMES, st.sampled_from(MODES), networks)
def test_more_independent_work_never_lowers_potential_nor_raises_exposure(
    message: Message, more: float, mode: str, network: NetworkPoints
) -> None:
    work = replace(message.independent, rearrangement_s=message.independent.rearrangement_s + more)
    richer = replace(message, independent=work)
    gap = float(network.message_gap_s)
    assert np.all(richer.element_potential_s(mode, gap) >= message.element_potential_s(mode, gap))
    assert richer.potential_s(mode, gap) >= message.potential_s(mode, gap)
    assert float(richer.exposed_s(mode, network)) <= float(message.exposed_s(mode, network)) + 1e-18


@given(messages(), st.sampled_from([0.0, 1e-7, 1e-6]))
def test_potential_grows_with_the_mode(message: Message, gap: float) -> None:
    values = [
        message.element_potential_s(mode, gap) for mode in ("none", "independent", "consumer")
    ]
    for less, more in itertools.pairwise(values):
        assert np.all(more >= less)
    if not message.pipelined:
        fine = message.element_potential_s("fine-grained", gap)
        assert np.all(fine >= values[-1])


@given(messages(), networks)
def test_exposure_is_within_the_delay_and_enough_potential_hides_it(
    message: Message, network: NetworkPoints
) -> None:
    delay = float(message.delay_s(network))
    for mode in MODES:
        exposed = float(message.exposed_s(mode, network))
        assert 0 <= exposed <= delay * (1 + 1e-12)
    potential = message.potential_s("independent")
    assert float(message.exposed_s("independent", network)) == pytest.approx(
        max(delay - potential, 0), abs=1e-18
    )


@given(programs(), st.sampled_from(MODES), networks)
def test_time_grows_with_latency_gap_and_message_gap(
    program: Program, mode: str, network: NetworkPoints
) -> None:
    base = float(program.time_s(mode, network)) * (1 - 1e-12)
    for worse in (
        replace(network, latency_s=network.latency_s * 2),
        replace(network, gap_s_per_byte=network.gap_s_per_byte * 2),
        replace(network, message_gap_s=network.message_gap_s + 1e-6),
        replace(network, overhead_s=network.overhead_s + 1e-7),
    ):
        assert float(program.time_s(mode, worse)) >= base


@settings(max_examples=50, deadline=None)
@given(programs(), st.sampled_from(MODES[1:]), st.floats(1e-7, 1e-4), st.floats(1e7, 1e11))
def test_equivalent_bandwidth_gives_the_same_run_time(
    program: Program, mode: str, latency: float, bandwidth: float
) -> None:
    less = equivalent_bandwidth(program, mode, latency, bandwidth)
    assert 0 < less <= bandwidth * (1 + 1e-12)
    target = float(program.time_s("none", NetworkPoints(latency, 1 / bandwidth)))
    assert float(program.time_s(mode, NetworkPoints(latency, 1 / less))) == pytest.approx(
        target, rel=1e-9
    )
    slower = NetworkPoints(latency, 1.01 / less)
    assert float(program.time_s(mode, slower)) >= target * (1 - 1e-12)


@settings(max_examples=50, deadline=None)
@given(programs(), st.sampled_from(MODES), st.floats(1e7, 1e11), st.floats(0, 1))
def test_tolerated_latency_is_the_largest(
    program: Program, mode: str, bandwidth: float, slow_down: float
) -> None:
    limit = tolerated_latency(program, mode, bandwidth, slow_down)
    gap = 1 / bandwidth
    if limit is None:
        at_zero = float(program.normalized_time(mode, NetworkPoints(0.0, gap)))
        assert at_zero > 1 + slow_down
        return
    at = float(program.normalized_time(mode, NetworkPoints(limit, gap)))
    above_limit = float(program.normalized_time(mode, NetworkPoints(limit * 1.01 + 1e-9, gap)))
    assert at <= (1 + slow_down) * (1 + 1e-9) <= above_limit * (1 + 2e-9)
    without = tolerated_latency(program, "none", bandwidth, slow_down)
    assert without is None or without <= limit * (1 + 1e-9) + 1e-12


@settings(max_examples=50, deadline=None)
@given(programs(), st.sampled_from(MODES[1:]), networks)
def test_processors_up_to_the_limit_are_served(
    program: Program, mode: str, network: NetworkPoints
) -> None:
    limit = sufficient_cpu_speed(program, mode, network)
    if limit is None or limit == 0 or limit == float("inf"):
        return
    covered = program.covered(mode, float(network.message_gap_s))
    for message in covered:
        delay = float(message.delay_s(network))
        assert float(message.exposed_s(mode, network, limit)) <= delay * 1e-9
    faster = sum(float(m.exposed_s(mode, network, limit * 1.001)) for m in covered)
    assert faster > 0


@given(
    st.lists(st.tuples(st.integers(0, 50), st.floats(-10, 10)), min_size=1, max_size=40),
    st.lists(st.floats(0, 20), min_size=1, max_size=20),
)
def test_envelope_is_the_maximum_of_all_lines(
    lines: list[tuple[int, float]], arguments: list[float]
) -> None:
    slopes, intercepts = zip(*lines, strict=True)
    values = UpperEnvelope(slopes, intercepts)(arguments)
    for x, value in zip(arguments, values, strict=True):
        expected = max(m * x + b for m, b in lines)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_envelope_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        UpperEnvelope([], [])


def test_reversed_production_limits_fine_grained_sending() -> None:
    # P(i) = C(N - i - 1): the element needed first is produced last (section 3.1, worst case).
    n = 10
    forward = np.arange(n, dtype=np.int64)
    same = Message("m", n, 8, 1, 1e-6, 1e-6, n, n, forward, forward)
    worst = replace(same, produced_at=forward[::-1].copy())
    assert same.potential_s("fine-grained") == pytest.approx(9e-6)
    assert worst.potential_s("fine-grained") == 0
    network = NetworkPoints(4e-6, 1e-9)
    assert float(same.exposed_s("fine-grained", network)) == 0
    assert float(worst.exposed_s("fine-grained", network)) == pytest.approx(4e-6 + 8e-9)


def test_pipelined_with_the_first_needed_produced_last_gains_nothing() -> None:
    n = 10
    forward = np.arange(n, dtype=np.int64)
    good = Message("m", n, 8, 1, 1e-6, 2e-6, n, n, forward, forward, pipelined=True)
    bad = replace(good, produced_at=forward[::-1].copy())
    network = NetworkPoints(4e-6, 1e-9, 1e-6)
    assert float(good.exposed_s("fine-grained", network)) == pytest.approx(4e-6 + 8e-9)
    consumer = float(bad.exposed_s("consumer", network))
    assert float(bad.exposed_s("fine-grained", network)) == pytest.approx(consumer)
    assert good.starvation_ratio(1e-6) == 2
    assert good.starvation_ratio(4e-6) == 0.5
