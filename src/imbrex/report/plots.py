"""Plots of the three parts of the transfer time, as SVG text to put into a page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence

import matplotlib
from matplotlib.figure import Figure

from imbrex.profile.summary import Row

COLOURS = {"hidden": "#3f8f5f", "exposed": "#c2503c", "undetermined": "#d9c58b"}
MOST_BARS = 40
MOST_LETTERS = 40


def parts_plot(found: Sequence[Row], title: str, *, axis: str = "") -> str:
    """Stacked bars of hidden, exposed (both for certain) and undetermined time, one per row.

    At most MOST_BARS rows; ranks beyond that are summed into bars of neighbouring rows.
    """
    labels, values = _bars(found)
    height = max(1.4, 0.32 * len(labels) + 1.1)
    with matplotlib.rc_context({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": title}):
        figure = Figure(figsize=(8.2, height), layout="constrained")
        axes = figure.add_subplot()
        left = [0.0] * len(labels)
        for number, (name, colour) in enumerate(COLOURS.items()):
            part = [value[number] for value in values]
            name = name if name == "undetermined" else f"{name} for certain"
            axes.barh(range(len(labels)), part, left=left, color=colour, label=name, height=0.7)
            left = [a + b for a, b in zip(left, part, strict=True)]
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
        axes.set_xlabel("transfer time, s (sum over ranks)")
        axes.set_ylabel(axis)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside upper right", ncols=3, frameon=False)
        stream = io.StringIO()
        with warnings.catch_warnings():
            # the letters stay text, and the browser has fonts for them
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            figure.savefig(stream, format="svg", metadata={"Date": None, "Title": title})
    text = stream.getvalue()
    return text[text.index("<svg") :]


def _bars(found: Sequence[Row]) -> tuple[list[str], list[tuple[float, float, float]]]:
    step = -(-len(found) // MOST_BARS) if found else 1
    labels, values = [], []
    for start in range(0, len(found), step):
        chunk = found[start : start + step]
        label = chunk[0].key if step == 1 else f"{chunk[0].key}-{chunk[-1].key}"
        if chunk[0].operation and chunk[0].site is not None:
            label = f"{label} {chunk[0].operation.removeprefix('MPI_')}"
        if len(label) > MOST_LETTERS:  # the line and the operation at its end tell sites apart
            label = "..." + label[3 - MOST_LETTERS :]
        labels.append(label.replace("$", r"\$"))
        values.append(
            (
                sum(row.sums.overlap_min_s for row in chunk),
                sum(row.sums.exposed_min_s for row in chunk),
                sum(row.sums.undetermined_s for row in chunk),
            )
        )
    return labels, values
