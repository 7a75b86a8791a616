"""Which nonblocking starts a wait may complete: the uses of a routine's own request variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.operations import own_operation
from imbrex.transform.analysis.request_arguments import request_argument, request_section
from imbrex.transform.analysis.transfer import Transfer, data_accesses
from imbrex.transform.model.affine import Section, disjoint
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import BY_POINTER, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_PRESET = re.compile(
    r"=\s*((\{\s*)?MPI_REQUEST_NULL\s*(,\s*MPI_REQUEST_NULL\s*)*(\}\s*)?|0\s*);?\s*$",
    re.IGNORECASE,
)


def passed_to(request: str, call: str) -> Cause:
    """Why a request that a call gets is not known any more."""
    if re.fullmatch(r"MPI_\w+_init", call):
        return ReasonKind.REQUEST_PERSISTENT(request=request, call=call)
    return ReasonKind.REQUEST_PASSED(request=request, routine=call)


def presets(data: bytes, statement: Statement) -> bool:
    """A declaration without another value, or an assignment of MPI_REQUEST_NULL, or of 0."""
    if statement.blocks:
        return False
    text = data[statement.start : statement.end].decode(errors="replace")
    if statement.kind is Kind.DECLARE and (statement.begins_unused or "=" not in text):
        return True
    return _PRESET.search(text) is not None


@dataclass(slots=True)
class RequestUses:
    """All that a routine does with one of its request variables."""

    starts: list[tuple[Statement, Transfer]] = field(default_factory=list)
    problem: Reason | None = None  # why not all of its uses are known


def started(call: Call) -> Transfer | None:
    """The transfer that a nonblocking call starts; None for other calls and wrong arguments."""
    part = mpi_calls.STARTS.get(call.name)
    request = mpi_calls.REQUEST_OF_START.get(call.name, -1)
    if part is None or len(call.arguments) <= request or own_operation(call) is not None:
        return None
    memory = []
    if part.direction == "collective":
        for position, mode in mpi_calls.EFFECTS[call.name].items():
            argument = call.arguments[position]
            if position != request and argument.constant != "MPI_IN_PLACE":
                memory.append((argument, mode == "w"))
    return Transfer(call, part, call.arguments[part.buffer], memory=memory)


class Requests:
    """The request variables of one routine."""

    def __init__(self, footprints: Footprints, routine: Routine) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.routine = routine
        self.known: dict[str, RequestUses] = {}

    def completed_by(self, wait: Call) -> list[tuple[Statement, Transfer]] | Reason:
        """Every start whose request the wait may be about, or why that is not known."""
        argument = request_argument(wait)
        if not self.is_named(argument):
            return self._reason(ReasonKind.REQUEST_FOREIGN(), wait.line)
        assert argument.base is not None
        uses = self.uses(argument.base)
        if uses.problem is not None:
            return uses.problem
        mine = constant(request_section(wait, self.program))
        return [
            (statement, transfer)
            for statement, transfer in uses.starts
            # What a list takes from a variable may be in any of its elements.
            if request_argument(transfer.call).base != argument.base
            or not disjoint(mine, constant(request_section(transfer.call, self.program)))
        ]

    def is_named(self, argument: Argument) -> bool:
        """Whether a request is a variable, or an element of one, and not what a pointer names."""
        if argument.base is None:
            return False
        return not argument.through or argument.base in self.program.request_lists

    def is_own(self, key: str) -> bool:
        """Whether a request is a variable that ends with the routine."""
        variable = self.program.variables.get(key)
        return variable is not None and variable.kind == "local"

    def uses(self, key: str) -> RequestUses:
        if key not in self.known:
            self.known[key] = self._find(key)
        return self.known[key]

    def _find(self, key: str) -> RequestUses:
        found = RequestUses()
        variable = self.program.variables.get(key)
        if variable is None or not self.is_own(key):
            name = key if variable is None else variable.name
            text = ReasonKind.REQUEST_NOT_LOCAL(request=name)
            found.problem = self._reason(text, self.routine.line)
            return found
        name = variable.name
        for how in sorted(self.program.overlays.get(key, set())):
            text = ReasonKind.OVERLAID(variable=name, how=how)
            if how == BY_POINTER:
                text = ReasonKind.REQUEST_POINTER(request=name)
            found.problem = self._reason(text, self.routine.line)
        for target in self.program.holders(key):
            if not target.startswith("argument:MPI_"):
                text = ReasonKind.REQUEST_COPIED(request=name)
                found.problem = self._reason(text, self.routine.line)
        for statement in self.routine.statements():
            self._statement(key, statement, found)
        for listed in sorted(self.program.request_lists.get(key, ())):
            inner = self.uses(listed)
            found.starts += inner.starts
            found.problem = found.problem or inner.problem
        return found

    def _statement(self, key: str, statement: Statement, found: RequestUses) -> None:
        name = self.program.variables[key].name
        passed = False
        for call in statement.calls:
            positions = [n for n, other in enumerate(call.arguments) if other.base == key]
            if not positions:
                continue
            passed = True
            transfer = started(call)
            expected = mpi_calls.REQUEST_OF_START.get(call.name)
            if transfer is None:
                expected = mpi_calls.REQUEST_OF_WAIT.get(call.name)
            expected = mpi_calls.REQUEST_OF_PROGRESS.get(call.name, expected)
            if positions != [expected]:
                text = passed_to(name, call.name)
                found.problem = found.problem or self._reason(text, call.line)
            elif transfer is not None:
                found.starts.append((statement, transfer))
        change = statement.list_change
        own = change is not None and change.key in self.program.request_lists
        if key in self.program.request_lists or (own and change and change.taken == key):
            return
        for access in statement.accesses:
            if access.variable != key or passed or statement.allocation:
                continue
            source = self.program.files.get(self.routine.file)
            if not access.write or source is None or not presets(source.data, statement):
                text = ReasonKind.REQUEST_USED(request=name)
                found.problem = found.problem or self._reason(text, access.line)

    def _reason(self, cause: Cause, line: int) -> Reason:
        return Reason(cause, Location(self.routine.file, line))

    def released(self, wait: Statement, starts: list[tuple[Statement, Transfer]]) -> list[Access]:
        """The memory of the transfers, in terms of what holds where the wait stands."""
        found = []
        for start, transfer in starts:
            changed = self._changed_between(start, wait)
            found += self.footprints.later(data_accesses(self.program, transfer), changed)
        return found

    def _changed_between(self, start: Statement, wait: Statement) -> frozenset[str] | None:
        """Variables that may differ at the wait; None where that is not known."""
        changed: frozenset[str] = frozenset()
        statements = self._between(start, wait)
        for statement in statements:
            if statement.removed:
                continue
            footprint = self.footprints.of(statement, self.routine.file)
            if footprint.stop is not None:
                return None
            changed |= self.footprints.changed_in(footprint)
        return changed if statements else None

    @staticmethod
    def _between(start: Statement, wait: Statement) -> list[Statement]:
        """The statements that may run from the start to the wait: what contains the start first.

        Where the start does not stand in front of the wait in the block of this, it may be of an
        iteration before: the outermost loop around both is all of them. Empty where none is known.
        """
        enclosing = {id(block): inner for block, inner in _surroundings(start)}
        found: list[Statement] = []
        for block, inner in _surroundings(wait):
            first = enclosing.get(id(block))
            if first is None:
                continue
            begin, end = block.statements.index(first), block.statements.index(inner)
            if not found and begin < end:
                if inner is wait:
                    return block.statements[begin:end]
                found = block.statements[begin : end + 1]
            if block.owner is not None and block.owner.kind is Kind.LOOP:
                found = [block.owner]
        return found


def _surroundings(statement: Statement) -> Iterator[tuple[Block, Statement]]:
    """The blocks around a statement from within, each with what contains the statement there."""
    inner: Statement | None = statement
    while inner is not None and inner.parent is not None:
        yield inner.parent, inner
        inner = inner.parent.owner


def constant(section: Section | None) -> Section | None:
    """The section if its bounds are numbers."""
    if section is None or any(dimension.variables() for dimension in section):
        return None
    return section


def between(start: Statement, wait: Statement) -> tuple[Block, int, int] | None:
    """The innermost common block, and the positions of what contains start and wait in it."""
    above: dict[int, Statement] = {}
    inner: Statement | None = start
    while inner is not None and inner.parent is not None:
        above[id(inner.parent)] = inner
        inner = inner.parent.owner
    inner = wait
    while inner is not None and inner.parent is not None:
        first = above.get(id(inner.parent))
        if first is not None:
            block = inner.parent
            low, high = block.statements.index(first), block.statements.index(inner)
            return (block, low, high) if low < high else None
        inner = inner.parent.owner
    return None
