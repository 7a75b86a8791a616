"""The bounds of allocatable arrays of Fortran, as the one statement that allocates each says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from imbrex.transform.analysis.derived import Derived, is_of_main
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.allocation import Allocation
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.model.statements import Statement

# What frees an allocatable array, which may then get another shape.
_OTHER_SHAPES = re.compile(rb"(?i)\bintent\s*\(\s*out\s*\)[^\n]*\ballocatable\b")


def find_shapes(
    program: Program, footprints: Footprints
) -> dict[str, tuple[tuple[Affine, Affine], ...]]:
    """The bounds of allocatable arrays of Fortran that one statement allocates.

    In terms of sizes that are set in front of it alone, so that an array never has other ones.
    """
    shared = Derived(program, footprints)
    of_main = Derived(program, footprints, shared.setters)
    made: dict[str, list[tuple[Routine, Statement, Allocation]]] = {}
    for routine in program.routines.values():
        for statement in routine.statements():
            for item in statement.allocates:
                made.setdefault(item.array, []).append((routine, statement, item))
    found: dict[str, tuple[tuple[Affine, Affine], ...]] = {}
    program.by_given = set()
    if not (made and shared.possible) or program.moved:
        return found
    if any(_OTHER_SHAPES.search(source.data) for source in program.files.values()):
        return found
    given = _given_to_allocate(program)
    for key, places in made.items():
        ends = [end for bounds in places[0][2].bounds for end in bounds]
        known = [end for end in ends if end is not None]
        if key.startswith("%") or f"%{program.variables[key].name.lower()}" in made:
            continue
        one = len(places) == 1 or _always(item for _, _, item in places)
        if not one or len(known) < len(ends) or _reshaped(program, shared, key, given):
            continue
        routine, statement, item = places[0]
        mine = is_of_main(program, key)
        for derived in (of_main,) if mine else (shared, of_main):
            derived.by_given = derived is of_main and not mine
            settled = derived.settled(routine, statement, item.owner, key, known)
            if settled is not None:
                found[key] = tuple(zip(settled[::2], settled[1::2], strict=True))
                program.by_given |= {key} if derived.by_given else set()
                break
    return found


def _always(given: Iterable[Allocation]) -> bool:
    """Whether an array gets the same bounds wherever it gets some: numbers."""
    every = [item.bounds for item in given]
    ends = [end for bounds in every[0] for end in bounds]
    return every.count(every[0]) == len(every) and not any(e is None or e.terms for e in ends)


def _reshaped(program: Program, derived: Derived, key: str, given: frozenset[str]) -> bool:
    """Whether an array may get another shape than that of its ALLOCATE.

    `given`: what is passed to routines that may allocate it.
    """
    if any(derived.setters.writers(name) for name in bounds_of(program.variables[key])):
        return True
    if key in program.overlays or not bounds_of(program.variables[key]):
        return True
    named = {key} | {target for target, held in program.overlays.items() if key in held}
    return not named.isdisjoint(given)


def _given_to_allocate(program: Program) -> frozenset[str]:
    """What is passed as a dummy argument of the program that is allocatable, or is not known."""
    found: set[str] = set()
    for call in program.calls():
        routine = program.routines.get(call.name)
        for argument, name in zip(
            call.arguments, () if routine is None else routine.parameters, strict=False
        ):
            dummy = program.variables.get(name)
            if argument.base is not None and (dummy is None or dummy.allocatable):
                found.add(argument.base)
    return frozenset(found)
