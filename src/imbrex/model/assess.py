"""One program on one network: everything the model says about the pair."""

from __future__ import annotations

import math
from typing import Any

from imbrex.diagnosis.lines import WIDTH
from imbrex.diagnosis.lines import lines as lines_of
from imbrex.diagnosis.wording import percent
from imbrex.model.program import Program
from imbrex.model.solve import (
    equivalent_bandwidth,
    sufficient_cpu_speed,
    tolerated_latency,
)
from imbrex.network.interconnect import Interconnect
from imbrex.network.message import MODES, Message
from imbrex.network.points import NetworkPoints, points


def finite(value: float | None) -> float | None:
    """JSON has no infinity: None stands for "no limit" and "none", told apart by the key."""
    return None if value is None or math.isinf(value) else value


def _limit(message: Message, mode: str, network: NetworkPoints, cpu_speed: float) -> str:
    """What keeps a message from being hidden, in a few words; "" if it is hidden."""
    if not message.overlappable:
        return "stated to be not overlappable"
    if float(message.exposed_s(mode, network, cpu_speed)) <= 0:
        return ""
    gap = float(network.message_gap_s)
    if message.pipelined:
        ratio = message.starvation_ratio(gap, cpu_speed)
        if ratio < 1:
            cause = "g" if gap > message.t_produce_s / cpu_speed else "T_P"
            return f"the receiver starves: T_C / max(T_P, g) = {ratio:.3g}, limited by {cause}"
        return "pipelined: the element needed first cannot be hidden"
    if message.independent.total_s == 0 and message.potential_s(mode, gap, cpu_speed) == 0:
        return "no independent work"
    latency = float(network.latency_s)
    if message.potential_s(mode, gap, cpu_speed) < latency:
        return "less work than the latency alone"
    return "less work than the transfer takes"


def message_json(
    message: Message, mode: str, network: NetworkPoints, cpu_speed: float
) -> dict[str, Any]:
    """Potential by mode, delay, exposure and limit of one message (seconds)."""
    gap = float(network.message_gap_s)
    delay = float(message.delay_s(network))
    potential = {name: message.potential_s(name, gap, cpu_speed) for name in MODES}
    elements = message.element_potential_s(mode, gap, cpu_speed)
    return {
        "message": message.name,
        "count": message.count,
        "size_bytes": message.size_bytes,
        "delay_s": delay,
        "potential_s": potential,
        "element_potential_s": {
            "least": float(elements.min()),
            "mean": float(elements.mean()),
            "greatest": float(elements.max()),
        },
        "normalized_overlap": {
            name: finite(value / delay if delay > 0 else math.inf)
            for name, value in potential.items()
        },
        "exposed_s": {name: float(message.exposed_s(name, network, cpu_speed)) for name in MODES},
        "starvation_ratio": (
            finite(message.starvation_ratio(gap, cpu_speed)) if message.pipelined else None
        ),
        "limit": _limit(message, mode, network, cpu_speed),
    }


def assess(
    program: Program,
    interconnect: Interconnect,
    mode: str | None = None,
    cpu_speed: float = 1.0,
    slow_down: float = 0.05,
) -> dict[str, Any]:
    """All results for one program on one network, as `--json` gives them."""
    chosen = mode or program.mode
    network = points(interconnect)
    gap = interconnect.message_gap_s
    bandwidth = interconnect.bandwidth_bytes_per_s
    shares = {
        name: {
            part: float(value) for part, value in program.shares(name, network, cpu_speed).items()
        }
        for name in ("none", chosen)
    }
    latency = {
        name: tolerated_latency(program, name, bandwidth, slow_down, gap, cpu_speed)
        for name in ("none", chosen)
    }
    limit = sufficient_cpu_speed(program, chosen, network)
    return {
        "application": program.name,
        "network": interconnect.to_json(),
        "mode": chosen,
        "process": program.process,
        "cpu_speed": cpu_speed,
        "computation_s": program.computation_s / cpu_speed,
        "collective_s": float(program.collective_s(network)),
        "messages": [message_json(m, chosen, network, cpu_speed) for m in program.messages],
        "potential_s": {name: program.potential_s(name, gap, cpu_speed) for name in MODES},
        "normalized_overlap": float(program.normalized_overlap(chosen, network, cpu_speed)),
        "not_covered": [m.name for m in program.messages if m not in program.covered(chosen, gap)],
        "normalized_time": {
            name: float(program.normalized_time(name, network, cpu_speed)) for name in MODES
        },
        "shares": shares,
        "equivalent_bandwidth_bytes_per_s": equivalent_bandwidth(
            program, chosen, interconnect.latency_s, bandwidth, gap, cpu_speed
        ),
        "slow_down": slow_down,
        "tolerated_latency_s": {name: finite(value) for name, value in latency.items()},
        "latency_unlimited": {
            name: value is not None and math.isinf(value) for name, value in latency.items()
        },
        "sufficient_cpu_speed": finite(limit),
    }


_PARTS = (
    *(("computation", "computation"), ("point_to_point", "point to point")),
    ("collective", "collectives"),
)


def _wrapped(sentence: str) -> list[str]:
    """Its lines below the program's name."""
    return ["  " + line for line in lines_of(sentence, WIDTH - 2, indent="  ")]


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "none"
    if seconds == 0:
        return "0 us"
    if seconds < 1e-6:
        return f"{seconds * 1e9:.4g} ns"
    if seconds < 1e-2:
        return f"{seconds * 1e6:.4g} us"
    return f"{seconds:.4g} s"


def assessment_text(result: dict[str, Any]) -> str:
    """The same results for a reader."""
    network = result["network"]
    mode = result["mode"]
    speed = "" if result["cpu_speed"] == 1 else f", processors {result['cpu_speed']:g} x as fast"
    bandwidth = f"{network['bandwidth_bytes_per_s'] / 1e6:.6g} MB/s"
    lines = [
        f"{result['application']} on {network['name']} "
        f"({_time(network['latency_s'])}, {bandwidth}){speed}",
        f"  {'message':<14} {'bytes':>9} {'delay':>10} {'potential':>10} {'normalized':>11} "
        f"{'exposed':>10}  limit",
    ]
    for message in result["messages"]:
        normalized = message["normalized_overlap"][mode]
        times = "" if message["count"] == 1 else f" x{message['count']:g}"
        lines.append(
            f"  {message['message'] + times:<14} {message['size_bytes']:>9} "
            f"{_time(message['delay_s']):>10} {_time(message['potential_s'][mode]):>10} "
            f"{'any' if normalized is None else f'{normalized:.2f}':>11} "
            f"{_time(message['exposed_s'][mode]):>10}  {message['limit']}".rstrip()
        )
    if result["collective_s"] > 0:
        lines.append(f"  collectives: {_time(result['collective_s'])}, not hidden")
    times = result["normalized_time"]
    told = ", ".join(f"{name} {times[name]:.3f}" for name in MODES)
    lines += _wrapped(f"normalized execution time: {told} (overlap here means: {mode})")
    for name, title in (("none", "without overlap"), (mode, "with overlap")):
        share = result["shares"][name]
        told = ", ".join(f"{100 * share[part]:.1f} % {words}" for part, words in _PARTS)
        lines.append(f"  {title}: {told}")
    equivalent = result["equivalent_bandwidth_bytes_per_s"] / 1e6
    lines.append(
        f"  with overlap {equivalent:.4g} MB/s gives the run time that this network gives without"
        if equivalent > 0
        else "  bandwidth makes no difference"
    )
    tolerated = []
    for name, title in (("none", "without"), (mode, "with overlap")):
        value = result["tolerated_latency_s"][name]
        any_latency = result["latency_unlimited"][name]
        tolerated.append(f"{title} {'any' if any_latency else _time(value)}")
    lines += _wrapped(
        f"latency for a slow-down of at most {percent(result['slow_down'])} against computation "
        f"alone, at this bandwidth: {', '.join(tolerated)}"
    )
    limit = result["sufficient_cpu_speed"]
    if limit is not None:
        lines.append(f"  overlap hides its messages for processors up to {limit:.3g} x as fast")
    if result["not_covered"]:
        lines.append(f"  without any potential overlap: {', '.join(result['not_covered'])}")
    return "\n".join(lines)
