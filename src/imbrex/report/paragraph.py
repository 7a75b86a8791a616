"""Paragraphs and cells on a console, which leave a number beside its unit."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from imbrex.diagnosis.lines import BEFORE_UNIT, lines

_STAYS_IN_CELLS = "\ue000"
"""Stands for a blank at which no line ends, one column wide, since rich counts columns."""


def held(text: str) -> str:
    """A text whose numbers stay beside their units, for a cell of a table that is `stripped`.

    (rich breaks lines at no-break spaces too.)
    """
    return BEFORE_UNIT.sub(_STAYS_IN_CELLS, text)


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
