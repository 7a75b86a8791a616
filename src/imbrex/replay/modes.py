"""What the modes of a replay mean for both sides of a message: when its pieces leave, and when they
are needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imbrex.profile.recording import PIECES, RecordedMessage
from imbrex.replay.schedule import Schedule

NONE = "none"
AS_WRITTEN = "as written"
BOUNDARY_FIRST = "boundary first"
BOUNDARY_LAST = "boundary last"
REPLAY_MODES = (
    NONE,
    AS_WRITTEN,
    "independent",
    "consumer",
    "fine-grained",
    BOUNDARY_FIRST,
    BOUNDARY_LAST,
)
"""none: data move only while the receiver waits. as written: from the send on, the program
computing or not. independent: sent when the last element is written, awaited when the first is
read. consumer: awaited element by element. fine-grained: also sent piece by piece. boundary first,
last: loop indexing of section 3.4, the message's elements before (after) all else of their loop."""


@dataclass(frozen=True)
class Side:
    """When the pieces of a message are ready before its send, or needed after its arrival (ns).

    `own_ns` is what its rank spends on elements of messages themselves, of this kind of side.
    """

    pieces_ns: tuple[float, ...]
    own_ns: float


class Sides:
    """The sides of a schedule's messages, each in the mode that `mode_of` gives to its send."""

    def __init__(self, schedule: Schedule, mode_of: Callable[[RecordedMessage], str]) -> None:
        self._schedule = schedule
        self._mode_of = mode_of
        self._modes: dict[tuple[int, int], str] = {}
        self._sides: dict[tuple[int, int, str], Side] = {}
        self._own: dict[tuple[int, bool], float] = {}

    def mode(self, send: RecordedMessage) -> str:
        key = send.rank, send.number
        if key not in self._modes:
            self._modes[key] = self._mode_of(send)
        return self._modes[key]

    def side(self, m: RecordedMessage, mode: str) -> Side:
        key = m.rank, m.number, mode
        if key not in self._sides:
            self._sides[key] = self._side(m, mode)
        return self._sides[key]

    def ready_ns(self, m: RecordedMessage, mode: str, at_ns: float) -> float:
        """When a message that is sent whole at `at_ns` of its rank's computation could leave."""
        side = self.side(m, mode)
        ready = at_ns - side.pieces_ns[0]
        if mode == BOUNDARY_FIRST:
            begin, _ = self._schedule.interval_ns(m.rank, ready - 1e-3)
            ready = min(ready, begin + side.own_ns)
        return ready

    def needed_ns(self, m: RecordedMessage, mode: str, at_ns: float) -> list[float]:
        """When the pieces of a message that its rank takes at `at_ns` are needed."""
        side = self.side(m, mode)
        needed = [at_ns + need for need in side.pieces_ns]
        if mode != BOUNDARY_LAST:
            return needed
        ends = [self._schedule.interval_ns(m.rank, at + 1e-3)[1] for at in needed]
        return [
            max(at_ns, end - side.own_ns) if math.isfinite(at) else at
            for at, end in zip(needed, ends, strict=True)
        ]

    def _side(self, m: RecordedMessage, mode: str) -> Side:
        count = 1 if mode in (AS_WRITTEN, NONE, BOUNDARY_FIRST, BOUNDARY_LAST) else PIECES
        count = max(min(count, m.elements), 1)
        if mode == "independent":
            count = 1
        times = m.pieces_ns(count)
        # Loop indexing changes one side; the other stays where it is.
        other = BOUNDARY_LAST if m.is_send else BOUNDARY_FIRST
        if mode in (AS_WRITTEN, NONE, other):
            times = np.zeros(1)
        whole = mode == "consumer" and m.is_send
        pieces = (m.beside_ns,) * count if whole else tuple(times.tolist())
        return Side(pieces, self._own_ns(m.rank, m.is_send))

    def _own_ns(self, rank: int, sends: bool) -> float:
        """What a rank's loops spend on elements of messages: the least of their steps for each."""
        if (rank, sends) not in self._own:
            own = [m for m in self._schedule.run.messages[rank] if m.is_send == sends]
            steps = [m.own_period_ns for m in own if m.known.size > 1]
            self._own[rank, sends] = min(steps, default=0.0) * sum(m.known.size for m in own)
        return self._own[rank, sends]
