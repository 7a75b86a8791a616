"""What holds where a routine is followed: the values of its integers, by those of its caller."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from imbrex.transform.analysis.binding import Binding
from imbrex.transform.model.affine import ARROW, Affine, array_of_element, field_of
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.formulas import Cell, Component, Formula, Number, Operation, result
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine

Place = tuple[str, tuple[int, ...]]  # a variable, or an element of an array
Values = dict[Place, Affine]


@dataclass(slots=True)
class Frame:
    """A call that is followed: where its parameters lead to in the routine it began with."""

    program: Program
    routine: Routine
    binding: Binding | None = None  # None: of the routine that it began with
    outer: Frame | None = None
    places: dict[str, Place] = field(default_factory=dict)  # of pointers to integers
    changed: frozenset[str] = frozenset()  # in all that is followed: of these nothing is known
    exits: list[Values] = field(default_factory=list)  # what holds where it returns

    def outward(self, value: Affine) -> Affine | None:
        """A value of fields, by the names of the routine that all began with."""
        if self.binding is None or self.outer is None:
            return value if value.variables().isdisjoint(self.changed) else None
        found = self.binding.value(value)
        return None if found is None else self.outer.outward(found)

    def named(self, argument: Argument, values: Values) -> Place | None:
        """The local integer, or the element of an array of them, that a pointer is given."""
        variable = self.program.variables.get(argument.base or "")
        if variable is None or argument.first is None:
            return None
        known = [None if i is None else self.affine(i, values) for i in argument.first]
        numbers = tuple(i.constant for i in known if i is not None and not i.terms)
        if len(numbers) != len(known):
            return None
        if argument.through:
            place = self.places.get(variable.key)
            if place is None or len(numbers) != 1:
                return None
            if not place[1]:
                return place if numbers == (0,) else None
            return place[0], (place[1][0] + numbers[0],)
        if variable.kind != "local" or len(variable.bounds) > 1 or len(numbers) > 1:
            return None
        return variable.key, numbers

    def place(self, cell: Cell, values: Values) -> Place | None:
        indices = []
        for index in cell.indices:
            value = self.value(index, values)
            if value is None or value.terms:
                return None
            indices.append(value.constant)
        if not cell.through:
            return cell.variable, tuple(indices)
        place = self.places.get(cell.variable)
        if place is None or len(indices) != 1:
            return None
        if not place[1]:
            return place if indices == [0] else None
        return place[0], (place[1][0] + indices[0],)

    def value(self, formula: Formula, values: Values) -> Affine | None:
        if isinstance(formula, Number):
            return Affine(formula.value)
        if isinstance(formula, Cell):
            place = self.place(formula, values)
            return None if place is None else values.get(place)
        if isinstance(formula, Component):
            return self._component(formula, values)
        return self._operation(formula, values)

    def _component(self, formula: Component, values: Values) -> Affine | None:
        name = formula.field
        if formula.element is not None:
            index = self.value(formula.element, values)
            if index is None or index.terms:
                return None
            name += f"[{index.constant}]"
        return self.outward(Affine.variable(field_of(formula.owner, name)))

    def _operation(self, formula: Operation, values: Values) -> Affine | None:
        first = self.value(formula.operands[0], values)
        if formula.operator in ("?", "&&", "||"):
            if first is None or first.terms:
                return None
            if formula.operator == "?":
                return self.value(formula.operands[1 if first.constant else 2], values)
            if bool(first.constant) is (formula.operator == "||"):
                return Affine(int(bool(first.constant)))
            second = self.value(formula.operands[1], values)
            known = second is not None and not second.terms
            return Affine(int(bool(second.constant))) if known and second is not None else None
        operands = [first]
        operands += [self.value(operand, values) for operand in formula.operands[1:]]
        numbers = [operand for operand in operands if operand is not None]
        if len(numbers) != len(operands):
            return None
        return result(formula.operator, numbers, unsigned=formula.unsigned)

    def affine(self, value: Affine, values: Values) -> Affine | None:
        """An affine form of a routine's variables, in terms of values at the entry."""

        def known(factor: str) -> Affine | None:
            if ARROW in factor:
                return self.outward(Affine.variable(factor))
            array = array_of_element(factor)
            numbers = () if array == factor else (int(factor[len(array) + 1 : -1]),)
            found = values.get((array, numbers))
            variable = self.program.variables.get(array)
            if found is None and variable is not None:
                shared = variable.kind in ("global", "static")
                shared = shared and len(variable.bounds) == len(numbers)
                return Affine.variable(factor) if shared and array not in self.changed else None
            return found

        return value.replace(known)


def without(values: Values, changed: Set[str]) -> Values:
    return {place: value for place, value in values.items() if place[0] not in changed}


def merged(ends: list[Values]) -> Values | None:
    """What holds wherever one comes from."""
    if not ends:
        return None
    first, *rest = ends
    return {p: v for p, v in first.items() if all(other.get(p) == v for other in rest)}
