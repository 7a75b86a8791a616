"""ASSOCIATE and BLOCK constructs of Fortran that are read as the statements they hold.

A name that an ASSOCIATE gives a variable is read as that variable, and one that it gives a value as
a variable of its own, which is set where the construct begins. What a BLOCK declares lives in it.
What cannot be read so is left to be taken as a whole.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from imbrex.transform.model.memory import Access
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_associated import Selectors, keeps_names, written_out
from imbrex.transform.readers.fortran_lines import LogicalLine, closing
from imbrex.transform.readers.fortran_scopes import (
    Declarations,
    Scope,
    Symbol,
    is_assignment,
    is_specification,
)

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_body import Body

_PLAIN = re.compile(r"(?:doubleprecision|integer|real|complex|logical)")
_ATTRIBUTES = frozenset({"dimension"})


def construct(body: Body, line: LogicalLine, text: str) -> Statement | None:
    """The statement that such a construct is; None where it is to be taken as a whole."""
    end = _end(body, text)
    if end is None or line.label or not line.alone or body.scope.implicit is not None:
        return None
    inside = body.lines[body.position : end]
    if any(each.directive for each in (*inside, body.lines[end])):
        return None
    before = body.scope, body.lines, body.position, body.broken
    reading = _associate if text != "block" else _block
    statement = reading(body, line, text, inside, end)
    body.enter(before[0])
    body.lines = before[1]
    body.position = end + 1 if statement is not None else before[2]
    if statement is None:
        body.broken = before[3]
    return statement


def _end(body: Body, text: str) -> int | None:
    """The position of the line that ends a construct, which has no label."""
    name = "block" if text == "block" else "associate"
    begin = re.compile(rf"(?:[a-z]\w*:)?{name}(?:\(.*\))?$")
    depth = 1
    for at in range(body.position, len(body.lines)):
        masked = body.lines[at].masked
        if body.lines[at].directive or is_assignment(masked):
            continue
        depth += 1 if begin.match(masked) else 0
        if masked.startswith("end" + name):
            depth -= 1
            plain = masked == "end" + name and not body.lines[at].label and body.lines[at].alone
            if depth == 0:
                return at if plain else None
    return None


def _statement(body: Body, line: LogicalLine, scope: Scope, end: int) -> Statement | None:
    """The construct with what stands in it, none of which may leave it or is not known."""
    body.enter(scope)
    statement = Statement(Kind.CONSTRUCT, line.start, body.lines[end].end, line.line, line.end_line)
    statement.code_start = line.bytes[0]
    statement.end_line = body.lines[end].end_line
    inner = body.statements(body.lines[end].masked + "$")
    if body.position != end or body.broken:
        return None
    statement.blocks = [body.as_block(inner, line.end, body.lines[end].start)]
    statement.blocks[0].owner = statement
    every = [each for outer in inner for each in outer.walk()]
    if any(each.leaves or (each.stop is not None and each.text == "goto") for each in every):
        return None
    return statement


def _associate(
    body: Body, line: LogicalLine, text: str, inside: list[LogicalLine], end: int
) -> Statement | None:
    opening = text.index("(")
    if closing(text, opening) != len(text) - 1:
        return None
    outer = body.scope
    selectors = Selectors.of(body.names, outer, line)
    if selectors is None or not all(selectors.fits(each) for each in inside):
        return None
    scope = _inner_scope(outer, line)
    effects = Effects()
    for name, kind, (first, last) in selectors.values:
        scope.symbols[name] = Symbol(name, kind, line=line.line)
        body.expressions.read(line, first, last, effects)
    if effects.calls or effects.stop is not None:
        return None
    body.lines = [
        *body.lines[: body.position],
        *(body.bound.plain(written_out(each, selectors.texts)) for each in inside),
        *body.lines[end:],
    ]
    statement = _statement(body, line, scope, end)
    if statement is None or not keeps_names(statement.blocks[0].statements, inside, selectors):
        return None
    statement.accesses += effects.accesses
    statement.names_alone = not selectors.values
    own = [name for name, _, _ in selectors.values]
    keys = _live(body, scope, own, statement)
    statement.accesses += [Access(key, False, True, line.line) for key in keys]
    return statement


def _block(
    body: Body, line: LogicalLine, text: str, inside: list[LogicalLine], end: int
) -> Statement | None:
    scope = _inner_scope(body.scope, line)
    declarations, number = Declarations(Path(), [], fixed=False), 0
    for number, each in enumerate([*inside, body.lines[end]]):  # noqa: B007 - where it stops
        if not is_specification(each.masked) or each is body.lines[end]:
            break
        if not _PLAIN.match(each.masked) or not each.alone or each.label:
            return None
        declarations.read(scope, each)
    for name, symbol in scope.symbols.items():
        if body.names.find(body.scope, name) is not None or name.startswith("mpi_"):
            return None  # where it is hidden, a text that names it means another one
        constant = all(re.fullmatch(r"-?\d*", bound) for pair in symbol.bounds for bound in pair)
        if symbol.attributes - _ATTRIBUTES or not constant:
            return None
        if any(not high for _, high in symbol.bounds):
            return None
    body.position += number
    own = list(scope.symbols)
    statement = _statement(body, line, scope, end)
    if statement is not None:
        _live(body, scope, own, statement)
    return statement


def _inner_scope(outer: Scope, line: LogicalLine) -> Scope:
    """A scope in which a construct's own names are known beside those of the routine."""
    scope = Scope(outer.name, "block", outer.file, line.line, outer, implicit=None)
    scope.dummies, scope.result = outer.dummies, outer.result
    scope.key, scope.meant = outer.key, outer.meant
    scope.swaps, scope.pointings = outer.swaps, outer.pointings
    return scope


def _live(body: Body, scope: Scope, own: list[str], statement: Statement) -> list[str]:
    """Let what a construct makes known live in it; the variables."""
    found = [body.names.variable(scope, name) for name in own]
    variables = [variable for variable in found if variable is not None]
    for variable in variables:
        variable.lifetime = (statement.start, statement.end)
    return [variable.key for variable in variables]
