"""Numbers that a variable was just set to, where a call passes it: `iex = 2; call swap(u, iex)`.

What a flag decides in the routine is then known as it is of a number in the call.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.taken import tested
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_NUMBER = re.compile(rb"\w+\s*=\s*(\d{1,9})\s*;?")


def pass_assigned(program: Program, footprints: Footprints) -> None:
    """Give arguments that conditions of a routine ask for the numbers that they hold.

    `footprints` become stale.
    """
    asked = {key: tested(routine) for key, routine in program.routines.items()}
    found: list[tuple[Argument, int]] = []
    for routine in program.routines.values():
        for statement in routine.statements():
            for call in statement.calls:
                callee = None if call.unknown else program.callee(call.name, routine.file)
                if callee is None or not asked.get(callee.key):
                    continue
                for argument, key in zip(call.arguments, callee.parameters, strict=False):
                    if key not in asked[callee.key] or not _is_own(program, footprints, argument):
                        continue
                    value = _value_at(program, footprints, routine, statement, argument.base or "")
                    if value is not None:
                        found.append((argument, value))
    for argument, value in found:
        argument.value = Affine(value)


def _is_own(program: Program, footprints: Footprints, argument: Argument) -> bool:
    """Whether an argument is a plain integer variable of the routine alone."""
    base = argument.base or ""
    variable = program.variables.get(base)
    return (
        variable is not None
        and variable.kind == "local"
        and variable.element.startswith("int")
        and not (variable.pointer or variable.bounds or variable.volatile)
        and argument.value == Affine.variable(base)
        and base not in program.overlays
        and base not in footprints.addressed
    )


def _value_at(
    program: Program, footprints: Footprints, routine: Routine, statement: Statement, key: str
) -> int | None:
    """The number that a variable holds at a statement, set in front of it or of what it is in."""
    inner = statement
    while inner.parent is not None and inner.stop is None:
        block = inner.parent
        for before in reversed(block.statements[: block.statements.index(inner)]):
            footprint = footprints.of(before, routine.file)
            if footprint.stop is not None or footprint.jumps - {"return"}:
                return None
            if any(access.write and access.variable == key for access in footprint.accesses):
                return _number(program, routine, before, key)
        if block.owner is None or block.owner.kind not in (Kind.IF, Kind.BLOCK):
            return None
        inner = block.owner
    return None


def _number(program: Program, routine: Routine, statement: Statement, key: str) -> int | None:
    """The number that a statement sets a variable to."""
    if statement.kind is not Kind.SIMPLE or statement.calls or len(statement.accesses) != 1:
        return None
    source = program.files.get(routine.file)
    name = program.variables[key].name.encode()
    text = b"" if source is None else source.data[statement.code_start : statement.end]
    match = _NUMBER.fullmatch(text.strip())
    if match is None or text.split(b"=")[0].strip().lower() != name.lower():
        return None
    return int(match[1])
