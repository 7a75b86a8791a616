"""What a replay knows of a rank on its way, and of the messages between two ranks."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

import numpy as np

from imbrex.profile.recording import FloatArray

_KEPT_MARKS = 4096


@dataclass
class Channel:
    """The messages from one rank to another with one communicator and tag, in their order: none
    starts before the one that was sent before it (`started`). Of a tree, how many were `taken`."""

    sent: list[list[FloatArray]] = field(default_factory=list)
    started: FloatArray | None = None
    posted: list[FloatArray] = field(default_factory=list)
    taken: int = 0

    def after(self, start: FloatArray) -> FloatArray:
        """When a message that could start at `start` does, behind those sent before it."""
        self.started = start if self.started is None else np.maximum(start, self.started)
        return self.started


class RankState:
    """A rank on its way: `at_ns` on its clock of computation, `wall` in ns on every network."""

    def __init__(self, points: int) -> None:
        self.at_ns = 0.0
        self.wall: FloatArray = np.zeros(points)
        self.entered = self.wall
        self.marks_ns: list[float] = []
        self.marks_wall: list[FloatArray] = []
        self.pending: list[tuple[float, int, Channel, int, int]] = []
        self.out_free: FloatArray = np.zeros(points)
        self.out_start: FloatArray = np.zeros(points)
        self.in_free: FloatArray = np.zeros(points)
        self.collectives: dict[tuple[int, int] | None, int] = {}
        self.awaited = 0

    def wait_until(self, moment: FloatArray) -> None:
        self.wall = np.maximum(self.wall, moment)
        if self.marks_ns and self.marks_ns[-1] == self.at_ns:
            self.marks_wall[-1] = self.wall
            return
        self.marks_ns.append(self.at_ns)
        self.marks_wall.append(self.wall)
        if len(self.marks_ns) > 2 * _KEPT_MARKS:
            del self.marks_ns[:_KEPT_MARKS], self.marks_wall[:_KEPT_MARKS]

    def wall_at(self, at_ns: float) -> FloatArray:
        """The wall time at which this rank had computed for `at_ns`."""
        index = bisect.bisect_right(self.marks_ns, at_ns) - 1
        if index >= 0:
            return self.marks_wall[index] + (at_ns - self.marks_ns[index])
        if not self.marks_ns:
            return self.wall - (self.at_ns - max(at_ns, 0.0))
        return np.full_like(self.wall, max(at_ns, 0.0))
