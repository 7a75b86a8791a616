"""DO CONCURRENT with nothing but assignments inside: one statement that computes.

Nothing goes into it, and it is divided by the ranges of its header, as an assignment to a section
is by its own. Its indices are variables of its own, and it may have no iteration at all, so that
nothing counts as surely set: each write is a read as well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from imbrex.transform.model.affine import Affine, forget, widen
from imbrex.transform.model.elementwise import Extent, Part
from imbrex.transform.model.memory import Access
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_lines import LogicalLine, closing, split_arguments
from imbrex.transform.readers.fortran_scopes import depth_zero_equals, is_assignment

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_body import Body

_INDEX = re.compile(r"([a-z]\w*)=([^:]*):([^:]*)(?::([^:]*))?")
_SHARING = re.compile(r"(?:default\(none\)|shared\([\w,]*\))*")
_WORD = "doconcurrent"
_Ranges = list[tuple[str, Affine | None, Affine | None]]
_Extents = dict[str, Extent]


def concurrent(body: Body, line: LogicalLine, text: str) -> Statement | None:
    """The construct that begins at a line, whose body is next; None where it holds other things.

    A mask, variables of an iteration, and calls are such things.
    """
    opening = len(_WORD)
    stop = closing(text, opening)
    if stop < 0 or not line.alone or _SHARING.fullmatch(text, stop + 1) is None:
        return None
    effects = Effects()
    found = _ranges(body, line, text, stop, effects)
    if found is None:
        return None
    ranges, extents = found
    headers = len(effects.accesses)
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
    taken = (body.names.find(body.scope, name) is not None for name in ("min", "max"))
    if len(extents) == len(ranges) and not any(taken):
        arrays = [a for a in effects.accesses[headers:] if _is_array(body, a)]
        statement.elementwise = _parts(arrays, extents)
    body.position = position
    return statement


def _ranges(
    body: Body, line: LogicalLine, text: str, stop: int, effects: Effects
) -> tuple[_Ranges, _Extents] | None:
    """The least and the largest value of each index, and the text of those that go up by one."""
    first = len(_WORD) + 1
    found: _Ranges = []
    extents: _Extents = {}
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
        if match[4] is None and low is not None and high is not None:
            span = line.bytes[match.start(2)], line.bytes[match.end(3) - 1] + 1
            extents[variable.key] = Extent(*span, match[2], match[3], low, high)
    return found, extents


def _is_array(body: Body, access: Access) -> bool:
    variable = body.names.program.variables.get(access.variable)
    return variable is None or bool(variable.bounds)


def _parts(accesses: list[Access], extents: _Extents) -> tuple[Part, ...]:
    """What one iteration selects of each array; nothing where that is not known of one.

    Each index may stand in one subscript of an array, alone or with what is added to it.
    """
    found: list[Part] = []
    for access in accesses:
        section = access.section
        if section is None or access.slot or access.strides or access.member or access.placed:
            return ()
        ranges: list[tuple[int, Extent]] = []
        for index, extent in extents.items():
            places = [n for n, each in enumerate(section) if index in each.variables()]
            if not places:
                ranges.append((-1, extent))
                continue
            subscript = section[places[0]].low
            if len(places) > 1 or subscript is None or subscript != section[places[0]].high:
                return ()
            rest = subscript.plus(Affine.variable(index), -1)
            assert extent.first is not None and extent.last is not None
            if rest.variables() & extents.keys():
                return ()
            ends = extent.first.plus(rest), extent.last.plus(rest)
            ranges.append((places[0], extent._replace(first=ends[0], last=ends[1])))
        through, write, own = access.through, access.write, frozenset(extents)
        found.append(Part(access.variable, through, write, section, tuple(ranges), own))
    found.sort(key=lambda part: not part.write)
    return tuple(found) if found and found[0].write else ()


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
