"""Scalars that a loop nest reduces values into: `s = s + x`, `m = max(m, x)`.

Each iteration adds to what the others have made of the scalar, in whatever order they come. The
readers say of each statement what it reduces.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.program import Program, Routine, Statement
from imbrex.transform.model.reduction import Reduction


def reductions(
    program: Program, footprints: Footprints, routine: Routine, body: list[Statement]
) -> dict[str, Reduction]:
    """The scalars that the statements of a loop's body reduce into, and use in no other way."""
    found: dict[str, Reduction] = {}
    source = program.files.get(routine.file)
    every = [inner for statement in body for inner in statement.walk()]
    for key in {s.reduces.variable for s in every if s.reduces is not None}:
        mine = [s.reduces for s in every if s.reduces is not None and s.reduces.variable == key]
        if len({each.operation for each in mine}) != 1:
            continue
        if key in program.overlays:
            continue  # other names of it are told apart as memory is
        if source is not None and source.is_fortran and not _is_plain(program, footprints, key):
            continue
        if all(_only_reduces(footprints, routine, statement, key) for statement in body):
            exact = all(each.exact and _is_set_once(footprints, routine, each) for each in mine)
            found[key] = mine[0]._replace(exact=exact)
    return found


def _is_plain(program: Program, footprints: Footprints, key: str) -> bool:
    """Whether a variable of Fortran is a scalar, there for certain, that nothing else changes."""
    variable = program.variables[key]
    return key not in footprints.addressed and not (
        variable.bounds
        or variable.volatile
        or variable.pointer
        or variable.optional
        or variable.allocatable
        or variable.kind == "field"
    )


def _is_set_once(footprints: Footprints, routine: Routine, mine: Reduction) -> bool:
    """Whether nothing but its declaration sets what is taken, if that depends on it."""
    if not mine.absolute:
        return True
    writes = [a for s in routine.statements() for a in s.accesses if a.write]
    once = sum(a.variable == mine.absolute for a in writes) == 1
    return once and mine.absolute not in footprints.addressed


def _only_reduces(footprints: Footprints, routine: Routine, statement: Statement, key: str) -> bool:
    if statement.reduces is not None and statement.reduces.variable == key:
        return True
    if any(access.variable == key for access in statement.accesses):
        return False
    for call in statement.calls:
        effects = footprints.of_call(call, routine.file)
        if effects.stop or any(access.variable == key for access in effects.accesses):
            return False
    inside = [inner for block in statement.blocks for inner in block.statements]
    return all(_only_reduces(footprints, routine, inner, key) for inner in inside)
