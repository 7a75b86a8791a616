"""Which arrays of Fortran are received apart from their place, and what is selected of them."""

from __future__ import annotations

import re
from collections.abc import Set

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.sections import as_number, shape_at
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.received_text import Selected

_ELEMENTS = re.compile(
    r"double (?:precision|complex)|(?:real|integer|complex|logical)(?:\*\d+|\(\d+\))?"
)
_INTRINSICS = ("lbound", "ubound", "mod")  # what the text uses, unless the program has its own
ARGUMENTS = (9, 10)  # without the error code, and with it


def selected(
    program: Program, routine: Routine, loop: Statement, call: Call, changed: Set[str]
) -> Selected | None:
    """What is received of an array in one call; None where it is not all, or not the first of it.

    `changed`: what the loop that the memory is for sets.
    """
    source = program.files[routine.file]
    buffer, number, datatype, *_ = call.arguments
    variable = program.variables.get(buffer.base or "")
    if variable is None or source.language is not Language.FORTRAN_FREE:
        return None
    if routine.declare_after < 0:
        return None
    if variable.pointer or variable.scattered or variable.optional or variable.kind == "field":
        return None
    if _ELEMENTS.fullmatch(variable.element) is None:
        return None
    if variable.element not in mpi_calls.ELEMENT_OF.get(datatype.constant, frozenset()):
        return None
    if not variable.bounds or number.value is None or changed & set(bounds_of(variable)):
        return None
    if variable.allocatable and not _is_allocated(variable, loop):
        return None
    extents = shape_at(program, variable, buffer) or list(variable.bounds)
    lows = [low for low, _ in extents]
    if not buffer.whole and (buffer.origin is None or list(buffer.origin) != lows):
        return None
    if routine.meaning is None or any(routine.meaning(each) for each in _INTRINSICS):
        return None
    count, low = number.text.strip(), lows[0]
    if len(lows) == 1 and low is not None and not low.terms:
        known = low == Affine(1) or _fills(program, extents, number.value)
        return Selected(str(low.constant), count) if known else None
    return Selected("", count) if _fills(program, extents, number.value) else None


def _fills(
    program: Program, extents: list[tuple[Affine | None, Affine | None]], number: Affine
) -> bool:
    """Whether so many elements are all of an array."""
    for named in (True, False):
        size: Affine | None = Affine(1)
        for low, high in extents:
            if not named:
                low, high = as_number(program, low), as_number(program, high)
            if low is None or high is None or size is None:
                return False
            size = size.product(high.plus(low, -1).plus(Affine(1)))
        count = number if named else as_number(program, number)
        if size is not None and size == count:
            return True
    return False


def _is_allocated(variable: Variable, loop: Statement) -> bool:
    """Whether a statement that is always run in front of a loop allocates an array."""
    keys, at = set(bounds_of(variable)), loop
    while at.parent is not None and keys:
        block = at.parent
        for statement in reversed(block.statements[: block.statements.index(at)]):
            sets = {access.variable for access in statement.accesses if access.write}
            if keys <= sets and not statement.blocks:
                return any(each.array == variable.key for each in statement.allocates)
        if block.owner is None:
            return False
        at = block.owner
    return False
