"""An assignment to a section of an array as several, each to a part of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from imbrex.transform.model.elementwise import Extent
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.edits import Edit, apply_edits
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.terms import shifted

_WIDTH = {Language.FORTRAN_FIXED: 72, Language.FORTRAN_FREE: 98}
_BREAK = re.compile(r"(?<=,)|(?= [+-] )|(?<=\))(?=[*/][^*/])")
_Range = Callable[[Extent], str]


def sections_in_parts(
    source: SourceFile, statement: Statement, cuts: dict[int, tuple[int, int]]
) -> tuple[str, str] | None:
    """The interior and the boundary of an assignment; None where a line would be too long.

    `cuts`: elements cut off at the low and the high end, of its ranges by number.
    """
    inner: dict[int, _Range] = {n: _interior(cut) for n, cut in cuts.items()}
    interior = _with(source, statement, inner)
    strips: list[str | None] = []
    current: dict[int, _Range] = {}
    for number in sorted(cuts, reverse=True):
        low, high = cuts[number]
        if low:
            first = partial(_low, before=low)
            strips.append(_with(source, statement, {**current, number: first}))
        if high:
            last = partial(_high, before=low, behind=high)
            strips.append(_with(source, statement, {**current, number: last}))
        current[number] = inner[number]
    indent = indent_at(source.data, statement.code_start)
    known = [strip for strip in strips if strip is not None]
    if interior is None or len(known) < len(strips):
        return None
    return interior, f"\n{indent}".join(known)


def _interior(cut: tuple[int, int]) -> _Range:
    return lambda extent: f"{shifted(extent.low, cut[0])}:{shifted(extent.high, -cut[1])}"


def _low(extent: Extent, before: int) -> str:
    """The first elements, as many as there are."""
    last = shifted(extent.low, before - 1)
    return f"{extent.low}:" + (last if _has(extent, before) else f"min({last}, {extent.high})")


def _high(extent: Extent, before: int, behind: int) -> str:
    """The last elements, as many as there are behind the first ones."""
    first = shifted(extent.high, 1 - behind)
    if not _has(extent, before + behind):
        first = f"max({shifted(extent.low, before)}, {first})"
    return f"{first}:{extent.high}"


def _has(extent: Extent, number: int) -> bool:
    """Whether there are surely so many elements."""
    if extent.first is None or extent.last is None:
        return False
    length = extent.last.plus(extent.first, -1)
    return not length.terms and length.constant + 1 >= number


def _with(source: SourceFile, statement: Statement, ranges: dict[int, _Range]) -> str | None:
    """The assignment with other ranges."""
    start = statement.code_start
    extents = {
        (extent.start, extent.end): (number, extent)
        for part in statement.elementwise
        for number, (_, extent) in enumerate(part.extents)
        if number in ranges
    }
    edits = [
        Edit(first - start, last - start, ranges[number](extent))
        for (first, last), (number, extent) in extents.items()
    ]
    text = apply_edits(source.data[start : statement.end], edits).decode()
    column = start - line_start(source.data, start)
    lines = text.split("\n")
    lines[0] = " " * column + lines[0]
    fitting: list[str] = []
    for line in lines:
        found = _fitting(source.language, line, indent_at(source.data, start))
        if found is None:
            return None
        fitting += found
    return "\n".join(fitting)[column:]


def _fitting(language: Language, line: str, indent: str) -> list[str] | None:
    """A line on as many as its form needs."""
    found: list[str] = []
    fixed = language is Language.FORTRAN_FIXED
    lead = "     &" + (indent[6:] + "    ") if fixed else indent + "    "
    while len(line) > _WIDTH[language]:
        if "!" in line or "'" in line or '"' in line:
            return None
        first = len(line) - len(line.lstrip()) + 6
        places = [m.start() for m in _BREAK.finditer(line, first, _WIDTH[language] - 1)]
        if not places:
            return None
        place = min(places, key=lambda at: (line.count("(", 0, at) - line.count(")", 0, at), -at))
        found.append(line[:place].rstrip() + ("" if fixed else " &"))
        line = lead + line[place:].lstrip()
    return [*found, line]
