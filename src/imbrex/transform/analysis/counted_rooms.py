"""Messages whose count is that of the elements which the routine has stored in their line.

`n = n + 1; buffer(n, side) = u(i, j)` in a loop, then `call mpi_send(buffer(1, side), n, ...)`: the
last element that was stored is within the bounds of the array, and so is the message.
"""

from __future__ import annotations

import re

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.sections import line_section
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.model.statements import Kind, Statement


def counts_stored(
    program: Program,
    footprints: Footprints,
    routine: Routine,
    call: Call,
    part: mpi_calls.PointToPoint,
) -> bool:
    """Whether a message ends in the line that it begins, as the last element stored there is."""
    section = line_section(program, call, part)
    buffer = call.arguments[part.buffer]
    count = call.arguments[part.count].value
    if section is None or count is None or len(count.terms) != 1:
        return False
    key = count.terms[0][0]
    last = section[0].high
    if count != Affine.variable(key) or last is None or last.variables() != {key}:
        return False
    if not _is_own(program, footprints, key) or not _keeps_bounds(
        program, footprints, routine, buffer
    ):
        return False
    statements = routine.statements()
    name = program.variables[key].name.lower().encode()
    data = program.files[routine.file].data
    for statement in statements:
        if statement.stop is not None and not statement.blocks:
            text = data[statement.start : statement.end].lower()
            if re.search(rb"(?<![\w%])" + name + rb"(?!\w)", text):
                return False
        if not _sets(footprints, routine, statement, key):
            continue
        if statement.sets is None or statement.sets[0] != key or statement.calls:
            return False
        value = statement.sets[1]
        if not value.terms and value.constant <= 0:
            continue  # no elements yet
        more = value.plus(Affine.variable(key), -1)
        if more.terms or not _stores(statement, buffer, last):
            return False
    return True


def _is_own(program: Program, footprints: Footprints, key: str) -> bool:
    """Whether a variable is a plain number of the routine alone."""
    variable = program.variables.get(key)
    return (
        variable is not None
        and variable.kind == "local"
        and variable.element.startswith("integer")
        and not (variable.bounds or variable.pointer or variable.volatile)
        and key not in program.overlays
        and key not in footprints.addressed
        and key not in footprints.aliases.escaped
    )


def _keeps_bounds(
    program: Program, footprints: Footprints, routine: Routine, buffer: Argument
) -> bool:
    """Whether the array has the bounds that it had where elements were stored."""
    variable = program.variables.get(buffer.base or "")
    if variable is None or variable.pointer or variable.key in program.overlays:
        return False
    changed = footprints.changed_in(footprints.of_routine(routine))
    sizes = set(bounds_of(variable))
    for low, high in variable.bounds:
        for bound in (low, high):
            sizes |= set() if bound is None else bound.variables()
    return changed.isdisjoint(sizes)


def _sets(footprints: Footprints, routine: Routine, statement: Statement, key: str) -> bool:
    """Whether a statement itself, or what it calls, may set a variable."""
    written = [access for access in statement.accesses if access.write]
    for call in statement.calls:
        effects = footprints.of_call(call, routine.file)
        written += [access for access in effects.accesses if access.write]
    return key in footprints.changed(written)


def _stores(statement: Statement, buffer: Argument, last: Affine) -> bool:
    """Whether the statement behind this one stores an element at `last`, or behind it."""
    block = statement.parent
    if block is None or statement.kind is not Kind.SIMPLE:
        return False
    position = block.statements.index(statement) + 1
    if position >= len(block.statements):
        return False
    after = block.statements[position]
    if after.kind is not Kind.SIMPLE or after.calls or after.stop or after.computes:
        return False
    return any(_is_at(access, buffer, last) for access in after.accesses if access.write)


def _is_at(access: Access, buffer: Argument, last: Affine) -> bool:
    if access.variable != buffer.base or access.through is not buffer.through:
        return False
    if access.section is None or access.owner != buffer.owner or access.slot != buffer.slot:
        return False
    index, end = access.section[0]
    if index is None or index != end or index.variables() - last.variables():
        return False
    further = index.plus(last, -1)
    return not further.terms and further.constant >= 0
