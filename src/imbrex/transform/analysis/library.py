"""What routines of the languages' own libraries do."""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.model.program import Access, Program, Variable


@dataclass(frozen=True, slots=True)
class Library:
    """Effects by routine: position of an argument -> "r" or "w"; what is not listed is unknown.

    `states`: routine -> name of the memory of the library's own that it reads and sets. Two calls
    that draw random numbers do not change places: each would get the other's.
    """

    effects: dict[str, dict[int, str]]
    states: dict[str, str]

    def enter(self, program: Program) -> None:
        """Make the library's own memory known to a program."""
        for name in self.states.values():
            program.variables[_key(name)] = Variable(_key(name), name, "global")

    def own_accesses(self, routine: str, line: int) -> list[Access]:
        """What a call does to the library's own memory."""
        name = self.states.get(routine)
        if name is None:
            return []
        return [Access(_key(name), False, write, line) for write in (False, True)]


def _key(name: str) -> str:
    return f"library:{name}"
