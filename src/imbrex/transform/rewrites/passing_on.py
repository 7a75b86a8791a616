"""Routines that do nothing but call wrappers, in front of their callers' work.

`subroutine exchange_all(f)` calls `exchange(f%u)` and `exchange(f%v)`. Around each of these calls
is no work; taken apart there all the same, the routine is one that begins and ends messages, which
can be split in turn. Its caller may be such a routine as well.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.uses import Split, Uses


class PassingOn:
    """Finds such routines."""

    def __init__(self, footprints: Footprints, uses: Uses) -> None:
        self.footprints = footprints
        self.uses = uses

    def by(self, split: Split) -> tuple[str, ...]:
        """The names of those that call a wrapper; each of its calls there has a number apart."""
        users = {use.routine.name: use.routine for use in split.uses}
        found = tuple(sorted(name for name, user in users.items() if self._passes_on(user, ())))
        for name in found:
            for slot, use in enumerate(u for u in split.uses if u.routine.name == name):
                use.slot = slot
        return found

    def is_last(self, names: tuple[str, ...]) -> bool:
        """Whether one of these routines has callers with work, not only such as pass it on."""
        return any(
            self._computes_behind(caller, name)
            for name in names
            for caller in self.uses.callers(name)
        )

    def _passes_on(self, user: Routine, called: tuple[str, ...]) -> bool:
        """Whether a routine only calls others that communicate, ahead of its callers' work.

        `called`: the routines that it calls on the way, none of which calls it.
        """
        if user.key in called or not self.uses.only_calls(user):
            return False
        return self._is_in_front_of_work(user, (*called, user.key))

    def _is_in_front_of_work(self, user: Routine, called: tuple[str, ...]) -> bool:
        return any(
            self._computes_behind(caller, user.name) or self._passes_on(caller, called)
            for caller in self.uses.callers(user.name)
        )

    def _computes_behind(self, caller: Routine, name: str) -> bool:
        return any(
            self.uses.computes_beside(caller, block, index, 1)
            for block, index, _ in self.uses.usable(caller).get(name, [])
        )
