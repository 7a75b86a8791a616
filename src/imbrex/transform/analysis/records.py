"""Which memory a structure lies in: its fields share bytes with that memory as a whole.

Fields are told apart by type and name, whatever object they are in; a message, a copy or a pointer
to bytes names the object. The objects come from the places where fields are named.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property

from imbrex.transform.model.program import Program


class Records:
    """The objects that fields lie in, and the fields that lie in objects."""

    def __init__(self, program: Program, cells: dict[str, set[str]]) -> None:
        """`cells`: of each cell the objects that it may hold, `record:Type` among them."""
        self.program = program
        self.cells = cells
        self._enclosing: dict[str, frozenset[str]] = {}

    def enclosing(self, item: str) -> frozenset[str]:
        """The objects that a field may lie in, structures within structures taken together."""
        known = self._enclosing.get(item)
        if known is None:
            found: set[str] = set()
            work = [item]
            while work:
                variable = self.program.variables.get(work.pop())
                if variable is None or variable.kind != "field":
                    continue
                new = self.cells.get(f"record:{variable.record}", set()) - found
                found |= new
                work += new
            known = self._enclosing[item] = frozenset(found)
        return known

    def inside(self, item: str) -> frozenset[str]:
        """The fields that may lie in an object."""
        return self._inside.get(item, frozenset())

    @cached_property
    def _inside(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for key, variable in self.program.variables.items():
            if variable.kind == "field":
                for item in self.enclosing(key):
                    found.setdefault(item, set()).add(key)
        return {item: frozenset(keys) for item, keys in found.items()}

    def family(self, item: str) -> frozenset[str]:
        """All fields of the structures that a field may lie in, and of those within them."""
        found: set[str] = set()
        for enclosing in self.enclosing(item) | {item}:
            found |= self.inside(enclosing)
        return frozenset(found)

    def meet(self, first: Set[str], second: Set[str]) -> bool:
        """Whether a field of one side lies in an object of the other."""
        return any(
            not self.enclosing(item).isdisjoint(right)
            for left, right in ((first, second), (second, first))
            for item in left
        )
