"""Replaces variables by what they are known to hold, wherever the model of a program names them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.elementwise import Part
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.remainders import Congruence
from imbrex.transform.model.statements import LoopRange, Statement


class Renaming:
    """`value_of`: of a factor, None where it stays; `asked`: the variables that it tells of."""

    def __init__(self, value_of: Callable[[str], Affine | None], asked: frozenset[str]) -> None:
        self.value_of = value_of
        self.asked = asked

    def value(self, old: Affine) -> Affine:
        if old.variables().isdisjoint(self.asked):
            return old
        found = old.replace(lambda factor: self.value_of(factor) or Affine.variable(factor))
        assert found is not None
        return found

    def optional(self, old: Affine | None) -> Affine | None:
        return None if old is None else self.value(old)

    def section(self, old: Section | None) -> Section | None:
        if old is None:
            return None
        return tuple(Range(self.optional(r.low), self.optional(r.high)) for r in old)

    def everywhere(self, program: Program) -> None:
        """Replace in all statements of a program, and in what they allocate."""
        for routine in program.routines.values():
            for statement in routine.statements():
                self.statement(statement)
                self.allocations(statement)

    def bounds(self, program: Program) -> None:
        """Replace in what arrays are declared with."""
        for variable in program.variables.values():
            variable.bounds = tuple(
                (self.optional(low), self.optional(high)) for low, high in variable.bounds
            )

    def statement(self, statement: Statement) -> None:
        """Replace in all sections, bounds and arguments of a statement, its blocks apart."""
        statement.accesses = [
            Access(
                access.variable,
                access.through,
                access.write,
                access.line,
                self.section(access.section),
                tuple(self.value(stride) for stride in access.strides),
                access.owner,
                tuple(self.value(index) for index in access.slot),
                member=access.member,
                placed=access.placed,
            )
            for access in statement.accesses
        ]
        for key, meant in statement.meant.items():
            slot = tuple(self.value(index) for index in meant.slot)
            first = meant.first and tuple(self.optional(index) for index in meant.first)
            statement.meant[key] = meant._replace(slot=slot, first=first)
        statement.loop = self._range(statement.loop)
        statement.reach = self._range(statement.reach)
        statement.congruent = self._congruent(statement.congruent)
        statement.elementwise = tuple(self._part(part) for part in statement.elementwise)
        statement.holding = tuple(self.value(form) for form in statement.holding)
        statement.failing = tuple(self.value(form) for form in statement.failing)
        for call in statement.calls:
            for argument in call.arguments:
                argument.value = self.optional(argument.value)
                argument.strides = tuple(self.value(stride) for stride in argument.strides)
                argument.slot = tuple(self.value(index) for index in argument.slot)
                if argument.origin is not None:
                    argument.origin = tuple(self.optional(index) for index in argument.origin)

    def _range(self, loop: LoopRange | None) -> LoopRange | None:
        if loop is None:
            return None
        low, high = self.value(loop.low), self.value(loop.high)
        first = None if loop.first is None else loop.first.replace(self.value)
        congruent = self._congruent(loop.congruent)
        return replace(loop, low=low, high=high, congruent=congruent, first=first)

    def _congruent(self, known: Congruence | None) -> Congruence | None:
        return known and Congruence(self.value(known.difference), known.modulus)

    def _part(self, part: Part) -> Part:
        section = self.section(part.section)
        assert section is not None
        extents = tuple(
            (n, e._replace(first=self.optional(e.first), last=self.optional(e.last)))
            for n, e in part.extents
        )
        return part._replace(section=section, extents=extents)

    def allocations(self, statement: Statement) -> None:
        """Replace in the bounds that an ALLOCATE of Fortran gives."""
        statement.allocates = tuple(
            item._replace(
                bounds=tuple((self.optional(low), self.optional(high)) for low, high in item.bounds)
            )
            for item in statement.allocates
        )
