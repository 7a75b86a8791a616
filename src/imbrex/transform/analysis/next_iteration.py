"""How far the wait of a transfer may move into the next iteration of the loop that it is in.

The wait then stands in the loop's body above its start, on a request that is MPI_REQUEST_NULL in
the first iteration, and once more behind the loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.analysis.motion import Motion, Reach
from imbrex.transform.analysis.transfer import Role, Transfer
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Block, Kind, Statement


@dataclass(slots=True)
class NextIteration:
    """A place in the body of a loop, above the start, before `block.statements[index]`."""

    block: Block
    index: int
    loop: Statement
    crossed: int
    blocker: Reason
    changed: frozenset[str]  # what may differ from where the start stands


def find_next_iteration(motion: Motion, transfer: Transfer, reach: Reach) -> NextIteration | None:
    """The farthest useful place in the next iteration; None if there is none.

    `reach`: how far the wait gets in the iteration itself, which must be to its end.
    """
    assert transfer.wait is not None
    block = reach.end
    loop = None if block is None else block.owner
    if (
        block is None
        or loop is None
        or loop.kind is not Kind.LOOP
        or not block.braced
        or not block.insertable
    ):
        return None
    outside = loop.parent
    if outside is None or not outside.insertable or not outside.braced:
        return None
    if transfer.status_read or transfer.repeats_condition or motion.dies(transfer, block):
        return None
    begun = _ancestor(transfer.start, block)
    if begun is None:
        return None
    accesses = list(transfer.wait.accesses)
    again = _between(motion, transfer, loop, block.statements[begun:])
    if again is None:
        return None
    changed = motion.footprints.changed(again)
    if motion.footprints.conflict(accesses, _header(motion, loop), changed) is not None:
        return None
    crossed, best, index = 0, 0, 0
    while index < begun:
        statement = block.statements[index]
        footprint = motion.footprints.of(statement, motion.routine.file)
        changed |= motion.footprints.changed_in(footprint)
        reason = motion.wait_blocked(transfer, accesses, statement, footprint, changed, again=True)
        if reason is not None:
            break
        index += 1
        if motion.takes_time(statement, footprint):
            crossed, best = crossed + 1, index
    else:
        place = Location(motion.routine.file, block.statements[begun].line)
        reason = Reason(ReasonKind.ITS_START(), place)
    if not crossed:
        return None
    return NextIteration(block, best, loop, crossed, reason, changed)


def _ancestor(start: Statement | None, block: Block) -> int | None:
    """The position of the statement of the block that the start is in."""
    inner = start
    while inner is not None:
        if inner.parent is block:
            return block.statements.index(inner)
        inner = inner.parent.owner if inner.parent is not None else None
    return None


def _header(motion: Motion, loop: Statement) -> list[Access]:
    """What deciding about the next iteration touches."""
    found = list(loop.accesses)
    for call in loop.calls:
        found += motion.footprints.of_call(call, motion.routine.file).accesses
    return found


def _between(
    motion: Motion, transfer: Transfer, loop: Statement, behind: list[Statement]
) -> list[Access] | None:
    """What is done from the start to the end of the iteration; None if not all is known."""
    found = _header(motion, loop)
    for call in loop.calls:
        effect = motion.footprints.of_call(call, motion.routine.file)
        if effect.stop is not None or effect.events:
            return None
    for statement in behind:
        if isinstance(statement.role, Role) and statement.role.transfer is transfer:
            continue
        found += motion.footprints.of(statement, motion.routine.file).accesses
    return found
