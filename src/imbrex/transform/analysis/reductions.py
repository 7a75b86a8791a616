"""What a loop nest reduces values into: scalars, `s = s + x`, and counts, `n[key[i]]++`.

Each iteration adds to what the others have made of it, in whatever order they come. The readers say
of each statement what it reduces.
"""

from __future__ import annotations

from collections.abc import Callable

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.program import Program
from imbrex.transform.model.reduction import Reduction
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


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
        takes = _reducing(key)
        if all(_is_alone(footprints, routine, statement, key, takes) for statement in body):
            exact = all(each.exact and _is_set_once(footprints, routine, each) for each in mine)
            found[key] = mine[0]._replace(exact=exact)
    return found


def counted_arrays(
    program: Program, footprints: Footprints, routine: Routine, body: list[Statement]
) -> frozenset[str]:
    """The arrays to whose elements the statements of a loop's body add integers, and no more."""
    every = [inner for statement in body for inner in statement.walk()]
    return frozenset(
        key
        for key in {s.counts_in for s in every if s.counts_in}
        if key not in program.overlays
        and all(_is_alone(footprints, routine, s, key, _counting(key)) for s in body)
    )


def _reducing(key: str) -> Callable[[Statement], bool]:
    return lambda statement: statement.reduces is not None and statement.reduces.variable == key


def _counting(key: str) -> Callable[[Statement], bool]:
    return lambda statement: statement.counts_in == key


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


def _is_alone(
    footprints: Footprints,
    routine: Routine,
    statement: Statement,
    key: str,
    takes: Callable[[Statement], bool],
) -> bool:
    """Whether a statement uses a variable in no other way than those that add to it."""
    if takes(statement):
        return True
    if any(access.variable == key for access in statement.accesses):
        return False
    for call in statement.calls:
        effects = footprints.of_call(call, routine.file)
        if effects.stop or any(access.variable == key for access in effects.accesses):
            return False
    inside = [inner for block in statement.blocks for inner in block.statements]
    return all(_is_alone(footprints, routine, inner, key, takes) for inner in inside)
