"""Functions that are read more than once: of a header, or of one name in several files."""

from __future__ import annotations

from imbrex.transform.model.reasons import TWICE, ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement


def read_again(known: Routine, routine: Routine) -> None:
    """Note a function of a name that is known: of the same header, or another one."""
    place = (known.file, known.body.start) == (routine.file, routine.body.start)
    if place and _is_same(known, routine):
        return
    differs = ReasonKind.HEADER_DIFFERS(file=routine.file)
    known.problem = differs if place else TWICE
    start, line = known.body.start, known.line
    stop = differs if place else ReasonKind.FUNCTION_NAME_TWICE(routine=known.name)
    known.body.statements.append(Statement(Kind.OPAQUE, start, start, line, line, stop=stop))


def _is_same(known: Routine, other: Routine) -> bool:
    """Whether a function of a header is read in one file as it was in another."""
    return (
        (known.file, known.scope, known.parameters) == (other.file, other.scope, other.parameters)
        and known.visible is other.visible
        and _are_alike(known.body, other.body)
    )


def _are_alike(first: Block, second: Block) -> bool:
    return (first.start, first.end, len(first.statements)) == (
        second.start,
        second.end,
        len(second.statements),
    ) and all(map(_do_alike, first.statements, second.statements))


def _do_alike(first: Statement, second: Statement) -> bool:
    return (
        all(getattr(first, name) == getattr(second, name) for name in _READ)
        and len(first.blocks) == len(second.blocks)
        and all(map(_are_alike, first.blocks, second.blocks))
    )


# What reading says of a statement; its blocks are compared apart.
_READ = (
    "kind",
    "start",
    "end",
    "accesses",
    "calls",
    "loop",
    "stop",
    "leaves",
    "condition",
    "test",
    "more_tests",
    "more_conditions",
    "code_start",
    "computes",
    "sets",
    "assigned",
    "span",
    "asks",
    "holding",
    "failing",
)
