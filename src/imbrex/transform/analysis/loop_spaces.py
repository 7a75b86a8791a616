"""The iteration space of a perfect loop nest, in the terms of the routine that it stands in."""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.in_bounds import made_each_time
from imbrex.transform.analysis.reductions import reductions
from imbrex.transform.analysis.space import Space, nest
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program, Routine, Statement


def space_of_loops(
    program: Program, footprints: Footprints, statement: Statement, routine: Routine
) -> Space | None:
    """The space of a statement that is a nest; None where its ranges are not known."""
    loops = nest(statement)
    ranges = [loop.loop for loop in loops if loop.loop is not None]
    if not loops:
        return None
    inner = loops[-1].blocks[0].statements
    body = [a for part in inner for a in footprints.of(part, routine.file).accesses]
    changed = footprints.changed(body)
    headers = [access for loop in loops for access in loop.accesses]
    for span in ranges:
        if (span.low.variables() | span.high.variables()) & changed or span.index in changed:
            return None
    indices = {span.index for span in ranges}
    accesses = [_one_array(footprints, footprints.after(a, changed), indices) for a in body]
    private = {span.index for span in ranges}
    private |= {a.variable for a in body if a.write and _scalar(program, a)}
    sure = made_each_time(program, footprints, routine, ranges, inner)
    return Space(
        statement,
        loops,
        ranges,
        accesses,
        headers,
        private=frozenset(private),
        certain=frozenset(access for access in accesses if access.variable in sure),
        reduced=reductions(program, footprints, routine, inner),
    )


def _one_array(footprints: Footprints, access: Access, indices: set[str]) -> Access:
    """The access; anywhere where each iteration may have another array, which may overlap."""
    if access.variable in footprints.aliases.slotted:
        return access
    moves = any(index.variables() & indices for index in access.slot)
    return access.anywhere() if moves else access


def _scalar(program: Program, access: Access) -> bool:
    variable = program.variables.get(access.variable)
    return variable is not None and not variable.bounds and not access.through
