"""Processor time that overlap costs: work that took longer, and what other threads used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.network.exchanges import Exchange, Side

LONG_WORK_NS = 100_000
NOTABLE = 0.01
"""Share of a core from which on other threads are told of."""
STRETCHED = 1.1


@dataclass(frozen=True)
class ProcessorTime:
    """Of one path. `work_stretched`: how much longer work took than alone; None: no long work.

    `other_threads`: cores that the other threads of a rank's process used during the exchanges.
    """

    path: str
    work_stretched: float | None
    other_threads: float

    @property
    def notes(self) -> list[str]:
        """What to tell the user, a line each."""
        found = []
        thread = self.other_threads >= NOTABLE
        if thread:
            found.append(
                f"{self.path}: the library's own threads used {100 * self.other_threads:.0f} % of "
                "a core per rank during the exchanges: overlap is paid for with processor time"
            )
        if self.work_stretched is not None and self.work_stretched >= STRETCHED:
            cause = "those threads" if thread else "the kernel, or a busy machine,"
            found.append(
                f"{self.path}: work took {100 * (self.work_stretched - 1):.0f} % longer than alone "
                f"on its core: {cause} took processor time"
            )
        return found


def processor_time(path: str, rows: Sequence[Exchange]) -> ProcessorTime:
    """From the exchanges of one path."""
    stretched, used, lasted = [], 0.0, 0.0
    for x in rows:
        if x.sender_work_ns > LONG_WORK_NS and x.sender_tests == 0:
            stretched.append((x.sender.wait_ns - x.sender.started_ns) / x.sender_work_ns)
        for side, other_threads_ns in (
            (x.sender, x.sender_others_ns),
            (x.receiver, x.receiver_others_ns),
        ):
            used += max(0.0, other_threads_ns)
            lasted += _length(side)
    median = float(np.median(np.asarray(stretched))) if stretched else None
    return ProcessorTime(path, median, used / lasted if lasted > 0 else 0.0)


def _length(side: Side) -> float:
    return max(0.0, side.done_ns - min(0.0, side.enter_ns))
