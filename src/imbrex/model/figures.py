"""Figures 6 to 10 of Sancho et al. for any parameter file."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from imbrex.errors import ImbrexError
from imbrex.model.model_file import Model
from imbrex.model.program import Program
from imbrex.model.solve import equivalent_bandwidth
from imbrex.network.points import FloatArray, NetworkPoints
from imbrex.panels import in_rows

# Colours that people with colour-blindness tell apart (Okabe and Ito).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# The range of section 4.1.
_BANDWIDTHS = np.geomspace(1e6, 5e9, 200)
_FIGURE_8_LATENCY_S = 4e-6

FIGURES = {
    6: "normalized overlap over bandwidth, by latency",
    7: "potential overlap of every element of a message",
    8: "normalized execution time over bandwidth, with and without overlap",
    9: "bandwidth with overlap that equals the table's bandwidth without",
    10: "shares of computation, point to point and collectives",
}


def _bandwidth_axis(axis: Axes) -> None:
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("bandwidth (MB/s)")
    axis.grid(True, which="major", linewidth=0.4, alpha=0.6)


def _points(latency_s: float, gap: FloatArray, message_gap_s: float) -> NetworkPoints:
    return NetworkPoints(np.full_like(gap, latency_s), gap, message_gap_s)


def _normalized_overlap(model: Model, mode: str | None, cpu_speed: float) -> Figure:
    figure, panels = in_rows(len(model.programs), 3, 3.6, 3.0)
    table = model.latency_table
    for axis, program in zip(panels, model.programs, strict=True):
        chosen = mode or program.mode
        covered = program.covered(chosen, table.message_gap_s)
        for index, latency_s in enumerate(table.latencies_s):
            network = _points(latency_s, 1.0 / _BANDWIDTHS, table.message_gap_s)
            axis.plot(
                _BANDWIDTHS / 1e6,
                program.normalized_overlap(chosen, network, cpu_speed),
                color=_COLOURS[index % len(_COLOURS)],
                marker=_MARKERS[index % len(_MARKERS)],
                markevery=40,
                markersize=4,
                label=f"{latency_s * 1e6:g} µs",
            )
        axis.axhline(1.0, color="grey", linewidth=0.8, linestyle="--")
        axis.set_title(
            f"{program.name} ({_least_covered(program, chosen)})" if covered else program.name
        )
        axis.set_ylabel("normalized overlap")
        axis.set_ylim(bottom=0)
        _bandwidth_axis(axis)
    panels[0].legend(title="latency", fontsize="small")
    figure.suptitle(
        f"{model.title}: potential overlap / point-to-point delay (1: all can be hidden)"
    )
    return figure


def _least_covered(program: Program, mode: str) -> str:
    """The message with the least normalized overlap at the high end of the range."""
    network = NetworkPoints(1e-6, 1.0 / 5e9)
    covered = program.covered(mode)
    return min(covered, key=lambda m: m.potential_s(mode) / float(m.delay_s(network))).name


def _elements(model: Model, mode: str | None, cpu_speed: float) -> Figure:
    named = model.element_figure
    if named is None:
        named = next(((p.name, m.name) for p in model.programs for m in p.messages), None)
    if named is None:
        raise ImbrexError(f"{model.name}: there is no message, so there are no elements to draw")
    program = next(p for p in model.programs if p.name == named[0])
    message = program.message(named[1])
    chosen = mode or program.mode
    potential = message.element_potential_s(chosen, model.latency_table.message_gap_s, cpu_speed)
    figure = Figure(figsize=(5.2, 3.4), layout="constrained")
    axis = figure.subplots()
    style = "o" if potential.size <= 60 else ","
    axis.plot(np.arange(potential.size), potential * 1e6, style, color=_COLOURS[0])
    axis.set_ylim(0, max(float(potential.max()) * 1.2e6, 1e-3))
    axis.set_xlabel("element of the message")
    axis.set_ylabel("potential overlap (µs)")
    axis.set_title(f"{program.name}, {message.name} ({chosen})")
    axis.grid(True, linewidth=0.4, alpha=0.6)
    return figure


def _execution_time(model: Model, mode: str | None, cpu_speed: float) -> Figure:
    figure, panels = in_rows(len(model.programs), 3, 3.6, 3.0)
    gap = model.latency_table.message_gap_s
    network = _points(_FIGURE_8_LATENCY_S, 1.0 / _BANDWIDTHS, gap)
    for axis, program in zip(panels, model.programs, strict=True):
        for index, (name, label) in enumerate(
            (("none", "no overlap"), (mode or program.mode, "overlap"))
        ):
            axis.plot(
                _BANDWIDTHS / 1e6,
                program.normalized_time(name, network, cpu_speed),
                color=_COLOURS[index],
                linestyle=("-", "--")[index],
                label=label,
            )
        axis.set_title(program.name)
        axis.set_ylabel("normalized execution time")
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter(NullFormatter())
        _bandwidth_axis(axis)
    panels[0].legend(fontsize="small")
    figure.suptitle(
        f"{model.title}: run time / computation time at {_FIGURE_8_LATENCY_S * 1e6:g} µs"
    )
    return figure


def _grouped(model: Model) -> tuple[FloatArray, FloatArray]:
    """Left ends of the groups, and the offset of each latency's bar within a group."""
    count = len(model.latency_table.latencies_s)
    return np.arange(len(model.programs), dtype=np.float64), (
        np.arange(count) - (count - 1) / 2
    ) * 0.8 / count


def _bandwidth(model: Model, mode: str | None, cpu_speed: float) -> Figure:
    table = model.latency_table
    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    axis = figure.subplots()
    groups, offsets = _grouped(model)
    for index, latency_s in enumerate(table.latencies_s):
        values = [
            equivalent_bandwidth(
                program,
                mode or program.mode,
                latency_s,
                table.bandwidth_bytes_per_s,
                table.message_gap_s,
                cpu_speed,
            )
            / 1e6
            for program in model.programs
        ]
        axis.bar(
            groups + offsets[index],
            values,
            0.8 / offsets.size,
            color=_COLOURS[index % len(_COLOURS)],
            label=f"{latency_s * 1e6:g} µs",
        )
    axis.set_xticks(groups, [program.name for program in model.programs])
    axis.set_ylabel("bandwidth with overlap (MB/s)")
    axis.grid(True, axis="y", linewidth=0.4, alpha=0.6)
    axis.legend(title="latency", fontsize="small")
    axis.set_title(
        f"{model.title}: bandwidth that with overlap equals "
        f"{table.bandwidth_bytes_per_s / 1e9:g} GB/s without"
    )
    return figure


def _shares(model: Model, mode: str | None, cpu_speed: float) -> Figure:
    table = model.latency_table
    gap = 1.0 / table.bandwidth_bytes_per_s
    figure = Figure(figsize=(7.6, 4.0), layout="constrained")
    axis = figure.subplots()
    groups, offsets = _grouped(model)
    parts = (
        ("computation", "computation", _COLOURS[0]),
        ("point_to_point", "point to point", _COLOURS[4]),
        ("collective", "collectives", _COLOURS[1]),
    )
    positions: list[float] = []
    labels: list[str] = []
    for index, latency_s in enumerate(table.latencies_s):
        network = NetworkPoints(latency_s, gap, table.message_gap_s)
        shares = [program.shares(mode or "none", network, cpu_speed) for program in model.programs]
        bottom = np.zeros(len(shares))
        for part, label, colour in parts:
            height = np.array([100.0 * float(share[part]) for share in shares])
            axis.bar(
                groups + offsets[index],
                height,
                0.72 / offsets.size,
                bottom=bottom,
                color=colour,
                label=label if index == 0 else None,
            )
            bottom = bottom + height
        positions += list(groups + offsets[index])
        labels += [f"{latency_s * 1e6:g}"] * len(shares)
    axis.set_xticks(positions, labels, fontsize="x-small")
    names = axis.secondary_xaxis(location=-0.1)
    names.set_xticks(groups, [program.name for program in model.programs])
    names.tick_params(length=0)
    names.spines["bottom"].set_visible(False)
    names.set_xlabel("latency (µs), application")
    axis.set_ylabel("share of run time (%)")
    axis.set_ylim(0, 100)
    overlapped = "without overlap" if mode is None else f"overlap: {mode}"
    axis.set_title(
        f"{model.title}: shares of run time at {table.bandwidth_bytes_per_s / 1e9:g} GB/s, "
        f"{overlapped}"
    )
    figure.legend(loc="outside right upper", fontsize="small")
    return figure


def draw(
    model: Model, number: int, output: Path, mode: str | None = None, cpu_speed: float = 1.0
) -> None:
    """Draw figure `number` (see FIGURES) into a .png, .svg or .pdf file."""
    if output.suffix not in (".png", ".svg", ".pdf"):
        raise ImbrexError(f"{output}: a figure is written to a .png, .svg or .pdf file")
    makers = {
        6: _normalized_overlap,
        7: _elements,
        8: _execution_time,
        9: _bandwidth,
        10: _shares,
    }
    figure = makers[number](model, mode, cpu_speed)
    try:
        # The same input gives the same bytes: no date, and ids that do not change.
        with matplotlib.rc_context({"svg.hashsalt": "imbrex"}):
            metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
            figure.savefig(output, dpi=150, metadata=metadata.get(output.suffix))
    except OSError as error:
        raise ImbrexError(f"{output}: cannot be written: {error.strerror}") from error
