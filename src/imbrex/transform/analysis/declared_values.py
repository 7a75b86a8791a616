"""Declarations of C in a routine that is taken apart: both halves have them, ahead of all else."""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
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
    for access in found.accesses:
        variable = variables.get(access.variable)
        if access.write and (variable is None or variable.kind != "local"):
            cause = ReasonKind.BOTH_USE_UNKNOWN()
            if variable is not None:
                cause = ReasonKind.BOTH_USE(variable=variable.name)
            return Reason(cause, place)
    meeting = footprints.conflict(found.accesses, above, footprints.changed(above))
    if meeting is None:
        return None
    met = variables.get(meeting[0].variable)
    if met is None:
        return Reason(ReasonKind.BOTH_USE_UNKNOWN(), place)
    return Reason(ReasonKind.BOTH_USE(variable=met.name), place)
