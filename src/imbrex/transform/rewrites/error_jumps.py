"""Jumps that only an error of MPI leads to, as `if (rc != MPI_SUCCESS) goto fail;`.

Such an error ends the program, unless it names another error handler: the jump is never made, but
it belongs to the routine with its label, which then cannot be taken apart. Where all jumps of a
routine are such ones, they become what the error does, and the labels go.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from imbrex.transform.analysis.taken import statements_taken
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile, code_of_c
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import whole_lines
from imbrex.transform.text.returning_checks import without_leaving

_ENDS = "MPI_Abort(MPI_COMM_WORLD, 1);"
_GOTO = re.compile(rb"goto\s+([A-Za-z_]\w*)\s*;?")
_JUMP = re.compile(rb"\bgoto\b")
_ADDRESS = re.compile(rb"[=(,]\s*&&\s*[A-Za-z_]")  # of a label
_LABEL = re.compile(rb"[A-Za-z_]\w*\s*:(?!:)")


def without_jumps(
    source: SourceFile,
    routine: Routine,
    success: Collection[str],
    asked: Collection[int],
    leaving: frozenset[bytes],
) -> list[Edit] | None:
    """The edits without which a routine has jumps and labels; None where a jump may be made.

    `success`: variables that hold no other code; `asked`: the identities of conditionals that hold
    where a call of MPI has failed; `leaving`: the macros that jump.
    """
    jumps = [s for s in routine.statements() if _stops(s, ReasonKind.C_GOTO)]
    labels = [s for s in routine.statements() if _stops(s, ReasonKind.LABEL)]
    data = source.data
    checks = without_leaving(source, routine, leaving)
    if checks is None or not labels:
        return None
    made = {id(s) for s in statements_taken(routine, dict.fromkeys(success, 0))}
    made -= {id(s) for s in _failed(routine, asked)}
    ends = [_GOTO.match(data, jump.code_start) for jump in jumps]
    if any(id(jump) in made for jump in jumps) or not all(ends):
        return None
    body = routine.body
    written = {found.start() for found in _JUMP.finditer(code_of_c(data), body.start, body.end)}
    if written != {jump.code_start for jump in jumps}:
        return None  # in what is not read, as behind an `#if`
    if _ADDRESS.search(code_of_c(data), body.start, body.end):
        return None  # it may come to what jumps where it says
    edits = [Edit(found.start(), found.end(), _ENDS) for found in ends if found is not None]
    for label in labels:
        span = _unreached(data, routine, label)
        if span is not None:  # what is behind it as well
            edits = [edit for edit in edits if not span[0] <= edit.start < span[1]]
            return [*edits, Edit(*span, ""), *checks] if _apart(span, checks) else None
        named = _LABEL.match(data, label.start)
        if named is None:
            return None
        first, last = whole_lines(data, *named.span())
        if (first, last) == named.span():  # the statement is on its line
            last += len(data[last:]) - len(data[last:].lstrip(b" \t"))
        edits.append(Edit(first, last, ""))
    return edits + checks


def _unreached(data: bytes, routine: Routine, label: Statement) -> tuple[int, int] | None:
    """The span from a label to the end of the routine, where a return stands in front of it."""
    statements = routine.body.statements
    position = statements.index(label) if label in statements else 0
    ahead = statements[position - 1] if position else None
    if ahead is None or ahead.kind is not Kind.JUMP or ahead.text != "return":
        return None
    return whole_lines(data, label.start, max(s.end for s in statements[position:]))


def _apart(span: tuple[int, int], checks: Iterable[Edit]) -> bool:
    return all(edit.end <= span[0] or span[1] <= edit.start for edit in checks)


def _stops(statement: Statement, kind: ReasonKind) -> bool:
    return statement.stop is not None and statement.stop.kind is kind


def _failed(routine: Routine, asked: Collection[int]) -> list[Statement]:
    """What runs where a call of MPI has failed that a conditional asks."""
    return [
        inner
        for statement in routine.statements()
        if id(statement) in asked
        for each in statement.blocks[0].statements
        for inner in each.walk()
    ]
