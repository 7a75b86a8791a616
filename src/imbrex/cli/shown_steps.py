"""Steps that take long, on stderr: bars on a terminal, else lines.

Without a terminal a step has one line. One that tells its parts has further ones, each a few
seconds and a tenth of the step behind the one before, so that a log stays short.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from imbrex.cli.terminal import console, warn
from imbrex.steps import Tell, heard_by

PATIENCE_S = 1.0
"""A step of less than this needs no line where there is no terminal."""
PACE_S = 4.0
"""Lines about the parts of a step come no sooner after one another."""
PACE_SHARE = 0.1
"""Nor before this share more of the step is done."""
BAR_COLUMNS = 16
"""On a terminal of 80, so that what is being done and what is left stand beside it."""


@contextmanager
def shown_steps(*, quiet: bool = False) -> Iterator[None]:
    """Show what is done meanwhile and takes long, unless `quiet`."""
    screen = console(stderr=True)
    if quiet:
        yield
    elif not screen.is_terminal:
        with heard_by(_lines):
            yield
    else:
        bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(BAR_COLUMNS),
            TimeElapsedColumn(),
            TextColumn("{task.fields[part]}"),
            console=screen,
            transient=True,
        )
        with heard_by(lambda activity, duration: _bar(bars, activity, duration)):
            yield


@contextmanager
def _lines(activity: str, duration: str) -> Iterator[Tell]:
    """The first line comes once the step has lasted for a while."""
    takes = f" ({duration})" if duration else ""
    line = threading.Timer(PATIENCE_S, warn, [f"{activity}{takes} ..."])
    line.daemon = True
    line.start()
    begin_s = last_s = time.monotonic()
    last_share = 0.0

    def tell(share: float, part: str = "", /) -> None:
        nonlocal last_s, last_share
        now_s = time.monotonic()
        if part and now_s - last_s >= PACE_S and share - last_share >= PACE_SHARE:
            last_s, last_share = now_s, share
            warn(f"{100 * share:.0f} %: {part}{_left(now_s - begin_s, share)}")

    try:
        yield tell
    finally:
        line.cancel()


@contextmanager
def _bar(bars: Progress, activity: str, duration: str) -> Iterator[Tell]:
    """A bar that moves to and fro until a share is told; it goes when the step is done."""
    task = bars.add_task(activity, total=None, part=duration)
    begin_s = time.monotonic()
    if len(bars.tasks) == 1:
        bars.start()

    def tell(share: float, part: str = "", /) -> None:
        told = f"{part}{_left(time.monotonic() - begin_s, share)}" if part else ""
        bars.update(task, total=1.0, completed=share, part=told)

    try:
        yield tell
    finally:
        bars.remove_task(task)
        if not bars.tasks:
            bars.stop()


def _left(gone_s: float, share: float) -> str:
    """About how long the rest takes, where a share has taken `gone_s`; empty for the last of it."""
    left_s = gone_s * (1 - share) / share if share > 0 else 0.0
    return f", about {left_s:.0f} s left" if left_s >= 1 else ""
