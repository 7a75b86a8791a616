"""Other names in the place of a routine's, where Fortran's lists give it out or bring it in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform.model.name_lists import name_lists
from imbrex.transform.text.edits import Edit, apply_edits

_LONGEST = 132  # characters of a line in free form
_BOUND = re.compile(rb"(?im)^[ \t]*procedure\b[^\n!]*::[^\n!]*")  # to a type


def renamed(data: bytes, name: str, by: tuple[str, ...], *, fixed: bool) -> list[Edit] | None:
    """Edits that put other names in the place of one in all such lists.

    None where a list renames it, or has no room for them, or a type binds what goes.
    """
    pattern = re.compile(rb"(?i)(?<![\w%])" + re.escape(name.encode()) + rb"(?!\w)")
    bound = any(pattern.search(each[0]) for each in _BOUND.finditer(data))
    if bound and name not in by:
        return None
    edits = []
    for start, end in name_lists(data):
        for match in pattern.finditer(data, start, end):
            line_end = data.find(b"\n", match.start())
            line = data[data.rfind(b"\n", 0, match.start()) + 1 : line_end]
            behind, before = data[match.end() : end].lstrip(), data[start : match.start()].rstrip()
            longer = len(", ".join(by)) - len(name)
            tight = fixed or len(line.rstrip()) + longer > _LONGEST
            if tight or behind.startswith(b"=>") or before.endswith(b"=>"):
                return None
            edits.append(Edit(match.start(), match.end(), ", ".join(by)))
    return edits


def folded(data: bytes, edits: list[Edit]) -> list[Edit]:
    """Edits of a file in free form, with each name on a line of its own where a list of names would
    be too long with all of them."""
    if not any(len(line) > _LONGEST for line in _lines_of_lists(apply_edits(data, edits))):
        return edits
    spans = list(name_lists(data))
    return [
        Edit(edit.start, edit.end, edit.text.replace(", ", ", &\n      "))
        if any(start <= edit.start and edit.end <= end for start, end in spans)
        else edit
        for edit in edits
    ]


def _lines_of_lists(data: bytes) -> Iterator[bytes]:
    for start, end in name_lists(data):
        yield data[start:end]
