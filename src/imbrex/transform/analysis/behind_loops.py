"""What a routine does behind its loop nest, where a part of the nest is to run earlier.

It is left to the part that runs last: it stands where it did and sees the same, but for locals, of
which each part has its own. It may hold further loops, as a nest that copies the new field back.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.set_first import sets_first
from imbrex.transform.model.program import Program, Routine, Statement


def may_follow(
    program: Program,
    footprints: Footprints,
    callee: Routine,
    before: list[Statement],
    loops: Statement,
    final: list[Statement],
) -> bool:
    """Whether `final` may follow the last part of `loops` alone.

    What is set for it in front of the loops would be set in the other part too, for nothing.
    """
    for statement in final:
        found = footprints.of(statement, callee.file)
        if found.leaves or found.events:
            return False
    behind = _locals(program, footprints, callee, final, set_there=False)
    set_inside = _locals(program, footprints, callee, [loops], set_there=True)
    anew = {key for key in behind if _is_set_anew(program, footprints, callee, final, key)}
    if (behind - anew) & set_inside or any(
        key in footprints.addressed for key in behind | set_inside
    ):
        return False
    set_before = _locals(program, footprints, callee, before, set_there=True)
    read = {
        access.variable
        for statement in (*before, loops)
        for inner in statement.walk()
        for access in inner.accesses
        if not access.write
    }
    return behind & set_before <= read


def _is_set_anew(
    program: Program, footprints: Footprints, callee: Routine, final: list[Statement], key: str
) -> bool:
    """Whether it is a scalar that takes nothing over from the loops, as the index of another."""
    scalar = not program.variables[key].bounds and key not in program.overlays
    return scalar and sets_first(final, key, footprints, callee.file)


def _locals(
    program: Program,
    footprints: Footprints,
    callee: Routine,
    statements: list[Statement],
    *,
    set_there: bool,
) -> set[str]:
    """The local variables that statements of a routine name, or those that they may set."""
    found: set[str] = set()
    for statement in statements:
        accesses = list(footprints.of(statement, callee.file).accesses)
        for inner in statement.walk():
            accesses += inner.accesses
            if not set_there:
                found |= {part.base or "" for call in inner.calls for part in call.arguments}
        found |= {access.variable for access in accesses if access.write or not set_there}
    known = program.variables
    return {key for key in found if key in known and known[key].kind == "local"}
