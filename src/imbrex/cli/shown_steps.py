"""Steps that take long, on stderr: bars on a terminal, else one line for each."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from imbrex.cli.terminal import console, warn
from imbrex.steps import Tell, heard_by

PATIENCE_S = 1.0
"""A step of less than this needs no line where there is no terminal."""


@contextmanager
def shown_steps(*, quiet: bool = False) -> Iterator[None]:
    """Show what is done meanwhile and takes long, unless `quiet`."""
    screen = console(stderr=True)
    if quiet:
        yield
    elif not screen.is_terminal:
        with heard_by(_one_line):
            yield
    else:
        bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=screen,
            transient=True,
        )
        with heard_by(lambda activity: _bar(bars, activity)):
            yield


@contextmanager
def _one_line(activity: str) -> Iterator[Tell]:
    """The line comes once the step has lasted for a while."""
    line = threading.Timer(PATIENCE_S, warn, [f"{activity} ..."])
    line.daemon = True
    line.start()
    try:
        yield lambda share: None
    finally:
        line.cancel()


@contextmanager
def _bar(bars: Progress, activity: str) -> Iterator[Tell]:
    """A bar that moves to and fro until a share is told; it goes when the step is done."""
    task = bars.add_task(activity, total=None)
    if len(bars.tasks) == 1:
        bars.start()
    try:
        yield lambda share: bars.update(task, total=1.0, completed=share)
    finally:
        bars.remove_task(task)
        if not bars.tasks:
            bars.stop()
