"""Text in lines of a width, which leave a number beside its unit."""

from __future__ import annotations

import re
import textwrap

WIDTH = 100
"""The columns of a screen that is not told how wide it is to be."""
BEFORE_UNIT = re.compile(r"(?<=[0-9]) (?=(%|s|ms|us|ns|B|KiB|MiB|GiB|TiB)(?![A-Za-z]))")
_STAYS = "\x1f"
"""Stands for a blank at which no line ends; it is in no text, which `plain` sees to."""


def lines(text: str, width: int = WIDTH, indent: str = "", *, cut: bool = True) -> list[str]:
    """The lines, those after the first indented; a word that is longer than one is cut, or not."""
    held = BEFORE_UNIT.sub(_STAYS, text)
    found = textwrap.wrap(
        held,
        max(width, 1),
        break_on_hyphens=False,
        break_long_words=cut,
        subsequent_indent=indent,
    )
    return [line.replace(_STAYS, " ") for line in found]
