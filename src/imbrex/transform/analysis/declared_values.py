"""Declarations of C in a routine that is taken apart.

Both halves have those that they need, ahead of all else. One whose value takes work, or that needs
what comes before it, is done by one of the halves, in its place.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.own_variables import place_in_c
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


def declared_in_place(
    footprints: Footprints, routine: Routine, above: list[Access], declaration: Statement
) -> Reason | None:
    """Why a declaration must stay where it stands, or be made once; `above`: by what precedes it.

    Only its own variables may take a value by it.
    """
    found = footprints.of(declaration, routine.file)
    place = Location(routine.file, declaration.line)
    if found.stop is not None:
        return found.stop
    if found.events:
        return Reason(ReasonKind.LOOP_CALLS(call=found.events[0].name), place)
    variables = footprints.program.variables
    accesses = [a for a in found.accesses if not _is_constant(variables.get(a.variable))]
    for access in accesses:
        variable = variables.get(access.variable)
        own = variable is not None and variable.kind == "local"
        if access.write and not (own and declared_at(access.variable, routine.file, declaration)):
            cause = ReasonKind.BOTH_USE_UNKNOWN()
            if variable is not None:
                cause = ReasonKind.BOTH_USE(variable=variable.name)
            return Reason(cause, place)
    meeting = footprints.conflict(accesses, above, footprints.changed(above))
    if meeting is None:
        return None
    met = variables.get(meeting[0].variable)
    if met is None:
        return Reason(ReasonKind.BOTH_USE_UNKNOWN(), place)
    return Reason(ReasonKind.BOTH_USE(variable=met.name), place)


def may_be_placed(footprints: Footprints, routine: Routine, declaration: Statement) -> bool:
    """Whether one half can have a declaration as a statement of its own, as numbers and pointers.

    What else uses its variables must then be in that half, or be given them.
    """
    found = footprints.of(declaration, routine.file)
    if found.stop or found.leaves or found.events or not footprints.program.in_c(routine.file):
        return False
    keys = placed_variables(routine.file, declaration)
    known = [footprints.program.variables[key] for key in keys]
    return bool(known) and all(_is_plain(footprints.program.variables, each) for each in known)


def placed_variables(file: str, declaration: Statement) -> frozenset[str]:
    """The variables that it declares."""
    return frozenset(
        access.variable
        for access in declaration.accesses
        if access.write and declared_at(access.variable, file, declaration)
    )


def declared_at(key: str, file: str, declaration: Statement) -> bool:
    """Whether a variable is one that a declaration of a file declares."""
    place = place_in_c(key)
    return (
        place is not None and place[0] == file and declaration.start <= place[1] < declaration.end
    )


def _is_plain(variables: dict[str, Variable], variable: Variable) -> bool:
    if variable.kind != "local" or variable.reference or variable.owned or variable.record:
        return False
    if f"vector:{variable.key}" in variables:
        return False
    return variable.pointer or not variable.bounds


def _is_constant(variable: Variable | None) -> bool:
    return variable is not None and variable.constant
