"""The order of messages: what a start may not pass of other communication."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.summary import Footprint
from imbrex.transform.analysis.transfer import Role, Transfer, cannot_match
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


class MessageOrder:
    """Asks of the starts of one routine which communication they may pass."""

    def __init__(self, routine: Routine, strict: Reason | None) -> None:
        """`strict`: why the time at which messages are sent may matter to others."""
        self.routine = routine
        self.strict = strict

    def over_inserted(
        self, transfer: Transfer, role: Role, statement: Statement, changed: frozenset[str]
    ) -> Reason | None:
        """Messages of one channel keep their order; so does the rest where timing may matter."""
        found = [
            self._over(transfer, other, role.starts, statement, changed)
            for other in role.transfer.each
        ]
        return next((reason for reason in found if reason is not None), None)

    def _over(
        self,
        transfer: Transfer,
        other: Transfer,
        starts: bool,
        statement: Statement,
        changed: frozenset[str],
    ) -> Reason | None:
        place = Location(self.routine.file, statement.line)
        if transfer.collective and other.collective and starts:
            return Reason(_order(transfer), place)
        alike = other.receives == transfer.receives and not (
            transfer.collective or other.collective
        )
        if starts and alike:
            if not cannot_match(transfer, other.call, other.part, changed):
                return Reason(_order(transfer), place)
            if self.strict and not transfer.receives:
                # A receive with a wildcard takes them in the order in which they are sent.
                return Reason(ReasonKind.OTHER_COMMUNICATION(because=self.strict), place)
        elif self.strict and other.call is not transfer.call:
            if not (transfer.receives or transfer.collective) and starts:
                return None  # a posted receive is nothing to others
            return Reason(ReasonKind.OTHER_COMMUNICATION(because=self.strict), place)
        return None

    def over_events(
        self, transfer: Transfer, footprint: Footprint, changed: frozenset[str]
    ) -> Reason | None:
        """The first of what a statement calls that the start may not pass."""
        table = mpi_calls.RECEIVES if transfer.receives else mpi_calls.SENDS
        names = mpi_calls.RECEIVING if transfer.receives else mpi_calls.SENDING
        if transfer.collective:
            table, names = {}, mpi_calls.ORDERED
        for event in footprint.events:
            if event.name in mpi_calls.COMPLETIONS:
                return Reason(ReasonKind.COMPLETES(call=event.name), event.location)
            if event.name in names:
                part = table.get(event.name)
                known = event.call is not None and part is not None
                if (
                    not known
                    or event.call is None
                    or part is None
                    or not cannot_match(transfer, event.call, part, changed)
                ):
                    return Reason(
                        ReasonKind.ABOUT(subject=event.name, cause=_order(transfer)), event.location
                    )
            if self.strict:
                return Reason(
                    ReasonKind.CALL_AND(call=event.name, because=self.strict), event.location
                )
        return None


def _order(transfer: Transfer) -> Cause:
    if transfer.collective:
        return ReasonKind.COLLECTIVE_ORDER()
    if transfer.receives:
        return ReasonKind.RECEIVE_ORDER()
    return ReasonKind.SEND_ORDER()
