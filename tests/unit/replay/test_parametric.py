"""Run time as a function of one parameter, on curves that are known."""

from __future__ import annotations

import numpy as np
import pytest
from building import Builder

from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.parametric import Tangent, of_latency, tolerance


def evaluate(at: float) -> Tangent:
    """max(10, x, 3 x - 20): it bends at 10, twice."""
    value, slope = max((10.0, 0.0), (at, 1.0), (3 * at - 20, 3.0))
    return Tangent(at, value, slope)


def test_tolerance_is_where_the_curve_has_grown_by_the_share() -> None:
    assert tolerance(evaluate, 0.0, 0.1, 1000.0) == pytest.approx((11 + 20) / 3)
    assert tolerance(evaluate, 20.0, 0.5, 1000.0) == pytest.approx((60 + 20) / 3)


def test_no_tolerance_where_the_most_is_not_enough() -> None:
    assert tolerance(evaluate, 0.0, 0.1, 10.0) is None


def jumps(at: float) -> Tangent:
    """From 10 it rises to 20 at once, as where a message loses its place on a link; and falls a
    little at 30."""
    value, slope = (10.0, 0.0) if at <= 10 else (20.0 + at / 10, 0.1)
    return Tangent(at, value - (1.0 if at > 30 else 0.0), slope)


def test_tolerance_of_a_curve_that_is_not_convex() -> None:
    assert tolerance(jumps, 0.0, 0.05, 1000.0) == pytest.approx(10)
    assert tolerance(jumps, 0.0, 1.25, 1000.0) in (pytest.approx(25), pytest.approx(35))


def two_chains() -> Builder:
    """Four messages one after the other beside 10,000 ns of work: run time bends at 2,500 ns."""
    b = Builder(3)
    for _ in range(2):
        b.send(0, 1, 0)
        b.recv(1, 0, blocking=True)
        b.send(1, 0, 0)
        b.recv(0, 1, blocking=True)
    b.calc(2, 10_000)
    return b


def test_the_curve_of_two_chains() -> None:
    parameter = of_latency(Replayer(two_chains().schedule()), Network(Route(), Route()))
    found = parameter.curve((0.0, 2500.0, 2600.0, 10_000.0))
    assert found.run_ns.tolist() == [10_000, 10_000, 10_400, 40_000]
    assert [parameter(ns).slope for ns in (0.0, 2600.0)] == [0, 4]
    assert found.value(6300.0) == pytest.approx(25_200)


def test_a_thousand_points_are_exact_after_at_most_ten_passes() -> None:
    parameter = of_latency(Replayer(two_chains().schedule()), Network(Route(), Route()))
    found = parameter.curve(np.linspace(0.0, 10_000.0, 1000).tolist())
    assert found.passes <= 10
    assert found.run_ns.tolist() == pytest.approx([max(10_000.0, 4 * at) for at in found.at])
