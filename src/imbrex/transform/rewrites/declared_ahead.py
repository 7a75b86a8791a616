"""Where a block of C may declare a variable ahead of the statement that sets it."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.layout import first_on_line

_DIRECTIVE = re.compile(rb"^[ \t]*#", re.MULTILINE)


def head_for(program: Program, data: bytes, statement: Statement, name: str) -> int | None:
    """The first statement of a block that is no declaration, where a variable of this name may
    be declared in front of it; None where it is declared where it stands."""
    block = statement.parent
    assert block is not None
    before = data[block.start : statement.start]
    if _DIRECTIVE.search(before) or re.search(rb"\b%s\b" % name.encode(), before):
        return None
    passed = block.statements[: block.statements.index(statement)]
    first = next((other for other in passed if other.kind is not Kind.DECLARE), None)
    if first is None or not first_on_line(data, first.start):
        return None
    for inner in (inner for other in passed for inner in other.walk()):
        variables = (program.variables.get(a.variable) for a in inner.accesses)
        named = any(variable is not None and variable.name == name for variable in variables)
        if inner.stop is not None or named:  # a macro may name another variable so
            return None
    return first.start
