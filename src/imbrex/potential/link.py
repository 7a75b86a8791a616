"""Messages that share the link out of their process: those under way get equal parts of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imbrex.potential.envelope import FloatArray

_SLOTS = 16


def durations(starts: FloatArray, work: FloatArray) -> FloatArray:
    """How long each message is on the link, from its start until its last byte has left.

    `starts` and `work` (time alone on the link) have shape (messages, points), in any order; so has
    the result, which is `work` where no two messages meet. Beyond sixteen at once, the oldest is
    taken to have left.
    """
    messages, points = starts.shape
    order = np.argsort(starts, axis=0, kind="stable")
    sorted_starts = np.take_along_axis(starts, order, axis=0)
    sorted_work = np.take_along_axis(work, order, axis=0)
    ends = np.maximum.accumulate(sorted_starts + sorted_work, axis=0)
    if messages < 2 or (sorted_starts[1:] >= ends[:-1]).all():
        return np.array(work)
    columns = np.arange(points)
    finish = np.zeros_like(work)
    left = np.full((_SLOTS, points), np.inf)
    owner = np.zeros((_SLOTS, points), dtype=np.int64)
    now = sorted_starts[0].copy()
    for k in range(messages + 1):
        until = sorted_starts[k] if k < messages else np.full(points, np.inf)
        now = _advance(now, until, left, owner, finish)
        if k < messages:
            # An empty slot, or where there is none the one with least to go.
            slot = np.where(np.isinf(left).any(axis=0), np.isinf(left).argmax(axis=0),
                            left.argmin(axis=0))  # fmt: skip
            taken = ~np.isinf(left[slot, columns])
            finish[owner[slot, columns][taken], columns[taken]] = now[taken]
            left[slot, columns] = sorted_work[k]
            owner[slot, columns] = k
    result = np.empty_like(work)
    np.put_along_axis(result, order, finish - sorted_starts, axis=0)
    return result


def _advance(
    now: FloatArray,
    until: FloatArray,
    left: FloatArray,
    owner: NDArray[np.int64],
    finish: FloatArray,
) -> FloatArray:
    """Let what is under way go on until `until`; note when messages finish. The time reached."""
    columns = np.arange(now.size)
    for _ in range(_SLOTS + 1):
        active = np.isfinite(left).sum(axis=0)
        least = left.min(axis=0)
        with np.errstate(invalid="ignore"):
            need = np.where(active > 0, least * active, np.inf)
        done = (active > 0) & (now + need <= until)
        if not done.any():
            break
        slot = left.argmin(axis=0)
        now = np.where(done, now + np.where(done, need, 0.0), now)
        finish[owner[slot, columns][done], columns[done]] = now[done]
        left -= np.where(done, np.where(np.isfinite(least), least, 0.0), 0.0)
        left[slot[done], columns[done]] = np.inf
    active = np.isfinite(left).sum(axis=0)
    gone = np.where(np.isfinite(until) & (active > 0), until - now, 0.0)
    left -= np.maximum(gone, 0.0) / np.maximum(active, 1)
    return np.where(np.isfinite(until), np.maximum(until, now), now)
