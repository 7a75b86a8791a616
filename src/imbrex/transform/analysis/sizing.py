"""Whether the shape of an array of a routine depends on one of the routine's parameters."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine

_TEXT = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|![^\n]*")
_FIXED_COMMENT = re.compile(r"(?m)^[cC*].*$")


def sizes_arrays(program: Program, routine: Routine, name: str) -> bool:
    """Whether a name stands in the bounds of an array, as far as the declarations show it.

    Of Fortran that is any place in parentheses behind the header, of C any in brackets.
    """
    source = program.files.get(routine.file)
    if source is None:
        return True
    lines = source.data.decode("latin-1").split("\n")
    if not source.is_fortran:
        start = sum(len(line) + 1 for line in lines[: routine.line - 1])
        text = source.data[start : max(routine.body.start, start)].decode("latin-1")
        return re.search(rf"\[[^\]]*\b{re.escape(name)}\b", text) is not None
    first = routine.first_executable
    last = source.line_of(first) - 1 if first >= 0 else None
    text = "\n".join(lines[routine.line - 1 : last])
    text = _TEXT.sub("", _FIXED_COMMENT.sub("", text)).lower()
    header = text.find("(")
    return _in_parentheses(text[_behind(text, header) :] if header >= 0 else text, name.lower())


def _behind(text: str, opening: int) -> int:
    """Where the text goes on behind a parenthesis and what it holds."""
    depth = 0
    for position in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if not depth:
            return position + 1
    return len(text)


def _in_parentheses(text: str, name: str) -> bool:
    depth = 0
    for found in re.finditer(rf"[()]|\b{re.escape(name)}\b", text):
        if found[0] == name and depth > 0:
            return True
        depth += {"(": 1, ")": -1}.get(found[0], 0)
    return False
