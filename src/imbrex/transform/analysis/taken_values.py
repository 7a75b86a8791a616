"""Statements that take the value of one call: a part of it may run in front of them."""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement

# Up to the call: a declaration or an assignment without further effects, or `return`.
_HEAD = re.compile(r"(?:return\b[^=]*|[\w\s:.*&<>\[\]-]*?[\w\]]\s*[-+*/]?=[^=]*)", re.DOTALL)
_TAIL = re.compile(r"(?:\s*[-+*/]\s*[\w.]+)*(?:\s*,\s*\w+)*\s*;")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_OWN = ReasonKind.STATEMENT_FUNCTION
_EFFECT = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")


def value_is_taken(program: Program, routine: Routine, statement: Statement, call: Call) -> bool:
    """Whether a statement of C calls once, in each case, and has no effects for the call."""
    source = program.files.get(routine.file)
    if source is None or source.language is not Language.C or call.macro:
        return False
    if statement.kind not in (Kind.SIMPLE, Kind.DECLARE, Kind.JUMP) or call.unknown:
        return False
    start, end = statement.code_start, statement.end
    if not start <= call.start < call.end <= end:
        return False
    head, own, tail = (
        source.data[first:last].decode(errors="replace")
        for first, last in ((start, call.start), (call.start, call.end), (call.end, end))
    )
    if any(mark in head for mark in ("++", "--", "?", "&&", "||", "(", ",", '"', "'")):
        return False
    return bool(_HEAD.fullmatch(head) and _TAIL.fullmatch(tail)) and not _EFFECT.search(own)


def target_of(
    program: Program,
    footprints: Footprints,
    routine: Routine,
    statement: Statement,
    call: Call,
    callee: Routine,
) -> str:
    """The variable that a statement of Fortran sets to the value of a call; "" where none is.

    A subroutine may be given it in the place of the function's value: it is a plain number of the
    same type, and the function knows it by no other name.
    """
    source = program.files.get(routine.file)
    result = program.variables.get(callee.result)
    if source is None or not source.is_fortran or result is None or call.unknown:
        return ""
    if any(argument.problem == ReasonKind.KEYWORD_ARGUMENT() for argument in call.arguments):
        return ""  # no argument may follow without its name
    if statement.kind is not Kind.SIMPLE or statement.stop is not None or result.bounds:
        return ""
    head = re.fullmatch(rb"\s*([A-Za-z]\w*)\s*=\s*", source.data[statement.code_start : call.start])
    written = {access.variable for access in statement.accesses if access.write}
    if head is None or source.data[call.end : statement.end].strip() or len(written) != 1:
        return ""
    (key,) = written
    target = program.variables.get(key)
    if target is None or target.name.lower() != head[1].decode().lower():
        return ""
    special = target.volatile or target.pointer or target.optional or target.allocatable
    if special or target.bounds or target.kind == "field" or key in program.overlays:
        return ""
    if key in footprints.addressed or not _same_type(routine, callee, target.element, result):
        return ""
    touched = [access for access in statement.accesses if not access.write]
    touched += footprints.of_call(call, routine.file).accesses
    given = {argument.base for argument in call.arguments}
    known = key in given or any(access.variable == key for access in touched)
    return "" if known else key


def _same_type(user: Routine, callee: Routine, element: str, result: Variable) -> bool:
    """Whether two numbers have one type, with kinds that mean the same in both routines."""
    if element != result.element or element.startswith(("type(", "class(", "character")):
        return False
    if any(s.stop is not None and s.stop.kind is _OWN for s in user.statements()):
        return False  # the name may be that of a statement function
    if user.meaning is None or callee.meaning is None:
        return False
    names = _NAMES.findall(element.partition("(")[2])
    return all(
        name == "kind"
        or ((callee.meaning(name) is not None) and callee.meaning(name) == user.meaning(name))
        for name in names
    )
