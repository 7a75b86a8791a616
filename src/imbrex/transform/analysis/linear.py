"""Linear arrays: every index of one array as those of the dimensions that some of them tell.

`u[j * n + i]` says that `u` has lines of `n` elements; then `u[n + 1]` is element 1 of line 1. What
the indices of loops are multiplied by says it best, whether the program has `(k * m + j) * n + i`,
`i + n * (j + m * k)` or `k * n * m + j * n + i`; else the way in which an index is written does.
Division has no remainder to prove: index = quotient * stride + rest holds as it stands, and where
sections are compared the rest must lie between 0 and the stride (`affine.within`).
"""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.sections import layout_of
from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.linear_indices import (
    Strides,
    has_product,
    index_of_parts,
    parts_of_index,
    strides_told,
)
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


def split_linear(program: Program) -> None:
    """Give the indices of linear arrays their dimensions; footprints become stale."""
    for routine in program.routines.values():
        counted = frozenset(s.loop.index for s in routine.statements() if s.loop is not None)
        known = _strides(program, routine) | _strides_of_loops(program, routine, counted)
        if not known:
            continue
        for statement in routine.statements():
            if any(_linear(program, a.variable, known) for a in statement.accesses):
                least = _least(statement)
                statement.accesses = [
                    _access(program, a, known, counted, least) for a in statement.accesses
                ]
            for call in statement.calls:
                for part in mpi_calls.TOLD.get(call.name, ()):
                    if len(call.arguments) > part.communicator:
                        _argument(program, call.arguments[part.buffer], known)


def _strides(program: Program, routine: Routine) -> dict[str, Strides]:
    """The strides of each linear array of a routine, where all that tell them agree."""
    found: dict[str, set[Strides]] = {}
    for statement in routine.statements():
        for access in statement.accesses:
            if access.strides:
                found.setdefault(access.variable, set()).add(access.strides)
        for call in statement.calls:
            for argument in call.arguments:
                if argument.strides and argument.base is not None:
                    found.setdefault(argument.base, set()).add(argument.strides)
            for base, stride in _vectors(program, call):
                found.setdefault(base, set()).add((stride,))
    return {key: strides.pop() for key, strides in found.items() if len(strides) == 1}


def _strides_of_loops(
    program: Program, routine: Routine, counted: frozenset[str]
) -> dict[str, Strides]:
    """The same by the indices of its loops, where those that tell the most of them agree."""
    found: dict[str, set[Strides]] = {}
    for statement in routine.statements() if counted else ():
        for access in statement.accesses:
            index = _index(access)
            if index is not None and _is_linear(program, access.variable):
                told = strides_told(index, counted)
                if told:
                    found.setdefault(access.variable, set()).add(told)
    longest = {key: max(map(len, told)) for key, told in found.items()}
    most = {key: [t for t in told if len(t) == longest[key]] for key, told in found.items()}
    return {key: told[0] for key, told in most.items() if len(told) == 1}


def _vectors(program: Program, call: Call) -> list[tuple[str, Affine]]:
    """Buffers of messages that are columns, and their strides."""
    found = []
    for part in mpi_calls.TOLD.get(call.name, ()):
        if len(call.arguments) > part.communicator:
            buffer = call.arguments[part.buffer]
            layout = layout_of(program, call.arguments[part.datatype])
            if layout is not None and layout.stride.terms and buffer.base is not None:
                found.append((buffer.base, layout.stride))
    return found


def _linear(program: Program, key: str, known: dict[str, Strides]) -> bool:
    return key in known and _is_linear(program, key)


def _is_linear(program: Program, key: str) -> bool:
    variable = program.variables.get(key)
    return variable is not None and len(variable.bounds) == 1


def _index(access: Access) -> Affine | None:
    """The one index of an element, where it is known."""
    section = access.section
    if section is None or len(section) != len(access.strides) + 1:
        return None
    parts = [span.low for span in section if span.low is not None and span.low == span.high]
    return index_of_parts(tuple(parts), access.strides) if len(parts) == len(section) else None


def _least(statement: Statement) -> dict[str, Affine]:
    """What the indices of the loops that a statement is in begin with."""
    found: dict[str, Affine] = {}
    inner: Statement | None = statement
    while inner is not None:
        if inner.loop is not None:
            found.setdefault(inner.loop.index, inner.loop.low)
        inner = inner.parent.owner if inner.parent is not None else None
    return found


def _access(
    program: Program,
    access: Access,
    known: dict[str, Strides],
    counted: frozenset[str],
    least: dict[str, Affine],
) -> Access:
    index = _index(access) if _linear(program, access.variable, known) else None
    if index is None or _is_divided(access, known[access.variable]):
        return access
    strides = known[access.variable]
    parts = list(parts_of_index(index, strides, counted))
    for position, stride in enumerate(strides):
        if _is_below_0(parts[position], least):  # `n + 2 + s`, of lines of n + 4, is in line 0
            parts[position] = parts[position].plus(stride)
            parts[position + 1] = parts[position + 1].plus(Affine(-1))
    return access._replace(section=tuple(map(Range.point, parts)), strides=strides)


def _is_below_0(index: Affine, least: dict[str, Affine]) -> bool:
    """Whether an index begins below 0 by its text."""
    begin = index.replace(lambda each: least.get(each, Affine.variable(each)))
    return begin is not None and begin.constant < 0 and all(by <= 0 for _, by in begin.terms)


def _is_divided(access: Access, strides: Strides) -> bool:
    """Whether it is written by these strides, and no index has more of its stride in it.

    `l * m * n + k * n + i` is written as line 0 of `l`, of which it takes element `k * n + i`.
    """
    if access.strides != strides or access.section is None:
        return False
    parts = [span.low for span in access.section if span.low is not None]
    return not any(has_product(part, by) for part, by in zip(parts, strides, strict=False))


def _argument(program: Program, argument: Argument, known: dict[str, Strides]) -> None:
    base, origin = argument.base or "", argument.origin
    if origin is None or not _linear(program, base, known) or argument.strides == known[base]:
        return
    parts = [index for index in origin if index is not None]
    if len(parts) == len(origin) == len(argument.strides) + 1:
        argument.origin = parts_of_index(
            index_of_parts(tuple(parts), argument.strides), known[base]
        )
        argument.strides = known[base]
