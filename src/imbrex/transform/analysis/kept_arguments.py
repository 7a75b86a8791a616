"""Sizes of Fortran that a routine is given and keeps: `call init(h, nx)` and `self%nx = nx`.

Where nothing else sets what is kept, and it is given at one place, it is a number wherever it is
read, or, behind the call, what the main program calls `nx`: sizes that are written in two ways can
then be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.analysis.derived import Derived, is_of_main
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.renaming import Renaming
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import Kind, Program, Routine, Statement


@dataclass(frozen=True)
class _Kept:
    """A variable that keeps a value, in terms of the call that gives it."""

    key: str
    value: Affine
    user: Routine
    call: Statement


def name_kept(program: Program, footprints: Footprints) -> None:
    """Replace kept numbers everywhere, and behind the call the main program's own variables.

    Footprints become stale.
    """
    shared = Derived(program, footprints)
    candidates = [
        (routine, statement)
        for routine in program.routines.values()
        if program.in_fortran(routine.file)
        for statement in routine.statements()
        if statement.sets is not None and _is_given(routine, statement.sets[1])
    ]
    if not candidates or not (program.is_whole and shared.possible):
        return
    kept = [_kept(program, shared, *candidate) for candidate in candidates]
    found = [each for each in kept if each is not None]
    of_main = Derived(program, footprints, shared.setters)
    numbers = {each.key: each.value for each in found if not each.value.terms}
    if numbers:
        _tell_allocations(program, found)
        renaming = Renaming(numbers.get, frozenset(numbers))
        for routine in program.routines.values():
            for statement in routine.statements():
                renaming.statement(statement)
                renaming.allocations(statement)
        for variable in program.variables.values():
            variable.bounds = tuple(
                (renaming.optional(low), renaming.optional(high)) for low, high in variable.bounds
            )
    for each in found:
        name = _of_main(program, of_main, each)
        if name is not None:
            renaming = Renaming({name: Affine.variable(each.key)}.get, frozenset({name}))
            body = each.user.body.statements
            for statement in body[body.index(each.call) + 1 :]:
                for inner in statement.walk():
                    renaming.statement(inner)
                    renaming.allocations(inner)


def _tell_allocations(program: Program, found: list[_Kept]) -> None:
    """Allocate by the numbers, too, where the callers have them in variables of their own."""
    given = {each.value for each in found if not each.value.terms}
    numbers = {key: value for key, value in program.set_once.items() if value in given}
    renaming = Renaming(numbers.get, frozenset(numbers))
    for user in {each.user.key: each.user for each in found if not each.value.terms}.values():
        for statement in user.statements():
            renaming.allocations(statement)


def _is_given(routine: Routine, value: Affine) -> bool:
    return bool(value.terms) and value.variables() <= set(routine.parameters)


def _kept(
    program: Program, shared: Derived, routine: Routine, statement: Statement
) -> _Kept | None:
    """What a statement keeps of the arguments of its routine, which nothing else sets."""
    assert statement.sets is not None
    key, value = statement.sets
    if not (shared.is_shared("", key) and shared.tellable("", key)):
        return None
    if list(shared.setters.setting(key)) != [(routine, statement)]:
        return None
    if not shared.first.never_read(routine, statement, "", key):
        return None
    calls = shared.setters.callers.get(routine.key, [])
    if len(calls) != 1 or routine.address_taken or routine.problem:
        return None
    user, place = calls[0]
    if place.kind is not Kind.SIMPLE or len(place.calls) != 1 or place.calls[0].unknown:
        return None
    if not all(_stays(program, shared, routine, name) for name in value.variables()):
        return None
    given = {
        name: argument.value
        for name, argument in zip(routine.parameters, place.calls[0].arguments, strict=False)
    }
    told = value.replace(given.get)
    return None if told is None else _Kept(key, told, user, place)


def _stays(program: Program, shared: Derived, routine: Routine, dummy: str) -> bool:
    """Whether a dummy argument keeps the value that it is given."""
    variable = program.variables[dummy]
    if variable.bounds or variable.pointer or variable.volatile or variable.optional:
        return False
    footprints = shared.footprints
    if variable.element != "integer" or dummy in footprints.addressed | shared.setters.set_later:
        return False
    accesses = footprints.of_routine(routine).accesses
    return dummy not in footprints.changed([a for a in accesses if a.write])


def _of_main(program: Program, of_main: Derived, kept: _Kept) -> str | None:
    """The variable of the main program that has a kept value for good where it is given on."""
    if kept.user.key != "main" or kept.call.parent is not kept.user.body:
        return None
    names = kept.value.variables()
    name = min(names, default="")
    if kept.value != Affine.variable(name) or not is_of_main(program, name):
        return None
    variable = program.variables.get(name)
    if variable is None or variable.bounds or variable.pointer:
        return None
    settled = of_main.tellable("", name) and of_main.before.holds(kept.user, kept.call, [name])
    return name if settled else None
