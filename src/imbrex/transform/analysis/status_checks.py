"""Variables of Fortran that take error codes of MPI and the status of other statements in turn.

`allocate(u(n), stat=ierr)` and `if (ierr /= 0) stop` behind it ask for no code of MPI, although
calls of MPI set the variable too: where nothing else reads it, nobody asks for theirs. A call that
moves must stay on its side of both statements, so that it does not set what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from imbrex.transform.analysis.success import STATUS
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement

_ENDS = frozenset({"MPI_Abort", "MPI_Finalize"})


def status_checks(
    program: Program, routine: Routine, key: str
) -> Iterator[tuple[Statement, Statement]]:
    """Each statement that sets a variable of the routine as a status, and the one that asks for it.

    The one stands directly behind the other, is reached in no other way, and calls nothing of MPI
    but what ends the program.
    """
    source = program.files.get(routine.file)
    if source is None or not source.is_fortran or not _has_status(source.data):
        return
    if program.variables[key].kind != "local":
        return
    for statement in routine.statements():
        block = statement.parent
        if statement.blocks or block is None or routine.meaning is None:
            continue
        text = source.data[statement.start : statement.end]
        names = [name.decode().lower() for name in STATUS.findall(text)]
        if key not in map(routine.meaning, names):
            continue
        behind = block.statements.index(statement) + 1
        if behind == len(block.statements):
            continue
        asking = block.statements[behind]
        calls = {call.name for inner in asking.walk() for call in inner.calls}
        labelled = any(
            inner.stop is not None and inner.stop.kind is ReasonKind.LABEL
            for inner in (statement, *asking.walk())
        )
        reads = any(a.variable == key and not a.write for a in asking.accesses)
        if reads and calls <= _ENDS and not labelled:
            yield statement, asking


def checked_statements(program: Program, routine: Routine) -> frozenset[int]:
    """The statements, by their identity, that no call of MPI with such a variable may pass."""
    source = program.files.get(routine.file)
    if source is None or not source.is_fortran or not _has_status(source.data):
        return frozenset()
    codes = {
        call.arguments[-1].base
        for statement in routine.statements()
        for call in statement.calls
        if call.name.startswith("MPI_") and call.arguments
    }
    pairs = [
        pair
        for key in sorted(filter(None, codes))
        if key in program.variables
        for pair in status_checks(program, routine, key)
    ]
    return frozenset(id(statement) for pair in pairs for statement in pair)


@lru_cache(maxsize=64)
def _has_status(data: bytes) -> bool:
    """Whether anything of a text is set as a status; this is asked for each call that may move."""
    return STATUS.search(data) is not None
