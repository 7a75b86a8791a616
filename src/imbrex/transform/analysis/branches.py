"""A wait that an `if` stops: into those of its branches that use the data, and behind it.

A wait in a branch leaves MPI_REQUEST_NULL, at which the one behind the `if` returns at once; where
no branch uses the data, that one may come much later.
"""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.analysis.motion import Motion, Reach
from imbrex.transform.analysis.transfer import Role, Transfer
from imbrex.transform.model.memory import Access
from imbrex.transform.model.statements import Block, Kind, Statement


@dataclass(slots=True)
class Branches:
    """Where the waits go: before `block.statements[index]` of branches, and behind the `if`."""

    places: list[tuple[Block, int]]
    choice: Statement
    crossed: int  # computing statements that waits pass inside of branches
    changed: frozenset[str]  # what may differ between a wait in or behind it and where it stood


def branches(motion: Motion, transfer: Transfer, reach: Reach) -> Branches | None:
    """The places of waits in and behind the `if` that stops one; None where they may not go."""
    choice = reach.stopped
    if choice is None or choice.kind is not Kind.IF or choice.parent is None:
        return None
    outer = choice.parent
    if not outer.insertable or not outer.braced or transfer.status_read:
        return None
    if transfer.repeats_condition or transfer.wait is None or choice.stop or choice.calls:
        return None
    accesses = list(transfer.wait.accesses)
    passed = _passed(motion, transfer, choice)
    if passed is None:
        return None
    changed = motion.footprints.changed(passed)
    if motion.footprints.conflict(accesses, choice.accesses, changed) is not None:
        return None
    places: list[tuple[Block, int]] = []
    crossed = 0
    for block in choice.blocks:
        within = changed
        for index, statement in enumerate(block.statements):
            footprint = motion.footprints.of(statement, motion.routine.file)
            within |= motion.footprints.changed_in(footprint)
            if motion.wait_blocked(transfer, accesses, statement, footprint, within) is not None:
                if not block.insertable or not block.braced:
                    return None
                places.append((block, index))
                break
            crossed += motion.takes_time(statement, footprint)
    changed |= motion.footprints.changed_in(motion.footprints.of(choice, motion.routine.file))
    return Branches(places, choice, crossed, changed) if places else None


def _passed(motion: Motion, transfer: Transfer, choice: Statement) -> list[Access] | None:
    """What is done between the wait and the `if`, which are in one block."""
    assert transfer.wait is not None and choice.parent is not None
    siblings = choice.parent.statements
    if transfer.wait not in siblings:
        return None
    found: list[Access] = []
    for statement in siblings[siblings.index(transfer.wait) + 1 : siblings.index(choice)]:
        if not isinstance(statement.role, Role) or statement.role.transfer is not transfer:
            found += motion.footprints.of(statement, motion.routine.file).accesses
    return found
