"""DO CONCURRENT with nothing but assignments inside: one statement that computes.

It is not divided and nothing goes into it. Its indices are variables of its own, and it may have no
iteration at all, so that nothing counts as surely set: each write is a read as well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from imbrex.transform.model.affine import Affine, forget, widen
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Kind, Statement
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_lines import LogicalLine, closing, split_arguments
from imbrex.transform.readers.fortran_scopes import depth_zero_equals, is_assignment

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_body import Body

_INDEX = re.compile(r"([a-z]\w*)=([^:]*):([^:]*)(?::([^:]*))?")
_SHARING = re.compile(r"(?:default\(none\)|shared\([\w,]*\))*")
_WORD = "doconcurrent"
_Ranges = list[tuple[str, Affine | None, Affine | None]]


def concurrent(body: Body, line: LogicalLine, text: str) -> Statement | None:
    """The construct that begins at a line, whose body is next; None where it holds other things.

    A mask, variables of an iteration, and calls are such things.
    """
    opening = len(_WORD)
    stop = closing(text, opening)
    if stop < 0 or not line.alone or _SHARING.fullmatch(text, stop + 1) is None:
        return None
    effects = Effects()
    ranges = _ranges(body, line, text, stop, effects)
    if ranges is None:
        return None
    position = body.position
    while position < len(body.lines):
        inner = body.lines[position]
        position += 1
        if inner.directive or inner.label or not inner.alone:
            return None
        if inner.masked in ("enddo", "end do"):
            break
        if not is_assignment(inner.masked):
            return None
        equals = depth_zero_equals(inner.masked)
        body.expressions.assign(inner, equals, effects)
    else:
        return None
    if effects.stop is not None or effects.calls:
        return None
    statement = Statement(Kind.SIMPLE, line.start, inner.end, line.line, inner.end_line)
    statement.code_start = line.bytes[0] if line.bytes else line.start
    statement.computes = True
    statement.accesses = _over_all(effects.accesses, ranges)
    body.position = position
    return statement


def _ranges(
    body: Body, line: LogicalLine, text: str, stop: int, effects: Effects
) -> _Ranges | None:
    first = len(_WORD) + 1
    found: _Ranges = []
    for a, b in split_arguments(text[first:stop]):
        match = _INDEX.fullmatch(text, first + a, first + b)
        variable = None if match is None else body.names.variable(body.scope, match[1])
        if match is None or variable is None or variable.bounds:
            return None
        for group in (2, 3, 4):
            if match[group] is not None:
                body.expressions.read(line, match.start(group), match.end(group), effects)
        through = variable.kind == "dummy"
        effects.accesses += [
            Access(variable.key, through, write, line.line) for write in (False, True)
        ]
        low, high = (body.names.affine(body.scope, match[group]) for group in (2, 3))
        down = match[4] is not None and match[4].startswith("-")
        if match[4] is not None and not match[4].lstrip("-").isdigit():
            low = high = None
        found.append((variable.key, high, low) if down else (variable.key, low, high))
    return found


def _over_all(accesses: list[Access], ranges: _Ranges) -> list[Access]:
    """What accesses of one iteration touch in all; each write is a read, too."""
    written = frozenset(a.variable for a in accesses if a.write)
    indices = {index for index, _, _ in ranges}
    unknown = frozenset(i for i, low, high in ranges if low is None or high is None)
    found: list[Access] = []
    for access in accesses:
        names = {name for each in access.section or () for name in each.variables()}
        section = access.section if names & indices else None
        section = forget(section, unknown)
        for index, low, high in reversed(ranges):
            if low is not None and high is not None:
                section = widen(section, index, low, high)
        access = access.anywhere() if section is None else access.at(forget(section, written))
        found.append(access)
        if access.write:
            found.append(access._replace(write=False))
    return found
