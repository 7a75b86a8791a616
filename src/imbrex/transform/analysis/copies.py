"""Statements that only copy, as packing and unpacking do: too short to hide a message behind."""

from __future__ import annotations

from imbrex.transform.model.program import Kind, Program, Statement


def only_copies(program: Program, statement: Statement) -> bool:
    """Whether each statement inside moves at most one array element to another place."""
    for inner in statement.walk():
        if inner.calls or inner.computes or inner.stop:
            return False
        if inner.kind in (Kind.LOOP, Kind.IF, Kind.SWITCH, Kind.BLOCK):
            continue
        elements = [a for a in inner.accesses if _array(program, a.variable)]
        if sum(a.write for a in elements) > 1 or sum(not a.write for a in elements) > 1:
            return False
    return True


def _array(program: Program, key: str) -> bool:
    variable = program.variables.get(key)
    return variable is None or bool(variable.bounds)
