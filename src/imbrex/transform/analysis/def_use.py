"""Webs: the uses of a buffer that see one filling of it, from the filling to the last use.

Two webs of one array need not share its memory. They can be told apart where each use of the array
is inside a web whose filling covers all that the web reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.filled import (
    covers,
    each_once,
    unchanged,
    whole,
    whole_ranges,
    within,
)
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.null_source import may_fill_nothing
from imbrex.transform.analysis.sections import buffer_section
from imbrex.transform.analysis.space import nest
from imbrex.transform.model.affine import Section, widen
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement


@dataclass(slots=True)
class DefUseChain:
    """Consecutive uses in one block; `branch` tells the arms of conditionals that it is in."""

    statements: list[Statement]
    branch: list[tuple[Statement, int]]
    filled: list[Section] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    closed: bool = False  # it has been sent or read: what fills the array next begins another

    def excludes(self, other: DefUseChain) -> bool:
        """Whether at most one of the two happens in a call of the routine, loops apart."""
        mine = {id(owner): arm for owner, arm in self.branch}
        return any(mine.get(id(owner), arm) != arm for owner, arm in other.branch)


class DefUseChains:
    """Finds the webs of one array in a routine, or why its uses cannot be told apart."""

    def __init__(
        self, program: Program, footprints: Footprints, routine: Routine, key: str
    ) -> None:
        self.program = program
        self.footprints = footprints
        self.routine = routine
        self.key = key
        self.chains: list[DefUseChain] = []
        self.problem: Reason | None = None

    def find(self) -> list[DefUseChain] | Reason:
        self._block(self.routine.body, [])
        return self.problem or self.chains

    def _uses(self, statement: Statement) -> list[Access]:
        found = self.footprints.of(statement, self.routine.file)
        return [a for a in found.accesses if a.variable == self.key]

    def _transfers(self, statement: Statement) -> list[Call]:
        return [
            call
            for inner in statement.walk()
            for call in inner.calls
            if call.name in mpi_calls.BLOCKING
            and any(
                call.arguments[part.buffer].base == self.key
                for part in mpi_calls.BLOCKING[call.name]
            )
        ]

    def _block(self, block: Block, branch: list[tuple[Statement, int]]) -> None:
        current: DefUseChain | None = None
        for statement in block.statements:
            if self.problem is not None:
                return
            if statement.kind is Kind.DECLARE:
                continue
            if not self._uses(statement) and not self._transfers(statement):
                if self.footprints.of(statement, self.routine.file).stop:
                    current = None
                self._settle(statement, current)
                continue
            if statement.blocks and self._transfers(statement):
                current = None
                self._inside(statement, branch)
                continue
            current = self._use(statement, current, branch)
            self._settle(statement, current)

    def _settle(self, statement: Statement, current: DefUseChain | None) -> None:
        """Forget what was filled up to ends that the statement changes."""
        if current is not None:
            changed = self.footprints.changed_by([statement], self.routine.file)
            current.filled = unchanged(current.filled, changed)

    def _inside(self, statement: Statement, branch: list[tuple[Statement, int]]) -> None:
        if statement.kind not in (Kind.IF, Kind.LOOP, Kind.BLOCK):
            self._refuse(statement, ReasonKind.USED_IN_CONSTRUCT())
            return
        if any(a.variable == self.key for a in statement.accesses):
            self._refuse(statement, ReasonKind.USED_IN_CONDITION())
            return
        for arm, inner in enumerate(statement.blocks):
            deeper = [*branch, (statement, arm)] if statement.kind is Kind.IF else branch
            self._block(inner, deeper)

    def _use(
        self, statement: Statement, current: DefUseChain | None, branch: list[tuple[Statement, int]]
    ) -> DefUseChain | None:
        filled = self._fills(statement)
        reads = [a for a in self._uses(statement) if not a.write]
        calls = self._transfers(statement)
        if filled and not reads and (current is None or current.closed):
            current = DefUseChain([], list(branch))
            self.chains.append(current)
        if current is None:
            self._refuse(statement, ReasonKind.VALUES_FROM_ELSEWHERE())
            return None
        if self._may_keep(statement):
            self._refuse(statement, ReasonKind.NULL_SOURCE())
            return None
        if filled is None:
            self._refuse(statement, ReasonKind.SET_UNKNOWN())
            return None
        for read in reads:
            # One with strides counts in lines that need not be those of the array.
            known = None if read.strides else self._read(read)
            if not any(covers(section, known) for section in current.filled):
                self._refuse(statement, ReasonKind.READ_BEYOND(), read.line)
                return None
        current.filled += filled
        current.closed = current.closed or bool(reads) or bool(calls)
        current.calls += calls
        current.statements.append(statement)
        return current

    def _read(self, access: Access) -> Section | None:
        """What is read at most: Fortran reads no element outside of an array's bounds."""
        if not self.program.in_fortran(self.routine.file):
            return access.section
        return within(access.section, self.program.variables[self.key])

    def _may_keep(self, statement: Statement) -> bool:
        """Whether a receive in the statement may leave the array as it was."""
        return any(
            call.arguments[part.buffer].base == self.key
            and may_fill_nothing(self.footprints, inner, call, self.routine.file)
            for inner in statement.walk()
            for call in inner.calls
            for part in mpi_calls.BLOCKING.get(call.name, ())
            if part.direction == "receive" and len(call.arguments) > part.communicator
        )

    def _fills(self, statement: Statement) -> list[Section] | None:
        """What the statement surely sets; None where it may set more or other elements."""
        writes = [a for a in self._uses(statement) if a.write]
        found: list[Section] = []
        for call in self._transfers(statement):
            for part in mpi_calls.BLOCKING[call.name]:
                receives = part.direction == "receive"
                if receives and call.arguments[part.buffer].base == self.key:
                    section = buffer_section(self.program, call, part)
                    if section is None or call.arguments[part.buffer].extends_into:
                        return None
                    found.append(section)
        if found or not writes:
            return found
        loops = nest(statement)
        if not whole_ranges(loops):
            return None
        body = loops[-1].blocks[0].statements if loops else [statement]
        plain = [a for s in body if s.kind is Kind.SIMPLE for a in s.accesses if a.write]
        mine = [a for a in plain if a.variable == self.key]
        if len(mine) != len(writes):
            return None
        for access in mine:
            section = access.section
            every = whole(self.program.variables[self.key])
            if not loops and section is None and every and self._sets_whole(body):
                found.append(every)
                continue
            if section is None or access.through or not each_once(section, loops):
                return None
            if access.member:
                return None  # the other fields of the elements stay
            for loop in reversed(loops):
                assert loop.loop is not None
                section = widen(section, loop.loop.index, loop.loop.low, loop.loop.high)
            if section is None:
                return None
            found.append(section)
        return found

    def _sets_whole(self, body: list[Statement]) -> bool:
        """Whether a statement of Fortran is an assignment to the whole array, by its name."""
        if len(body) != 1 or not self.program.in_fortran(self.routine.file):
            return False
        name = re.escape(self.program.variables[self.key].name)
        text = self.program.files[self.routine.file].data[body[0].code_start : body[0].end]
        return re.match(rf"\s*{name}\s*=(?!=)".encode(), text, re.IGNORECASE) is not None

    def _refuse(self, statement: Statement, cause: Cause, line: int = 0) -> None:
        name = self.program.variables[self.key].name
        place = Location(self.routine.file, line or statement.line)
        self.problem = self.problem or Reason(
            ReasonKind.NO_OWN_COPY(variable=name, cause=cause), place
        )
