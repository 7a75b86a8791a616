"""The time line of a run: its single calls, all of them or those around a typical iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.call_log import Flag, Kind
from imbrex.profile.causes import CAUSES
from imbrex.profile.format import Table
from imbrex.profile.timeline.format import TIMELINE, TIMELINE_FILE, Match
from imbrex.profile.timeline.from_logs import log_files, read_logs

if TYPE_CHECKING:
    from imbrex.profile.run import Run

SENDS = (Kind.SEND, Kind.SYNC_SEND, Kind.BUFFERED_SEND, Kind.READY_SEND)
COLLECTIVES = (Kind.ALL, Kind.FROM_ROOT, Kind.TO_ROOT, Kind.SCAN, Kind.NEIGHBOURS)

MESSAGE_DTYPE = np.dtype([("send", "<i8"), ("receive", "<i8")])


@dataclass(frozen=True)
class Timeline:
    """Single calls on the clock of all ranks, in ns since the run began.

    `calls` has TIMELINE_DTYPE: rank after rank, thread after thread, in the order of time. All
    ranks' calls are there from `begin_ns` to `end_ns`; `whole`: those are the whole run, as far as
    it was logged. `x_known`: the calls carry transfer times and the hidden part of their transfers.
    """

    calls: Table
    begin_ns: int
    end_ns: int
    whole: bool
    x_known: bool

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """Which rows are the first of their call, shape (rows,): the others have the same times."""
        return np.asarray((self.calls["flags"] & Flag.FIRST) != 0, np.bool_)

    @cached_property
    def messages(self) -> Table:
        """The messages of which both sides are here: numbers of their rows, MESSAGE_DTYPE.

        The rows are those of the calls that began the two sides, in the order of the sends.
        """
        calls = self.calls
        matched = (calls["match"] == Match.MATCHED) & (calls["sequence"] != 0)
        sends = np.flatnonzero(matched & np.isin(calls["kind"], SENDS))
        receives = np.flatnonzero(matched & (calls["kind"] == Kind.RECV))
        sides = np.concatenate([sends, receives])
        is_send = np.arange(len(sides)) < len(sends)
        here, there = calls["rank"][sides], calls["peer"][sides]
        keys = (
            ~is_send,
            calls["sequence"][sides],
            calls["tag"][sides],
            np.where(is_send, there, here),
            np.where(is_send, here, there),
            calls["comm"][sides],
        )
        order = np.lexsort(keys)
        same = np.ones(max(0, len(order) - 1), np.bool_)
        for key in keys[1:]:
            same &= key[order[1:]] == key[order[:-1]]
        pair = np.flatnonzero(same & is_send[order[:-1]] & ~is_send[order[1:]])
        found = np.empty(len(pair), MESSAGE_DTYPE)
        found["send"], found["receive"] = sides[order[pair]], sides[order[pair + 1]]
        return np.sort(found, order="send")

    def causes(self, row: int) -> Mapping[str, tuple[float, float]]:
        """Least and most of each cause of a call's time, in s; `row` is the first of its call."""
        call = self.calls[row]
        return {c: (int(call[f"{c}_min_ns"]) / 1e9, int(call[f"{c}_max_ns"]) / 1e9) for c in CAUSES}

    def between(self, begin_ns: int, end_ns: int) -> Timeline:
        """The part of it in which calls overlap with [begin_ns, end_ns)."""
        calls = self.calls
        inside = (calls["exit_ns"] >= begin_ns) & (calls["enter_ns"] < end_ns)
        return Timeline(
            calls[inside],
            max(self.begin_ns, begin_ns),
            min(self.end_ns, end_ns),
            False,
            self.x_known,
        )

    def of_ranks(self, ranks: Sequence[int]) -> Timeline:
        """The calls of some ranks."""
        calls = self.calls[np.isin(self.calls["rank"], np.asarray(ranks, np.int64))]
        return Timeline(calls, self.begin_ns, self.end_ns, self.whole, self.x_known)


def load_timeline(run: Run) -> Timeline | None:
    """The calls around a typical iteration, which a measured run keeps; None where there are none.

    Where ranks could not finish (a crash, a kill) they are taken from what was left of their logs.
    ImbrexError where the file is damaged.
    """
    file = run.directory / TIMELINE_FILE
    if run.merged and file.exists():
        calls = TIMELINE.load(file)
        kept = run.job.timeline
        if len(calls):
            begin, end = int(calls["enter_ns"].min()), int(calls["exit_ns"].max())
            if kept is not None:
                begin, end = round(kept.begin_s * 1e9), round(kept.end_s * 1e9)
            return Timeline(calls, begin, end, False, True)
    return load_whole_timeline(run)


def load_whole_timeline(run: Run) -> Timeline | None:
    """All logged calls of a run that was made with `--keep-log` or ended early; else None.

    Causes are what the calls of both sides prove, without transfer times.
    """
    if not log_files(run):
        return None
    calls = read_logs(run)
    if not len(calls):
        return None
    return Timeline(calls, int(calls["enter_ns"].min()), int(calls["exit_ns"].max()), True, False)
