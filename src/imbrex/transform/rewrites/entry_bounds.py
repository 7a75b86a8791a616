"""Bounds of loops of Fortran that have one value from where their procedure begins.

An array that the procedure declares may have as many elements as such a loop has iterations.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.loop_headers import Header
from imbrex.transform.text.specification import identifiers

_PLAIN = re.compile(r"[\w%\s*+-]+")
_KINDS = frozenset({"dummy", "global", "host"})


def known_at_entry(
    program: Program, footprints: Footprints, routine: Routine, loop: Statement, header: Header
) -> bool:
    """Whether a declaration of the procedure may say how many iterations a loop has.

    Its bounds are made of arguments and of variables of modules, or of components of these, none of
    which anything in the procedure sets.
    """
    source = program.files[routine.file]
    if not source.is_fortran or routine.name == "main" or routine.declare_after < 0:
        return False
    texts = (header.low, header.high)
    if not all(_PLAIN.fullmatch(text) for text in texts):
        return False
    reads = [access for access in loop.accesses if not access.write]
    for access in reads:
        variable = program.variables.get(access.variable)
        if variable is None or (access.through and variable.kind != "dummy"):
            return False
        if variable.kind == "field":
            continue  # its object is read, too
        if variable.kind not in _KINDS or variable.optional or variable.volatile:
            return False
        if variable.allocatable or variable.key in program.overlays:
            return False
    named = {program.variables[access.variable].name.lower() for access in reads}
    for name in _roots(texts) - named:
        meant = None if routine.meaning is None else routine.meaning(name)
        if meant is None or not meant.startswith("="):
            return False  # no constant, or what is known by another name
    keys = {access.variable for access in reads}
    if not (keys <= set(routine.declared_by) or _is_reached(footprints, routine, loop)):
        return False  # it may have no value where the loop does not begin
    if not _is_intrinsic(program, routine, "max"):
        return False
    statements = routine.body.statements
    done = [a for each in statements for a in footprints.of(each, routine.file).accesses]
    stopped = any(footprints.of(each, routine.file).stop for each in statements)
    written = [access for access in done if access.write]
    changed = footprints.changed(written)
    return not stopped and footprints.conflict(reads, written, changed) is None


def _is_reached(footprints: Footprints, routine: Routine, loop: Statement) -> bool:
    """Whether a loop begins whenever its procedure does."""
    statements = routine.body.statements
    if loop not in statements:
        return False
    above = statements[: statements.index(loop)]
    return not any(footprints.of(each, routine.file).leaves for each in above)


def _roots(texts: tuple[str, str]) -> set[str]:
    """The names that texts begin with, without components and numbers."""
    plain = [re.sub(r"%\s*\w+", "", text) for text in texts]
    return identifiers(" ".join(plain), fold=True)


def _is_intrinsic(program: Program, routine: Routine, name: str) -> bool:
    """Whether a name is the language's own in a procedure."""
    named = any(each.plain_name.lower() == name for each in program.routines.values())
    meant = None if routine.meaning is None else routine.meaning(name)
    return meant is None and not named
