"""Plots over ranks: where each rank's time went, who sends to whom, and who waits for whom."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from numpy.typing import NDArray

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.words import CAUSE_WORDS
from imbrex.profile.causes import CAUSES

MOST_CELLS = 128
"""Rows and columns of a matrix; of more ranks neighbours share a cell."""
MOST_BARS = 512
MOST_PAIRS = 12
_UNEQUAL = 1.02
_TEXT = "#010203"
"""The colour of text in the plots, which becomes that of the page."""
_COLOURS = {
    "compute": "#3f8f5f",
    "late_sender": "#c2503c",
    "late_receiver": "#dd8452",
    "late_collective": "#a34a78",
    "transfer": "#3b6fb5",
    "stalled": "#cf9a1b",
    "library": "#4f9aa3",
    "file_io": "#8a6fb0",
    "unattributed": "#9aa3ab",
    "open": "#d3bd7f",
}


@dataclass(frozen=True)
class Plot:
    """A drawing, and what it shows."""

    svg: Markup
    caption: str


def rank_plots(account: Account) -> list[Plot]:
    """The strip of ranks, and the two matrices where there are partners."""
    found = []
    if len(account.run.ranks) > 1:
        found.append(_strip(account))
    partners = account.run.partners
    if partners is not None and len(partners) and len(account.run.ranks) > 2:
        size = len(account.run.ranks)
        sent = _matrix(partners, size, partners["bytes"])
        if sent.any():
            # A row of the table says what a rank exchanged with a peer, in both directions.
            caption = "bytes exchanged between two ranks (each as it was logged by the row)"
            found.append(_heat(sent, size, "bytes", caption))
        late = (partners["late_min_ns"] + partners["late_max_ns"]) / 2e9
        waited = _matrix(partners, size, late)
        if waited.any():
            found.append(_heat(waited, size, "s", "how long a rank (row) waited for another"))
    return found


def rank_words(account: Account) -> str:
    """Whether the ranks compute equally long, and who is waited for."""
    ranks = account.run.ranks
    compute = ranks["compute_ns"].astype(np.float64) / 1e9
    if len(ranks) < 2 or compute.mean() <= 0:
        return ""
    most = int(np.argmax(compute))
    ratio = float(compute[most] / compute.mean())
    if ratio < _UNEQUAL:
        text = "All ranks compute equally long"
    else:
        text = (
            f"Rank {int(ranks['rank'][most])} computes most, {ratio:.2f} times the mean "
            f"({wording.seconds(float(compute[most]))} of {wording.seconds(float(compute.mean()))})"
        )
    whole = sum(partner.late.middle for partner in account.partners)
    if whole > 0:
        worst = account.partners[0]
        share = wording.percent(worst.late.middle / whole)
        text += f"; {share} of all waiting is for rank {worst.rank}"
    return text + "."


def most_waiting(account: Account) -> list[tuple[str, ...]]:
    """Rank, peer, lateness, messages and bytes of the pairs with most waiting."""
    table = account.run.partners
    if table is None or len(account.run.ranks) < 3:
        return []
    late = (table["late_min_ns"] + table["late_max_ns"]).astype(np.float64)
    order = np.argsort(-late, kind="stable")[:MOST_PAIRS]
    return [
        (
            str(table["rank"][n]),
            str(table["peer"][n]),
            wording.interval(*(int(table[f"late_{e}_ns"][n]) / 1e9 for e in ("min", "max"))),
            f"{int(table['messages'][n]):,}",
            wording.amount(int(table["bytes"][n])),
        )
        for n in order
        if late[n] > 0
    ]


def _strip(account: Account) -> Plot:
    """One bar per rank, of many ranks one per group with its mean."""
    run = account.run
    ranks = run.ranks["rank"].astype(np.int64)
    size = int(ranks.max()) + 1
    parts: dict[str, NDArray[np.float64]] = {"compute": np.zeros(size)}
    parts["compute"][ranks] = run.ranks["compute_ns"] / 1e9
    call = np.zeros(size)
    call[ranks] = run.ranks["call_ns"] / 1e9
    if run.causes is not None and len(run.causes):
        for name in CAUSES:
            parts[name] = np.bincount(
                run.causes["rank"], weights=run.causes[f"{name}_min_ns"] / 1e9, minlength=size
            )[:size].astype(np.float64)
    certain = sum(values for name, values in parts.items() if name != "compute")
    parts["open"] = np.maximum(0.0, call - certain)
    step = -(-size // MOST_BARS)
    groups = np.arange(size) // step
    count = np.bincount(groups)
    height = {n: np.bincount(groups, weights=v) / count for n, v in parts.items()}
    top = max(float(sum(height.values()).max()), 1e-9)  # type: ignore[union-attr]
    factor, unit = (1.0, "s") if top >= 1 else (1e3, "ms") if top >= 1e-3 else (1e6, "us")
    places = np.arange(len(count)) * step

    def draw(axes: Any) -> None:
        bottom = np.zeros(len(count))
        for name, values in height.items():
            if not values.max() >= 0.002 * top:
                continue
            words = CAUSE_WORDS.get(name, name if name == "compute" else "not certain which")
            style: Any = {"color": _COLOURS[name], "label": words, "linewidth": 0}
            if size <= 64:
                axes.bar(places, values * factor, width=0.85, bottom=bottom * factor, **style)
            else:
                ends = (bottom * factor, (bottom + values) * factor)
                axes.fill_between(places, *ends, step="mid", **style)
            bottom = bottom + values
        axes.set_xlabel("rank")
        axes.set_ylabel(f"time, {unit}")
        axes.set_xlim(-0.6 * step, places[-1] + 0.6 * step)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.figure.legend(loc="outside upper left", ncols=4, frameon=False, fontsize=8)

    caption = "where the time of each rank went"
    if step > 1:
        caption += f" (mean of {step} neighbours)"
    return Plot(_svg(draw, (7.4, 3.0), "strip"), caption)


def _matrix(table: Any, size: int, values: NDArray[Any]) -> NDArray[np.float64]:
    """Sums by (rank, peer), shape (cells, cells); of many ranks neighbours in one cell."""
    cells = min(size, MOST_CELLS)
    known = (table["peer"] >= 0) & (table["peer"] < size) & (table["rank"] < size)
    row = table["rank"][known].astype(np.int64) * cells // size
    column = table["peer"][known].astype(np.int64) * cells // size
    flat = np.bincount(row * cells + column, weights=values[known], minlength=cells * cells)
    return flat.astype(np.float64).reshape(cells, cells)


def _heat(matrix: NDArray[np.float64], size: int, unit: str, caption: str) -> Plot:
    top = float(matrix.max())
    if unit == "s":
        factor, unit = (1.0, "s") if top >= 1 else (1e3, "ms") if top >= 1e-3 else (1e6, "us")
    else:
        power = min(3, int(np.log2(max(top, 1.0)) // 10))
        factor, unit = 1024.0**-power, ("B", "KiB", "MiB", "GiB")[power]

    def draw(axes: Any) -> None:
        shown = np.ma.masked_equal(matrix * factor, 0)
        image = axes.imshow(
            shown, cmap="viridis", interpolation="nearest", vmin=0,
            extent=(-0.5, size - 0.5, size - 0.5, -0.5),
        )  # fmt: skip
        axes.set_xlabel("peer")
        axes.set_ylabel("rank")
        for axis in (axes.xaxis, axes.yaxis):
            axis.get_major_locator().set_params(integer=True)
        axes.figure.colorbar(image, ax=axes, label=unit, shrink=0.8)

    return Plot(_svg(draw, (4.4, 3.2), caption), caption)


def _svg(draw: Any, inches: tuple[float, float], salt: str) -> Markup:
    """What `draw` draws, with the text in the page's colour and nothing behind it."""
    style: Any = {
        "svg.fonttype": "none", "font.size": 9, "svg.hashsalt": salt, "text.color": _TEXT,
        "axes.labelcolor": _TEXT, "xtick.color": _TEXT, "ytick.color": _TEXT,
        "axes.edgecolor": _TEXT, "font.sans-serif": ["DejaVu Sans"],
    }  # fmt: skip
    with matplotlib.rc_context(style):
        figure = Figure(figsize=inches, layout="constrained")
        figure.patch.set_alpha(0.0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0.0)
        draw(axes)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue().replace(_TEXT, "currentColor")
    return Markup(text[text.index("<svg") :])
