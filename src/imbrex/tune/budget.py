"""The time that a comparison may take."""

from __future__ import annotations

import time
from collections.abc import Callable

from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Run, Trial


class Budget:
    """Lets runs start as long as another pair is likely to end in time.

    `seconds`: from now on, for all runs together; `clock` tells seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self._longest_s = 0.0
        self.over = False
        """Whether it kept a pair from being run."""

    def timed(self, run: Run) -> Run:
        """The same, with a note of how long a run takes."""

        def noted(line: Line) -> TimedRun:
            begin = self._clock()
            try:
                return run(line)
            finally:
                self._longest_s = max(self._longest_s, self._clock() - begin)

        return noted

    def allows(self, trial: Trial) -> bool:
        """Whether there is time for one more pair."""
        del trial
        self.over = self._clock() + 2 * self._longest_s > self._end
        return not self.over
