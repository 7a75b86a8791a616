"""What of a communication routine can be done at its start, and what belongs to its finish.

The routine's statements are taken in their order. What a wait must come before, or what depends on
such a statement, is late; all else is early. Early statements pass late ones that they do not
depend on, so that the result is that of the routine as it was.
"""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.begun import Beginnings, Begun
from imbrex.transform.analysis.declared_values import declared_in_place, may_be_placed
from imbrex.transform.analysis.divided import Item, Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import Handle
from imbrex.transform.analysis.member_requests import own_members
from imbrex.transform.analysis.outliving import Outliving
from imbrex.transform.analysis.own_lists import own_lists
from imbrex.transform.analysis.paths import Path, contradict, exclusive
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.requests import Requests, started
from imbrex.transform.analysis.scratch import PartScratch
from imbrex.transform.analysis.transfer import Transfer, data_accesses
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement


class Scheduler:
    """Divides one routine."""

    def __init__(self, footprints: Footprints, routine: Routine) -> None:
        self.footprints = footprints
        self.routine = routine
        self.found = Schedule()
        self.blocked: list[tuple[Path, list[Access]]] = []  # of what is late
        self.changed: frozenset[str] = frozenset()  # what may differ from when that was looked at
        # Where a communication is late: the order of all further ones is kept.
        self.waiting: list[Path] = []
        self.requests = Requests(footprints, routine)
        self.outliving = Outliving(footprints, routine)
        # Of messages that the routine has under way by itself: what it does meanwhile cannot meet
        # them, or it would be wrong as it is.
        self.in_flight: list[tuple[Path, list[Access]]] = []
        self.set_here = footprints.changed_in(footprints.of_routine(routine))
        self.started: list[Path] = []  # where the routine starts messages by itself
        parts, asked = self._parts(routine.body.statements)
        self.scratch = PartScratch(footprints, routine, parts, asked)
        # Statements that call what begins an exchange, and those that call what ends it.
        beginnings = Beginnings(footprints)
        self.ends = beginnings.calls_in(routine)
        self.own_lists = own_lists(beginnings, routine)
        self.begins = {id(s) for begun in self.ends.values() for s in self._starting(begun)}
        self.begins |= self.own_lists.begins

    def run(self, transfers_of: dict[int, list[Transfer]], *, ahead: bool = False) -> Schedule:
        """`transfers_of`: by the identity of each call that may become nonblocking.

        `ahead`: blocking messages in front of all that is begun stay in the start as they are.
        """
        self.transfers_of, self.ahead = transfers_of, ahead
        above: list[Access] = []
        for statement in self.routine.body.statements:
            footprint = self.footprints.of(statement, self.routine.file)
            if statement.kind is Kind.DECLARE:
                problem = declared_in_place(self.footprints, self.routine, above, statement)
                if problem is None:
                    self.found.declarations.append(statement)
                    continue
                if not may_be_placed(self.footprints, self.routine, statement):
                    self.found.problem = problem
                    return self.found
            above += footprint.accesses
            if self._returns(statement) and self._has_begun_nothing():
                number = len(self.found.early) + len(self.found.late)
                works = len(statement.blocks[0].statements) > 1
                asked = list(statement.accesses if works else footprint.accesses)
                first = Item(statement, (), list(footprint.accesses), number=number)
                second = Item(statement, (), asked, number=number, only_asks=works)
                first.returns = second.returns = True
                self.found.early.append(first)
                self.found.late.append(second)
                continue
            if footprint.stop or footprint.leaves:
                self.found.problem = footprint.stop or footprint.leaves
                return self.found
            self._enter(statement, ())
            if self.found.problem:
                return self.found
        self._set_late()
        self._set_again()
        self.found.in_order = self._in_order()
        changed = next((item for item in self.found.late if self._is_changed(item)), None)
        if changed is not None:
            place = Location(self.routine.file, changed.statement.line)
            self.found.problem = Reason(ReasonKind.LEAVES(statement="return"), place)
        return self.found

    def _is_changed(self, item: Item) -> bool:
        """Whether an `if (...) return` may come to another end when the finish asks it again."""
        items = self.found.early + self.found.late
        behind = [a for other in items if other.number > item.number for a in other.accesses]
        changed = self.footprints.changed(behind)
        return item.returns and bool(self.footprints.conflict(item.accesses, behind, changed))

    def _in_order(self) -> bool:
        """Whether what communicates early stands in front of all that does late."""
        early, late = (
            [i.number for i in items if self.footprints.of(i.statement, self.routine.file).events]
            for items in (self.found.early, self.found.late)
        )
        return not self.found.transfers and max(early, default=-1) < min(late, default=1 << 30)

    def _returns(self, statement: Statement) -> bool:
        """Whether it is `if (...) return`, which each half may ask for itself.

        What it does ahead of the return changes nothing of what it asks.
        """
        if statement.kind is not Kind.IF or statement.condition is None or statement.stop:
            return False
        if len(statement.blocks) != 1:
            return False
        *ahead, last = statement.blocks[0].statements or [statement]
        if last.kind is not Kind.JUMP or last.text != "return":
            return False
        if last.stop or last.accesses or last.calls:
            return False
        whole = self.footprints.of(statement, self.routine.file)
        if whole.stop or whole.events:
            return False
        if not ahead:
            return not any(access.write for access in whole.accesses)
        each = [self.footprints.of(inner, self.routine.file) for inner in ahead]
        leaves = any(found.leaves for found in each)
        if leaves or statement.calls or any(access.write for access in statement.accesses):
            return False
        done = [access for found in each for access in found.accesses]
        changed = self.footprints.changed(done)
        return self.footprints.conflict(done, statement.accesses, changed) is None

    def _has_begun_nothing(self) -> bool:
        """Whether all above is done by the start alone, so that the finish can return first."""
        found = self.found
        late = [item for item in found.late if not item.returns]
        return not (late or found.transfers or found.held or found.begun or self.in_flight)

    def _set_again(self) -> None:
        """Let the finish compute anew what the start has, where that cannot have changed.

        What the value is made of counts as read by the finish.
        """
        wanted = {access.variable for item in self.found.late for access in item.accesses}
        known = self.footprints.program.set_once
        for item in reversed(self.found.early):
            sets = item.statement.sets
            if sets is not None and sets[0] in known and sets[0] in wanted and not item.path:
                self.found.late.append(item)
                wanted |= {access.variable for access in item.accesses}
        self.found.late.sort(key=lambda item: item.number)

    def _set_late(self) -> None:
        """Leave to the finish what sets local numbers for it alone, behind what is late already.

        Else a counter that begins anew behind the wait would carry its value across the window.
        """
        first = min((item.number for item in self.found.late if not item.returns), default=0)
        behind: list[Access] = []  # of what the start does further down
        for item in reversed(self.found.early):
            if item.number > first and self._sets_numbers(item) and self._wanted_late(item):
                changed = self.footprints.changed(behind + item.accesses)
                if self.footprints.conflict(item.accesses, behind, changed) is None:
                    self.found.early.remove(item)
                    self.found.late.append(item)
                    continue
            behind += item.accesses
        self.found.late.sort(key=lambda item: item.number)

    def _sets_numbers(self, item: Item) -> bool:
        """Whether a statement does nothing but set scalars of the routine's own."""
        variables = self.footprints.program.variables
        written = [variables.get(a.variable) for a in item.accesses if a.write]
        plain = item.statement.kind is Kind.SIMPLE and not (item.statement.calls or item.path)
        return (
            plain
            and bool(written)
            and all(
                v is not None and v.kind == "local" and not (v.bounds or v.pointer) for v in written
            )
            and not any(a.through for a in item.accesses if a.write)
        )

    def _wanted_late(self, item: Item) -> bool:
        """Whether a late statement further down uses what this one sets."""
        written = {access.variable for access in item.accesses if access.write}
        return any(
            other.number > item.number
            and any(access.variable in written for access in other.accesses)
            for other in self.found.late
        )

    def _enter(self, statement: Statement, path: Path) -> None:
        if not self.divisible(statement):
            self._place(statement, path)
            return
        for number, block in enumerate(statement.blocks):
            for child in block.statements:
                self._enter(child, (*path, (statement, number)))

    def _parts(self, statements: list[Statement]) -> tuple[list[Statement], list[Statement]]:
        """The statements that are early or late as a whole, and the conditionals around them."""
        parts: list[Statement] = []
        asked: list[Statement] = []
        for statement in statements:
            if not self.divisible(statement):
                parts.append(statement)
                continue
            asked.append(statement)
            for block in statement.blocks:
                inner = self._parts(block.statements)
                parts += inner[0]
                asked += inner[1]
        return parts, asked

    def divisible(self, statement: Statement) -> bool:
        """Whether a conditional may be taken apart: its conditions can be asked again later.

        What only gives names to variables may be.
        """
        if statement.names_alone:
            return bool(self.footprints.of(statement, self.routine.file).events)
        if statement.kind is not Kind.IF or statement.condition is None:
            return False
        if (
            statement.more_conditions is None
            or len(statement.more_conditions) != len(statement.blocks) - 1
        ):
            return False
        if not self.footprints.of(statement, self.routine.file).events:
            return False
        children = [child for block in statement.blocks for child in block.statements]
        if any(child.kind is Kind.DECLARE for child in children):
            return False
        inside = [a for c in children for a in self.footprints.of(c, self.routine.file).accesses]
        changed = self.footprints.changed(inside)
        return self.footprints.conflict(inside, statement.accesses, changed) is None

    def _place(self, statement: Statement, path: Path) -> None:
        footprint = self.footprints.of(statement, self.routine.file)
        accesses = list(footprint.accesses)
        for guard, _ in path:
            accesses += guard.accesses
        self.changed |= self.footprints.changed(accesses)
        call = self._call(statement)
        waiting = any(not self._apart(path, other) for other in self.waiting)
        number = len(self.found.early) + len(self.found.late)
        if call is not None and not waiting and not self._meets(accesses, path):
            transfers = self.transfers_of[id(call)]
            item = Item(statement, path, accesses, transfers, number=number)
            self.found.early.append(item)
            self.found.transfers += transfers
            for transfer in transfers:
                data = data_accesses(self.footprints.program, transfer)
                self.found.data[id(transfer)] = data
                self.blocked.append((path, data + self._status(transfer)))
            return
        item = Item(statement, path, accesses, number=number)
        names = {event.name for event in footprint.events}
        if id(statement) in self.begins and not waiting and not self._meets(accesses, path):
            self.found.early.append(item)
            return
        if id(statement) in self.begins - self.own_lists.begins:
            self.waiting.append(path)
            self.found.late.append(item)
            self.blocked.append((path, accesses))
            return
        if id(statement) in self.ends:
            self._end(item, self.ends[id(statement)])
            return
        lasting = names and names <= mpi_calls.PERSISTENT_STARTS and not waiting
        if lasting and not self._meets(accesses, path) and self._lasts(statement, path):
            self.found.early.append(item)
            return
        if names and self._own_requests(statement, path):
            if names <= mpi_calls.STARTS.keys() and not waiting and not self._meets(accesses, path):
                self.found.early.append(item)
                self._hold(statement, path)
                return
            waits = names & mpi_calls.COMPLETIONS
            self.found.released += self.own_lists.ended.get(id(statement), [])
            self.blocked += self.in_flight if waits else []
            self.in_flight = [] if waits else self.in_flight
            self.blocked.append((path, self.found.released if waits else []))
            if names <= mpi_calls.COMPLETIONS:
                self.found.waits.add(id(statement))
                self.found.late.append(item)
                self.blocked.append((path, accesses))
                return
            if waits:
                self.found.waits.add(id(statement))
            names -= mpi_calls.STARTS.keys() | mpi_calls.COMPLETIONS
        blocking = mpi_calls.BLOCKING.keys() | mpi_calls.BLOCKING_COLLECTIVES.keys()
        first = self.ahead and names and names <= blocking and self._has_begun_nothing()
        if first and not waiting and not self._meets(accesses, path):
            self.found.early.append(item)
            return
        if footprint.events or self._meets(accesses, path):
            if names - mpi_calls.BLOCKING.keys():
                name = next(e.name for e in footprint.events if e.name not in mpi_calls.BLOCKING)
                place = Location(self.routine.file, statement.line)
                self.found.problem = Reason(ReasonKind.ALSO_CALLS(call=name), place)
            self.waiting += [path] if footprint.events else []
            self.found.late.append(item)
            self.blocked.append((path, accesses))
            return
        self.found.early.append(item)

    def _status(self, transfer: Transfer) -> list[Access]:
        """Note what a wait does about a status that is read; what this touches."""
        sets = transfer.sets_status
        if sets is None or transfer.status is None:
            return []
        found = [sets, *transfer.status.reads]
        self.found.statuses += found
        return found

    def _end(self, item: Item, begun: Begun) -> None:
        """Leave a call to the finish that completes what calls of the start have begun."""
        early = {id(other.statement) for other in self.found.early}
        if all(id(statement) in early for statement in self._starting(begun)):
            self.found.begun += begun.calls
            self.found.released += begun.accesses
        self.blocked.append((item.path, item.accesses + begun.accesses))
        self.found.late.append(item)

    def _starting(self, begun: Begun) -> list[Statement]:
        """What begins it, of conditionals that are taken apart the statements in them."""
        found: list[Statement] = []
        for statement in begun.statements:
            inner = [statement] if not self.divisible(statement) else self._parts([statement])[0]
            found += [s for s in inner if self.footprints.of(s, self.routine.file).events]
        return found

    def _lasts(self, statement: Statement, path: Path) -> bool:
        """Note what persistent requests a statement starts; whether the routine waits for them."""
        started: list[Access] = []
        calls = [call for inner in statement.walk() for call in inner.calls]
        calls = [call for call in calls if call.name in mpi_calls.PERSISTENT_STARTS]
        for call in calls:
            data = self.outliving.persistent.started_by(self.routine, call)
            if data is None or request_argument(call).base not in self._waited_for():
                return False
            started += data
        self.found.begun += [
            Handle(self.routine, statement, call, "", None, always=not path) for call in calls
        ]
        self.found.released += started
        self.in_flight.append((path, started))
        self.started.append(path)
        return bool(calls)

    def _own_requests(self, statement: Statement, path: Path) -> bool:
        """Whether all is known that the waits in a statement complete."""
        found = False
        for inner in statement.walk():
            for call in inner.calls:
                if call.name in mpi_calls.BLOCKING:
                    continue
                if call.name not in mpi_calls.STARTS and call.name not in mpi_calls.COMPLETIONS:
                    if self.footprints.of_call(call, self.routine.file).events:
                        return False
                    continue
                argument = request_argument(call)
                if argument.base is None or not self._is_known(argument):
                    released = self._released(inner, call, path)
                    if released is None:
                        return False
                    self.found.released += released
                found = True
        return found

    def _is_known(self, argument: Argument) -> bool:
        """Whether a request is started and completed by the routine alone."""
        if argument.base in self.own_lists.keys:
            return True
        if argument.base is None:
            return False
        named = self.requests.is_named(argument)
        known = named and self.requests.uses(argument.base).problem is None
        return known or own_members(self.footprints, self.routine, argument.base)

    def _released(self, statement: Statement, call: Call, path: Path) -> list[Access] | None:
        """What else a wait completes, of a request that others may start."""
        if call.name in mpi_calls.STARTS:
            return [] if request_argument(call).base in self._waited_for() else None
        if all(exclusive(path, other) for other in self.started):
            return None  # it waits for what another call has started
        return self.outliving.released(statement, call)

    def _waited_for(self) -> set[str]:
        """The requests that the routine waits for itself."""
        calls = [call for statement in self.routine.statements() for call in statement.calls]
        return {
            request_argument(call).base or ""
            for call in calls
            if call.name in mpi_calls.COMPLETIONS
            and len(call.arguments) > mpi_calls.REQUEST_OF_COMPLETION[call.name]
        }

    def _hold(self, statement: Statement, path: Path) -> None:
        """Note what a statement starts by itself."""
        changed = self.footprints.changed_in(self.footprints.of(statement, self.routine.file))
        for inner in statement.walk():
            for call in inner.calls:
                transfer = started(call)
                if transfer is None:
                    continue
                if len(call.arguments) > mpi_calls.C_ARGUMENTS[call.name]:
                    transfer.error = call.arguments[-1]
                data = data_accesses(self.footprints.program, transfer)
                if inner is not statement:
                    data = self.footprints.later(data, changed)
                self.found.held.append(transfer)
                self.found.requested.add(request_argument(call).base or "")
                self.found.data[id(transfer)] = data
                self.in_flight.append((path, data))
                self.started.append(path)

    def _call(self, statement: Statement) -> Call | None:
        for call in statement.calls:
            if id(call) in self.transfers_of:
                return call
        return None

    def _meets(self, accesses: list[Access], path: Path) -> bool:
        """Whether something late must stay ahead; a section counts while its bounds stay."""
        blocked = [
            a for other, theirs in self.blocked if not self._apart(path, other) for a in theirs
        ]
        if blocked:
            accesses = [a for a in accesses if a.through or a.variable not in self.scratch]
        return self.footprints.conflict(accesses, blocked, self.changed) is not None

    def _apart(self, path: Path, other: Path) -> bool:
        """Whether one run of the routine never reaches both places."""
        return exclusive(path, other) or contradict(path, other, self.set_here)
