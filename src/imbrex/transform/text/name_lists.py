"""Other names in the place of a routine's, where Fortran's lists give it out or bring it in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from imbrex.transform.model.name_lists import name_lists
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.text.edits import Edit, apply_edits

_LONGEST = 132  # characters of a line in free form
_MODULE = re.compile(rb"(?i)[ \t]*use\b(?:[ \t]*,[ \t]*\w+)?[ \t]*(?:::)?[ \t]*\Z")
_RENAMED = re.compile(rb"[A-Za-z]\w*[ \t]*=>[ \t]*\Z")
_BOUND = re.compile(rb"(?im)^[ \t]*procedure\b[^\n!]*::[^\n!]*")  # to a type


def renamed_in(
    program: Program, source: SourceFile, routine: Routine, by: tuple[str, ...]
) -> list[Edit] | None:
    """Edits of a file of Fortran that put other names where it lists a routine, as `renamed`."""
    fixed = source.language is Language.FORTRAN_FIXED
    places = program.places_listed(routine, source.name)
    return renamed(source.data, routine.plain_name, by, places, fixed=fixed)


def renamed(
    data: bytes, name: str, by: tuple[str, ...], places: Mapping[int, bool], *, fixed: bool
) -> list[Edit] | None:
    """Edits that put other names in the place of one in all such lists.

    `places`: those where it may be another routine's, and whether it is not. No other one has a
    name that is put there, so that a list need not rename it.

    None where a list renames it otherwise, or has no room for them, or a type binds what goes.
    """
    pattern = re.compile(rb"(?i)(?<![\w%])" + re.escape(name.encode()) + rb"(?!\w)")
    bound = any(pattern.search(each) for each in _bindings(data))
    if bound and name not in by:
        return None
    edits = []
    left = {place for place, mine in places.items() if mine}
    for start, end in name_lists(data):
        for match in pattern.finditer(data, start, end):
            if not places.get(match.start(), True) or _MODULE.match(data, start, match.start()):
                continue
            line_end = data.find(b"\n", match.start())
            line = data[data.rfind(b"\n", 0, match.start()) + 1 : line_end]
            behind, before = data[match.end() : end].lstrip(), data[start : match.start()].rstrip()
            longer = len(", ".join(by)) - len(name)
            first = match.start()
            if before.endswith(b"=>") and name not in by and first in left:
                local = _RENAMED.search(data, start, first)
                first = first if local is None else local.start()
                before = b""
            tight = fixed or len(line.rstrip()) + longer > _LONGEST
            again = before.endswith(b"=>") and match.start() not in left
            if tight or behind.startswith(b"=>") or again:
                return None
            left.discard(match.start())
            edits.append(Edit(first, match.end(), ", ".join(by)))
    return None if left else edits


def folded(data: bytes, edits: list[Edit]) -> list[Edit]:
    """Edits of a file in free form, with each name on a line of its own where a list of names would
    be too long with all of them."""
    spans = name_lists(data)
    if not spans or not _too_long(apply_edits(data, edits)):
        return edits
    return [
        Edit(edit.start, edit.end, edit.text.replace(", ", ", &\n      "))
        if any(start <= edit.start and edit.end <= end for start, end in spans)
        else edit
        for edit in edits
    ]


def _too_long(data: bytes) -> bool:
    """Whether a line of such a list is longer than a line of free form may be."""
    return any(end - start > _LONGEST for start, end in name_lists(data))


@lru_cache(maxsize=16)
def _bindings(data: bytes) -> tuple[bytes, ...]:
    return tuple(match[0] for match in _BOUND.finditer(data))
