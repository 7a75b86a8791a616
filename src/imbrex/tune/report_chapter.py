"""What a search found as a chapter of its run's report: the answer, and its trials."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from imbrex.errors import ImbrexError
from imbrex.formats.schema import Field, JsonFormat
from imbrex.formats.value_types import Flag, ListOf, Number, Object, Text
from imbrex.report.html import Chapter
from imbrex.tune.answer import ANSWER, TEXT
from imbrex.tune.trials_file import TRIALS, TRIALS_FORMAT

TITLE = "What makes it faster"
PLOT = "Share of the time that each pair of runs saved"
_SHARE = Number(-1e9, 1)
_CANDIDATE = Object(
    (
        Field("kind", Text()),
        Field("what", Text()),
        Field("estimate", _SHARE, null=True),
        Field("gain", ListOf(_SHARE, 2, 2), null=True),
        Field("failed", Text(), null=True),
        Field("recommended", Flag()),
    )
)
_FORMAT = JsonFormat(
    "the answer.json of imbrex tune",
    "start imbrex tune again: it goes on where it stopped",
    Object((Field("worth", Number(0, 1)), Field("candidates", ListOf(_CANDIDATE)))),
)
_WIDTH = 100
_LABEL = 36
# Colours that people with colour-blindness tell apart (Okabe and Ito).
_PROVEN, _OPEN, _OUT = "#009E73", "#0072B2", "#D55E00"

Entry = Mapping[str, Any]
Gains = Mapping[str, Sequence[float]]


def is_search(folder: Path) -> bool:
    """Whether a folder is one that `imbrex tune` has left its answer in."""
    return (folder / ANSWER).is_file()


def chapter(folder: Path) -> Chapter:
    """The answer of a search in words, and a plot of its trials where there are any.

    ImbrexError where its files are damaged.
    """
    answer = _FORMAT.load(folder / ANSWER)
    try:
        text = (folder / TEXT).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ImbrexError(f"{folder / TEXT}: cannot be read ({error.strerror})") from error
    gains = _gains(folder)
    drawn = [entry for entry in answer["candidates"] if gains.get(entry["what"])]
    plots = ((PLOT, trials_plot(drawn, gains, answer["worth"])),) if drawn else ()
    return Chapter(TITLE, "\n".join(map(_wrapped, text.splitlines())), plots, first=True)


def trials_plot(candidates: Sequence[Entry], gains: Gains, worth: float) -> str:
    """SVG text: a row per candidate with a dot per pair, its estimate and its interval."""
    height = max(1.6, 0.5 * len(candidates) + 1.2)
    with matplotlib.rc_context({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": PLOT}):
        figure = Figure(figsize=(8.2, height), layout="constrained")
        axes = figure.add_subplot()
        for row, entry in enumerate(candidates):
            _draw(axes, row, entry, gains[entry["what"]])
        axes.axvline(0, color="#888888", linewidth=0.8)
        axes.axvline(100 * worth, color="#888888", linewidth=0.8, linestyle=":")
        axes.set_xlim(*_range(candidates, gains, worth))
        axes.set_ylim(len(candidates) - 0.4, -0.6)
        axes.set_yticks(range(len(candidates)), [_label(entry) for entry in candidates])
        axes.set_xlabel("saved, % of the time (dotted: what is worth it; bar: the interval)")
        axes.spines[["top", "right"]].set_visible(False)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Title": PLOT})
    text = stream.getvalue()
    return text[text.index("<svg") :]


def _draw(axes: Axes, row: int, entry: Entry, gains: Sequence[float]) -> None:
    colour = _OUT if entry["failed"] is not None else _PROVEN if entry["recommended"] else _OPEN
    if entry["gain"] is not None:
        low, high = (100 * end for end in entry["gain"])
        axes.plot([low, high], [row, row], color=colour, linewidth=5, alpha=0.35)
    axes.plot([100 * gain for gain in gains], [row] * len(gains), "o", color=colour, markersize=3)
    if entry["estimate"] is not None:
        axes.plot([100 * entry["estimate"]], [row], "|", color=colour, markersize=14)


def _range(candidates: Sequence[Entry], gains: Gains, worth: float) -> tuple[float, float]:
    """The ends of the axis in per cent: all pairs; of few pairs an interval is much wider."""
    shown = [gain for entry in candidates for gain in gains[entry["what"]]]
    low, high = 100 * min(0.0, *shown), 100 * max(worth, *shown)
    margin = 0.15 * (high - low)
    return low - margin, high + margin


def _label(entry: Entry) -> str:
    beside = ", beside the best alone" if entry["kind"] == "combination" else ""
    out = " (out)" if entry["failed"] is not None else ""
    text = textwrap.fill(entry["what"] + beside + out, _LABEL, max_lines=2, placeholder="...")
    return text.replace("$", r"\$")


def _gains(folder: Path) -> Gains:
    """The share of the time that each counted pair saved, by what the candidate is."""
    if not (folder / TRIALS).exists():
        return {}
    trials = TRIALS_FORMAT.load(folder / TRIALS)
    return {
        label: [1 - p["b"]["seconds"] / p["a"]["seconds"] for p in pairs if p["counted"]]
        for label, pairs in trials["candidates"].items()
    }


def _wrapped(line: str) -> str:
    """A line of the answer as a terminal shows it; commands stay whole."""
    if line.startswith("   $"):
        return line
    indent = "  " if line.startswith("- ") else ""
    text = line.replace(" %", "\u00a0%")  # stays with its number
    text = textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return text.replace("\u00a0%", " %")
