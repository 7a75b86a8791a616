"""Run time as a function of one parameter of the network, exactly.

With messages one after the other run time is the length of the longest path. Each path is linear in
latency and in the gap per byte, so that run time is piecewise linear and convex (Shen et al.,
"LLAMP", 2024, solve a linear program for it). One replay gives value and slope, and two tangents
that meet on the curve are the curve between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from imbrex.replay.evaluate import Network, Replayer

_MOST_PASSES = 40
_EXACT = 1e-9


@dataclass(frozen=True)
class Tangent:
    """Run time at a value of the parameter (both ns), and how it grows with it."""

    at: float
    run_ns: float
    slope: float

    def value(self, at: float) -> float:
        return self.run_ns + self.slope * (at - self.at)


@dataclass(frozen=True)
class Curve:
    """Tangents from left to right, whose upper envelope is the curve; `passes` replays it took.
    `width_ns`: how far, at most, the curve lies above the envelope; 0: nowhere."""

    tangents: tuple[Tangent, ...]
    passes: int
    width_ns: float

    def value(self, at: float) -> float:
        return max(t.value(at) for t in self.tangents)


Evaluate = Callable[[float], Tangent]


def of_latency(replayer: Replayer, network: Network) -> Evaluate:
    """Run time by the latency between processes; within a node it stays what it is."""

    def evaluate(latency_ns: float) -> Tangent:
        changed = network.with_latency(latency_ns)
        done = replayer.run(changed, trace=True, shared=False)
        return Tangent(latency_ns, done.run_ns, done.total("latencies"))

    return evaluate


def of_byte_time(replayer: Replayer, network: Network) -> Evaluate:
    """Run time by the gap per byte."""

    def evaluate(byte_ns: float) -> Tangent:
        done = replayer.run(network.with_byte_ns(byte_ns), trace=True, shared=False)
        return Tangent(byte_ns, done.run_ns, done.total("bytes"))

    return evaluate


def curve(evaluate: Evaluate, low: float, high: float, most_passes: int = _MOST_PASSES) -> Curve:
    """The curve from `low` to `high`."""
    found = [evaluate(low), evaluate(high)]
    passes, open_ones = 2, [(found[0], found[1])]
    width = 0.0
    while open_ones and passes < most_passes:
        left, right = open_ones.pop(0)
        meet = _meet(left, right)
        if meet is None:
            continue
        passes += 1
        middle = evaluate(meet)
        if middle.run_ns - left.value(meet) <= _EXACT * max(middle.run_ns, 1.0):
            continue
        found.append(middle)
        open_ones += [(left, middle), (middle, right)]
    for left, right in open_ones:
        meet = _meet(left, right)
        if meet is not None:
            # The curve is convex: it lies below the chord.
            share = (meet - left.at) / (right.at - left.at)
            chord = left.run_ns + share * (right.run_ns - left.run_ns)
            width = max(width, chord - left.value(meet))
    return Curve(tuple(sorted(found, key=lambda t: t.at)), passes, width)


def _meet(left: Tangent, right: Tangent) -> float | None:
    """Where two tangents meet; None where they are one line."""
    if right.slope - left.slope <= _EXACT * max(abs(right.slope), 1.0):
        return None
    at = (left.value(0.0) - right.value(0.0)) / (right.slope - left.slope)
    return at if left.at < at < right.at else None


def tolerance(evaluate: Evaluate, start: float, share: float, most: float) -> float | None:
    """The value of the parameter, from `start` on, at which run time is `share` (0.01: 1 %) more
    than at `start`; None where it is not even at `most`.

    Newton's steps from the right: each tangent's root lies to the right of the curve's.
    """
    base = evaluate(start)
    wanted = base.run_ns * (1.0 + share)
    at = evaluate(most)
    if at.run_ns <= wanted:
        return None
    for _ in range(_MOST_PASSES):
        if at.slope <= 0:
            break
        following = at.at - (at.run_ns - wanted) / at.slope
        if following <= start or at.at - following <= 1e-9 * max(at.at, 1.0):
            return max(following, start)
        at = evaluate(following)
    return at.at
