"""Constructs of Fortran that are taken as a whole: what calls MPI in them is seen, and refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Statement
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_inside import bound_inside, calls_inside
from imbrex.transform.readers.fortran_lines import LogicalLine, closing
from imbrex.transform.readers.fortran_scopes import is_assignment

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_body import Body

_LOOP = re.compile(r"(?:[a-z]\w*:)?do(?!uble)")


def skipped(body: Body, line: LogicalLine, text: str) -> Statement:
    """A construct that is taken as a whole and not analysed; calls in it are refused."""
    keyword = re.match(r"(associate|block|critical|where|forall|changeteam|if|do|select)", text)
    name = keyword[1].upper() if keyword else "named"
    statement = body.opaque(line, ReasonKind.NAMED_CONSTRUCT(name=name))
    bound = bound_inside(line)
    statement.calls += calls_inside(body.expressions, line)
    if keyword is None:
        return statement
    name = keyword[1]
    statement.computes = name in ("where", "forall", "do")
    opening = text.find("(")
    if name in ("where", "forall") and closing(text, opening) != len(text) - 1:
        return statement  # one line
    if name == "if" and not text.endswith("then"):
        return statement
    depth = 1
    begin = re.compile(rf"(?:[a-z]\w*:)?{name}(\(.*\)$|$|\(.*\)then$)")
    if name == "if":
        begin = re.compile(r"(?:[a-z]\w*:)?if\(.*\)then$")  # others are one line
    elif name == "do":
        begin = _LOOP
    elif name == "select":
        begin = re.compile(r"(?:[a-z]\w*:)?select(case|type|rank)\(")
    while body.position < len(body.lines):
        inner = body.lines[body.position]
        body.position += 1
        if not inner.directive and not is_assignment(inner.masked):
            if inner.masked.startswith("end" + name):
                depth -= 1
            elif begin.match(inner.masked):
                depth += 1
            statement.computes = statement.computes or _LOOP.match(inner.masked) is not None
            if "callmpi_" in inner.masked:
                _planted(body, statement, inner)
        if not inner.directive:
            bound |= bound_inside(inner)
            calls = calls_inside(body.expressions, inner)
            statement.calls += [
                call for call in calls if call.name.rpartition("::")[2] not in bound
            ]
        statement.end, statement.end_line = inner.end, inner.end_line
        if depth == 0:
            break
    return statement


def _planted(body: Body, statement: Statement, line: LogicalLine) -> None:
    """Keep calls of MPI inside a construct visible, so that they are reported as refused."""
    at = line.masked.index("callmpi_")
    inner = body.part(line, at, len(line.masked))
    child = body.call(inner, inner.masked, effects := Effects())
    child.calls = effects.calls
    child.stop = statement.stop
    if not statement.blocks:
        statement.blocks = [body.as_block([], statement.start, statement.end)]
    statement.blocks[0].insertable = False
    statement.blocks[0].statements.append(child)
    child.parent = statement.blocks[0]
