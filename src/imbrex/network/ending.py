"""What ends us ends what we started in a session of its own, which hears nothing of it."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ending:
    """Within: the signals that end a process raise SystemExit, once, and not before `started`.

    Until then there is nothing that could be ended, and the process that starts would be lost.
    Signals that somebody handles already stay as they are.
    """

    def __init__(self) -> None:
        self._ours = [n for n in _SIGNALS if signal.getsignal(n) is signal.SIG_DFL]
        self._heard = 0
        self._waits = True

    def __enter__(self) -> Ending:
        for number in self._ours:
            signal.signal(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for number in self._ours:
            signal.signal(number, signal.SIG_DFL)

    def started(self) -> None:
        """What is to be ended is known; SystemExit where a signal came before."""
        self._waits = False
        if self._heard:
            raise SystemExit(128 + self._heard)

    def _hear(self, number: int, _: FrameType | None) -> None:
        first, self._heard = not self._heard, number
        if first and not self._waits:
            raise SystemExit(128 + number)
