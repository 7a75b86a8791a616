"""Routines that call wrappers and have nothing to do beside them, in front of their callers' work.

`subroutine exchange_all(f)` calls `exchange(f%u)` and `exchange(f%v)`, or packs, calls a wrapper
and unpacks. Around each of these calls is no work; taken apart there all the same, the routine is
one that begins and ends messages, which can be split in turn. Its caller may be such a routine as
well.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.guarded_calls import call_alone
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.uses import Split, Uses


class PassingOn:
    """Finds such routines."""

    def __init__(self, footprints: Footprints, uses: Uses) -> None:
        self.footprints = footprints
        self.program: Program = footprints.program
        self.uses = uses

    def by(self, split: Split) -> tuple[str, ...]:
        """The names of those that call a wrapper; each of its calls there has a number apart."""
        users = {use.routine.name: use.routine for use in split.uses}
        found = tuple(sorted(n for n, user in users.items() if self.is_in_front_of_work(user)))
        for name in found:
            for slot, use in enumerate(u for u in split.uses if u.routine.name == name):
                use.slot = slot
        return found

    def is_last(self, names: tuple[str, ...]) -> bool:
        """Whether one of these routines, which calls others at its top alone, has callers with
        work, not only such as pass it on.
        """
        return any(
            self._calls_in_turn(user) and self._has_work_behind(user)
            for name in names
            for user in self.program.routines.values()
            if user.name == name
        )

    def is_in_front_of_work(self, user: Routine) -> bool:
        """Whether a routine may be taken apart, in front of work of those that call it."""
        return self._passes_on(user, ())

    def _passes_on(self, user: Routine, called: tuple[str, ...]) -> bool:
        """Whether a routine may be taken apart ahead of its callers' work.

        `called`: the routines that it calls on the way, none of which calls it.
        """
        if user.key in called or not self.uses.may_pass_on(user):
            return False
        called = (*called, user.key)
        callers = self.uses.callers(user.name)
        return self._has_work_behind(user) or any(self._passes_on(c, called) for c in callers)

    def _has_work_behind(self, user: Routine) -> bool:
        return any(
            self.uses.computes_beside(caller, place.block, place.index, 1)
            for caller in self.uses.callers(user.name)
            for place in self.uses.places(caller, user.name)
        )

    def _calls_in_turn(self, user: Routine) -> bool:
        """Whether all that communicates in a routine are calls at its top, one by one."""
        return all(
            call_alone(statement) is not None
            for statement in user.body.statements
            if self.footprints.of(statement, user.file).events
        )
