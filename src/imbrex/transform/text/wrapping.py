"""Long statements on as many lines as the form of the source needs."""

from __future__ import annotations

import re

from imbrex.transform.model.sources import Language

_WIDTH = {Language.C: 100, Language.FORTRAN_FIXED: 72, Language.FORTRAN_FREE: 98}
_BREAK = re.compile(r"(?<=[,;])\s+(?!\d+>)|\s+(?=\|\|)|(?<=\.or\.)\s+|\s+(?=\?)|\s+(?=:\s)")


def wrapped(language: Language, text: str, column: int, indent: str) -> str:
    """`text`, which begins at `column`, broken where it would be too long."""
    width = _WIDTH[language]
    if column + len(text) <= width:
        return text
    lead, tail = indent + "     ", ""
    if language is Language.FORTRAN_FIXED:
        lead = "     &" + (indent[6:] + "    ")
    elif language is Language.FORTRAN_FREE:
        tail = " &"
    lines = [""]
    room = width - column
    for piece in _pieces(text):
        if len(lines[-1]) + len(piece.rstrip()) > room and lines[-1].strip():
            lines[-1] = lines[-1].rstrip()
            lines.append("")
            room = width - len(lead)
        lines[-1] += piece
    return f"{tail}\n{lead}".join(line.rstrip() for line in lines)


def _pieces(text: str) -> list[str]:
    found, last = [], 0
    for match in _BREAK.finditer(text):
        found.append(text[last : match.end()])
        last = match.end()
    return [*found, text[last:]]
