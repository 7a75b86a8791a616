"""Where starts and waits are put in the model: as far apart as the data allow."""

from __future__ import annotations

from dataclasses import replace

from imbrex.transform.analysis.branches import branches
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.motion import Motion, Position, Reach
from imbrex.transform.analysis.next_iteration import find_next_iteration
from imbrex.transform.analysis.transfer import Role, Transfer
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement


class Placement:
    """Moves starts up and waits down, into the next iteration and into branches."""

    def __init__(self, footprints: Footprints, facts: ProgramFacts) -> None:
        self.footprints = footprints
        self.facts = facts
        # Whether messages are also moved to where others are under way. What lies beside
        # computation is settled first.
        self.beside = False

    def motion(self, routine: Routine) -> Motion:
        return Motion(self.footprints, self.facts, routine, beside=self.beside)

    def _move_up(self, motion: Motion, transfer: Transfer) -> Reach:
        reach = motion.up(transfer)
        transfer.start_blocker = reach.blocker
        if reach.position.useful:
            transfer.guards = reach.position.guards + transfer.guards
            assert transfer.start is not None
            transfer.start.accesses += reach.position.reads
            transfer.crossed += reach.position.crossed
            transfer.beside += reach.position.beside
            self._put(transfer.start, reach.position)
        return reach

    def _move_down(self, motion: Motion, transfer: Transfer) -> Reach:
        reach = motion.down(transfer)
        transfer.wait_blocker = reach.blocker
        if reach.position.useful:
            transfer.conditional |= reach.position.left_if
            assert transfer.wait is not None
            self._age(transfer.wait, reach.position.changed)
            transfer.wait.accesses += reach.position.reads
            transfer.crossed += reach.position.crossed
            transfer.beside += reach.position.beside
            transfer.guards = reach.position.guards + transfer.guards
            self._put(transfer.wait, reach.position, after=True)
        return reach

    def _into_next(self, motion: Motion, transfer: Transfer, reach: Reach) -> Reach:
        """Move a wait that has no window into the next iteration, if it has one there."""
        if reach.position.useful:
            return reach
        found = find_next_iteration(motion, transfer, reach)
        if found is None:
            return reach
        wait = transfer.wait
        assert wait is not None and wait.parent is not None and found.loop.parent is not None
        anchor = found.block.statements[found.index]
        self._age(wait, found.changed)
        wait.parent.statements.remove(wait)
        found.block.statements.insert(found.block.statements.index(anchor), wait)
        wait.parent = found.block
        last = replace(wait, parent=found.loop.parent)
        siblings = found.loop.parent.statements
        siblings.insert(siblings.index(found.loop) + 1, last)
        transfer.more_waits.append(last)
        transfer.conditional = True
        below = motion.down(replace(transfer, wait=last)).position
        if below.crossed:
            self._age(last, below.changed)
            self._put(last, below, after=True)
        transfer.crossed += found.crossed
        position = replace(reach.position, crossed=reach.position.crossed + found.crossed)
        text = ReasonKind.NEXT_ITERATION(cause=found.blocker.cause)
        return Reach(position, Reason(text, found.blocker.location))

    def _into_branches(self, motion: Motion, transfer: Transfer, reach: Reach) -> Reach:
        """Move a wait into the branches of the `if` that stops it, and behind that."""
        found = branches(motion, transfer, reach)
        wait = transfer.wait
        if found is None or wait is None or wait.parent is None:
            return reach
        outer = found.choice.parent
        assert outer is not None
        home = (wait.parent, wait.parent.statements.index(wait))
        before = wait.accesses
        self._age(wait, found.changed)
        home[0].statements.remove(wait)
        wait.parent = outer
        outer.statements.insert(outer.statements.index(found.choice) + 1, wait)
        for block, index in found.places:
            copy = replace(wait, parent=block)
            block.statements.insert(index, copy)
            transfer.more_waits.append(copy)
        self.footprints.forget(transfer.more_waits[-1])
        below = motion.down(transfer)
        if not below.position.crossed and not found.crossed:
            for copy in transfer.more_waits:
                assert copy.parent is not None
                copy.parent.statements.remove(copy)
            transfer.more_waits.clear()
            outer.statements.remove(wait)
            wait.accesses = before
            wait.parent = home[0]
            home[0].statements.insert(home[1], wait)
            return reach
        gained = found.crossed + below.position.crossed
        if below.position.crossed:
            transfer.conditional |= below.position.left_if
            self._age(wait, below.position.changed)
            self._put(wait, below.position, after=True)
        transfer.crossed += gained
        position = replace(reach.position, crossed=reach.position.crossed + gained)
        text = ReasonKind.BRANCH(cause=below.blocker.cause)
        return Reach(position, Reason(text, below.blocker.location))

    def move(self, routine: Routine, role: Role) -> bool:
        """Move a start or a wait that is in the model already as far as it goes."""
        if role.transfer.more_waits and not role.starts:
            return False  # they are where the next iteration or the branches want them
        if self.beside and role.render is not None:
            return False  # of the user's own: its window is told in computation alone
        statement = role.transfer.start if role.starts else role.transfer.wait
        assert statement is not None
        motion = self.motion(routine)
        self.footprints.forget(statement)
        step = self._move_up if role.starts else self._move_down
        reach = step(motion, role.transfer)
        self.footprints.forget(statement)
        return reach.position.useful

    def _age(self, wait: Statement, changed: frozenset[str]) -> None:
        """Tell what a wait releases in terms that hold where it stands now."""
        wait.accesses = self.footprints.later(wait.accesses, changed)

    @staticmethod
    def _put(statement: Statement, position: Position, *, after: bool = False) -> None:
        old = statement.parent
        assert old is not None
        target = position.block.statements
        anchor = target[position.index]
        if anchor is statement:
            return
        old.statements.remove(statement)
        target.insert(target.index(anchor) + after, statement)
        statement.parent = position.block


def settle(mover: Placement, routines: list[Routine]) -> bool:
    """Move all starts and waits in the model as far as they go; True where one moved.

    What one of them leaves behind makes room for another.
    """
    any_moved = False
    for routine in routines:
        moved = True
        while moved:
            moved = False
            for statement in _inserted(routine.body):
                role = statement.role
                if isinstance(role, Role) and mover.move(routine, role):
                    moved = any_moved = True
    return any_moved


def _inserted(block: Block) -> list[Statement]:
    found = []
    for statement in block.statements:
        if statement.kind is Kind.INSERTED:
            found.append(statement)
        for inner in statement.blocks:
            found += _inserted(inner)
    return found
