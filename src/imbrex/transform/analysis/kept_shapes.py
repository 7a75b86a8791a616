"""Assignments to allocatable arrays of Fortran as a whole that leave them the shape they have.

`u = unew` allocates `u` anew where the shapes differ. Where both have the bounds of one ALLOCATE
each, and these are the same, they never do.
"""

from __future__ import annotations

from collections.abc import Callable

from imbrex.transform.analysis.allocated_shapes import find_shapes
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.allocation import Shaped
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.model.statements import Statement

Shapes = dict[str, tuple[tuple[Affine, Affine], ...]]


def keep_shapes(program: Program, footprints: Callable[[], Footprints]) -> Shapes:
    """Take such assignments for ones that set no bounds; the shapes of all arrays then.

    All are taken so at first; those whose arrays then have not the same shape are put back, until
    what is left holds of itself. `footprints` makes new ones of what the program is then.
    """
    written: list[tuple[Statement, Shaped, list[Access]]] = []
    for routine in program.routines.values():
        for statement in routine.statements():
            if statement.shaped is None:
                continue
            bounds = bounds_of(program.variables[statement.shaped.array])
            written.append((statement, statement.shaped, statement.accesses))
            statement.accesses = [
                access
                for access in statement.accesses
                if not access.write or access.variable not in bounds
            ]
    made_at = _made_at(program) if written else {}
    while True:
        shapes = find_shapes(program, footprints())
        other = [item for item in written if not _keeps(item[1], shapes, made_at)]
        if not other:
            return shapes
        for statement, _, accesses in other:
            statement.accesses = accesses
        written = [item for item in written if item not in other]


def _made_at(program: Program) -> dict[str, Statement]:
    """The one statement that gives each array memory, of those that nothing takes it from."""
    made: dict[str, list[Statement]] = {}
    freed: set[str] = set()
    for routine in program.routines.values():
        for statement in routine.statements():
            given = {item.array for item in statement.allocates}
            for array in given:
                made.setdefault(array, []).append(statement)
            if statement.allocation:
                freed |= {access.variable for access in statement.accesses} - given
    return {
        array: places[0]
        for array, places in made.items()
        if len(places) == 1 and array not in freed
    }


def _keeps(shaped: Shaped, shapes: Shapes, made_at: dict[str, Statement]) -> bool:
    """Whether an array has the shape that it is given.

    Where it has no memory yet, it gets the bounds of what it is given, or, of an expression, bounds
    that begin with one: not where it gets memory together with what the expression takes.
    """
    own = shapes.get(shaped.array)
    same = [source for source in shaped.sources if own is not None and shapes.get(source) == own]
    if own is None or not same:
        return False
    made = made_at.get(shaped.array)
    return (
        shaped.plain
        or all(low == Affine(1) for low, _ in own)
        or (made is not None and any(made_at.get(source) is made for source in same))
    )
