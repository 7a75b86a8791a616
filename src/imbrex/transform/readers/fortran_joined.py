"""Statements of Fortran that share lines: those that fill whole lines together are one statement.

Nothing goes between them, and none of them moves alone; what communicates is not among them.
"""

from __future__ import annotations

import re

from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Block, Kind, Statement

_PLAIN = frozenset({Kind.SIMPLE, Kind.IF, Kind.LOOP, Kind.BLOCK})
_REST = re.compile(rb"[ \t]*;?[ \t]*(?:![^\n]*)?\r?(?=\n|$)")
_NEAR = 5000
_COMMENT = re.compile(rb"[ \t]*(?:![^\n]*)?\r?$|[cC*][^\n]*$")
_CONTINUES = re.compile(rb"     [^ 0\r]")
_SENTINEL = re.compile(rb"[ \t]*;?[ \t]*!(?:\$|dir\$|dec\$|gcc\$)", re.IGNORECASE)


def joined(statements: list[Statement], data: bytes) -> list[Statement]:
    """The statements of a block, with those that share lines as one where that is possible."""
    if not any(_shares(statement) for statement in statements):
        return statements
    found: list[Statement] = []
    group: list[Statement] = []
    for statement in statements:
        if group and not _one_line(group[-1], statement, data):
            found += _as_one(group, data)
            group = []
        group.append(statement)
    return found + _as_one(group, data)


def _shares(statement: Statement) -> bool:
    return statement.stop is not None and statement.stop.kind is ReasonKind.SEVERAL_ON_LINE


def _one_line(before: Statement, behind: Statement, data: bytes) -> bool:
    return b"\n" not in data[before.end : behind.start]


def _as_one(group: list[Statement], data: bytes) -> list[Statement]:
    """A group of statements that share lines as one, if these lines are all theirs."""
    every = [inner for statement in group for inner in statement.walk()]
    if not any(_shares(statement) for statement in every):
        return group
    first, last = group[0], group[-1]
    before = data[data.rfind(b"\n", 0, first.start) + 1 : first.start]
    if before.strip() or first.start != first.code_start or not _REST.match(data, last.end):
        return group
    if _SENTINEL.match(data, last.end) or _goes_on(data, first.start, last.end):
        return group
    if any(call.name.startswith("MPI_") for statement in every for call in statement.calls):
        return group
    if any(statement.kind not in _PLAIN or statement.leaves for statement in every):
        return group
    for statement in every:
        if _shares(statement):
            statement.stop = None
        for block in statement.blocks:
            block.insertable = False
    if len(group) == 1:
        return group
    one = Statement(Kind.BLOCK, first.start, last.end, first.line, last.end_line)
    one.code_start = first.code_start
    block = Block(group, first.start, last.end, insertable=False)
    block.owner = one
    one.blocks = [block]
    for statement in group:
        statement.parent = block
    return [one]


def _goes_on(data: bytes, start: int, end: int) -> bool:
    """Whether lines around a span may be continued into it, or from it."""
    above = reversed(data[max(start - _NEAR, 0) : start].split(b"\n")[:-1])
    below = data[end : end + _NEAR].split(b"\n")[1:]
    before = next((line for line in above if not _COMMENT.match(line)), b"")
    behind = next((line for line in below if not _COMMENT.match(line)), b"")
    return b"&" in before or _CONTINUES.match(behind) is not None
