"""Whether statements set a variable before any of them reads it."""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement


def sets_first(statements: list[Statement], key: str, footprints: Footprints, file: str) -> bool:
    """Whether a variable is set, in each case, before any of the statements reads it."""
    for statement in statements:
        every = footprints.of(statement, file).accesses
        if not any(access.variable == key and not access.through for access in every):
            continue
        own = [a for a in statement.accesses if a.variable == key and not a.through]
        if own:
            plain = statement.kind in (Kind.SIMPLE, Kind.DECLARE, Kind.LOOP)
            if statement.kind is Kind.LOOP and footprints.program.in_fortran(file):
                return all(access.write for access in own)  # a bound is asked for first
            whole = statement.kind is Kind.DECLARE and not own[0].member
            whole = whole and not footprints.program.in_fortran(file)
            part = not whole and _in_part(statement, key, footprints, file)
            return plain and own[0].write and not part
        if not statement.blocks or any(call for call in statement.calls):
            return False  # a call reads or sets it
        if not all(sets_first(b.statements, key, footprints, file) for b in statement.blocks):
            return False
        # It may not have been set here at all, so that what follows must do so itself.
    return True


def _begins_with(name: str) -> re.Pattern[bytes]:
    """A statement that sets a variable before anything else, by a declaration or not."""
    return re.compile(rb"\s*(?:[\w:]+[\s*&]+)*" + re.escape(name).encode() + rb"\s*=(?!=)")


def _in_part(statement: Statement, key: str, footprints: Footprints, file: str) -> bool:
    """Whether a statement that writes to a variable may leave it, or a part of it, as it was."""
    variable, source = footprints.program.variables[key], footprints.program.files.get(file)
    if variable.record or variable.element.startswith(("character", "type(", "class(")):
        return True  # it may be a component or a part of the text
    if source is None or source.language is not Language.C:
        return False
    end = statement.blocks[0].start if statement.blocks else statement.end
    text = source.data[statement.start : end]
    if statement.kind is not Kind.LOOP and _begins_with(variable.name).match(text):
        return False  # whatever decides on the value, `x = a ? b : c` sets x
    if statement.kind is Kind.LOOP:
        text = text.partition(b";")[0]
    return any(mark in text for mark in (b"&&", b"||", b"?"))
