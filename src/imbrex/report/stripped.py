"""Tables without the blanks that pad their last column."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console


def print_stripped(write: Callable[[], None], console: Console) -> None:
    """Print what `write` writes to the console, without blanks at the ends of lines."""
    with console.capture() as captured:
        write()
    lines = [line.rstrip() for line in captured.get().splitlines()]
    console.file.write("\n".join(lines) + "\n")
