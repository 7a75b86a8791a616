"""Scalars that the statements of a loop of C take values into, and touch in no other way."""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.program import Program, Routine, Statement
from imbrex.transform.model.reduction import Reduction


def reductions_of_c(
    program: Program, footprints: Footprints, routine: Routine, body: list[Statement]
) -> dict[str, Reduction]:
    """What all of a loop's body does to such scalars, by their keys."""
    found: dict[str, Reduction] = {}
    every = [inner for statement in body for inner in statement.walk()]
    for key in {s.reduces.variable for s in every if s.reduces is not None}:
        mine = [s.reduces for s in every if s.reduces is not None and s.reduces.variable == key]
        if len({each.operation for each in mine}) != 1:
            continue
        if key in program.overlays:
            continue  # other names of it are told apart as memory is
        if all(_only_reduces(footprints, routine, statement, key) for statement in body):
            exact = all(each.exact and _is_set_once(footprints, routine, each) for each in mine)
            found[key] = mine[0]._replace(exact=exact)
    return found


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
