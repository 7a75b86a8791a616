"""Calls of one wrapper after each other, `exchange(u)` and `exchange(w)`: one window for all.

Each finish would stand in front of the next start: no call passes communication. Where a finish
only waits and unpacks, and no result of the program depends on the order in which messages come,
it may: all starts keep their order, and so messages of one channel do.
"""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.divided import Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.rewrites.uses import Split, Use, Uses, number_slots
from imbrex.transform.text.local_vectors import is_vector


class CommonWindow:
    """Lets calls of a wrapper have the window of the one behind them."""

    def __init__(self, footprints: Footprints, uses: Uses) -> None:
        self.footprints = footprints
        self.uses = uses

    def give(self, split: Split) -> None:
        """Let each call without a window of its own join the next one of its block that has one."""
        if any(map(is_vector, split.kept)) or not self._only_ends(split):
            return
        for position in range(len(split.uses) - 2, -1, -1):
            one, following = split.uses[position : position + 2]
            last = following.joins or following
            if one.block is last.block and not (one.passed or one.division):
                self._join(split, one, last)
        number_slots(split.uses)

    def _only_ends(self, split: Split) -> bool:
        """Whether the finish starts nothing, and waits for all that it waits for."""
        schedule: Schedule = split.schedule
        if schedule.released:
            return False
        return not any(
            event.name not in mpi_calls.WAITS
            for item in schedule.late
            for event in self.footprints.of(item.statement, split.wrapper.file).events
        )

    def _join(self, split: Split, one: Use, last: Use) -> None:
        """Let the finish of one call stand beside that of another one, if it may pass so much."""
        statements = one.block.statements
        index, end = statements.index(one.statement), last.last
        moved = any(use.first != statements.index(use.statement) for use in (one, last))
        if moved or not (last.passed or last.division):
            return
        finish = self.uses.finish(split, one)
        window = [use for use in split.uses if use is last or use.joins is last]
        calls = {id(use.statement) for use in window}
        for position in range(index + 1, end + 1):
            passed = id(statements[position]) in calls
            if not self.uses.may_pass(
                one.routine, one.block, index, position, finish, communication=passed
            ):
                return
        if last.division is not None:
            wanted = [access for use in (one, *window) for access in self.uses.finish(split, use)]
            changed = self.footprints.changed_by(statements[index + 1 : end + 1], one.routine.file)
            known = self.footprints.later(wanted, changed)
            division = self.uses.division(one.routine, one.block, end, known)
            if division is None:
                return
            last.division = division
        one.joins, one.last = last, end
