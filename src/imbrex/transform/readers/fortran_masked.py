"""WHERE with nothing but assignments inside: one statement that computes.

It is not divided and nothing goes into it. The mask may leave out any element, so that nothing
counts as surely set: each write is a read as well. No assignment in it allocates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from imbrex.transform.model.shapes import is_bound
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_lines import LogicalLine, closing
from imbrex.transform.readers.fortran_scopes import depth_zero_equals, is_assignment

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_body import Body

_WORD = "where("


def masked(body: Body, line: LogicalLine, text: str) -> Statement | None:
    """The statement or construct that begins at a line; None where it holds other things."""
    stop = closing(text, len(_WORD) - 1)
    if stop < 0 or not line.alone:
        return None
    effects = Effects()
    computes = False
    body.expressions.read(line, len(_WORD), stop, effects)
    position, last, depth = body.position, line, 1
    if stop < len(text) - 1:
        inner = body.part(line, stop + 1, len(text))
        if not is_assignment(inner.masked):
            return None
        computes = body.expressions.assign(inner, depth_zero_equals(inner.masked), effects)
        depth = 0
    while depth:
        if position == len(body.lines):
            return None
        last = body.lines[position]
        position += 1
        inside = last.masked
        if last.directive or last.label or not last.alone:
            return None
        if is_assignment(inside):
            computes |= body.expressions.assign(last, depth_zero_equals(inside), effects)
        elif inside.startswith("endwhere"):
            depth -= 1
        elif inside.startswith(_WORD) and closing(inside, len(_WORD) - 1) == len(inside) - 1:
            body.expressions.read(last, len(_WORD), len(inside) - 1, effects)
            depth += 1
        elif inside.startswith("elsewhere("):
            end = closing(inside, len("elsewhere"))
            body.expressions.read(last, len("elsewhere("), end, effects)
        elif inside != "elsewhere":
            return None
    if effects.stop is not None or effects.calls:
        return None
    statement = Statement(Kind.SIMPLE, line.start, last.end, line.line, last.end_line)
    statement.code_start = line.bytes[0] if line.bytes else line.start
    statement.computes = computes
    for access in effects.accesses:
        if access.write and is_bound(access.variable):
            continue
        statement.accesses.append(access)
        if access.write:
            statement.accesses.append(access._replace(write=False))
    body.position = position
    return statement
