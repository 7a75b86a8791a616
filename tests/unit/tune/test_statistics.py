"""The interval on a ratio: by hand, and by simulation of pairs whose truth is known.

The simulations look after each pair and stop as a trial does, which is where an ordinary interval
fails: that it does is a test too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from imbrex.tune.statistics import (
    LEAST_PAIRS,
    Answer,
    Ratio,
    deviation_of,
    half_width,
    pairs_needed,
    ratio,
)

Noise = Callable[[np.random.Generator, int], NDArray[np.float64]]
TRIALS, MOST = 300, 30


def _autocorrelated(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """What one run suffers the next one suffers mostly too."""
    values = rng.normal(0, 0.02, n)
    for i in range(1, n):
        values[i] += 0.9 * values[i - 1]
    return values


def _drift(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """A machine that becomes slower all the time."""
    return rng.normal(0, 0.01, n) + 0.004 * np.arange(n)


NOISE: dict[str, Noise] = {
    "normal": lambda rng, n: rng.normal(0, 0.02, n),
    "log-normal": lambda rng, n: 0.02 * rng.lognormal(0, 1, n),
    "exponential": lambda rng, n: rng.exponential(0.03, n),
    "spikes": lambda rng, n: rng.normal(0, 0.005, n) + (rng.random(n) < 0.1) * rng.exponential(0.3),
    "heavy tails": lambda rng, n: 0.01 * rng.pareto(1.5, n),
    "autocorrelated": _autocorrelated,
    "drift": _drift,
}
"""Relative times of runs above their least, in the order in which they run."""

Look = Callable[[list[float]], Ratio]


def trials(noise: Noise, truth: float, look: Look = ratio) -> Iterator[Ratio]:
    """Trials whose B takes `truth` times A: what each says when it stops."""
    rng = np.random.default_rng(20261123)
    for _ in range(TRIALS):
        times = np.log1p(np.maximum(noise(rng, 2 * MOST), -0.5))
        found = ratio([])
        pairs: list[float] = []
        while len(pairs) < MOST and not found.enough():
            at = 2 * len(pairs)
            first, second = times[at], times[at + 1]
            a, b = (first, second) if len(pairs) % 2 == 0 else (second, first)
            pairs.append(math.log(truth) + float(b - a))
            found = look(pairs)
        yield found


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("truth", [1.0, 0.95])
def test_the_interval_holds_the_truth_whenever_one_stops(name: str, truth: float) -> None:
    missed = sum(not found.low <= truth <= found.high for found in trials(NOISE[name], truth))
    assert missed <= 0.05 * TRIALS


@pytest.mark.parametrize("name", NOISE)
def test_equal_lines_are_hardly_ever_called_faster(name: str) -> None:
    wrong = sum(found.answer() is Answer.FASTER for found in trials(NOISE[name], 1.0))
    assert wrong <= 0.02 * TRIALS


def _ordinary(pairs: list[float]) -> Ratio:
    """An interval with 95 % for one look alone (Student's t, normal noise)."""
    t = [math.inf, math.inf, 12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
    n, mean = len(pairs), sum(pairs) / len(pairs)
    half = (t[n] if n < len(t) else 2.1) * deviation_of(pairs) / math.sqrt(n)
    if n < LEAST_PAIRS:
        return ratio([])
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), n)


def test_the_simulation_sees_an_interval_that_looking_often_breaks() -> None:
    class Eager(Ratio):
        def enough(self, worth: float = 0.01) -> bool:
            return self.answer(worth) is not Answer.OPEN

    def look(pairs: list[float]) -> Ratio:
        found = _ordinary(pairs)
        return Eager(found.estimate, found.low, found.high, found.pairs)

    found = list(trials(NOISE["normal"], 1.0, look))
    assert sum(not r.low <= 1 <= r.high for r in found) > 0.1 * TRIALS


@pytest.mark.parametrize("name", ["normal", "exponential", "autocorrelated", "drift"])
def test_a_real_gain_is_found(name: str) -> None:
    found = list(trials(NOISE[name], 0.93))
    assert sum(r.answer() is Answer.FASTER for r in found) >= 0.95 * TRIALS


def test_a_large_gain_takes_few_pairs() -> None:
    found = list(trials(lambda rng, n: rng.normal(0, 0.01, n), 0.88))
    assert np.median([r.pairs for r in found]) <= 6
    assert all(r.answer() is Answer.FASTER for r in found)


def test_by_hand() -> None:
    # n = 4, G = 41, (20 sqrt(41))^(1/2) = 11.3163; t² = 3 * 10.3163 / (1 - 0.276007) = 42.7476
    assert half_width(4, 1.0) == pytest.approx(math.sqrt(42.7476 / 4), rel=1e-4)
    assert math.isinf(half_width(2, 1.0))
    found = ratio([math.log(0.9), math.log(0.9), math.log(0.9), math.log(0.9)])
    assert found.estimate == pytest.approx(0.9)
    assert found.gain == pytest.approx((0.1, 0.1), abs=1e-5)
    assert found.answer() is Answer.FASTER
    assert found.enough()


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (0.8, 0.9, Answer.FASTER),
        (1.1, 1.2, Answer.SLOWER),
        (0.995, 1.005, Answer.SAME),
        (0.98, 1.005, Answer.OPEN),
        (0.0, math.inf, Answer.OPEN),
    ],
)
def test_answers(low: float, high: float, answer: Answer) -> None:
    assert Ratio((low + min(high, 2)) / 2, low, high, 5).answer() is answer


def test_a_proven_gain_is_narrowed_down() -> None:
    assert not Ratio(0.9, 0.85, 0.95, 4).enough()
    assert Ratio(0.9, 0.88, 0.92, 6).enough()
    assert Ratio(0.98, 0.976, 0.984, 6).enough()


@given(st.floats(1e-4, 0.5), st.floats(1e-3, 0.5))
def test_pairs_needed_are_the_fewest(deviation: float, width: float) -> None:
    needed = pairs_needed(deviation, width, 2000)
    if needed is None:
        assert half_width(2000, deviation) > width
        return
    assert half_width(needed, deviation) <= width
    assert needed == LEAST_PAIRS or half_width(needed - 1, deviation) > width


@given(st.lists(st.floats(-0.3, 0.3), max_size=40))
def test_exchanging_the_lines_mirrors_the_answer(pairs: list[float]) -> None:
    one, other = ratio(pairs), ratio([-value for value in pairs])
    if math.isfinite(one.high):
        assert one.low == pytest.approx(1 / other.high)
        assert one.high == pytest.approx(1 / other.low)
    assert one.low <= one.estimate <= one.high
