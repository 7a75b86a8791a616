"""Messages that share the link out of their process.

Those to one peer follow each other, as they do through one connection; peers get equal parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imbrex.network.points import FloatArray

_SLOTS = 16


@dataclass(frozen=True)
class OnLink:
    """By message and network, from its start: when its first byte leaves, and when its last has
    left. Shapes (messages, points)."""

    begins: FloatArray
    ends: FloatArray


class _Link:
    """One link of a process, at the same time on every network: up to sixteen peers being served.

    In a slot are the message under way (`owner`), what it has to go (`left`; inf: nobody), its
    peer, and the last message that waits behind it; `behind` is the next in a row (-1: none).
    """

    def __init__(self, work: FloatArray) -> None:
        messages, points = work.shape
        self.columns = np.arange(points)
        self.work = work
        self.left = np.full((_SLOTS, points), np.inf)
        self.owner = np.zeros((_SLOTS, points), dtype=np.int64)
        self.peer = np.full((_SLOTS, points), -1, dtype=np.int64)
        self.tail = np.zeros((_SLOTS, points), dtype=np.int64)
        self.behind = np.full((messages, points), -1, dtype=np.int64)
        self.begin = np.zeros_like(work)
        self.finish = np.zeros_like(work)

    def advance(self, now: FloatArray, until: FloatArray) -> FloatArray:
        """Let what is under way go on until `until`; note who finishes. The time reached."""
        left = self.left
        while True:
            active = np.isfinite(left).sum(axis=0)
            least = left.min(axis=0)
            with np.errstate(invalid="ignore"):
                need = np.where(active > 0, least * active, np.inf)
            done = (active > 0) & (now + need <= until)
            if not done.any():
                break
            slot = left.argmin(axis=0)
            now = np.where(done, now + np.where(done, need, 0.0), now)
            left -= np.where(done, least, 0.0)
            self._leave(slot[done], self.columns[done], now[done])
        gone = np.where(np.isfinite(until) & (active > 0), until - now, 0.0)
        left -= np.maximum(gone, 0.0) / np.maximum(active, 1)
        return np.where(np.isfinite(until), np.maximum(until, now), now)

    def _leave(self, slot: NDArray[np.int64], columns: NDArray[np.int64], now: FloatArray) -> None:
        """What is in these slots has left; what waits for it is next."""
        gone = self.owner[slot, columns]
        self.finish[gone, columns] = now
        following = self.behind[gone, columns]
        more = following >= 0
        self.left[slot, columns] = np.where(more, self.work[following, columns], np.inf)
        self.owner[slot, columns] = following
        self.begin[following[more], columns[more]] = now[more]

    def add(self, message: int, peer: NDArray[np.int64], now: FloatArray) -> None:
        """A message for `peer` joins, number `message` in the order of starts of every network."""
        columns = self.columns
        busy = np.isfinite(self.left)
        same = busy & (self.peer == peer)
        queues = same.any(axis=0)
        slot = np.where(queues, same.argmax(axis=0), (~busy).argmax(axis=0))
        self.behind[self.tail[slot, columns][queues], columns[queues]] = message
        # No empty slot: the one with least to go is taken to be done.
        full = ~queues & busy.all(axis=0)
        while full.any():
            slot = np.where(full, self.left.argmin(axis=0), slot)
            self._leave(slot[full], columns[full], now[full])
            full &= np.isfinite(self.left[slot, columns])
        fresh = ~queues
        self.left[slot[fresh], columns[fresh]] = self.work[message, fresh]
        self.owner[slot[fresh], columns[fresh]] = message
        self.begin[message, fresh] = now[fresh]
        self.peer[slot, columns] = peer
        self.tail[slot, columns] = message


def on_link(starts: FloatArray, work: FloatArray, peers: NDArray[np.int64]) -> OnLink:
    """When each message is on the link.

    `starts` and `work` (time alone on the link) have shape (messages, points), in any order;
    `peers`, shape (messages,), says for whom they are. Beyond sixteen peers at once, what has least
    to go is taken to have left.
    """
    messages, _ = starts.shape
    order = np.argsort(starts, axis=0, kind="stable")
    sorted_starts = np.take_along_axis(starts, order, axis=0)
    sorted_work = np.take_along_axis(work, order, axis=0)
    ends = np.maximum.accumulate(sorted_starts + sorted_work, axis=0)
    if messages < 2 or (sorted_starts[1:] >= ends[:-1]).all():
        return OnLink(np.zeros_like(work), np.array(work))
    link = _Link(sorted_work)
    now = sorted_starts[0].copy()
    for k in range(messages):
        now = link.advance(now, sorted_starts[k])
        link.add(k, peers[order[k]], now)
    link.advance(now, np.full(now.shape, np.inf))
    begins, ends = np.empty_like(work), np.empty_like(work)
    np.put_along_axis(begins, order, link.begin - sorted_starts, axis=0)
    np.put_along_axis(ends, order, link.finish - sorted_starts, axis=0)
    return OnLink(begins, ends)
