"""What routines of the languages' own libraries do."""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import Language


@dataclass(frozen=True, slots=True)
class Library:
    """The library of one language.

    `effects` by routine: position of an argument -> "r", "w" or "rw"; what is not listed is
    unknown.

    `states`: routine -> name of the memory of the library's own that it reads and sets. Two calls
    that draw random numbers do not change places: each would get the other's.
    """

    effects: dict[str, dict[int, str]]
    states: dict[str, str]
    no_mpi: frozenset[str]  # further routines, of which only that they call no MPI is known
    loops: frozenset[str] = frozenset()  # those whose time grows with what they are given
    beginnings: tuple[str, ...] = ()  # of names of further routines that call no MPI

    def calls_no_mpi(self, routine: str) -> bool:
        known = routine in self.no_mpi or routine in self.effects
        return known or routine.startswith(self.beginnings)

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


class Libraries:
    """The libraries of the languages that a program is written in.

    A name means what it means in the language of the file: C's `clock` is no Fortran subroutine.
    """

    def __init__(self, program: Program, c: Library, fortran: Library) -> None:
        self.program = program
        self.c, self.fortran = c, fortran
        languages = {source.language is Language.C for source in program.files.values()}
        self.used = [lib for lib, is_c in ((c, True), (fortran, False)) if is_c in languages]
        for library in self.used:
            library.enter(program)

    def of(self, file: str) -> Library:
        """The library that a file's calls go to; headers are C's."""
        source = self.program.files.get(file)
        return self.c if source is None or source.language is Language.C else self.fortran

    def effects(self) -> frozenset[str]:
        """Names of all routines whose effects are known."""
        return frozenset().union(*(library.effects for library in self.used))


def _key(name: str) -> str:
    return f"library:{name}"
