"""What of a loop's body brings data that no iteration computes, and may run one iteration ahead.

A panel that is broadcast in each step of a matrix product is filled from what the loop only reads.
Filling and broadcast of the next step then need nothing of this one, if they go to memory of their
own: what stays of the body neither sets what they read nor touches what they write but by reading
it behind them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.named import names_untold
from imbrex.transform.analysis.scratch import is_scratch
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_ASSIGNED = re.compile(rb"\s*([A-Za-z_]\w*)\s*=\s*")


@dataclass(frozen=True, slots=True)
class Parts:
    """The statements of a body that bring data, in order, and the rest of it."""

    calls: list[Call]  # the collectives
    buffers: list[Variable]  # what they bring their data to
    moved: list[Statement]  # they, and what fills these buffers
    derived: dict[str, Statement]  # what sets, in each iteration, a scalar that they read

    # Of these, declarations of what nothing else uses.
    idle: list[Statement]

    @property
    def last(self) -> Statement:
        """The last of those that bring data."""
        return self.moved[-1]


def collectives_in(loop: Statement) -> list[tuple[Statement, Call]]:
    """The collectives of an iteration itself that bring data as it is."""
    return [
        (statement, call)
        for statement in loop.blocks[0].statements
        if statement.kind is Kind.SIMPLE
        for call in statement.calls
        if call.name in mpi_calls.BLOCKING_COLLECTIVES and call.name not in mpi_calls.OPERATION
    ]


class AheadParts:
    """Divides the body of one loop."""

    def __init__(
        self, program: Program, footprints: Footprints, routine: Routine, loop: Statement
    ) -> None:
        self.program = program
        self.footprints = footprints
        self.routine = routine
        self.loop = loop
        self.body = loop.blocks[0]
        self.changed = footprints.changed_in(footprints.of(loop, routine.file))

    def divide(self) -> Parts | Reason:
        """The parts, or why what brings data may not run ahead of the rest."""
        found = collectives_in(self.loop)
        buffers: dict[str, Variable] = {}
        for statement, call in found:
            if call.macro or not (call.is_statement or self._code(statement, call)):
                return self._reason(ReasonKind.NOT_STATEMENT(), statement)
            named = self._received(call)
            if isinstance(named, Cause):
                return self._reason(named, statement)
            buffers |= {variable.key: variable for variable in named}
        memory = self._memory(buffers)
        statements = self.body.statements
        if any(self._is_volatile(access) for access in self.loop.accesses):
            return self._reason(ReasonKind.NOT_COUNTED(), self.loop)
        if any(variable.allocatable for variable in buffers.values()):
            place = self._allocating(self.body.statements, self.routine.file, set())
            if place is not None:
                return Reason(ReasonKind.LOOP_ALLOCATES(), place)
        bringing = [statement for statement, _ in found]
        end = statements.index(bringing[-1]) + 1
        moved = [s for s in statements[:end] if s in bringing or self._touches(s, memory)]
        stays = [s for s in statements if s not in moved]
        self.derived = self._derived(moved)
        self.scratch: set[str] = set()
        self.sets: list[Access] = []  # what else is set by what moves
        reason = self._moved_problem(moved, bringing, buffers, memory)
        reason = reason or self._stays_problem(moved, stays, memory)
        if reason is not None:
            return reason
        calls = [call for _, call in found]
        idle = self._idle(stays)
        return Parts(calls, list(buffers.values()), moved, dict(self.derived), idle)

    def _idle(self, stays: list[Statement]) -> list[Statement]:
        """The declarations of what is only used ahead."""
        data = self.program.files[self.routine.file].data
        found: list[Statement] = []
        for statement in reversed(stays):
            if statement.kind is not Kind.DECLARE or statement not in self.derived.values():
                continue
            keys = [key for key, setter in self.derived.items() if setter is statement]
            names = "|".join(re.escape(self.program.variables[key].name) for key in keys)
            named = re.compile(rf"\b(?:{names})\b".encode())
            behind = [s for s in stays if s is not statement and s not in found]
            if not any(
                named.search(data, each.start, each.end)
                or any(a.variable in keys for a in self._accesses(each))
                for each in behind
            ):
                found.append(statement)
        return found

    def _derived(self, moved: list[Statement]) -> dict[str, Statement]:
        """The scalars of which each iteration makes its own in one place, for what moves.

        That place may be copied: it sets nothing else, by what is read there.
        """
        found: dict[str, Statement] = {}
        waiting = list(moved)
        while waiting:
            statement = waiting.pop()
            front = self.body.statements[: self.body.statements.index(statement)]
            for access in self._accesses(statement):
                if access.write or access.through or access.variable in found:
                    continue
                setter = self._setter(access.variable, front)
                if setter is not None and setter not in moved:
                    found |= {a.variable: setter for a in setter.accesses if a.write}
                    waiting.append(setter)
        return found

    def _setter(self, key: str, front: list[Statement]) -> Statement | None:
        """The one statement of the body that sets a scalar, and no more than scalars like it."""
        writers = [s for s in self.loop.walk() if any(a.variable == key and a.write
                                                      for a in s.accesses)]  # fmt: skip
        if len(writers) != 1 or writers[0] not in front:
            return None
        (setter,) = writers
        footprint = self.footprints.of(setter, self.routine.file)
        if footprint.stop or footprint.leaves or footprint.events:
            return None
        if setter.kind not in (Kind.DECLARE, Kind.SIMPLE):
            return None
        own = {a.variable for a in setter.accesses if a.write}
        if any(a.write and (a.through or a.variable not in own) for a in footprint.accesses):
            return None
        if setter.kind is Kind.SIMPLE and len(own) != 1:
            return None
        return setter if all(self._is_scalar(each, setter) for each in own) else None

    def _is_scalar(self, key: str, setter: Statement) -> bool:
        """Whether a variable is a local scalar, that nothing but `setter` can set in the loop."""
        variable = self.program.variables.get(key)
        if variable is None or variable.kind != "local" or variable.volatile or variable.record:
            return False
        if variable.reference or key in self.footprints.addressed or key in self.program.overlays:
            return False
        if variable.pointer and setter.kind is not Kind.DECLARE:
            return False
        if variable.bounds and not variable.pointer:
            return False
        rest = [s for s in self.body.statements if s is not setter]
        return key not in self.footprints.changed_by(rest, self.routine.file)

    def _reason(self, cause: Cause, statement: Statement) -> Reason:
        return Reason(cause, Location(self.routine.file, statement.line))

    def _code(self, statement: Statement, call: Call) -> str:
        """The variable that a collective sets to its error code, and which is only that.

        Whether anything asks for it is asked where the call becomes nonblocking.
        """
        source = self.program.files[self.routine.file]
        if source.is_fortran:
            more = len(call.arguments) > mpi_calls.C_ARGUMENTS[call.name]
            return (call.arguments[-1].base or "") if more else ""
        found = _ASSIGNED.fullmatch(source.data[statement.code_start : call.start])
        if found is None or source.data[call.end : statement.end].strip() != b";":
            return ""
        written = [a.variable for a in statement.accesses if a.write and not a.through]
        variable = self.program.variables.get(written[0]) if len(written) == 1 else None
        named = variable is not None and variable.name == found[1].decode()
        return written[0] if named else ""

    def _received(self, call: Call) -> list[Variable] | Cause:
        """The variables that name the memory which a collective writes."""
        found = []
        for position, mode in mpi_calls.EFFECTS[call.name].items():
            argument = call.arguments[position] if position < len(call.arguments) else None
            if argument is None:
                return ReasonKind.ARGUMENT_COUNT()
            if mode != "w":
                continue
            variable = self.program.variables.get(argument.base or "")
            if variable is None or variable.kind in ("field", "heap") or argument.owner:
                return ReasonKind.BUFFER_UNKNOWN(argument=argument.text.strip())
            if variable.key in self.program.overlays or argument.extends_into:
                return ReasonKind.BUFFER_SHARED()
            found.append(variable)
        return found

    def _memory(self, buffers: dict[str, Variable]) -> list[Access]:
        """All that the buffers name, written; a pointer is not to be set itself."""
        fortran = self.program.in_fortran(self.routine.file)
        found = []
        for key, variable in buffers.items():
            points = variable.pointer and not fortran
            found.append(Access(key, points, True, self.loop.line))
            if points:
                found.append(Access(key, False, True, self.loop.line))
        return found

    def _accesses(self, statement: Statement) -> list[Access]:
        """What a statement touches, wherever in an array: in another iteration it is elsewhere."""
        found = self.footprints.of(statement, self.routine.file).accesses
        return [access.anywhere() for access in found]

    def _touches(self, statement: Statement, memory: list[Access]) -> bool:
        mine = self._accesses(statement)
        return self.footprints.conflict(mine, memory, self.changed) is not None

    def _allocating(
        self, statements: list[Statement], file: str, seen: set[str]
    ) -> Location | None:
        """Where arrays of Fortran get or lose memory, also in what is called."""
        for statement in statements:
            for inner in statement.walk():
                if inner.allocation or inner.allocates:
                    return Location(file, inner.line)
                for call in inner.calls:
                    callee = self.program.callee(call.name, file)
                    if callee is None or callee.key in seen:
                        continue
                    seen.add(callee.key)
                    place = self._allocating(callee.body.statements, callee.file, seen)
                    if place is not None:
                        return place
        return None

    def _moved_problem(
        self,
        moved: list[Statement],
        bringing: list[Statement],
        buffers: dict[str, Variable],
        memory: list[Access],
    ) -> Reason | None:
        """What keeps the statements that bring data from another place, with other buffers."""
        for statement in moved:
            footprint = self.footprints.of(statement, self.routine.file)
            if footprint.stop or footprint.leaves:
                return footprint.stop or footprint.leaves
            if statement.kind is Kind.DECLARE:
                return self._reason(ReasonKind.DECLARATIONS(), statement)
            calls = [call for inner in statement.walk() for call in inner.calls]
            own = [call for call in calls if call.name in mpi_calls.BLOCKING_COLLECTIVES]
            if len(footprint.events) > (statement in bringing) or len(own) > 1:
                event = footprint.events[-1]
                return Reason(ReasonKind.CALL_OF(routine=event.name), event.location)
            codes = {self._code(statement, call) for call in own} - {""}
            reason = self._written_elsewhere(statement, buffers, memory, codes)
            reason = (
                reason or self._ends(statement) or self._named_within(calls, buffers, statement)
            )
            if reason is not None:
                return reason
        return None

    def _written_elsewhere(
        self,
        statement: Statement,
        buffers: dict[str, Variable],
        memory: list[Access],
        codes: set[str],
    ) -> Reason | None:
        """What a statement that brings data sets, but for the buffers by their own names."""
        for access in self._accesses(statement):
            if self._is_volatile(access):
                return self._told(access, statement)
            if access.variable in buffers:
                points = any(m.variable == access.variable and m.through for m in memory)
                if access.write and points and not access.through:
                    name = buffers[access.variable].name
                    return self._reason(ReasonKind.SET(variable=name), statement)
                continue
            if self.footprints.conflict([access], memory, self.changed) is not None:
                return self._told(access, statement)
            if not access.write or access.variable in codes or self._begins_in(access, statement):
                continue
            if not access.through and self._is_scratch(access.variable):
                self.scratch.add(access.variable)
            else:
                self.sets.append(access)
        return None

    def _is_scratch(self, key: str) -> bool:
        """Whether nothing sees what a statement leaves in a scalar, as the indices of loops."""
        name = self.program.variables[key].name.lower() if key in self.program.variables else ""
        if any(
            name in names_untold(self.program, self.routine, statement)
            for statement in self.routine.statements()
        ):
            return False
        return is_scratch(self.footprints, self.routine, self.body, key)

    def _is_volatile(self, access: Access) -> bool:
        variable = self.program.variables.get(access.variable)
        return variable is not None and variable.volatile

    def _told(self, access: Access, statement: Statement) -> Reason:
        variable = self.program.variables.get(access.variable)
        if variable is None:
            return self._reason(ReasonKind.UNKNOWN_MEMORY_USED(), statement)
        return self._reason(ReasonKind.SET(variable=variable.name), statement)

    def _begins_in(self, access: Access, statement: Statement) -> bool:
        """Whether a variable begins and ends within a statement, as an index declared there."""
        variable = self.program.variables.get(access.variable)
        if variable is None or variable.lifetime is None or access.through:
            return False
        begins, ends = variable.lifetime
        return statement.start <= begins and ends <= statement.end

    def _ends(self, statement: Statement) -> Reason | None:
        """What a statement touches that begins or ends with an iteration."""
        for access in self._accesses(statement):
            for key in {
                access.variable,
                *self.footprints.aliases.objects(access.variable, access.through),
            }:
                variable = self.program.variables.get(key)
                if variable is None or variable.lifetime is None:
                    continue
                begins, ends = variable.lifetime
                inside = self.body.start <= begins and ends <= self.body.end
                if (
                    key not in self.derived
                    and inside
                    and not (statement.start <= begins and ends <= statement.end)
                ):
                    kind = ReasonKind.ENDS_WITH_ITERATION(variable=variable.name)
                    return self._reason(kind, statement)
        return None

    def _named_within(
        self, calls: list[Call], buffers: dict[str, Variable], statement: Statement
    ) -> Reason | None:
        """A routine that names one of the buffers itself, which another name would not change."""
        for call in calls:
            callee = self.program.callee(call.name, self.routine.file)
            if callee is None:
                continue
            touched = self.footprints.of_routine(callee).accesses
            for access in touched:
                if access.variable in buffers:
                    name = buffers[access.variable].name
                    return self._reason(ReasonKind.SET(variable=name), statement)
        return None

    def _stays_problem(
        self, moved: list[Statement], stays: list[Statement], memory: list[Access]
    ) -> Reason | None:
        """What of the rest sets what is read ahead, or what is brought."""
        ahead = [*moved, *dict.fromkeys(self.derived.values())]
        own = self.scratch | self.derived.keys()
        reads = [a for s in ahead for a in self._accesses(s) if not a.write]
        reads = [a for a in reads if a.through or a.variable not in own]
        reads += [a.anywhere() for a in self.loop.accesses if not a.write]
        brought = [access._replace(write=False) for access in memory]
        pair = self.footprints.conflict(self.sets, list(self.loop.accesses), self.changed)
        if pair is not None:
            return self._told(pair[0], self.loop)
        for statement in stays:
            footprint = self.footprints.of(statement, self.routine.file)
            if footprint.stop or footprint.leaves:
                return footprint.stop or footprint.leaves
            if footprint.events:
                event = footprint.events[0]
                return Reason(ReasonKind.CALL_OF(routine=event.name), event.location)
            mine = [a for a in self._accesses(statement) if a.write]
            if statement.kind is Kind.DECLARE:
                mine = [a for a in mine if a.through]
            pair = self.footprints.conflict(mine, reads + brought, self.changed)
            if pair is not None:
                return self._told(pair[1], statement)
            pair = self.footprints.conflict(self.sets, self._accesses(statement), self.changed)
            if pair is not None:
                return self._told(pair[0], statement)
        return None
