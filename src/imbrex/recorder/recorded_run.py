"""The recorded run while it goes on: how far it is, how long it takes, where a sample of it ends.

The timed run before it made the same MPI calls, so it is known how many there are and how much is
computed between them. Each rank says in `progress.R.bin` how many it has come to.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imbrex.recorder.trace import CLEAN_DTYPE
from imbrex.steps import step

LONG_S = 600.0
"""A recorded run that would take longer is announced."""
FIRST_S = 5.0
"""So long it has to have gone on before anything is said of its length."""
EACH_S = 0.2
_PART = 0.1
"""After each such share a line where the run is long."""
_ENDING_S = 10.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Extent:
    """How many MPI calls each rank has come to, and has in all, and the computation up to them."""

    calls: tuple[int, ...]
    shares: tuple[tuple[float, float], ...]
    """By rank, of its calls and of its computation, from 0 to 1."""
    written: bool
    """Whether every rank has written its results."""

    @property
    def least(self) -> float:
        """What the slowest rank is certain to have done."""
        return min((min(both) for both in self.shares), default=0.0)

    @property
    def most(self) -> float:
        """What it may have done, if the other count is the one that takes the time."""
        return min((max(both) for both in self.shares), default=0.0)


class TimedCalls:
    """What the timed run left in `raw`: the end of each interval of computation, by rank."""

    def __init__(self, raw: Path, sample: float | None = None) -> None:
        self._raw = raw
        self._ends: dict[int, NDArray[np.float64]] = {}
        self.recorded = 1.0 if sample is None else sample
        for file in raw.glob("times.*.bin"):
            words = file.name.split(".")
            if len(words) == 3:
                lengths = np.fromfile(file, CLEAN_DTYPE)["ns"].astype(np.float64)
                self._ends[int(words[1])] = np.concatenate([[0.0], np.cumsum(lengths)])

    def extent(self) -> Extent:
        """How far the recorded run is now, as shares of what is recorded of it."""
        calls, shares, written = [], [], []
        for rank, ends in sorted(self._ends.items()):
            done, flag = self._progress(rank)
            of = max(1, int((ends.size - 1) * self.recorded))
            at = min(done, of)
            computed = float(ends[at] / ends[of]) if ends[of] > 0 else at / of
            calls.append(done)
            shares.append((at / of, computed))
            written.append(flag)
        return Extent(tuple(calls), tuple(shares), bool(written) and all(written))

    def _progress(self, rank: int) -> tuple[int, bool]:
        try:
            words = np.fromfile(self._raw / f"progress.{rank}.bin", "<u8")
        except OSError:
            return 0, False
        return (int(words[0]), bool(words[1])) if words.size == 2 else (0, False)


@dataclass
class Estimate:
    """How long the recorded part takes, from what it has done in the time since it began."""

    _began: tuple[float, float, float] | None = field(default=None)
    _told: float = 0.0

    def heard(self, now_s: float, extent: Extent) -> str | None:
        """A line to say now, if there is one. `now_s`: of any clock."""
        if extent.most <= 0:
            return None
        if self._began is None:
            self._began = now_s, extent.least, extent.most
        interval = self.whole_s(now_s, extent)
        if interval is None or interval[0] <= LONG_S or extent.most >= 1:
            return None
        if self._told == 0:
            self._told = extent.least + _PART
            return (
                f"the recorded run will take {_minutes(*interval)}; a part of it is often enough: "
                "--sample 10% records the first tenth of the calls and ends the run there"
            )
        if extent.least < self._told:
            return None
        self._told = extent.least + _PART
        gone = (now_s - self._began[0]) / 60
        return f"recorded {100 * extent.least:.0f} % in {gone:.0f} min, of {_minutes(*interval)}"

    def whole_s(self, now_s: float, extent: Extent) -> tuple[float, float] | None:
        """From its first call to its last, in s, least and most; None while too little is known.

        Recording takes its time by computation and by calls: if one of them takes all of it, the
        share of that one is what has been done.
        """
        if self._began is None:
            return None
        start_s, least, most = self._began
        gone_s = now_s - start_s
        steps = [extent.least - least, extent.most - most]
        if gone_s < FIRST_S or max(steps) <= 0:
            return None
        fastest, slowest = max(steps), min(steps)
        return gone_s / fastest, gone_s / slowest if slowest > 0 else float("inf")


def _minutes(least_s: float, most_s: float) -> str:
    low, high = least_s / 60, most_s / 60
    if not np.isfinite(high):
        return f"more than {low:.0f} min"
    return f"{low:.0f} min" if round(low) == round(high) else f"{low:.0f} to {high:.0f} min"


def follow(running: subprocess.Popen[bytes], calls: TimedCalls, say: Say, sampled: bool) -> int:
    """Wait for the recorded run and tell of it; its exit code.

    With `sampled` the job is ended as soon as every rank has written what it recorded: 0 then.
    """
    estimate = Estimate()
    with step("recording") as tell:
        while True:
            try:
                return running.wait(EACH_S)
            except subprocess.TimeoutExpired:
                pass
            extent = calls.extent()
            tell(extent.least)
            if sampled and extent.written:
                end(running)
                return 0
            if line := estimate.heard(time.monotonic(), extent):
                say(line)


def end(running: subprocess.Popen[bytes]) -> None:
    """End a launcher, which ends its ranks."""
    running.terminate()
    try:
        running.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
