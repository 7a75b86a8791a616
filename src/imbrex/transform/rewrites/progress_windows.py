"""What lies between a start and its wait, also where they are in routines of their own.

A progress call completes nothing, so that a window that is not one costs time and no more: what may
be under way is found by the variables that requests are kept in, without proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.request_arguments import request_argument, request_position
from imbrex.transform.analysis.requests import Requests, between
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Statement


@dataclass(slots=True)
class Window:
    """The statements between a start and its wait, in one block of `routine`.

    `call` in `wait` completes the message, in the routine `waiting`: this one or one that it calls.
    """

    routine: Routine
    waiting: Routine
    wait: Statement
    call: Call
    statements: list[Statement]
    request: str | None  # in the words of the program, where exactly one is surely set


@dataclass(slots=True)
class Use:
    """A statement that starts or completes messages, itself or in what it calls.

    `routine`, `within` and `call`: where the call of MPI is.
    """

    statement: Statement
    starts: bool
    routine: Routine
    within: Statement
    call: Call

    @property
    def direct(self) -> bool:
        return self.statement is self.within


class Windows:
    """All windows of a program."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self._uses: dict[str, dict[str, list[Use]]] = {}
        self._open: list[str] = []  # routines being looked at, for recursion

    def find(self) -> Iterator[Window]:
        for routine in self.program.routines.values():
            if routine.file in self.program.files:
                yield from self._within(routine)
                yield from self._across(routine)

    def _within(self, routine: Routine) -> Iterator[Window]:
        requests = Requests(self.footprints, routine)
        starts = [s for s in routine.statements() if any(map(_starts, s.calls))]
        for wait in routine.statements() if starts else ():
            for call in wait.calls:
                if call.name not in mpi_calls.REQUEST_OF_WAIT:
                    continue
                found = requests.completed_by(call)
                if isinstance(found, Reason):
                    base = _base(call)
                    begun = [s for s in starts if any(_base(c) == base for c in s.calls)]
                else:
                    begun = [start for start, _ in found]
                spans = _widest(begun, wait)
                if spans is None:
                    continue
                block, first, last = spans
                alone = len(begun) == 1 and block.statements[first] is begun[0]
                request = None
                if alone and call.name == "MPI_Wait":
                    request = request_argument(call).text.strip()
                inside = block.statements[first + 1 : last]
                yield Window(routine, routine, wait, call, inside, request)

    def _across(self, routine: Routine) -> Iterator[Window]:
        """Windows whose start or whose wait is in a routine that this one calls."""
        for uses in self.uses(routine).values():
            starts: list[Use] = []
            awaited = False
            for use in uses:
                if use.starts:
                    # The first start behind a wait begins the next messages.
                    starts = [use] if awaited else [*starts, use]
                    awaited = False
                    continue
                awaited = True
                begun = [s.statement for s in starts if not (s.direct and use.direct)]
                spans = _widest(begun, use.statement)
                if spans is not None:
                    block, first, last = spans
                    inside = block.statements[first + 1 : last]
                    yield Window(routine, use.routine, use.within, use.call, inside, None)

    def uses(self, routine: Routine) -> dict[str, list[Use]]:
        """The uses of each request variable, in the order of the text."""
        known = self._uses.get(routine.key)
        if known is None:
            known = {}
            self._open.append(routine.key)
            for statement in routine.statements():
                for call in statement.calls:
                    for key, use in self._of_call(routine, statement, call):
                        known.setdefault(key, []).append(use)
            self._open.pop()
            self._uses[routine.key] = known
        return known

    def _of_call(
        self, routine: Routine, statement: Statement, call: Call
    ) -> Iterator[tuple[str, Use]]:
        if _starts(call) or call.name in mpi_calls.REQUEST_OF_WAIT:
            base = _base(call)
            if base is not None:
                yield base, Use(statement, _starts(call), routine, statement, call)
            return
        callee = self.program.routines.get(call.name)
        if callee is None or callee.key in self._open:
            return
        for key, inner in self.uses(callee).items():
            here = self._here(callee, call, key)
            if here is None:
                continue
            # What ends in the callee as it began there is no window of the caller.
            if not inner[0].starts:
                first = inner[0]
                yield here, Use(statement, False, first.routine, first.within, first.call)
            if inner[-1].starts:
                last = inner[-1]
                yield here, Use(statement, True, last.routine, last.within, last.call)

    def _here(self, callee: Routine, call: Call, key: str) -> str | None:
        """The caller's variable for one of the callee; None for what ends with the callee."""
        if key in callee.parameters:
            position = callee.parameters.index(key)
            return call.arguments[position].base if position < len(call.arguments) else None
        variable = self.program.variables.get(key)
        return None if variable is None or variable.kind == "local" else key


def _starts(call: Call) -> bool:
    return call.name in mpi_calls.STARTS


def _base(call: Call) -> str | None:
    """The variable that holds the request of a start or a wait."""
    if not (_starts(call) or call.name in mpi_calls.REQUEST_OF_WAIT):
        return None
    position = request_position(call)
    return call.arguments[position].base if position < len(call.arguments) else None


def _widest(starts: list[Statement], wait: Statement) -> tuple[Block, int, int] | None:
    """The block where the earliest start and the wait are, and their places in it."""
    found: tuple[Block, int, int] | None = None
    for start in starts:
        spans = between(start, wait)
        if spans is not None and (found is None or spans[0] is found[0]):
            block, first, last = spans
            found = block, first if found is None else min(first, found[1]), last
    return found
