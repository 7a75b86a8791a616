"""Run time as a function of one parameter, on curves that are known."""

from __future__ import annotations

import pytest
from building import Builder

from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.parametric import Tangent, curve, of_latency, tolerance


def evaluate(at: float) -> Tangent:
    """max(10, x, 3 x - 20): it bends at 10, twice."""
    value, slope = max((10.0, 0.0), (at, 1.0), (3 * at - 20, 3.0))
    return Tangent(at, value, slope)


def test_tolerance_is_where_the_curve_has_grown_by_the_share() -> None:
    assert tolerance(evaluate, 0.0, 0.1, 1000.0) == pytest.approx((11 + 20) / 3)
    assert tolerance(evaluate, 20.0, 0.5, 1000.0) == pytest.approx((60 + 20) / 3)


def test_no_tolerance_where_the_most_is_not_enough() -> None:
    assert tolerance(evaluate, 0.0, 0.1, 10.0) is None


def test_a_curve_of_few_pieces_is_exact_after_few_passes() -> None:
    found = curve(evaluate, 0.0, 100.0)
    assert found.width_ns == 0 and found.passes <= 4
    for at in (0.0, 5.0, 10.0, 11.0, 50.0, 100.0):
        assert found.value(at) == pytest.approx(evaluate(at).run_ns)


def test_the_curve_of_two_chains() -> None:
    """Four messages one after the other beside 10,000 ns of work: it bends at 2,500 ns."""
    b = Builder(3)
    for _ in range(2):
        b.send(0, 1, 0)
        b.recv(1, 0, blocking=True)
        b.send(1, 0, 0)
        b.recv(0, 1, blocking=True)
    b.calc(2, 10_000)
    route = Route()
    found = curve(of_latency(Replayer(b.schedule()), Network(route, route)), 0.0, 10_000.0)
    assert found.passes <= 4
    assert [found.value(at) for at in (0.0, 2500.0, 2600.0, 10_000.0)] == pytest.approx(
        [10_000, 10_000, 10_400, 40_000]
    )
    assert [t.slope for t in found.tangents] == [0, 4]
