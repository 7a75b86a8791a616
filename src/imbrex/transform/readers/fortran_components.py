"""Components of Fortran's derived types: `g%u(1, :)`, `d%grid%nx`, `blocks(k)%u`.

A component is a field of the program model: known by its type and its name, whatever object it is
in. The objects in which it lies are noted for what names them as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from imbrex.transform.model.affine import Affine, field_of
from imbrex.transform.model.memory import Variable
from imbrex.transform.readers.fortran_elements import element
from imbrex.transform.readers.fortran_lines import closing, split_arguments
from imbrex.transform.readers.fortran_scopes import Scope, Symbol
from imbrex.transform.readers.fortran_types import Definition, type_name

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names

BASE = re.compile(r"[a-z_]\w*")
_PATH = re.compile(r"[a-z]\w*(?:%[a-z]\w*)+")


@dataclass(slots=True)
class Component:
    """What a reference like `a%b(i)%c(j, k)` names."""

    base: Variable  # the object that the reference begins with
    fields: list[Variable] = field(default_factory=list)
    symbol: tuple[Scope, Symbol] | None = None  # of the last field
    definition: Definition | None = None  # of the last field's type
    subscripts: tuple[int, int] | None = None  # of the last field, as positions in the text
    inner: list[tuple[int, int]] = field(default_factory=list)  # all that is in parentheses
    name_end: int = 0  # behind the last field's name
    end: int = 0
    one_object: bool = True  # no array stands on the way to the last field
    single: frozenset[str] = frozenset()  # types of which the program has one object
    scattered: bool = False  # it is the field of several objects
    part: bool = False  # a part of the last field, as of a text or of a handle

    @property
    def last(self) -> Variable:
        return self.fields[-1]

    @property
    def owner(self) -> str:
        """The object whose component it is, an array, where the reference names one object."""
        array = self.last.apart or (bool(self.last.bounds) and not self.last.pointer)
        return self.holder if array and not self.base.bounds else ""

    @property
    def holder(self) -> str:
        """The one object whose component it is: a variable, or a component that is there once."""
        if not self.one_object:
            return ""
        if len(self.fields) == 1:
            return self.base.key
        inner = self.fields[-2]
        return inner.key if inner.record in self.single and not inner.allocatable else ""

    def factor(self) -> str:
        """The value of the component as a factor of affine forms.

        That of an object which is the only one of its type needs no word of which object it is of:
        it is the same variable wherever it is named.
        """
        name = self.base.key
        for each in self.fields:
            name = each.key if each.record in self.single else field_of(name, each.key)
        return name


class Components:
    """Resolves references to components in one scope."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope

    def resolve(self, text: str, start: int) -> Component | None:
        """The component that is named at a place; None where it is none that can be told apart."""
        named = BASE.match(text, start)
        if named is None:
            return None
        at = named.end()
        after = closing(text, at) + 1 if text[at : at + 1] == "(" else at
        if text[after : after + 1] != "%":
            return None
        base = self.names.variable(self.scope, named[0])
        if base is None or not base.record:
            return None
        found = Component(base, single=self.names.single)
        families = self.names.types.families
        current, definition = base, self.names.types.of(base.element)
        while True:
            subscripts = None
            if text[at : at + 1] == "(":
                stop = closing(text, at)
                if stop < 0:
                    return None
                subscripts = (at + 1, stop)
                found.inner.append(subscripts)
                if not current.bounds:
                    if not current.element.startswith("character"):
                        return None
                    found.part, subscripts = True, None
                at = stop + 1
            if text[at : at + 1] != "%":
                break
            if definition is None:
                return self._within(found, text, at, subscripts)
            if current.bounds:
                found.one_object = False
                listed = "" if subscripts is None else text[slice(*subscripts)]
                found.scattered |= not listed or self._selects_several(listed)
            named = self._named(text, at + 1, definition)
            known = None if named is None else families.component(definition.scope.name, named[0])
            if named is None or known is None:
                return None
            current = self.names.component(*known)
            found.fields.append(current)
            found.symbol = (known[0].scope, known[1])
            found.definition = definition = self.names.types.of(current.element)
            at = found.name_end = named.end()
        found.subscripts, found.end = subscripts, at
        if text[at : at + 1] == "(":  # a part of a text that is an element
            stop = closing(text, at)
            found.inner.append((at + 1, stop))
            found.part, found.end = True, stop + 1
        return found if found.fields else None

    def type_of(self, text: str) -> str:
        """The name of the derived type of the object that a text like `a%b` names; or ""."""
        if "%" not in text:
            variable = self.names.variable(self.scope, text)
            return "" if variable is None else type_name(variable.element)
        found = self.resolve(text, 0)
        return "" if found is None or found.end != len(text) else type_name(found.last.element)

    def object_of(self, text: str) -> str:
        """What a text names where that is the part of an object that is of a type it extends."""
        while _PATH.fullmatch(text):
            path, _, last = text.rpartition("%")
            if not self.names.types.families.is_part(self.type_of(path), last):
                break
            text = path
        return text

    def _named(self, text: str, at: int, definition: Definition) -> re.Match[str] | None:
        """The name of a component at a place, behind names of types that the object's extends."""
        named = BASE.match(text, at)
        while named is not None and text[named.end() : named.end() + 1] == "%":
            if not self.names.types.families.is_part(definition.scope.name, named[0]):
                break
            named = BASE.match(text, named.end() + 1)
        return named

    @staticmethod
    def _within(
        found: Component, text: str, at: int, subscripts: tuple[int, int] | None
    ) -> Component | None:
        """A part of what is no object of the program's own: of a handle, or of a number."""
        named = BASE.match(text, at + 1)
        if named is None or text[named.end() : named.end() + 1] in ("(", "%") or not found.fields:
            return None
        found.subscripts, found.end, found.part = subscripts, named.end(), True
        return found

    def _selects_several(self, listed: str) -> bool:
        """Whether a list of subscripts may select more than one element."""
        parts = [listed[a:b] for a, b in split_arguments(listed)]
        return any(":" in part or self.is_vector(part) for part in parts)

    def is_vector(self, subscript: str) -> bool:
        """Whether a subscript may be an array: it names one without choosing an element."""
        for named in BASE.finditer(subscript):
            follow = subscript[named.end() : named.end() + 1]
            before = subscript[named.start() - 1 : named.start()]
            if before == "%" or follow == "%":
                component = self.resolve(subscript, named.start()) if follow == "%" else None
                if component is not None and component.last.bounds and not component.subscripts:
                    return True
            elif follow != "(" and self.names.is_array(self.scope, named[0]):
                return True
        return "[" in subscript

    def value(self, text: str) -> Affine | None:
        """An integer component of one object as an affine form."""
        found = self.resolve(text, 0)
        if found is None or found.end != len(text) or not found.one_object or found.part:
            return None
        variable = found.last
        if found.base.bounds:
            return None
        if found.subscripts is not None:
            subscript = text[slice(*found.subscripts)]
            return element(self.names, self.scope, variable, subscript, found.factor())
        if variable.bounds or variable.volatile or not _is_number(variable.element):
            return None
        return Affine.variable(found.factor())


def _is_number(element: str) -> bool:
    """Whether a component may stand in an affine form: handles of datatypes do, by themselves."""
    return element.startswith("integer") or element == "type(mpi_datatype)"
