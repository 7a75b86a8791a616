"""Derived types of Fortran that extend others: a type, those it extends, and those that extend it.

An object of an extended type has the components of the type that it extends, and a polymorphic one
may be of any type that extends its own. All types of such a family are read as one record: what is
done to an object as a whole may be done to every component that one of the family has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_scopes import Symbol
    from imbrex.transform.readers.fortran_types import Definition


class Families:
    """The types of a program by what they extend. Of two of one name the last counts."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self.known = {each.scope.name: each for each in definitions}
        self._lines = {name: self._line_of(name) for name in self.known}
        self._members: dict[str, list[Definition]] = {}
        for name, definition in self.known.items():
            self._members.setdefault(self.first(name), []).append(definition)

    def _line_of(self, name: str) -> list[Definition]:
        found: list[Definition] = []
        while name in self.known and self.known[name] not in found:
            found.append(self.known[name])
            name = found[-1].extends
        return found

    def line(self, name: str) -> list[Definition]:
        """A type and those that it extends, in turn, as far as these are known."""
        return self._lines.get(name, [])

    def first(self, name: str) -> str:
        """The type that extends none, of which all others of the family are made."""
        line = self.line(name)
        return line[-1].scope.name if line else name

    def members(self, name: str) -> list[Definition]:
        """All types of the family that a type is of."""
        return self._members.get(self.first(name), [])

    def component(self, name: str, component: str) -> tuple[Definition, Symbol] | None:
        """What an object of a type has by a name, and the type that declares it."""
        for each in self.line(name):
            if component in each.scope.symbols:
                return each, each.scope.symbols[component]
        return None

    def is_part(self, name: str, part: str) -> bool:
        """Whether `part` names the part of an object that a type gets of one it extends."""
        return any(each.scope.name == part for each in self.line(name)[1:])

    def why_not(self, name: str) -> str:
        """Why the components of a type that extends one cannot be told apart; "" if they can."""
        last = self.line(name)[-1].extends
        if last and last not in self.known:
            return f"`{last}`, which `{name}` extends, is not defined in the files"
        return ""
