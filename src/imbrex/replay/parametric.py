"""Run time as a function of one parameter of the network, with messages one after the other.

Run time is the length of the longest path. Each path is linear in latency and in the gap per byte,
so that run time is piecewise linear, and as long as messages keep their order on links convex (Shen
et al., "LLAMP", 2024, solve a linear program for it). A replay with its critical path gives value
and slope; a pass of the lanes (engine/lanes.h) gives the values at 1,024 points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.replay.arrays import FloatArray
from imbrex.replay.evaluate import Network, Replayer

_MOST_STEPS = 60
_EXACT = 1e-9


@dataclass(frozen=True)
class Tangent:
    """Run time at a value of the parameter (both ns), and how it grows with it."""

    at: float
    run_ns: float
    slope: float


@dataclass(frozen=True)
class Curve:
    """Run time at each of some points, ascending, as a replay at each of them finds it; `passes`
    through the schedule it took, in which parts of it count as such."""

    at: FloatArray
    run_ns: FloatArray
    passes: float

    def value(self, at: float) -> float:
        """At a point exactly; between two of them on the straight line."""
        return float(np.interp(at, self.at, self.run_ns))


Evaluate = Callable[[float], Tangent]


@dataclass(frozen=True)
class Parameter:
    """`change`: the network with a value of it, in ns; `counted`: what of the critical path says
    how often it stands on it."""

    replayer: Replayer
    change: Callable[[float], Network]
    counted: str

    def __call__(self, at: float) -> Tangent:
        done = self.replayer.run(self.change(at), trace=True, shared=False)
        return Tangent(at, done.run_ns, done.total(self.counted))

    def curve(self, points: Sequence[float]) -> Curve:
        at = np.unique(np.asarray(points, np.float64))
        run_ns, passes = self.replayer.run_ns_of([self.change(float(ns)) for ns in at])
        return Curve(at, run_ns, passes)


def of_latency(replayer: Replayer, network: Network) -> Parameter:
    """Run time by the latency between processes; within a node it stays what it is."""
    return Parameter(replayer, network.with_latency, "latencies")


def of_byte_time(replayer: Replayer, network: Network) -> Parameter:
    """Run time by the gap per byte."""
    return Parameter(replayer, network.with_byte_ns, "bytes")


def tolerance(evaluate: Evaluate, start: float, share: float, most: float) -> float | None:
    """The value of the parameter, from `start` on, at which run time is `share` (0.01: 1 %) more
    than at `start`; None where it is not even at `most`.

    Newton's steps from the right: as long as the curve is convex each tangent's root lies to the
    right of the curve's. Where messages change places on a link it may not be, and the interval
    that has the root is divided.
    """
    low = evaluate(start)
    wanted = low.run_ns * (1.0 + share)
    high = evaluate(most)
    if high.run_ns <= wanted:
        return None
    for _ in range(_MOST_STEPS):
        following = (low.at + high.at) / 2
        if high.slope > 0:
            root = high.at - (high.run_ns - wanted) / high.slope
            following = root if low.at < root < high.at else following
        if high.at - following <= _EXACT * max(high.at, 1.0):
            break
        now = evaluate(following)
        if abs(now.run_ns - wanted) <= _EXACT * wanted:
            return now.at
        if now.run_ns > wanted:
            high = now
        else:
            low = now
    return high.at
