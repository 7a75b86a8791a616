"""Run time over latency and over bandwidth, from a plain run's own call log, with today's network
marked."""

from __future__ import annotations

import io
from collections.abc import Callable

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from imbrex.replay.evaluate import Replayer
from imbrex.replay.parametric import Curve, Parameter, of_byte_time, of_latency
from imbrex.replay.whole import TOLERATED, Whole, as_measured

TITLE = "Run time over latency and over bandwidth"
# Colours that people with colour-blindness tell apart (Okabe and Ito).
_CURVE, _TODAY = "#0072B2", "#D55E00"
_WIDER = 10.0
"""How far the axis goes beyond today's value, at least, to either side."""
_BEYOND = 1.2
_LEAST_LATENCY_NS, _LEAST_BYTE_NS = 100.0, 0.01
_POINTS = 1000
_FLAT = 0.05
"""The axis of run time shows so much of it at least: else rounding looks like a hill."""


def curves_svg(whole: Whole) -> str | None:
    """Both curves as SVG text; None where the network that the run had is not known."""
    row = as_measured(whole.document)
    if row is None:
        return None
    situation = whole.situations[0].on_one_path()
    replayer = Replayer(situation.place(whole.schedule.schedule))
    route = situation.network.between
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": TITLE, "font.size": 9}):
        figure = Figure(figsize=(8.6, 3.3), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        at_ns = max(route.latency_ns, _LEAST_LATENCY_NS)  # none at all is on no such axis
        below = "at most " if at_ns > route.latency_ns else ""
        costs = _costs(row["latency_tolerance"])
        found = _between(of_latency(replayer, situation.network), at_ns, costs)
        _draw(left, found, at_ns, costs, lambda ns: ns / 1e3)
        left.set_xlabel(f"latency, µs (today {below}{at_ns / 1e3:.3g})")
        left.set_ylabel("run time, s")
        at_ns = max(route.byte_ns, _LEAST_BYTE_NS)
        costs = _costs(row["byte_time_tolerance"])
        found = _between(of_byte_time(replayer, situation.network), at_ns, costs)
        _draw(right, found, at_ns, costs, lambda ns: 1e3 / ns)
        right.set_xlabel(f"bandwidth, MB/s (today {1e3 / at_ns:,.0f})")
        right.xaxis.set_inverted(True)
        low, high = left.get_ylim()
        left.set_ylim(low, max(high, low * (1 + _FLAT)))
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Title": TITLE})
    text = stream.getvalue()
    return text[text.index("<svg") :]


def _costs(tolerance: dict[str, float | None]) -> dict[str, float]:
    """The values, in ns, at which run time has grown by 1, 2 and 5 %, as far as there are any."""
    found = {f"{share:.0%}": tolerance[f"{share:.0%}"] for share in TOLERATED}
    return {name: value * 1e9 for name, value in found.items() if value is not None}


def _between(parameter: Parameter, at_ns: float, costs: dict[str, float]) -> Curve:
    """At so many points, and at those that are marked."""
    high = max([_WIDER * at_ns, *(_BEYOND * value for value in costs.values())])
    points = np.geomspace(at_ns / _WIDER, high, _POINTS)
    return parameter.curve([*points, at_ns, *costs.values()])


def _draw(
    axis: Axes,
    found: Curve,
    at_ns: float,
    costs: dict[str, float],
    shown: Callable[[float], float],
) -> None:
    axis.plot(
        [shown(float(ns)) for ns in found.at],
        [float(ns) / 1e9 for ns in found.run_ns],
        color=_CURVE,
        label="run time, messages one after the other",
    )
    axis.plot([shown(at_ns)], [found.value(at_ns) / 1e9], "o", color=_TODAY, label="today")
    axis.axvline(shown(at_ns), color=_TODAY, linewidth=0.8, linestyle=":")
    for number, (name, ns) in enumerate(costs.items()):
        height = found.value(ns) / 1e9
        label = "costs 1, 2, 5 %" if number == 0 else None
        axis.plot([shown(ns)], [height], "|", color=_CURVE, markersize=9, label=label)
        axis.annotate(
            f"+{name}", (shown(ns), height), (0, 7), textcoords="offset points", ha="right"
        )
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.grid(True, which="major", linewidth=0.4, alpha=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
