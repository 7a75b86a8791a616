"""Sizes that objects of C++ are made with, and that nothing sets again.

`Field a(nx, ny), b(nx, ny);` makes `ny_` of both the same number, so that what is an interior of
one is one of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from imbrex.transform.analysis.derived import split
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.renaming import Renaming
from imbrex.transform.analysis.setters import Setters
from imbrex.transform.model.affine import ARROW, Affine, field_of
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement


def name_built(program: Program, footprints: Footprints) -> None:
    """Replace such members by what they were made of; footprints become stale."""
    if not program.built or program.unread_code or footprints.unseen is not None:
        return
    found = Members(program, footprints).known()
    if not found:
        return
    program.sizes.update(found)
    asked = frozenset(split(factor)[1] for factor in found)
    renaming = Renaming(found.get, asked)
    for routine in program.routines.values():
        for statement in routine.statements():
            renaming.statement(statement)


def _is_made(routine: Routine) -> bool:
    """Whether an object is made by it: it is a constructor, perhaps one of several."""
    own = (routine.plain_name.partition("#")[0],)
    return routine.scope is not None and routine.scope.classes[-1:] == own


class Members:
    """The members of objects that keep what constructors have given them."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self.setters = Setters(program, footprints)
        self.files: dict[int, str] = {}  # by block with such a declaration
        self.exchanges = [
            statement.exchanges
            for routine in program.routines.values()
            for statement in routine.statements()
            if statement.exchanges is not None
        ]

    def known(self) -> dict[str, Affine]:
        """The value of each such member of each such object, by factor."""
        found: dict[str, Affine] = {}
        for key, made in self.program.built.items():
            if not self._is_kept(key) or not self.keeps_arguments(made.constructor):
                continue
            for member, value in made.members.items():
                if not self._is_kept_by(key, member, made.constructor):
                    continue
                constant = self._constant(value)
                if constant is not None:
                    found[field_of(key, member)] = constant
        return self._as_exchanged(self._alike() | found)

    def _alike(self) -> dict[str, Affine]:
        """What objects of one block are made with alike: each has it by the name of the first's."""
        first: dict[tuple[int, str, str, Affine], tuple[str, int]] = {}
        found: dict[str, Affine] = {}
        for block, position, key in self._declared():
            made = self.program.built[key]
            if not self._is_kept(key) or not self.keeps_arguments(made.constructor):
                continue
            for member, value in made.alike.items():
                if not self._is_kept_by(key, member, made.constructor):
                    continue
                group = (id(block), made.constructor, member, value)
                named, since = first.setdefault(group, (key, position))
                between = block.statements[since : position + 1]
                if key != named and not self._stays(value, between, self.files[id(block)]):
                    first[group] = key, position
                    continue
                for each in (named, key):
                    found[field_of(each, member)] = Affine.variable(field_of(named, member))
        return found

    def _stays(self, value: Affine, statements: list[Statement], file: str) -> bool:
        """Whether a value is the same before and behind statements, and between their parts."""
        names = value.variables()
        if any(each.stop is not None and each.kind is not Kind.DECLARE for each in statements):
            return False
        changed = self.footprints.changed_by(statements, file) | self._changed_unseen
        return names.isdisjoint(changed) and names.isdisjoint(self.footprints.aliases.escaped)

    @cached_property
    def _changed_unseen(self) -> frozenset[str]:
        """What is changed by code that runs without a call of it: where objects begin and end."""
        own = [
            routine
            for routine in self.program.routines.values()
            if routine.scope is not None
            and ("~" in routine.plain_name or "operator" in routine.plain_name or _is_made(routine))
        ]
        accesses = [a for each in own for a in self.footprints.of_routine(each).accesses]
        return self.footprints.changed([access for access in accesses if access.write])

    def _declared(self) -> Iterator[tuple[Block, int, str]]:
        """Where the objects are declared: the block and the position of the statement."""
        for routine in self.program.routines.values():
            for block in routine.body.plain():
                for position, statement in enumerate(block.statements):
                    if statement.kind is not Kind.DECLARE:
                        continue
                    self.files[id(block)] = routine.file
                    for access in statement.accesses:
                        if (
                            access.write
                            and not access.through
                            and access.variable in self.program.built
                        ):
                            yield block, position, access.variable

    def _as_exchanged(self, found: dict[str, Affine]) -> dict[str, Affine]:
        """Those members of objects that change places which are the same in both."""
        while True:
            other = {
                field_of(key, member)
                for pair in self.exchanges
                for member in {split(factor)[1] for factor in found}
                if found.get(field_of(pair[0], member)) != found.get(field_of(pair[1], member))
                for key in pair
            }
            if found.keys().isdisjoint(other):
                return found
            found = {factor: value for factor, value in found.items() if factor not in other}

    def _is_kept(self, key: str) -> bool:
        """Whether a variable is one object of its own, that is not handed to unknown code."""
        variable = self.program.variables.get(key)
        if variable is None or variable.kind != "local" or not variable.record:
            return False
        if variable.pointer or variable.bounds or variable.reference:
            return False
        if key in self.program.overlays or variable.record in self.program.copied_records:
            return False
        return key not in self.footprints.aliases.escaped and not any(
            self._is_touched(statement, key)
            for routine in self.program.routines.values()
            for statement in routine.statements()
            if statement.stop is not None
            and statement.kind is not Kind.DECLARE
            and statement.exchanges is None
        )

    @staticmethod
    def _is_touched(statement: Statement, key: str) -> bool:
        """Whether what is not understood names an object."""
        return any(access.variable == key for access in statement.accesses) or any(
            argument.base == key for call in statement.calls for argument in call.arguments
        )

    def keeps_arguments(self, constructor: str) -> bool:
        """Whether a constructor sets none of its parameters before it takes their values."""
        routine = self.program.routines.get(constructor)
        if routine is None:
            return False
        own = set(routine.parameters)
        return not any(
            access.write and access.variable in own
            for statement in routine.statements()
            for access in statement.accesses
        )

    def _is_kept_by(self, key: str, member: str, constructor: str) -> bool:
        """Whether nothing but constructors sets a member, this one by one statement."""
        variable, holder = self.program.variables.get(member), self.program.variables[key]
        if variable is None or variable.record != holder.record:
            return False
        return self.is_set_once(member, constructor) and self.is_begun_alone(member)

    def is_set_once(self, member: str, constructor: str) -> bool:
        """Whether no two statements of a constructor set a member."""
        writers = self.setters.writers(member)
        return sum(routine.key == constructor for routine, _ in writers) <= 1

    def is_begun_alone(self, member: str) -> bool:
        """Whether nothing but constructors, each of its own object, sets a member."""
        variable = self.program.variables.get(member)
        if variable is None or variable.kind != "field":
            return False
        if variable.pointer or variable.bounds or variable.volatile:
            return False
        if member in self.program.overlays or member in self.footprints.aliases.escaped:
            return False
        if member in self.footprints.addressed or member in self.setters.set_later:
            return False
        writers = self.setters.writers(member)
        return all(self._begins(routine, statement, member) for routine, statement in writers)

    def _begins(self, routine: Routine, statement: Statement, member: str) -> bool:
        """Whether a statement sets a member only where an object begins, or exchanges two."""
        variables = self.program.variables
        if statement.exchanges is not None:
            return True  # see _as_exchanged
        writes = [a for a in statement.accesses if a.write]
        mine = [a for a in writes if member in self.footprints.changed([a])]
        if statement.kind is Kind.DECLARE:
            objects = [variables.get(access.variable) for access in mine]
            return not any(access.through for access in mine) and all(
                o is not None and o.kind == "local" and o.record and not o.pointer for o in objects
            )
        if not _is_made(routine) or any(
            access.variable != member or access.through for access in mine
        ):
            return False
        if routine.body.statements[:1] == [statement] and statement.kind is Kind.OPAQUE:
            return True
        if statement.sets is None or not routine.on_object or statement.parent is not routine.body:
            return False
        return statement.sets[0] == field_of(routine.parameters[0], member)

    def _constant(self, value: Affine) -> Affine | None:
        """A value of variables that nothing sets behind their declaration."""

        def of(factor: str) -> Affine | None:
            variable = self.program.variables.get(factor)
            if ARROW in factor or variable is None or variable.pointer or variable.bounds:
                return None
            if variable.volatile or variable.reference or factor in self.program.overlays:
                return None
            if factor in self.footprints.addressed or factor in self.setters.set_later:
                return None
            writers = self.setters.writers(factor)
            if variable.kind in ("parameter", "static", "global"):
                return None if writers else Affine.variable(factor)
            if variable.kind != "local" or len(writers) != 1:
                return None
            if writers[0][1].kind is not Kind.DECLARE:
                return None
            known = self.program.definitions.get(factor)
            return known if known is not None and not known.terms else Affine.variable(factor)

        return value.replace(of)
