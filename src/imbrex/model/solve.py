"""What a network may be like for a given run time: bandwidth, latency, processor speed.

Run time never falls when latency, gap per byte or processor speed (relative to the network)
grow, so each limit is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from imbrex.model.program import Program
from imbrex.network.points import NetworkPoints

# Run times are sums of a few terms: beyond this, a difference is rounding.
_TOLERANCE = 1e-12


def _largest(holds: Callable[[float], bool], start: float, limit: float) -> float:
    """The largest x <= limit for which `holds` (true below it, false above), given holds(start)."""
    if not 0 < start <= limit:
        raise ValueError(f"the search cannot start at {start}")
    low, high = start, start
    while holds(high):
        low = high
        if high >= limit:
            return float("inf")
        high = min(high * 4.0, limit)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def equivalent_bandwidth(
    program: Program,
    mode: str,
    latency_s: float,
    bandwidth_bytes_per_s: float,
    message_gap_s: float = 0.0,
    cpu_speed: float = 1.0,
) -> float:
    """The least bandwidth (bytes/s) that with overlap gives the run time at the given one without.

    Same latency (figure 9). 0 if the program would be as fast on any bandwidth.
    """
    gap = 1.0 / bandwidth_bytes_per_s
    target = float(program.time_s("none", NetworkPoints(latency_s, gap, message_gap_s), cpu_speed))

    def holds(gap_s_per_byte: float) -> bool:
        network = NetworkPoints(latency_s, gap_s_per_byte, message_gap_s)
        return float(program.time_s(mode, network, cpu_speed)) <= target * (1 + _TOLERANCE)

    # 1e3 s per byte: slower than any network; a program that does not mind moves no data.
    return 1.0 / _largest(holds, gap, 1e3)


def tolerated_latency(
    program: Program,
    mode: str,
    bandwidth_bytes_per_s: float,
    slow_down: float,
    message_gap_s: float = 0.0,
    cpu_speed: float = 1.0,
) -> float | None:
    """The largest latency (s) at which normalized execution time is within 1 + `slow_down`.

    None if no latency, not even zero, is enough at that bandwidth; infinite without messages.
    """
    gap = 1.0 / bandwidth_bytes_per_s

    def holds(latency_s: float) -> bool:
        network = NetworkPoints(latency_s, gap, message_gap_s)
        value = float(program.normalized_time(mode, network, cpu_speed))
        return value <= (1.0 + slow_down) * (1 + _TOLERANCE)

    if not holds(0.0):
        return None
    smallest = 1e-12
    return _largest(holds, smallest, 1e6) if holds(smallest) else 0.0


def sufficient_cpu_speed(program: Program, mode: str, network: NetworkPoints) -> float | None:
    """How many times faster processors may get before overlap no longer hides every message.

    Concerns the messages that have any potential overlap in this mode; below 1, today's
    processors are too fast already. None if no message has any (section 4.3: the normalized
    overlap is this limit when only independent work is used).
    """
    covered = program.covered(mode, float(np.max(network.message_gap_s)))
    if not covered or mode == "none":
        return None
    delay = sum(float(m.delay_s(network)) for m in covered)

    def holds(speed: float) -> bool:
        exposed = sum(float(m.exposed_s(mode, network, speed)) for m in covered)
        return exposed <= delay * _TOLERANCE

    slowest = 1e-9
    return _largest(holds, slowest, 1e12) if holds(slowest) else 0.0
