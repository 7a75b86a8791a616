"""What messages say of the sizes in their buffers' places: nothing begins in front of its array.

`MPI_Send(&u[ny * nx], nx, ...)` is a message of row `ny`, so that `ny` is not below 0 where it is
sent: then row `ny + 1`, which a receive beside it fills, is another one than row 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.beginnings import find_beginnings
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.sections import shape_at
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_BEGUN = Affine(0)


def note_places(program: Program, footprints: Footprints) -> None:
    """Note with each message what those beside it say: all of them are made, or none is."""
    several = [
        (routine, block)
        for routine in program.routines.values()
        for block in routine.body.every()
        if sum(map(len, map(_messages, block.statements))) > 1
    ]
    beginnings = find_beginnings(program, footprints.aliases) if several else frozenset()
    for routine, block in several:
        for run in _runs(footprints, routine, block.statements):
            _note(program, footprints, beginnings, routine, run)


def _runs(
    footprints: Footprints, routine: Routine, statements: list[Statement]
) -> Iterator[list[Statement]]:
    """Statements from the first message to the last, of which none is left out once one is made."""
    run: list[Statement] = []
    for statement in statements:
        found = footprints.of(statement, routine.file)
        events = all(event.name.startswith("MPI_") for event in found.events)
        calls = [call for inner in statement.walk() for call in inner.calls]
        plain = all(c.name.startswith("MPI_") and c.name != "MPI_Abort" for c in calls)
        if found.stop or found.leaves or not events or not plain:
            yield run
            run = []
        else:
            run.append(statement)
    yield run


def _note(
    program: Program,
    footprints: Footprints,
    beginnings: frozenset[str],
    routine: Routine,
    run: list[Statement],
) -> None:
    making = [n for n, statement in enumerate(run) if _messages(statement)]
    if not making:
        return
    run = run[making[0] : making[-1] + 1]
    changed = footprints.changed_by(run, routine.file)
    facts = {
        fact
        for statement in run
        for buffer in _messages(statement)
        for fact in _facts(program, footprints, beginnings, buffer)
        if fact.terms and fact.variables().isdisjoint(changed)
    }
    for statement in run if facts else ():
        for inner in statement.walk():
            for call in inner.calls:
                call.known |= facts


def _messages(statement: Statement) -> list[Argument]:
    """The buffers of the messages that a statement makes whatever holds."""
    if statement.kind is not Kind.SIMPLE:
        return []
    return [
        call.arguments[part.buffer]
        for call in statement.calls
        if call.is_statement
        for part in mpi_calls.PARTS.get(call.name, ())
        if len(call.arguments) > part.communicator
    ]


def _facts(
    program: Program, footprints: Footprints, beginnings: frozenset[str], buffer: Argument
) -> Iterator[Affine]:
    """What is not below 0 because a buffer's first element is one of its array."""
    variable = program.variables.get(buffer.base or "")
    if variable is None or not buffer.origin or buffer.whole:
        return
    bounds = shape_at(program, variable, buffer) or []
    if not bounds and not (variable.pointer or buffer.strides):
        bounds = list(variable.bounds)
    for index, (low, high) in zip(buffer.origin, bounds, strict=False):
        if index is not None and low is not None:
            yield index.plus(low, -1)
        if index is not None and high is not None:
            yield high.plus(index, -1)
    *faster, slowest = buffer.origin
    begins = variable.key in beginnings or footprints.aliases.is_vector(variable.key)
    if not bounds and begins and slowest is not None and all(index == _BEGUN for index in faster):
        yield slowest
