"""When repeated replays have come to their run times, each network by itself."""

from __future__ import annotations

import numpy as np

from imbrex.potential.recording import FloatArray

_SETTLED = 3e-4
_HOVERS = 2e-2


class Settling:
    """Run times of one replay after the other, shape (points,): the first is that with messages one
    behind the other, in the later ones they share their links as they did in the one before."""

    def __init__(self, first: FloatArray) -> None:
        self._latest = self._found = first
        self._settled = np.zeros(first.shape, dtype=bool)
        self._change = np.full(first.shape, np.inf)

    def take(self, latest: FloatArray) -> bool:
        """One more replay; whether all networks have settled. Those that have stay as they were."""
        self._change = np.abs(latest - self._latest) / np.maximum(latest, np.finfo(float).tiny)
        self._latest = latest
        now = ~self._settled & (self._change <= _SETTLED)
        self._found = np.where(now, latest, self._found)
        self._settled |= now
        return bool(self._settled.all())

    @property
    def found(self) -> FloatArray:
        """The latest where a network hovers about its time or comes closer to it. Where it swings,
        the first will do: on a link that is always full it makes no difference to the last who is
        served when."""
        kept = self._settled | (self._change > _HOVERS)
        return np.asarray(np.where(kept, self._found, self._latest))
