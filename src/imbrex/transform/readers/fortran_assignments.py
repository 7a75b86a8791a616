"""Assignments of Fortran: what they set, and which shapes arrays have behind them."""

from __future__ import annotations

import re

from imbrex.transform.model.allocation import Shaped
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_components import BASE, Component
from imbrex.transform.readers.fortran_expressions import Expressions
from imbrex.transform.readers.fortran_handles import copies_parts
from imbrex.transform.readers.fortran_lines import LogicalLine, closing
from imbrex.transform.readers.fortran_types import type_name

_NAME = re.compile(r"[a-z]\w*")
_NAMED = re.compile(r"(?<![\w%.])[a-z]\w*")
_REDUCING = re.compile(
    r"(?<![\w%])(sum|product|dot_product|maxval|minval|maxloc|minloc|norm2|count|any|all)\("
)

_SMALL = 64


def _is_small(array: Variable) -> bool:
    """Whether an array is known to have so few elements that assigning it takes no time."""
    size = 1
    for low, high in array.bounds:
        extent = None if low is None or high is None else high.plus(low, -1)
        if extent is None or extent.terms:
            return False
        size *= extent.constant + 1
    return size <= _SMALL


def _type(variable: Variable) -> str:
    """The name of the type of an object that is of no other one."""
    return type_name(variable.element) if variable.element.startswith("type(") else ""


class Assignments(Expressions):
    """Reads the expressions and assignments of one scope."""

    def assign(self, line: LogicalLine, equals: int, effects: Effects) -> bool:
        """An assignment: the right side is read, the left side is written.

        True where it assigns a whole array or a section of one.
        """
        text = line.masked
        copied, before = self._copies_numbers(text, equals), effects.stop
        self.read(line, equals + 1, len(text), effects)
        if copied and before is None and effects.stop == ReasonKind.DERIVED_OPERATOR():
            effects.stop = None  # the sign behind which the object is named is no operator
        match = BASE.match(text)
        assert match is not None
        name = match[0]
        if "%" in text[:equals]:
            component = self.components.resolve(text, 0)
            if component is not None and component.end == equals:
                return self._assign_component(component, line, equals, effects, copied=copied)
        variable = self.names.variable(self.scope, name)
        rest = text[match.end() : equals]
        if variable is None:
            effects.stop = effects.stop or ReasonKind.ASSIGNMENT_TO(name=name)
            return False
        section = None
        if rest.startswith("("):
            stop = closing(rest, 0)
            self.read(line, match.end() + 1, match.end() + stop, effects)
            if not variable.bounds and not variable.element.startswith("character"):
                effects.stop = effects.stop or ReasonKind.STATEMENT_FUNCTION(name=name)
            if stop == len(rest) - 1:
                section = self.section(variable, rest[1:stop])
            else:
                self.read(line, match.end() + stop + 1, equals, effects)
        elif "%" in rest:
            self.read(line, match.end(), equals, effects)
        parts = self._copies_parts(variable.element, text[equals + 1 :])
        if "%" not in rest and parts and not copied:
            effects.stop = effects.stop or ReasonKind.DERIVED_ASSIGNMENT()
        if self.plain.own_assignment(text, equals):
            effects.stop = effects.stop or ReasonKind.OWN_ASSIGNMENT()
        self._access(variable, True, line, section, effects)
        if not rest:
            self._reshape(variable, name, line, effects)
        return bool(variable.bounds) and (not rest or ":" in rest) and not _is_small(variable)

    def goes_over_arrays(self, text: str) -> bool:
        """Whether an expression takes elements of an array into a number: `sum(u * v)`."""
        own = self.names.own
        for match in _REDUCING.finditer(text):
            name = match[1]
            if name in own.functions or name in own.generics or self.names.find(self.scope, name):
                continue
            inside = text[match.end() : closing(text, match.end() - 1)]
            if any(self._is_long(inside, each) for each in _NAMED.finditer(inside)):
                return True
        return False

    def _is_long(self, text: str, named: re.Match[str]) -> bool:
        """Whether a name stands for many elements of an array."""
        variable = self.names.variable(self.scope, named[0])
        if variable is None or not variable.bounds or _is_small(variable):
            return False
        rest = text[named.end() :]
        return not rest.startswith("(") or ":" in rest[: closing(rest, 0)]

    def _copies_parts(self, type_name: str, value: str) -> bool:
        interface = self.names.interface(self.scope)
        null = value == "mpi_request_null" and self.names.find(self.scope, value) is None
        return copies_parts(self.names.own, interface, self.scope, type_name, null=null)

    def _copies_numbers(self, text: str, equals: int) -> bool:
        """Whether an object is set to another one of its type, both of numbers in their memory.

        That is no call of the program's own, and does what assignments of all that it holds do.
        """
        own = self.names.own
        if own.assignment or own.operators:
            return False
        name = self._object(text[:equals])
        plain = bool(name) and self.names.types.is_of_numbers(name)
        return plain and self._object(text[equals + 1 :]) == name

    def _object(self, text: str) -> str:
        """The type of the object, or of the elements, that a text names and nothing more; or ""."""
        found = self.components.resolve(text, 0)
        if found is not None:
            whole = found.last.allocatable and not found.subscripts
            return "" if whole or found.part or found.end != len(text) else _type(found.last)
        named = BASE.match(text)
        if named is None or self.names.find(self.scope, named[0]) is None:
            return ""
        at, variable = named.end(), self.names.variable(self.scope, named[0])
        if variable is None or variable.pointer or (variable.allocatable and at == len(text)):
            return ""
        after = closing(text, at) + 1 if text[at : at + 1] == "(" and variable.bounds else at
        return _type(variable) if after == len(text) else ""

    def _assign_component(
        self,
        component: Component,
        line: LogicalLine,
        equals: int,
        effects: Effects,
        *,
        copied: bool,
    ) -> bool:
        variable = component.last
        if self._copies_parts(variable.element, line.masked[equals + 1 :]) and not copied:
            effects.stop = effects.stop or ReasonKind.DERIVED_ASSIGNMENT()
        if self.plain.own_assignment(line.masked, equals):
            effects.stop = effects.stop or ReasonKind.OWN_ASSIGNMENT()
        self._component_access(component, True, line, effects)
        subscripts = component.subscripts
        if subscripts is None:
            self._reshape(variable, line.masked[:equals], line, effects)
        several = subscripts is None or ":" in line.masked[slice(*subscripts)]
        return bool(variable.bounds) and several and not _is_small(variable)

    def _reshape(self, variable: Variable, text: str, line: LogicalLine, effects: Effects) -> None:
        """An assignment to an allocatable array as a whole gives it the shape of an array.

        `text`: what it is called. Components of one object are told by each other's shapes.
        """
        value = line.masked[len(text) + 1 :]
        owner = text.rpartition("%")[0]
        rank = self.plain.rank(value)
        if not variable.allocatable or variable.keeps_shape or rank == 0:
            return
        bounds = bounds_of(variable)
        for pointer in self.names.pointers.get(variable.key, ([], []))[0]:
            bounds_too = [Access(key, False, True, line.line) for key in bounds_of(pointer)]
            effects.accesses += bounds_too
        if rank == len(variable.bounds) and bounds:
            named = self.plain.whole_arrays(value, owner)
            if variable.key in named:
                return  # it has that shape
            sources = tuple(key for key in named if bounds_of(self.names.program.variables[key]))
            if sources:
                plain = _NAME.fullmatch(value.removeprefix(f"{owner}%")) is not None
                effects.shaped = Shaped(variable.key, sources, plain)
        if not bounds:
            effects.stop = effects.stop or ReasonKind.ALLOCATION()
        effects.accesses += [Access(key, False, True, line.line) for key in bounds]

    def write_to(self, line: LogicalLine, name: str, effects: Effects) -> Variable | None:
        variable = self.names.variable(self.scope, name)
        if variable is not None:
            self._access(variable, True, line, None, effects)
        return variable

    def touch(self, array: Variable, line: LogicalLine, effects: Effects) -> None:
        """An array gets memory, or loses it, and its bounds with it."""
        self._access(array, True, line, None, effects)
        effects.accesses += [Access(key, False, True, line.line) for key in bounds_of(array)]
