"""The console of a command, whose reader may be gone: `rich` is imported where one is wanted."""

from __future__ import annotations

import errno
import os

from rich.console import Console


class PipeConsole(Console):
    def on_broken_pipe(self) -> None:
        """Leave what a reader that has gone means to the command: rich would exit with 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
