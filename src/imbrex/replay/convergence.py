"""When the run times of repeated replays have converged, each network by itself."""

from __future__ import annotations

import numpy as np

from imbrex.profile.recording import FloatArray

_CONVERGED = 3e-4
_OSCILLATES = 2e-2


class Convergence:
    """Run times of one replay after the other, shape (points,): the first is that with messages one
    behind the other, in the later ones they share their links as they did in the one before."""

    def __init__(self, first: FloatArray) -> None:
        self._latest = self._found = first
        self._converged = np.zeros(first.shape, dtype=bool)
        self._change = np.full(first.shape, np.inf)

    def take(self, latest: FloatArray) -> bool:
        """One more replay; whether all have converged. Those that have stay as they were."""
        self._change = np.abs(latest - self._latest) / np.maximum(latest, np.finfo(float).tiny)
        self._latest = latest
        now = ~self._converged & (self._change <= _CONVERGED)
        self._found = np.where(now, latest, self._found)
        self._converged |= now
        return bool(self._converged.all())

    @property
    def found(self) -> FloatArray:
        """The latest where a network comes closer to its time or stays about it. Where it
        oscillates, the first will do: on a link that is always full it makes no difference to the
        last who is served when."""
        kept = self._converged | (self._change > _OSCILLATES)
        return np.asarray(np.where(kept, self._found, self._latest))
