"""Run the user's launcher line so that it does not notice us."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from types import FrameType

from imbrex.errors import ImbrexError

_FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
)
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


def run(
    command: Sequence[str], *, silent: bool = False, signals: list[signal.Signals] | None = None
) -> int:
    """Run a command on our own terminal, files and signals; its exit code as a shell gives it.

    A command killed by signal N gives 128 + N; what a `silent` one prints goes nowhere.
    The signals that came for it are added to `signals`. ImbrexError where it cannot be started at
    all.
    """
    # Handlers come first: a signal between the start and the handlers would kill us, not it.
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, _: FrameType | None) -> None:
        if signals is not None:
            signals.append(signal.Signals(number))
        if number in _FROM_TERMINAL and _in_foreground():
            return  # the terminal has sent it to the command as well
        if child is None:
            early.append(number)
        else:
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(number)

    # An ignored signal (nohup) stays ignored, for the command too.
    kept = {
        number: signal.signal(number, forward)
        for number in _FORWARDED
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        child = subprocess.Popen(list(command), stdout=subprocess.DEVNULL if silent else None)
        for number in early:
            child.send_signal(number)
        code = child.wait()
    except OSError as error:
        raise ImbrexError(f"{command[0]}: cannot be started ({error.strerror})") from error
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    return 128 - code if code < 0 else code


def _in_foreground() -> bool:
    """Whether a signal of the terminal reaches our whole process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
