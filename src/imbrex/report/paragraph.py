"""Text in lines of a width, which leave a number beside its unit."""

from __future__ import annotations

import re
import textwrap

from rich.console import Console
from rich.text import Text

_BEFORE_UNIT = re.compile(r"(?<=[0-9]) (?=(%|s|ms|us|ns|B|KiB|MiB|GiB|TiB)(?![A-Za-z]))")
_STAYS = "\x1f"
"""Stands for a blank at which no line ends; it is in no text, which `plain` sees to."""

_STAYS_IN_CELLS = "\ue000"
"""The same, one column wide, since rich counts columns."""


def lines(text: str, width: int) -> list[str]:
    """The lines; a word that is longer than one is cut."""
    held = _BEFORE_UNIT.sub(_STAYS, text)
    found = textwrap.wrap(held, max(width, 1), break_on_hyphens=False)
    return [line.replace(_STAYS, " ") for line in found]


def held(text: str) -> str:
    """A text whose numbers stay beside their units, for a cell of a table that is `stripped`.

    (rich breaks lines at no-break spaces too.)
    """
    return _BEFORE_UNIT.sub(_STAYS_IN_CELLS, text)


def released(text: str) -> str:
    """The same with blanks again."""
    return text.replace(_STAYS_IN_CELLS, " ")


def print_paragraph(
    console: Console, text: str, width: int, *, style: str = "", mark: str = ""
) -> None:
    """Print it; with a mark before the first line, the others stand below its text."""
    indent = " " * (len(mark) + 1) if mark else ""
    for number, line in enumerate(lines(text, width - len(indent))):
        begin = f"{mark} " if mark and not number else indent
        console.print(Text(begin).append(line, style=style))
