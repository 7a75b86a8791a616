"""Plots of a probe, as SVG text to put into a page."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from imbrex.probe.curves import Cell, DelayCurve, WorkCurve
from imbrex.probe.knobs import Tried

_BLUE, _RED, _GREEN, _GREY = "#35618f", "#c2503c", "#3f8f5f", "#9a9a9a"


def delay_plot(curves: Sequence[DelayCurve], title: str) -> str:
    """The blocking side's time over message size, with where overlap and no overlap would lie.

    After figure 2 of White and Bova, "Where's the Overlap?"; the delay there is constant, here it
    grows with the transfer.
    """
    figure = Figure(figsize=(8.2, 3.4), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, curve in zip(panels, curves, strict=True):
        for size, times in zip(curve.sizes, curve.times_ms, strict=True):
            axes.plot(
                [size] * len(times), times, ".", color=_BLUE, markersize=6, alpha=0.7, zorder=3
            )
        axes.plot(curve.sizes, curve.overlap_ms, color=_GREEN, label="if it overlaps")
        axes.plot(curve.sizes, curve.none_ms, color=_RED, label="if it does not")
        if curve.step_bytes is not None:
            axes.axvline(curve.step_bytes, color=_GREY, linestyle="--", linewidth=1)
            axes.annotate(
                f" {curve.step_bytes:,} bytes",
                (curve.step_bytes, 0.03),
                xycoords=("data", "axes fraction"),
                fontsize=8,
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_title(curve.title, fontsize=9)
        _ticks_in_bytes(axes, curve.sizes)
        axes.set_xlabel("message")
        _clean(axes)
    panels[0].set_ylabel("time in the blocking call, ms")
    panels[-1].legend(frameon=False)
    return _svg(figure, title)


def work_plot(curves: Sequence[WorkCurve], title: str) -> str:
    """Wait time, and the bounds of the overlap, over the work between start and wait.

    After figures 7 to 16 of Shet et al.: bounds as shares of the transfer time's upper bound.
    """
    figure = Figure(figsize=(8.2, 2.9 * len(curves)), layout="constrained")
    panels = figure.subplots(len(curves), 2, squeeze=False)
    for (waits, bounds), curve in zip(panels, curves, strict=True):
        waits.plot(curve.work_us, curve.wait_us, "o-", color=_BLUE, markersize=4)
        waits.set_ylabel("wait, us")
        waits.set_ylim(0, 1.08 * max(*curve.wait_us, 0.01))
        waits.set_title(curve.title, fontsize=9)
        bounds.fill_between(
            curve.work_us,
            curve.bound_low,
            curve.bound_high,
            color=_GREEN,
            alpha=0.3,
            label="what the calls alone prove",
        )
        bounds.plot(
            curve.work_us,
            curve.hidden,
            "o-",
            color=_BLUE,
            markersize=4,
            label="from times of both sides",
        )
        bounds.set_ylim(-3, 103)
        bounds.set_ylabel("hidden, % of X_hi")
        bounds.set_title(curve.title, fontsize=9)
        for axes in (waits, bounds):
            axes.set_xlabel("work between start and wait, us")
            _clean(axes)
    figure.legend(
        *panels[0][1].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False
    )
    return _svg(figure, title)


def heat_map(cells: Mapping[str, Sequence[Cell]], title: str) -> str:
    """The hidden share of a transfer over message size and work, a panel per operation."""
    figure = Figure(figsize=(8.2, 3.2), layout="constrained")
    panels = figure.subplots(1, len(cells), sharey=True, squeeze=False)[0]
    image = None
    for axes, (name, found) in zip(panels, cells.items(), strict=True):
        sizes = sorted({c.size_bytes for c in found})
        works = sorted({c.work_per_transfer for c in found})
        values = np.full((len(sizes), len(works)), np.nan)
        for c in found:
            values[sizes.index(c.size_bytes), works.index(c.work_per_transfer)] = 100 * c.hidden
        image = axes.imshow(values, origin="lower", aspect="auto", cmap="viridis", vmin=0, vmax=100)
        axes.set_xticks(range(len(works)), [f"{w:g}" for w in works], fontsize=7)
        axes.set_yticks(range(len(sizes)), [_in_units(s) for s in sizes])
        axes.set_title(name.replace("/", "/\n").replace(", ", "\n"), fontsize=8)
        axes.set_xlabel("work, transfers")
    panels[0].set_ylabel("message")
    if image is not None:
        figure.colorbar(image, ax=list(panels), label="hidden, %")
    return _svg(figure, title)


def knobs_plot(tried: Sequence[Tried], largest_bytes: int, title: str) -> str:
    """Up to which size synchronization overlaps, before and after each setting."""
    figure = Figure(figsize=(8.2, 0.5 * len(tried) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    end = 4.0 * largest_bytes
    for y, t in enumerate(tried):
        before, after = (
            end if size is None else max(0.5, size) for size in (t.before_bytes, t.after_bytes)
        )
        axes.plot([before, after], [y, y], color=_GREY, linewidth=1.5, zorder=1)
        axes.scatter([before], [y], color=_RED, label="before" if y == 0 else None)
        axes.scatter(
            [after], [y], color=_GREEN, marker="D", s=22, label="after" if y == 0 else None
        )
    names = [_knob_name(t) for t in tried]
    axes.set_yticks(range(len(tried)), names)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.3, 2 * end)
    axes.set_xticks([0.5, 1024, 1 << 20, end], ["none", "1 KiB", "1 MiB", "all"])
    axes.set_xlabel("synchronization overlaps up to")
    _clean(axes)
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    return _svg(figure, title)


def _knob_name(t: Tried) -> str:
    """Short: the first variable without its library's prefix, its value, and the operation."""
    first, value = next(iter(t.knob.variables.items()))
    for prefix in ("OMPI_MCA_", "MPIR_CVAR_"):
        first = first.removeprefix(prefix)
    first = f"{first}={value}"
    more = ", ..." if len(t.knob.variables) > 1 else ""
    return f"{first}{more}\n{t.operation.replace('MPI_', '')}, {t.path}"


_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def _in_units(size_bytes: int) -> str:
    """1 B, 32 KiB, 8 MiB: exact, so that odd sizes stay in bytes."""
    for name, unit in reversed(_UNITS.items()):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit:,} {name}"
    raise AssertionError(size_bytes)


def _ticks_in_bytes(axes: Axes, sizes: Sequence[int]) -> None:
    """Ticks at every factor of 32 within these sizes."""
    ticks = [1 << k for k in range(0, 40, 5) if 1 << k <= max(sizes)]
    axes.set_xticks(ticks, [_in_units(t) for t in ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def _clean(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def _svg(figure: Figure, title: str) -> str:
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Title": title})
    text = stream.getvalue()
    return text[text.index("<svg") :]
