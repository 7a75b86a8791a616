"""Which other messages are under way beside one, and are worth it."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.summary import Footprint
from imbrex.transform.analysis.transfer import Role, Transfer
from imbrex.transform.model.calls import Call
from imbrex.transform.model.statements import Statement

_LEAST_BYTES = 64  # less takes no longer than the calls that another form of it costs


def under_way(
    transfer: Transfer, statement: Statement, footprint: Footprint, *, starts: bool
) -> int:
    """How many other messages are under way beside a transfer that passes a statement.

    Of what is nonblocking by now: a start that a wait passes (`starts`), or a wait that a start
    passes. Of its own direction those with another peer: else one goes behind the other. Of
    blocking calls only these, so that no answer is awaited beside what it answers.
    """
    if transfer.collective or transfer.members or not _is_large(transfer.call, transfer.part):
        return 0
    role = statement.role
    if isinstance(role, Role):
        if role.starts is not starts:
            return 0
        return sum(
            not other.collective and other.call is not transfer.call
            if other.receives != transfer.receives
            else _overlaps(transfer, other.call, other.part)
            for other in role.transfer.each
        )
    table = mpi_calls.RECEIVES if transfer.receives else mpi_calls.SENDS
    return sum(
        event.name in mpi_calls.BLOCKING
        and event.name in table
        and (event.call is None or _overlaps(transfer, event.call, table[event.name]))
        for event in footprint.events
    )


def _overlaps(mine: Transfer, other: Call, part: mpi_calls.PointToPoint) -> bool:
    """Whether a further message of the same direction may take another way, and be large."""
    if other is mine.call or mine.collective or not _is_large(other, part):
        return False
    if other.name not in mpi_calls.PARTS or mine.call.name not in mpi_calls.PARTS:
        return True
    peers = mine.call.arguments[mine.part.peer], other.arguments[part.peer]
    return peers[0].text.strip() != peers[1].text.strip()


def _is_large(call: Call, part: mpi_calls.PointToPoint) -> bool:
    """Whether a message may be more than a few numbers."""
    if call.name not in mpi_calls.PARTS or len(call.arguments) <= part.communicator:
        return True  # of a completion, which does not tell
    count = call.arguments[part.count].value
    size = mpi_calls.ELEMENT_SIZE.get(call.arguments[part.datatype].constant)
    if count is None or count.terms or size is None:
        return True
    return count.constant * size >= _LEAST_BYTES
