"""Integer variables of a Fortran routine that one statement sets: `ny = ubound(a, 2) - 1`.

What such a variable holds is then known wherever the routine uses it, if nothing that its value is
made of changes in the routine.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import Kind, Program, Routine, Statement
from imbrex.transform.model.sources import SourceFile

# Statements that are not analysed, and set no variable but by a specifier (`stat=ierr`).
SETS_NOTHING = re.compile(rb"(?i)\s*(?:de)?allocate\s*\(|\s*(?:print|write)\b")


def set_once(
    program: Program, footprints: Footprints, routine: Routine, source: SourceFile
) -> dict[str, Affine]:
    """The values of such variables, in terms of what does not change in the routine."""
    ahead = _straight(footprints, routine)
    if not ahead or re.search(rb"(?i)\bnamelist\b", source.data):
        return {}
    written: dict[str, int] = {}
    for statement in routine.body.statements:
        places = {
            access.variable
            for access in footprints.of(statement, routine.file).accesses
            if access.write and not access.through
        }
        for key in places:
            written[key] = written.get(key, 0) + 1
    hidden = _not_analysed(footprints, routine, source)
    single = {
        statement.sets[0]
        for statement in ahead
        if statement.sets is not None
        and written.get(statement.sets[0]) == 1
        and _own(program, statement.sets[0], hidden)
    }
    elsewhere = [a for a in footprints.of_routine(routine).accesses if a.variable not in single]
    changed = footprints.changed(elsewhere)
    values: dict[str, Affine] = {}
    for statement in ahead:
        if statement.sets is None or statement.sets[0] not in single:
            continue
        key, value = statement.sets
        known = value.replace(lambda factor: values.get(factor, Affine.variable(factor)))
        if known is None or key in known.variables() or known.variables() & changed:
            continue
        if any(_may_be_hidden(program, name, hidden) for name in known.variables()):
            continue
        if not hidden or all(_is_its_own(program, name) for name in known.variables()):
            values[key] = known
    return values


def _straight(footprints: Footprints, routine: Routine) -> list[Statement]:
    """The statements at the top of a routine that each run of it reaches."""
    found = []
    for statement in routine.body.statements:
        if footprints.of(statement, routine.file).jumps - {"return"} or statement.stop:
            if statement.kind is not Kind.OPAQUE or statement.leaves:
                break
            continue
        found.append(statement)
    return found


def _not_analysed(footprints: Footprints, routine: Routine, source: SourceFile) -> bytes:
    """The text of statements of which it is not known what they set."""
    texts = []
    for statement in routine.statements():
        text = source.data[statement.start : statement.end]
        if statement.kind is Kind.OPAQUE:
            if SETS_NOTHING.match(text):
                text = b" ".join(re.findall(rb"=[^,()]*", text))
            texts.append(text)
        elif any(footprints.of_call(call, routine.file).stop for call in statement.calls):
            texts.append(text)
    return b"\n".join(texts).lower()


def _is_its_own(program: Program, key: str) -> bool:
    """Whether only the routine, or who is given it, can set a variable."""
    variable = program.variables.get(key)
    return variable is not None and variable.kind in ("local", "dummy")


def _own(program: Program, key: str, hidden: bytes) -> bool:
    variable = program.variables.get(key)
    return (
        variable is not None
        and variable.kind == "local"
        and variable.element == "integer"
        and not (variable.bounds or variable.volatile or key in program.overlays)
        and not _may_be_hidden(program, key, hidden)
    )


def _may_be_hidden(program: Program, key: str, hidden: bytes) -> bool:
    """Whether a statement that is not analysed names a variable."""
    variable = program.variables.get(key)
    if variable is None:
        return True
    name = re.escape(variable.name.lower().encode())
    return re.search(rb"(?<![\w%])" + name + rb"(?!\w)", hidden) is not None
