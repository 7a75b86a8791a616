"""Whether all that sets some variables is over before a statement first runs.

What takes its sizes from them there has these for good, however often the statement runs, and in
as many objects. The statements of the main program run in their order, once each.
"""

from __future__ import annotations

from collections.abc import Iterable

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.setters import GOES_ON, Setters, in_block
from imbrex.transform.model.affine import array_of_element
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

Path = tuple[tuple[Routine, int], ...]
"""From the main program on: the routine, and which statement of it leads on."""

_MOST_PATHS = 64


class SetBefore:
    """Follows the calls that lead from the main program to statements."""

    def __init__(self, program: Program, footprints: Footprints, setters: Setters) -> None:
        self.program = program
        self.footprints = footprints
        self.setters = setters

    def holds(self, routine: Routine, statement: Statement, keys: Iterable[str]) -> bool:
        """Whether a statement finds in each of the variables what it has for good."""
        reached = self._paths(routine, statement, frozenset())
        if reached is None:
            return False
        for key in {array_of_element(key) for key in keys}:
            for where, setting in self.setters.setting(key):
                ahead = self._paths(where, setting, frozenset())
                if ahead is None or not all(
                    self._runs_before(first, second) for first in ahead for second in reached
                ):
                    return False
        return True

    def _paths(
        self, routine: Routine, statement: Statement, inside: frozenset[str]
    ) -> list[Path] | None:
        """All the ways to a statement; None where they are not known, or are many.

        What no call names may still run: where the program defines assignments, for one.
        """
        top = in_block(statement, routine.body)
        if top is None:
            return None
        step = (routine, routine.body.statements.index(top))
        if routine.key == "main":
            return [(step,)]
        calls = self.setters.callers.get(routine.key, [])
        known = bool(calls) and not (routine.address_taken or routine.problem)
        if not known or routine.key in inside or not self.program.in_fortran(routine.file):
            return None
        found: list[Path] = []
        for user, call in calls:
            ways = self._paths(user, call, inside | {routine.key})
            if ways is None:
                return None
            found += [(*way, step) for way in ways]
        return found if len(found) <= _MOST_PATHS else None

    def _runs_before(self, first: Path, second: Path) -> bool:
        """Whether what one path leads to has run, for the last time, before the other's does."""
        for (routine, ahead), (other, behind) in zip(first, second, strict=False):
            if routine is not other or not self._in_order(routine):
                return False
            if ahead != behind:
                return ahead < behind
            if routine.body.statements[ahead].kind is not Kind.SIMPLE:
                return False
        return False

    def _in_order(self, routine: Routine) -> bool:
        """Whether nothing goes back to a statement of a routine's body."""
        data = self.program.files[routine.file].data
        body = routine.body.statements
        return not any(self.footprints.of(s, routine.file).jumps - {"return"} for s in body) and (
            not any(GOES_ON.search(data[s.start : s.end]) for s in routine.statements() if s.stop)
        )
