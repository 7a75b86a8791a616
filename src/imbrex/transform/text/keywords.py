"""Names of arguments in a call of Fortran, which stay where a variable of that name is replaced."""

from __future__ import annotations

import re

_BEFORE = re.compile(r"[(,](?:[ \t&]|!.*\n|\n {5}\S|\n)*\Z")
_BEHIND = re.compile(r"[ \t]*=(?![=>])")
_FARTHEST = 200  # characters from a keyword to what separates it from the argument before


def is_keyword(text: str, start: int, end: int) -> bool:
    """Whether a name stands in front of `=` in a list: `tag=` of `call MPI_Send(u, tag=tag)`."""
    front = text[max(0, start - _FARTHEST) : start]
    return _BEHIND.match(text, end) is not None and _BEFORE.search(front) is not None
