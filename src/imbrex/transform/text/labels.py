"""Labels and names of Fortran's constructs: other ones for a second text of what has them.

`do 10 i = 1, n` ends at the statement with the label 10, of which a routine has one, and so it has
one loop `rows: do j = 1, m`.
"""

from __future__ import annotations

import re

from imbrex.transform.model.sources import Language, SourceFile

_FREE = re.compile(r"(?m)^[ \t]*(\d{1,5})(?=[ \t])")
_FIXED = re.compile(r"(?m)^(?=[ \d]{5})[ ]{0,4}(\d{1,5})(?!\d)")
_COMMENT = re.compile(r"(?m)^[cC*!][^\n]*$")  # of fixed form
_COLUMNS = 5  # of a label in fixed form
_NAMED = re.compile(r"(?im)^[ \t]*([a-z]\w*)[ \t]*:[ \t]*(?:do|if|select|where|associate|block)\b")
_WORD = re.compile(r"[a-z_]\w*", re.IGNORECASE)
# Where the name of a construct may stand, but for its beginning.
_PLACES = r"(?:\b(?:cycle|exit|else|end[ \t]*(?:do|if|select|where|associate|block)|then)|\))[ \t]*"
Used = set[int | str]
"""The labels and the names that new texts have."""


def _labels(source: SourceFile, text: str) -> list[re.Match[str]]:
    """The labels at the beginnings of lines, as the first group."""
    if source.language is Language.FORTRAN_FREE:
        return [*_FREE.finditer(text)]
    every = _FIXED.finditer(text)
    return [m for m in every if m.end(1) - text.rfind("\n", 0, m.start()) - 1 <= _COLUMNS]


def relabelled(source: SourceFile, text: str, used: Used | None = None) -> str | None:
    """A text of loops in a file, with labels that neither the file nor other new texts have.

    None where something else than the head of a loop names one, or no number is left. `used`: the
    labels of other new texts, to which those of this one are added. So it is with names.
    """
    used = set() if used is None else used
    renamed = _renamed(source, text, used)
    return None if renamed is None else _renumbered(source, renamed, used)


def _renamed(source: SourceFile, text: str, used: Used) -> str | None:
    """None where a name stands elsewhere than where its construct begins, ends or is left."""
    names = dict.fromkeys(match[1].lower() for match in _NAMED.finditer(text))
    if not names:
        return text
    taken = {each.lower() for each in _WORD.findall(source.data.decode(errors="replace"))}
    for name in names:
        number = 2
        while f"{name}{number}" in taken | used:
            number += 1
        new = f"{name}{number}"
        used.add(new)
        named = re.compile(rf"(?im)(^[ \t]*|{_PLACES}){name}\b(?=[ \t]*(?::(?!:)|!|;|\r?$))")
        code = re.sub(r"!.*", "", text)
        if len(re.findall(rf"(?i)\b{name}\b", code)) != len(named.findall(code)):
            return None
        text = named.sub(rf"\g<1>{new}", text)
    return text


def _renumbered(source: SourceFile, text: str, used: Used) -> str | None:
    found = _labels(source, text)
    if not found:
        return text
    taken = {int(m[1]) for m in _labels(source, source.data.decode(errors="replace"))} | {
        label for label in used if isinstance(label, int)
    }
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
