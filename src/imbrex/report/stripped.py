"""Tables without the blanks that pad their last column."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from imbrex.report.paragraph import released


def stripped(write: Callable[[], None], console: Console) -> str:
    """What `write` prints on the console, without blanks at the ends of lines; `held` cells as they
    were.
    """
    with console.capture() as captured:
        write()
    lines = [line.rstrip() for line in released(captured.get()).splitlines()]
    return "\n".join(lines) + "\n"


def print_stripped(write: Callable[[], None], console: Console) -> None:
    """Print it like that."""
    console.file.write(stripped(write, console))
