"""Which memory of the program a place is: Fortran's dummy arguments followed to their callers.

What a pointer of C names is known from the pointer analysis; a dummy argument counts there as an
object of its own, so that its actual arguments are looked up here.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access

Place = tuple[str, bool]  # a variable, or (True) what it points to


class Places:
    """The memory that places are, over the whole program."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self._calls: dict[str, list[Call]] | None = None
        self._known: dict[Place, frozenset[Place] | None] = {}
        self._owner: dict[str, tuple[str, int]] = {}

    def is_dummy(self, key: str) -> bool:
        variable = self.program.variables.get(key)
        return variable is not None and variable.kind == "dummy"

    def of(self, variable: str, through: bool) -> frozenset[Place] | None:
        """The places that a place may be, dummy arguments replaced; None where not known."""
        place = (variable, through)
        if place not in self._known:
            self._known[place] = self._find(place, set())
        return self._known[place]

    def share(self, places: frozenset[Place], other: Place) -> bool:
        """Whether one of the places may be the other one; what is not known may be any."""
        theirs = self.of(*other)
        if theirs is None:
            return True
        if places & theirs:
            return True
        return any(self._may_share(mine, their) for mine in places for their in theirs)

    def meet(self, dummy: str, places: frozenset[Place]) -> bool:
        """Whether a dummy argument may be one of the places."""
        return self.share(places, (dummy, True))

    def _may_share(self, left: Place, right: Place) -> bool:
        if left != right and not self.footprints.aliases.meet(left, right):
            return False
        accesses = [Access(*place, False, 0) for place in (left, right)]
        return self.footprints.aliases.may_share(accesses[0], accesses[1], frozenset())

    def _find(self, place: Place, seen: set[str]) -> frozenset[Place] | None:
        variable, _ = place
        if variable == UNKNOWN_MEMORY:
            return None
        if not self.is_dummy(variable):
            return frozenset({place})
        if variable in seen:
            return frozenset()
        seen.add(variable)
        owner, position = self._owners().get(variable, ("", -1))
        if position < 0:
            return None
        found: set[Place] = set()
        for call in self._calls_of(owner):
            given = position < len(call.arguments)
            absent = not given or call.arguments[position].absent
            if absent and not call.unknown and self.program.variables[variable].optional:
                continue
            if call.unknown or not given:
                return None
            argument = call.arguments[position]
            if argument.base is None:
                return None
            inner = self._find((argument.base, argument.through), seen)
            if inner is None:
                return None
            found |= inner
        return frozenset(found)

    def _owners(self) -> dict[str, tuple[str, int]]:
        """The routine and the position of each dummy argument."""
        if not self._owner:
            for routine in self.program.routines.values():
                for position, key in enumerate(routine.parameters):
                    self._owner[key] = (routine.name, position)
        return self._owner

    def _calls_of(self, name: str) -> list[Call]:
        if self._calls is None:
            self._calls = {}
            for call in self.program.calls():
                self._calls.setdefault(call.name, []).append(call)
        return self._calls.get(name, [])
