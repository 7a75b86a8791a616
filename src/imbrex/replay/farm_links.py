"""The engine's links, for a farm that is played (engine/alone.c)."""

from __future__ import annotations

import ctypes

from imbrex.errors import ImbrexError
from imbrex.replay.compiled import engine


class FarmLinks:
    """Messages that share the links of their processes, each numbered by the caller."""

    def __init__(self, processes: int, streams: int, in_order: bool) -> None:
        self._library = engine()
        self._library.ix_alone_open.restype = ctypes.c_void_p
        self._links = ctypes.c_void_p(
            self._library.ix_alone_open(processes, streams, int(in_order))
        )
        if not self._links:
            raise ImbrexError("the replay ran out of memory")
        doubles, numbers = [ctypes.c_double] * 3, [ctypes.c_uint32] * 4
        self._library.ix_alone_offer.argtypes = [ctypes.c_void_p, *doubles, *numbers]
        self._library.ix_alone_offer.restype = None
        self._library.ix_alone_close.argtypes = [ctypes.c_void_p]
        self._library.ix_alone_close.restype = None
        pointers = [ctypes.c_void_p] * 2
        self._library.ix_alone_until.argtypes = [ctypes.c_void_p, ctypes.c_double, *pointers]
        self._op, self._at = ctypes.c_uint64(), ctypes.c_double()
        self._places = ctypes.addressof(self._op), ctypes.addressof(self._at)

    def __del__(self) -> None:
        if getattr(self, "_links", None):
            self._library.ix_alone_close(self._links)

    def offer(
        self,
        ready_ns: float,
        work_ns: float,
        flies_ns: float,
        number: int,
        ends: tuple[int, int],
        stream: int,
    ) -> None:
        """A message between two processes that takes so long on links that it has to itself, and
        then to be there."""
        self._library.ix_alone_offer(
            self._links, ready_ns, work_ns, flies_ns, number, *ends, stream
        )

    def until(self, at_ns: float) -> tuple[int, float] | None:
        """The next message that is through up to a time, and when it is there."""
        found = self._library.ix_alone_until(self._links, at_ns, *self._places)
        if found < 0:
            raise ImbrexError("the replay ran out of memory")
        return (self._op.value, self._at.value) if found else None
