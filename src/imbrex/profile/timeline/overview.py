"""The table overview.npy of a run directory: what each rank did in equal stretches of the run.

It shows the whole run where single calls (timeline.npy) would be too many to keep or to draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from imbrex.formats.arrays import Column, TableFormat
from imbrex.profile.causes import CAUSES
from imbrex.profile.format import KEY_COLUMNS, REMEDY, quantities

if TYPE_CHECKING:
    from imbrex.profile.run import Run
    from imbrex.profile.timeline.timeline import Timeline

OVERVIEW_FILE = "overview.npy"
OVERVIEW = TableFormat(
    "the overview of an Imbrex run",
    REMEDY,
    (
        KEY_COLUMNS[0],
        Column("reserved", "i4", "0"),
        *quantities(
            ("begin_ns", "of the stretch, since the run began"),
            ("length_ns", "of the stretch, the same for all of a rank"),
            ("logged_ns", "the part of it that the call log covers"),
            ("call_ns", "time in logged calls, summed over threads"),
            *((f"{name}_ns", f"of it for certain: {name}") for name in CAUSES),
        ),
    ),
)
OVERVIEW_DTYPE = OVERVIEW.dtype
"""One row of overview.npy: rank after rank, in the order of time."""

PARTS = ("compute", *CAUSES, "open", "unlogged")
"""What the time of a stretch went into; `open`: one of the causes, not certain which."""
_CALL_ORDER = ("late_sender", "late_collective", "late_receiver")
_LAST = ("stalled", "transfer", "library", "file_io", "unattributed")


@dataclass(frozen=True)
class Overview:
    """Shares of time, shape (ranks, stretches, parts), that are 1 together.

    `ranks`, shape (ranks,), has their numbers; the stretches divide the time from `begin_ns` to
    `end_ns` equally.
    """

    ranks: NDArray[np.int64]
    begin_ns: int
    end_ns: int
    shares: NDArray[np.float64]


def load_overview(run: Run, stretches: int) -> Overview | None:
    """The whole run in so many stretches; None where the run has no overview.npy.

    ImbrexError where the file is damaged.
    """
    file = run.directory / OVERVIEW_FILE
    if not run.merged or not file.exists():
        return None
    table = OVERVIEW.load(file)
    table = table[table["length_ns"] > 0]
    if not len(table):
        return None
    ends = table["begin_ns"] + table["length_ns"]
    begin, end = 0, int(ends.max())
    ranks, row = np.unique(table["rank"].astype(np.int64), return_inverse=True)
    spent = np.zeros((len(ranks), stretches, len(PARTS)))
    certain = sum(table[f"{name}_ns"] for name in CAUSES)
    unlogged = np.maximum(0, table["length_ns"] - table["logged_ns"])
    compute = np.maximum(0, table["logged_ns"] - table["call_ns"])
    columns = [compute, *(table[f"{name}_ns"] for name in CAUSES)]
    columns += [np.maximum(0, table["call_ns"] - certain), unlogged]
    for part, values in enumerate(columns):
        _spread(spent[:, :, part], row, table["begin_ns"], ends, values, (begin, end))
    # A rank may end before the others, within a stretch.
    spent[:, :, -1] += np.maximum(0.0, (end - begin) / stretches - spent.sum(axis=2))
    return Overview(ranks, begin, end, _shares(spent, "unlogged"))


def overview_of_calls(
    timeline: Timeline, begin_ns: int, end_ns: int, stretches: int
) -> Overview | None:
    """The time from `begin_ns` to `end_ns` in so many stretches, from single calls.

    Before the first and behind the last call of a rank nothing is known of it.
    """
    calls = timeline.calls[timeline.first]
    if not len(calls) or end_ns <= begin_ns:
        return None
    ranks, row = np.unique(calls["rank"].astype(np.int64), return_inverse=True)
    spent = np.zeros((len(ranks), stretches, len(PARTS)))
    limits = (begin_ns, end_ns)
    enter, exit_ = calls["enter_ns"].astype(np.int64), calls["exit_ns"].astype(np.int64)

    def add(part: str, first: NDArray[np.int64], last: NDArray[np.int64]) -> None:
        _spread(spent[:, :, PARTS.index(part)], row, first, last, last - first, limits)

    at = enter.copy()
    for name in _CALL_ORDER:
        until = np.minimum(exit_, at + calls[f"{name}_min_ns"])
        add(name, at, until)
        at = until
    last = exit_.copy()
    for name in reversed(_LAST):
        begin = np.maximum(at, last - calls[f"{name}_min_ns"])
        add(name, begin, last)
        last = begin
    add("open", at, last)
    known = np.zeros((len(ranks), stretches))
    first_of, last_of = np.full(len(ranks), end_ns), np.full(len(ranks), begin_ns)
    np.minimum.at(first_of, row, enter)
    np.maximum.at(last_of, row, exit_)
    _spread(known, np.arange(len(ranks)), first_of, last_of, last_of - first_of, limits)
    length = (end_ns - begin_ns) / stretches
    spent[:, :, 0] = np.maximum(0.0, known - spent.sum(axis=2))
    spent[:, :, -1] = np.maximum(0.0, length - known)
    return Overview(ranks, begin_ns, end_ns, _shares(spent, "unlogged"))


def _shares(spent: NDArray[np.float64], nothing: str) -> NDArray[np.float64]:
    """Time by part as shares; a stretch of which nothing is known is all `nothing`."""
    whole = spent.sum(axis=2, keepdims=True)
    shares = spent / np.where(whole > 0, whole, 1.0)
    shares[:, :, PARTS.index(nothing)] += (whole <= 0)[:, :, 0]
    return np.asarray(shares, np.float64)


def _spread(
    spent: NDArray[np.float64],
    row: NDArray[np.int64],
    first: NDArray[Any],
    last: NDArray[Any],
    values: NDArray[Any],
    limits: tuple[int, int],
) -> None:
    """Add `values`, each spread evenly over [first, last), to the stretches of its row of `spent`.

    Each value takes one step, however many stretches it covers.
    """
    begin, end = limits
    stretches = spent.shape[1]
    scale = stretches / (end - begin)
    length = np.asarray(last - first, np.float64)
    wanted = (length > 0) & (values > 0)
    row, length = row[wanted], length[wanted]
    rate = np.asarray(values, np.float64)[wanted] / length / scale  # per stretch
    low = np.clip((first[wanted] - begin) * scale, 0, stretches)
    high = np.clip((last[wanted] - begin) * scale, 0, stretches)
    # From one stretch to the next the amount changes in two places at each end only.
    slope = np.zeros((spent.shape[0], stretches + 2))
    for at, sign in ((low, 1.0), (high, -1.0)):
        whole = np.minimum(at.astype(np.int64), stretches)
        part = at - whole
        np.add.at(slope, (row, whole), sign * rate * (1.0 - part))
        np.add.at(slope, (row, whole + 1), sign * rate * part)
    spent += np.cumsum(slope, axis=1)[:, :stretches]
