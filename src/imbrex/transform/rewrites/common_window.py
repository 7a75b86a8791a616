"""Calls of wrappers after each other, `exchange(u)` and `exchange(w)`: one window for all.

Each finish would stand in front of the next start: no call passes communication. Where a finish
only waits and unpacks, and no result of the program depends on the order in which messages come,
it may: all starts keep their order, and so messages of one channel do.
"""

from __future__ import annotations

from collections.abc import Sequence

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.divided import Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement
from imbrex.transform.rewrites.uses import Split, Use, Uses, number_slots
from imbrex.transform.text.local_vectors import is_vector


class CommonWindow:
    """Lets calls of wrappers have the window of the one behind them."""

    def __init__(self, footprints: Footprints, uses: Uses, splits: Sequence[Split]) -> None:
        self.footprints = footprints
        self.uses = uses
        self.splits = splits

    def give(self, *, empty: bool = False) -> None:
        """Let each call without a window of its own join the next one of its block that has one.

        `empty`: or the next one, so that what is under way beside a message are others alone.
        """
        if not all(map(self.may_share, self.splits)):
            return
        for calls in self.by_block():
            for position in range(len(calls) - 2, -1, -1):
                one, following = calls[position : position + 2]
                if not (one.passed or one.division):
                    self._join(one, following.joins or following, empty=empty)
        for split in self.splits:
            number_slots(split.uses)

    def by_block(self) -> list[list[Use]]:
        """The calls of each block, in their order."""
        found: dict[int, list[Use]] = {}
        for split in self.splits:
            for use in split.uses:
                found.setdefault(id(use.block), []).append(use)
        return [sorted(calls, key=lambda use: use.call.start) for calls in found.values()]

    def may_share(self, split: Split) -> bool:
        """Whether the finish starts nothing, and waits for all that it waits for."""
        schedule: Schedule = split.schedule
        if schedule.released or any(map(is_vector, split.kept)):
            return False
        return not any(
            event.name not in mpi_calls.WAITS
            for item in schedule.late
            for event in self.footprints.of(item.statement, split.wrapper.file).events
        )

    def _join(self, one: Use, last: Use, *, empty: bool) -> None:
        """Let the finish of one call stand beside that of another one, if it may pass so much."""
        statements = one.block.statements
        index, end = statements.index(one.statement), last.last
        moved = any(use.first != statements.index(use.statement) for use in (one, last))
        if moved or not (empty or last.passed or last.division):
            return
        each = [use for split in self.splits for use in split.uses]
        window = [use for use in each if use is last or use.joins is last]
        calls = {id(use.inside or use.statement) for use in window}
        if not self.uses.leaves_branch(one, calls):
            return
        for position in range(index + 1, end + 1):
            passed = self._is_in(one.routine, statements[position], calls)
            if not self.uses.may_pass(
                one.routine,
                one.block,
                index,
                position,
                one.finish,
                communication=passed,
                part=self._starts(window, statements[position]),
            ):
                return
        if last.division is not None:
            wanted = [access for use in (one, *window) for access in use.finish]
            changed = self.footprints.changed_by(statements[index + 1 : end + 1], one.routine.file)
            known = self.footprints.later(wanted, changed)
            division = self.uses.division(one.routine, one.block, end, known)
            if division is None:
                return
            last.division = division
        one.joins, one.last = last, end

    def _starts(self, window: list[Use], statement: Statement) -> list[Access] | None:
        """What the start of a call touches, which is all of it that a finish in front passes.

        None where the statement is no call of the window: its own finish comes behind that one.
        """
        for split in self.splits:
            for use in split.uses:
                inside = any(use is each for each in window)
                if use.statement is statement and use.inside is None and inside:
                    return self.uses.start(split, use.call) + use.given
        return None

    def _is_in(self, user: Routine, statement: Statement, calls: set[int]) -> bool:
        """Whether the communication of a statement is that of some calls."""
        if id(statement) in calls:
            return True
        inner = [s for block in statement.blocks for s in block.statements]
        talking = [s for s in inner if self.footprints.of(s, user.file).events]
        return bool(talking) and all(id(s) in calls for s in talking)
