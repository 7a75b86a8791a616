"""Statements of C that fill a whole object with zeros: `memset(d, 0, sizeof *d);`, `= {0};`.

What the object holds of pointers and handles of MPI is of no use then, until it is set anew: a
relation between these and sizes in the same object holds of all that is ever used.
"""

from __future__ import annotations

import re

from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_EMPTY = re.compile(
    rb"(?:(?:static|struct)\s+)*\w+\s+(?P<name>\w+)\s*=\s*\{\s*(?:0|NULL)?\s*\}\s*;?"
)
_SIZE = re.compile(r"sizeof\s*(?:\(\s*)?(?P<of>\*?\s*(?:struct\s+)?\w+)\s*\)?")


def clears(program: Program, routine: Routine, statement: Statement, key: str) -> bool:
    """Whether all that a statement does to a field is to clear the whole object that it is of."""
    field = program.variables.get(key)
    if field is None or field.kind != "field" or not program.in_c(routine.file):
        return False
    if statement.stop is not None or statement.blocks:
        return False
    if statement.kind is Kind.DECLARE:
        source = program.files.get(routine.file)
        text = b"" if source is None else source.data[statement.code_start : statement.end]
        found = _EMPTY.fullmatch(text)
        written = [a for a in statement.accesses if a.write]
        declared = program.variables.get(written[0].variable) if len(written) == 1 else None
        named = found is not None and declared is not None
        return bool(named and declared and declared.record == field.record)
    if statement.kind is not Kind.SIMPLE or len(statement.calls) != 1:
        return False
    if any(access.write for access in statement.accesses):
        return False
    return _fills(program, statement.calls[0], field.record)


def _fills(program: Program, call: Call, record: str) -> bool:
    """Whether a call fills an object of a type of structure, from its beginning to its end."""
    if call.name != "memset" or call.name in program.routines or len(call.arguments) != 3:
        return False
    target, value, size = call.arguments
    base = program.variables.get(target.base or "")
    found = _SIZE.fullmatch(size.text.strip())
    if base is None or found is None or value.constant != "0" or call.unknown:
        return False
    name, of = base.name, "".join(found["of"].removeprefix("struct").split())
    if target.through:
        known = base.pointer and base.element.removeprefix("struct ") == record
        return known and target.text.strip() == name and of in (f"*{name}", record)
    known = base.record == record and not (base.bounds or base.pointer)
    return known and target.text.strip() == f"&{name}" and of in (name, record)
