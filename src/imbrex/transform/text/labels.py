"""Statement labels of Fortran: other numbers for a second text of loops that end at them.

`do 10 i = 1, n` ends at the statement with the label 10, of which a routine has one.
"""

from __future__ import annotations

import re

from imbrex.transform.model.sources import Language, SourceFile

_FREE = re.compile(r"(?m)^[ \t]*(\d{1,5})(?=[ \t])")
_FIXED = re.compile(r"(?m)^(?=[ \d]{5})[ ]{0,4}(\d{1,5})(?!\d)")
_COMMENT = re.compile(r"(?m)^[cC*!][^\n]*$")  # of fixed form
_COLUMNS = 5  # of a label in fixed form


def _labels(source: SourceFile, text: str) -> list[re.Match[str]]:
    """The labels at the beginnings of lines, as the first group."""
    if source.language is Language.FORTRAN_FREE:
        return [*_FREE.finditer(text)]
    every = _FIXED.finditer(text)
    return [m for m in every if m.end(1) - text.rfind("\n", 0, m.start()) - 1 <= _COLUMNS]


def relabelled(source: SourceFile, text: str, used: set[int] | None = None) -> str | None:
    """A text of loops in a file, with labels that neither the file nor other new texts have.

    None where something else than the head of a loop names one, or no number is left. `used`: the
    labels of other new texts, to which those of this one are added.
    """
    found = _labels(source, text)
    if not found:
        return text
    used = set() if used is None else used
    taken = {int(m[1]) for m in _labels(source, source.data.decode(errors="replace"))} | used
    digits = {int(number) for number in re.findall(r"\d{1,5}", text)}
    for label in {m[1]: None for m in found}:
        named = re.compile(rf"(?i)\b(do[ \t]*){label}(?!\d)")
        loops = len(named.findall(text))
        goes = re.search(rf"(?i)go[ \t]*to[^\n]*\b{label}\b|\)[ \t]*\d+[ \t]*,[^\n]*\d\n", text)
        if not loops or goes is not None:
            return None
        low = 10 ** (len(label) - 1)
        free = (n for n in range(max(low, 1), 10 * low) if n not in taken | digits)
        new = next(free, None)
        if new is None:
            return None
        taken.add(new)
        used.add(new)
        text = named.sub(rf"\g<1>{new}", text)
        places = [m.span(1) for m in _labels(source, text) if m[1] == label]
        for start, end in reversed(places):
            text = f"{text[:start]}{new}{text[end:]}"
    return text
