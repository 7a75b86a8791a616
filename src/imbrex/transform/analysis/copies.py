"""Statements that only copy, as packing and unpacking do: too short to hide a message behind."""

from __future__ import annotations

import re

from imbrex.transform.model.calls import Argument
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Kind, Statement

_ASSIGNED = re.compile(rb"([-+*/%|&^<>!=]?)=(?!=)(.*)", re.DOTALL)
_INNERMOST = re.compile(rb"\[[^][]*\]|\([^()]*\)")


def message_arrays(program: Program) -> frozenset[str]:
    """Arrays that calls of MPI are given as a whole, as those that messages are packed into."""
    return frozenset(
        argument.base
        for call in program.calls()
        if call.name.upper().startswith("MPI_")
        for argument in call.arguments
        if argument.base is not None and (argument.whole or _from_its_first(program, argument))
    )


def _from_its_first(program: Program, argument: Argument) -> bool:
    variable = program.variables.get(argument.base or "")
    if variable is None or not variable.bounds or argument.origin is None:
        return False
    return list(argument.origin) == [low for low, _ in variable.bounds]


def only_copies(program: Program, statement: Statement) -> bool:
    """Whether each statement inside moves at most one array element to another place."""
    for inner in statement.walk():
        if inner.calls or inner.computes or inner.stop:
            return False
        if inner.kind in (Kind.LOOP, Kind.IF, Kind.SWITCH, Kind.BLOCK):
            continue
        if not _moves_one(program, inner):
            return False
    return True


def calculates(program: Program, file: str, statement: Statement) -> bool:
    """Whether a statement inside does more than take a value."""
    source = program.files.get(file)
    return source is not None and any(
        _calculates(source.data[inner.start : inner.end])
        for inner in statement.walk()
        if inner.kind is Kind.SIMPLE
    )


def only_packs(program: Program, file: str, statement: Statement, messages: frozenset[str]) -> bool:
    """Whether each statement inside moves one element into or out of an array of `messages`.

    Calls of MPI beside that are communication, which is no computation either. A copy between
    other arrays may be longer than any message.
    """
    source = program.files.get(file)
    if source is None:
        return False
    for inner in statement.walk():
        if any(not call.name.upper().startswith("MPI_") for call in inner.calls):
            return False
        if inner.computes or inner.stop:
            return False
        if inner.calls or inner.kind in (Kind.LOOP, Kind.IF, Kind.SWITCH, Kind.BLOCK):
            continue
        if not _moves_one(program, inner):
            return False
        elements = [a for a in inner.accesses if _array(program, a.variable)]
        if elements and not any(a.variable in messages for a in elements):
            return False
        if elements and _calculates(source.data[inner.start : inner.end]):
            return False
    return True


def _moves_one(program: Program, statement: Statement) -> bool:
    elements = [a for a in statement.accesses if _array(program, a.variable)]
    return sum(a.write for a in elements) <= 1 and sum(not a.write for a in elements) <= 1


def _calculates(text: bytes) -> bool:
    """Whether an assignment does more than take a value: operators outside its subscripts."""
    match = _ASSIGNED.search(text)
    if match is None:
        return False
    value, left = match[2], b""
    while value != left:
        left, value = value, _INNERMOST.sub(b"", value)
    value = value.replace(b"++", b"").replace(b"--", b"").lstrip(b" *&")
    return bool(match[1]) or re.search(rb"[-+*/%]", value) is not None


def _array(program: Program, key: str) -> bool:
    variable = program.variables.get(key)
    return variable is None or bool(variable.bounds)
