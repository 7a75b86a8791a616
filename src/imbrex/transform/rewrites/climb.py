"""A start on its way up, over all that it may pass, into the iteration before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.advanced import Advanced
from imbrex.transform.analysis.motion import Motion
from imbrex.transform.analysis.summary import Footprint
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Refusal

Released = Callable[[Routine, Statement], list[Access]]
"""The memory of the messages that a statement completes; raises Refusal where it is not known."""


class Climb:
    """A start on its way up: what it touches, what has changed, and what it has passed."""

    def __init__(
        self, released: Released, motion: Motion, transfer: Transfer, accesses: list[Access]
    ) -> None:
        self.released = released
        self.motion = motion
        self.transfer = transfer
        self.accesses = accesses
        self.changed: frozenset[str] = frozenset()
        self.crossed = self.worked = 0

    def passes(self, statement: Statement) -> Reason | None:
        """Pass a statement, or say why that is not possible."""
        motion, footprints = self.motion, self.motion.footprints
        footprint = footprints.of(statement, motion.routine.file)
        self.changed |= footprints.changed_in(footprint)
        if statement.kind is not Kind.INSERTED and not motion.strict:
            try:
                footprint = self._with_released(statement, footprint)
            except Refusal as refusal:
                return refusal.reason
            self.changed |= footprints.changed_in(footprint)
        reason = motion.start_blocked(
            self.transfer, self.accesses, statement, footprint, self.changed
        )
        if reason is None and motion.takes_time(statement, footprint):
            self.crossed += 1
            self.worked += not motion._packs(statement)
        return reason

    def advance(self, advanced: Advanced, index: str) -> None:
        """Go over to the iteration before, in whose terms all is said from now on."""
        self.accesses = [advanced.access(access) for access in self.accesses]
        self.transfer = replace(self.transfer, call=advanced.call(self.transfer.call))
        self.changed -= {index}

    def _with_released(self, statement: Statement, footprint: Footprint) -> Footprint:
        """A statement whose completions are known: what they release is touched."""
        names = {event.name for event in footprint.events}
        if not names & mpi_calls.COMPLETIONS:
            return footprint
        released = self.released(self.motion.routine, statement)
        rest = [e for e in footprint.events if e.name not in mpi_calls.COMPLETIONS]
        accesses = [*footprint.accesses, *released]
        return replace(footprint, accesses=accesses, events=rest, changed=None)
