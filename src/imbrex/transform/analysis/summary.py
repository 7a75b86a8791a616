"""What a whole statement may do: its accesses, MPI calls, jumps, and what is not known of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access

_NONE: frozenset[str] = frozenset()
_LINE = Access._fields.index("line")
_MANY = 50  # accesses, from which on it pays to look for those that are the same


@dataclass(frozen=True, slots=True)
class Event:
    """An MPI call that happens somewhere inside a statement."""

    name: str
    location: Location
    call: Call | None  # its arguments, where they are in the caller's terms


@dataclass(slots=True)
class Buffers:
    """The buffers of the messages in one statement."""

    blocking: list[Access] = field(default_factory=list)
    nonblocking: list[Access] = field(default_factory=list)
    collective: list[Access] = field(default_factory=list)

    def any(self) -> bool:
        return bool(self.blocking or self.nonblocking or self.collective)

    def of(self, *, nonblocking: bool, collective: bool) -> list[Access]:
        found = list(self.blocking)
        found += self.nonblocking if nonblocking else []
        return found + (self.collective if collective else [])


@dataclass(slots=True)
class Footprint:
    accesses: list[Access] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    stop: Reason | None = None
    leaves: Reason | None = None
    jumps: set[str] = field(default_factory=set)
    heavy: bool = False  # it takes time: a loop, or a call that has one
    changed: frozenset[str] | None = None  # of its variables; None until asked for
    independent: frozenset[str] = _NONE  # as of a statement; of this very one

    def written(self) -> frozenset[str]:
        """Variables that are themselves written, pointers aside."""
        return frozenset(a.variable for a in self.accesses if a.write and not a.through)

    def add(self, other: Footprint) -> None:
        """Take in what a part of this statement does."""
        self.accesses += other.accesses
        self.events += other.events
        self.stop = self.stop or other.stop
        self.leaves = self.leaves or other.leaves
        self.jumps |= other.jumps
        self.heavy = self.heavy or other.heavy


def different(accesses: list[Access]) -> list[Access]:
    """The accesses without those that do what an earlier one does, in whatever line.

    Without this, what a program's routines do would be counted once for each path of calls to it.
    """
    if len(accesses) < _MANY:
        return accesses
    found: dict[tuple[object, ...], Access] = {}
    for access in accesses:
        found.setdefault(access[:_LINE] + access[_LINE + 1 :], access)
    return list(found.values())
