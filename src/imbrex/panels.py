"""The panels of a figure, in rows."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def in_rows(count: int, most: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """`count` panels of `width` x `height` inches, in rows of at most `most`."""
    columns = min(count, most)
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, list(axes[:count])
