"""Fortran's lists of names that give a routine out, or bring it in: `public ::`, `use m, only:`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

_LIST = re.compile(rb"(?i)[ \t]*(?:public\b|private\b|use\b[^!\n]*\bonly[ \t]*:|use\b[^!\n]*&)")


@lru_cache(maxsize=16)
def name_lists(data: bytes) -> tuple[tuple[int, int], ...]:
    """The spans of the lines of such statements in a file, without their comments."""
    found = []
    start = 0
    inside = False
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        code = data[start:end].partition(b"!")[0].rstrip()
        if inside or _LIST.match(code):
            found.append((start, start + len(code)))
            inside = code.endswith(b"&") or (inside and not code)
        start = end + 1
    return tuple(found)


def listed_in(data: bytes, name: str, places: Mapping[int, bool]) -> set[str]:
    """The statements of a file that list a name: "public", "private" and "use".

    `places`: those where it may be another one's, and whether it is not.
    """
    found: set[str] = set()
    pattern = re.compile(rb"(?i)(?<![\w%])" + re.escape(name.encode()) + rb"(?!\w)")
    keyword = ""
    for start, end in name_lists(data):
        begun = _LIST.match(data, start)
        keyword = keyword if begun is None else data[start:end].split()[0].decode().lower()
        if any(places.get(match.start(), True) for match in pattern.finditer(data, start, end)):
            found.add(next(k for k in ("public", "private", "use") if keyword.startswith(k)))
    return found
