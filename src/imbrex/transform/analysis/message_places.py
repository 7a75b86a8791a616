"""What messages say of the sizes in their buffers' places: nothing begins in front of its array.

`MPI_Send(&u[ny * nx], nx, ...)` is a message of row `ny`, so that `ny` is not below 0 where it is
sent: then row `ny + 1`, which a receive beside it fills, is another one than row 0. It is the same
where the message is made by a routine of the program that is given that place.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.beginnings import find_beginnings
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.sections import layout_of, shape_at
from imbrex.transform.model.affine import Affine, surely_less
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_BEGUN = Affine(0)
_NEXT = [Affine(1), Affine(2), Affine(3)]  # behind as many layers of ghost cells


def note_places(program: Program, footprints: Footprints) -> None:
    """Note with each message what those beside it say: all of them are made, or none is."""
    makers = _Makers(program, footprints)
    several = [
        (routine, block)
        for routine in program.routines.values()
        for block in routine.body.every()
        if sum(len(_given(each)) for each in block.statements) > 1
    ]
    beginnings = find_beginnings(program, footprints.aliases) if several else frozenset()
    for routine, block in several:
        # What statements do is only asked for where one of these places says something.
        counts = set(makers.counts(block.statements))
        telling = any(
            fact.terms
            for statement in block.statements
            for buffer in _given(statement)
            for fact in _facts(program, footprints, beginnings, buffer, counts)
        )
        if not telling:
            continue
        if sum(len(makers.buffers(each, routine)) for each in block.statements) < 2:
            continue
        for run in _runs(makers, routine, block.statements):
            _note(makers, beginnings, routine, run)


def _given(statement: Statement) -> list[Argument]:
    """What may be the buffers of the messages that a statement makes."""
    calls = statement.calls if statement.kind is Kind.SIMPLE else ()
    return [argument for call in calls if call.is_statement for argument in call.arguments]


class _Makers:
    """What makes messages: calls of MPI, and of routines that do nothing but communicate."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self._known: dict[str, bool] = {}

    def buffers(self, statement: Statement, routine: Routine) -> list[Argument]:
        """The buffers of the messages that a statement makes whatever holds."""
        if statement.kind is not Kind.SIMPLE:
            return []
        found = []
        for call in statement.calls:
            if not call.is_statement:
                continue
            if call.name.startswith("MPI_"):
                parts = mpi_calls.PARTS.get(call.name, ())
                numbers = [p.buffer for p in parts if len(call.arguments) > p.communicator]
                found += [call.arguments[number] for number in numbers]
            elif self.returns(call, routine.file):
                found += call.arguments
        return found

    def counts(self, statements: list[Statement]) -> Iterator[Affine]:
        """The numbers of elements of the messages that calls of MPI make whatever holds."""
        for statement in statements:
            for call in statement.calls if statement.kind is Kind.SIMPLE else ():
                for part in mpi_calls.PARTS.get(call.name, ()):
                    if call.is_statement and len(call.arguments) > part.communicator:
                        count = call.arguments[part.count].value
                        layout = layout_of(self.program, call.arguments[part.datatype])
                        blocks = None if layout is None else layout.count
                        yield from (n for n in (count, blocks) if n is not None)

    def returns(self, call: Call, file: str) -> bool:
        """Whether what it calls communicates, if anything, and surely comes to its end."""
        if call.name.startswith("MPI_"):
            return call.name != "MPI_Abort"
        callee = None if call.unknown else self.program.callee(call.name, file)
        if callee is None:
            return False
        known = self._known.get(callee.key)
        if known is None:
            self._known[callee.key] = False  # one that calls itself may never end
            whole = self.footprints.of_routine(callee)
            known = whole.stop is None and bool(whole.events)
            known = known and all(
                self.returns(inner, callee.file)
                for statement in callee.statements()
                for inner in statement.calls
            )
            self._known[callee.key] = known
        return known


def _runs(
    makers: _Makers, routine: Routine, statements: list[Statement]
) -> Iterator[list[Statement]]:
    """Statements from the first message to the last, of which none is left out once one is made."""
    run: list[Statement] = []
    for statement in statements:
        found = makers.footprints.of(statement, routine.file)
        events = all(event.name.startswith("MPI_") for event in found.events)
        calls = [call for inner in statement.walk() for call in inner.calls]
        plain = all(makers.returns(call, routine.file) for call in calls)
        if found.stop or found.leaves or not events or not plain:
            yield run
            run = []
        else:
            run.append(statement)
    yield run


def _note(
    makers: _Makers, beginnings: frozenset[str], routine: Routine, run: list[Statement]
) -> None:
    footprints = makers.footprints
    making = [n for n, statement in enumerate(run) if makers.buffers(statement, routine)]
    if not making:
        return
    run = run[making[0] : making[-1] + 1]
    changed = footprints.changed_by(run, routine.file)
    counts = {count for count in makers.counts(run) if count.variables().isdisjoint(changed)}
    facts = {
        fact
        for statement in run
        for buffer in makers.buffers(statement, routine)
        for fact in _facts(makers.program, footprints, beginnings, buffer, counts)
        if fact.terms and fact.variables().isdisjoint(changed)
    }
    for statement in run if facts else ():
        for inner in statement.walk():
            for call in inner.calls:
                call.known |= facts


def _facts(
    program: Program,
    footprints: Footprints,
    beginnings: frozenset[str],
    buffer: Argument,
    counts: set[Affine],
) -> Iterator[Affine]:
    """What is not below 0 because a buffer's first element is one of its array.

    `counts`: those of the messages beside it, none of which is below 0.
    """
    variable = program.variables.get(buffer.base or "")
    if variable is None or not buffer.origin or buffer.whole:
        return
    if variable.rows:  # of vectors, none of which has an element below 0
        yield from (index for index in buffer.origin if index is not None)
    bounds = shape_at(program, variable, buffer) or []
    if not bounds and not (variable.pointer or buffer.strides):
        bounds = list(variable.bounds)
    for index, (low, high) in zip(buffer.origin, bounds, strict=False):
        if index is not None and low is not None:
            yield index.plus(low, -1)
        if index is not None and high is not None:
            yield high.plus(index, -1)
    slowest = buffer.origin[-1]
    begins = variable.key in beginnings or footprints.aliases.is_vector(variable.key)
    if not bounds and begins and slowest is not None and _in_line(variable, buffer, counts):
        yield slowest


def _in_line(variable: Variable, buffer: Argument, counts: set[Affine]) -> bool:
    """Whether the element is one of the line that its last index says.

    `u[i * n + 1]` is one of line `i` where `n` is above 1, as `m + 2` is for a message of `m`.
    """
    assert buffer.origin is not None
    faster = buffer.origin[:-1]
    lengths: list[Affine | None] = [*buffer.strides]
    lengths += [high and high.plus(Affine(1)) for _, high in variable.bounds]
    return all(
        index == _BEGUN or (index in _NEXT and surely_less(index, length, counts))
        for index, length in zip(faster, lengths, strict=False)
    )
