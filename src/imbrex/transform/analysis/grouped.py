"""Names that a text of Fortran lists as one: groups of names, and names of one memory."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(rb"[a-z]\w*")
_GROUP = re.compile(rb"\b(?:namelist\s*/|equivalence\s*\()")
_COMMENT = re.compile(rb"\s*(?:!.*)?")
_GOES_ON = re.compile(rb"\s*&| {5}[^ 0]")


@lru_cache(maxsize=4096)
def grouped(data: bytes) -> frozenset[bytes]:
    """The names in what a text of Fortran lists as one: groups of names, names of one memory."""
    if not _GROUP.search(data.lower()):
        return frozenset()
    names: set[bytes] = set()
    listing = open_end = False
    for line in data.lower().splitlines():
        fixed = not open_end and line.startswith((b"c", b"*"))
        if listing and (fixed or _COMMENT.fullmatch(line)):
            continue
        code = line.partition(b"!")[0]
        listing = bool(_GROUP.search(code) or (listing and (open_end or _GOES_ON.match(line))))
        open_end = code.rstrip().endswith(b"&")
        names.update(_NAME.findall(code) if listing else ())
    return frozenset(names)
