"""Figures 1, 6, 8, 9 and 10 of Sancho et al. for a recorded run."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import Interconnect
from imbrex.network.points import NetworkPoints
from imbrex.panels import in_rows
from imbrex.profile.recording import FloatArray, RecordedMessage
from imbrex.replay.modes import AS_WRITTEN, NONE
from imbrex.replay.prediction import RunPrediction, mode_times
from imbrex.replay.replay import replay_s
from imbrex.replay.schedule import Schedule
from imbrex.replay.sites import Exchange, SitePotential

# Colours that people with colour-blindness tell apart (Okabe and Ito).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MOST_MESSAGES = 6
_LATENCIES_S = (1e-6, 2e-6, 4e-6, 8e-6)
_BANDWIDTHS = np.geomspace(1e7, 5e9, 40)
_BEST_BANDWIDTH = 5e9
_MODES = (
    (NONE, "no overlap"),
    (AS_WRITTEN, "as written"),
    ("independent", "independent work"),
    ("fine-grained", "+ consumer + producer"),
    ("boundary", "loop indexing"),
)

RUN_FIGURES = {
    1: "produced and consumed share of each message over time",
    6: "normalized overlap of each call site over bandwidth, by latency",
    8: "run time over bandwidth, with and without overlap",
    9: "bandwidth that with overlap is as good as 5 GB/s without",
    10: "shares of computation, point to point and collectives",
}


def draw_run(prediction: RunPrediction, number: int, output: Path) -> None:
    """Draw a figure (see RUN_FIGURES) into a .png, .svg or .pdf file."""
    if output.suffix not in (".png", ".svg", ".pdf"):
        raise ImbrexError(f"{output}: a figure is written to a .png, .svg or .pdf file")
    figure = make_figure(prediction, number)
    try:
        with matplotlib.rc_context({"svg.hashsalt": "imbrex"}):
            metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
            figure.savefig(output, dpi=150, metadata=metadata.get(output.suffix))
    except OSError as error:
        raise ImbrexError(f"{output}: cannot be written: {error.strerror}") from error


def svg(prediction: RunPrediction, number: int) -> str:
    """A figure as SVG text to put into a page."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": f"figure{number}"}):
        stream = io.StringIO()
        metadata = {"Date": None, "Title": RUN_FIGURES[number]}
        make_figure(prediction, number).savefig(stream, format="svg", metadata=metadata)
    text = stream.getvalue()
    return text[text.index("<svg") :]


def make_figure(prediction: RunPrediction, number: int) -> Figure:
    """One figure; ImbrexError where the recording does not have what it shows."""
    makers: dict[int, Callable[[RunPrediction], Figure]] = {
        1: _curves,
        6: _normalized_overlap,
        8: _run_time,
        9: _bandwidth,
        10: _shares,
    }
    if number not in makers:
        raise ImbrexError(f"figure {number} is of a parameter file, not of a run")
    if not prediction.sites and number in (1, 6):
        raise ImbrexError("no send was recorded together with its receive: nothing to draw")
    return makers[number](prediction)


def _schedule(prediction: RunPrediction) -> Schedule:
    if prediction.schedule is None:
        raise ImbrexError(f"run time cannot be predicted: {prediction.document['replayed']}")
    return prediction.schedule


def _plain(text: str) -> str:
    return text.replace("$", r"\$")


def _grid(axis: Axes) -> None:
    axis.grid(True, which="major", linewidth=0.4, alpha=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def shown_messages(sites: tuple[SitePotential, ...]) -> list[Exchange]:
    """One message for each pair of call sites, that with most bytes, then further ones."""
    best: dict[tuple[str, str], Exchange] = {}
    for site in sites:
        for e in site.exchanges:
            key = (e.send.site, e.receive.site)
            if key not in best or e.send.size_bytes > best[key].send.size_bytes:
                best[key] = e
    found = list(best.values())
    rest = [e for site in sites for e in site.exchanges if all(e is not f for f in found)]
    return [*found, *rest][:_MOST_MESSAGES]


def _share(message: RecordedMessage) -> tuple[FloatArray, FloatArray]:
    """Times in us, ascending, and the share (%) of all elements that is done by then."""
    known = message.known / 1e3
    times = -known[::-1] if message.is_send else known
    missing = message.elements - known.size
    # Elements never seen written were there before; those never read stay unread.
    first = missing if message.is_send else 0
    return times, 100.0 * (first + np.arange(1, known.size + 1)) / message.elements


def _curves(prediction: RunPrediction) -> Figure:
    shown = shown_messages(prediction.sites)
    figure, panels = in_rows(len(shown), 2, 5.2, 2.9)
    for axis, e in zip(panels, shown, strict=True):
        for message, colour, label, where in (
            (e.send, _COLOURS[1], "produced", "before the send"),
            (e.receive, _COLOURS[0], "consumed", "after the arrival"),
        ):
            times, share = _share(message)
            if times.size:
                axis.step(times, share, where="post", color=colour, label=f"{label} ({where})")
                end = 0.0 if message.is_send else float(times[-1]) * 1.02
                axis.hlines(share[-1], times[-1], end, color=colour)
        axis.axvline(0.0, color="black", linewidth=0.8)
        axis.set_ylim(0, 103)
        axis.set_xlabel("computation before the send / after the arrival (µs)")
        axis.set_ylabel("share of elements (%)")
        axis.set_title(
            _plain(
                f"{e.send.site} to {e.receive.site}\nrank {e.send.rank} to {e.send.peer}, "
                f"{e.send.size_bytes} bytes, tag {e.send.tag}"
            ),
            fontsize=9,
        )
        _grid(axis)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


def _normalized_overlap(prediction: RunPrediction) -> Figure:
    shown = prediction.sites[:_MOST_MESSAGES]
    figure, panels = in_rows(len(shown), 2, 4.2, 2.9)
    for axis, site in zip(panels, shown, strict=True):
        weight = np.array([e.send.calls for e in site.exchanges], dtype=np.float64)
        potential = sum(
            w * e.message.potential_s("independent")
            for w, e in zip(weight, site.exchanges, strict=True)
        )
        for index, latency_s in enumerate(_LATENCIES_S):
            at = NetworkPoints(np.full_like(_BANDWIDTHS, latency_s), 1.0 / _BANDWIDTHS)
            delay = sum(
                w * e.message.delay_s(at) for w, e in zip(weight, site.exchanges, strict=True)
            )
            axis.plot(
                _BANDWIDTHS / 1e6,
                potential / delay,
                color=_COLOURS[index],
                label=f"{latency_s * 1e6:g} µs",
            )
        axis.axhline(1.0, color="grey", linewidth=0.8, linestyle="--")
        axis.set_title(_plain(site.site), fontsize=9)
        axis.set_ylabel("normalized overlap")
        axis.set_ylim(bottom=0)
        _bandwidth_axis(axis)
    panels[0].legend(title="latency", fontsize="small")
    figure.suptitle("Independent work / delay (1: all can be hidden)", fontsize=10)
    return figure


def _bandwidth_axis(axis: Axes) -> None:
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("bandwidth (MB/s)")
    _grid(axis)


def _nothing(schedule: Schedule) -> float:
    return float(replay_s(schedule, NetworkPoints(0.0, 0.0), AS_WRITTEN)[0])


def _latency_of(networks: tuple[Interconnect, ...]) -> float:
    return networks[0].latency_s if networks else 4e-6


def _run_time(prediction: RunPrediction) -> Figure:
    schedule = _schedule(prediction)
    latency_s = _latency_of(prediction.networks)
    network = NetworkPoints(np.full_like(_BANDWIDTHS, latency_s), 1.0 / _BANDWIDTHS)
    nothing = _nothing(schedule)
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axis = figure.subplots()
    times = mode_times(schedule, network)
    for index, (mode, label) in enumerate(_MODES):
        axis.plot(
            _BANDWIDTHS / 1e6,
            times[mode] / nothing,
            color=_COLOURS[index],
            linestyle=("-", "-", "--", "-.", ":")[index],
            label=label,
        )
    axis.set_ylabel("run time / that without network time")
    axis.set_title(f"Run time at {latency_s * 1e6:.3g} µs", fontsize=10)
    axis.legend(fontsize="small")
    _bandwidth_axis(axis)
    return figure


def equivalent_bandwidths(schedule: Schedule, latency_s: float) -> dict[str, float]:
    """By mode, the least bandwidth (bytes/s) at which it takes no longer than no overlap at 5 GB/s.

    Same latency; between points of a sweep, by interpolation in the logarithm. The lowest
    bandwidth of the sweep where even that is enough.
    """
    best = mode_times(schedule, NetworkPoints(latency_s, 1.0 / _BEST_BANDWIDTH))
    target = float(best[NONE][0])
    bandwidths = np.geomspace(1e5, _BEST_BANDWIDTH, 80)
    network = NetworkPoints(np.full_like(bandwidths, latency_s), 1.0 / bandwidths)
    found = mode_times(schedule, network)
    return {mode: _least_bandwidth(bandwidths, times, target) for mode, times in found.items()}


def _least_bandwidth(bandwidths: FloatArray, times: FloatArray, target: float) -> float:
    times = np.minimum.accumulate(times)
    enough = np.flatnonzero(times <= target * (1 + 1e-12))
    if not enough.size:
        return _BEST_BANDWIDTH
    first = int(enough[0])
    if first == 0:
        return float(bandwidths[0])
    above, below = times[first - 1] - target, target - times[first]
    share = above / (above + below) if above + below > 0 else 0.0
    ratio = bandwidths[first] / bandwidths[first - 1]
    return float(bandwidths[first - 1] * ratio**share)


def _bandwidth(prediction: RunPrediction) -> Figure:
    schedule = _schedule(prediction)
    modes = _MODES[1:]
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axis = figure.subplots()
    places = np.arange(len(_LATENCIES_S), dtype=np.float64)
    found = [equivalent_bandwidths(schedule, x) for x in _LATENCIES_S]
    for index, (mode, label) in enumerate(modes):
        values = [by_mode[mode] / 1e6 for by_mode in found]
        offset = (index - (len(modes) - 1) / 2) * 0.2
        axis.bar(places + offset, values, 0.2, color=_COLOURS[index + 1], label=label)
    axis.set_xticks(places, [f"{x * 1e6:g} µs" for x in _LATENCIES_S])
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_ylabel("bandwidth (MB/s)")
    axis.set_title("As good as 5 GB/s without overlap", fontsize=10)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    _grid(axis)
    return figure


def run_shares(
    schedule: Schedule, network: NetworkPoints
) -> dict[str, tuple[FloatArray, FloatArray, FloatArray]]:
    """By mode, parts of the run time: computation and imbalance, exposed point to point,
    collectives.

    Shape of the network points. The first is the time without any network, the third what
    collectives add to it alone.
    """
    times = mode_times(schedule, network)
    nothing = np.full_like(times[NONE], _nothing(schedule))
    meetings = replay_s(schedule, network, AS_WRITTEN, messages_cost=False) - nothing
    found = {}
    for mode, whole in times.items():
        collective = np.clip(meetings, 0.0, np.maximum(whole - nothing, 0.0))
        computation = np.minimum(nothing, whole)
        rest = whole - computation - collective
        found[mode] = computation / whole, rest / whole, collective / whole
    return found


def _shares(prediction: RunPrediction) -> Figure:
    schedule = _schedule(prediction)
    latencies = np.array(_LATENCIES_S)
    network = NetworkPoints(latencies, np.full_like(latencies, 1.0 / _BEST_BANDWIDTH))
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axis = figure.subplots()
    parts = (("computation", 0), ("point to point", 4), ("collectives", 1))
    positions: list[float] = []
    labels: list[str] = []
    shares = run_shares(schedule, network)
    for index, (mode, name) in enumerate((_MODES[0], _MODES[1], _MODES[3])):
        places = np.arange(latencies.size) + index * (latencies.size + 1)
        bottom = np.zeros(latencies.size)
        for (label, colour), share in zip(parts, shares[mode], strict=True):
            axis.bar(places, 100 * share, 0.8, bottom=bottom, color=_COLOURS[colour],
                     label=label if index == 0 else None)  # fmt: skip
            bottom = bottom + 100 * share
        positions += places.tolist()
        labels += [f"{x * 1e6:g}" for x in _LATENCIES_S]
        axis.text(float(places.mean()), 103, name, ha="center", fontsize=9)
    axis.set_xticks(positions, labels, fontsize="small")
    axis.set_xlabel("latency (µs)")
    axis.set_ylabel("share of run time (%)")
    axis.set_ylim(0, 112)
    axis.set_yticks(range(0, 101, 20))
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    _grid(axis)
    return figure
