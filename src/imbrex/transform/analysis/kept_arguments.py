"""Sizes of Fortran that a routine is given and keeps: `call init(h, nx)` and `self%nx = nx`.

Where nothing else sets what is kept, and it is given at one place, it is what its caller calls
`nx`, behind the call, or wherever it is read if that is a named constant: sizes that are written in
two ways can then be compared. A literal has no other place where it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.analysis.derived import Derived, is_of_main
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.renaming import Renaming
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_NAMED = re.compile(r"\s*[A-Za-z]")


@dataclass(frozen=True)
class _Given:
    """The value that a variable has for good behind a call, in terms of the caller.

    `keys`: it and the dummy arguments that lead to it, one of each routine at most.
    """

    keys: tuple[str, ...]
    value: Affine
    user: Routine
    call: Statement


def name_kept(program: Program, footprints: Footprints) -> None:
    """Replace kept numbers everywhere, and behind the calls what the callers have them in.

    Footprints become stale.
    """
    shared = Derived(program, footprints)
    candidates = [
        (routine, statement)
        for routine in program.routines.values()
        if program.in_fortran(routine.file)
        for statement in routine.statements()
        if statement.sets is not None and _of_arguments(routine, statement.sets[1])
    ]
    if not (candidates and shared.possible):
        return
    kept = _Kept(program, shared)
    found = [given for candidate in candidates for given in kept.given(*candidate)]
    told = [(given, kept.name(given)) for given in found]
    numbers = {key: given.value for given in found if not given.value.terms for key in given.keys}
    for given, name in told:
        if name:
            renaming = Renaming({name: Affine.variable(given.keys[0])}.get, frozenset({name}))
            body = given.user.body.statements
            for statement in body[body.index(given.call) + 1 :]:
                for inner in statement.walk():
                    renaming.statement(inner)
                    renaming.allocations(inner)
    if numbers:
        _tell(program, numbers)
    alike = kept.alike(candidates)
    if alike:
        _tell(program, alike)


def _tell(program: Program, values: dict[str, Affine]) -> None:
    renaming = Renaming(values.get, frozenset(values))
    renaming.everywhere(program)
    renaming.bounds(program)


def _of_arguments(routine: Routine, value: Affine) -> bool:
    return bool(value.terms) and value.variables() <= set(routine.parameters)


class _Kept:
    """Follows what is kept to the calls that give it."""

    def __init__(self, program: Program, shared: Derived) -> None:
        self.program = program
        self.shared = shared
        self.of_main = Derived(program, shared.footprints, shared.setters)

    def given(self, routine: Routine, statement: Statement) -> list[_Given]:
        """What a statement keeps, in the terms of each routine that leads to it."""
        assert statement.sets is not None
        key, value = statement.sets
        if not (self.shared.is_shared("", key) and self.shared.tellable("", key)):
            return []
        if list(self.shared.setters.setting(key)) != [(routine, statement)]:
            return []
        known = self.shared.first.never_read(routine, statement, "", key)
        found: list[_Given] = []
        keys = [key]
        inside = {routine.key}
        sure = True  # whether each run of a routine that is looked at keeps it
        while _of_arguments(routine, value):
            above = self._above(routine, value)
            if above is None or above[1].key in inside:
                break
            name = min(value.variables())
            keys += [name] if value == Affine.variable(name) else []
            sure = sure and self._always(routine, statement)
            value, routine, statement = above
            inside.add(routine.key)
            if known or (sure and value.terms):  # behind the call it is no first value
                found.append(_Given(tuple(keys), value, routine, statement))
        return found

    def alike(self, candidates: list[tuple[Routine, Statement]]) -> dict[str, Affine]:
        """What a routine keeps in two places, `self%n = n` and `call self%halo%init(n)`: each of
        the later ones is what the first one is.
        """
        groups: dict[tuple[str, Affine], list[tuple[int, str, Routine]]] = {}
        for routine, statement in candidates:
            assert statement.sets is not None
            key, value = statement.sets
            if not self._is_for_good(key, routine, statement):
                continue
            level: tuple[Affine, Routine, Statement] | None = (value, routine, statement)
            inside: set[str] = set()
            while level is not None and level[1].key not in inside:
                value, user, place = level
                named = _of_arguments(user, value)
                if not (named and self._always(user, place)):
                    break
                if not all(self._stays(user, name) for name in value.variables()):
                    break
                position = user.body.statements.index(place)
                groups.setdefault((user.key, value), []).append((position, key, user))
                inside.add(user.key)
                level = self._above(user, value)
        found: dict[str, Affine] = {}
        for every in groups.values():
            (first, base, user), *rest = sorted(every, key=lambda each: each[:2])
            for position, key, _ in rest:
                between = user.body.statements[first + 1 : position]
                touched = {a.variable for s in between for a in self._accesses(user, s)}
                if key not in found and base not in found and touched.isdisjoint((key, base)):
                    found[key] = Affine.variable(base)
        return found

    def _accesses(self, routine: Routine, statement: Statement) -> list[Access]:
        return self.shared.footprints.of(statement, routine.file).accesses

    def _is_for_good(self, key: str, routine: Routine, statement: Statement) -> bool:
        """Whether one statement alone sets a variable, which nothing reads before."""
        shared = self.shared
        if not (shared.is_shared("", key) and shared.tellable("", key)):
            return False
        if list(shared.setters.setting(key)) != [(routine, statement)]:
            return False
        return bool(shared.first.never_read(routine, statement, "", key))

    def _always(self, routine: Routine, statement: Statement) -> bool:
        """Whether each run of a routine comes to a statement."""
        body = routine.body.statements
        if statement.parent is not routine.body:
            return False
        before = (self.shared.footprints.of(s, routine.file) for s in body[: body.index(statement)])
        return not any(each.leaves or each.jumps for each in before)

    def _above(self, routine: Routine, value: Affine) -> tuple[Affine, Routine, Statement] | None:
        """What a value of arguments is where the routine is called, at one place."""
        calls = self.shared.setters.callers.get(routine.key, [])
        if len(calls) != 1 or routine.address_taken or routine.problem:
            return None
        user, place = calls[0]
        if place.kind is not Kind.SIMPLE or len(place.calls) != 1 or place.calls[0].unknown:
            return None
        if not all(self._stays(routine, name) for name in value.variables()):
            return None
        arguments = place.calls[0].arguments
        given = {
            name: argument.value
            for name, argument in zip(routine.parameters, arguments, strict=False)
            if _NAMED.match(argument.text)
        }
        told = value.replace(given.get)
        return None if told is None else (told, user, place)

    def _stays(self, routine: Routine, dummy: str) -> bool:
        """Whether a dummy argument keeps the value that it is given."""
        variable = self.program.variables[dummy]
        if variable.bounds or variable.pointer or variable.volatile or variable.optional:
            return False
        footprints = self.shared.footprints
        accesses = footprints.of_routine(routine).accesses
        written = footprints.changed([access for access in accesses if access.write])
        return variable.element == "integer" and dummy not in written

    def name(self, given: _Given) -> str:
        """The variable that has a kept value as long as its routine runs behind the call, or ""."""
        name = min(given.value.variables(), default="")
        if given.value != Affine.variable(name) or given.call.parent is not given.user.body:
            return ""
        variable = self.program.variables.get(name)
        if variable is None or variable.bounds or variable.pointer:
            return ""
        if name in given.user.parameters:
            return name if self._stays(given.user, name) else ""
        if not is_of_main(self.program, name):
            return ""
        before = self.of_main.before.holds(given.user, given.call, [name])
        return name if before and self.of_main.tellable("", name) else ""
