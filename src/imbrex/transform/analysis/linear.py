"""Linear arrays: every index of one array as those of the dimensions that some of them tell.

`u[j * n + i]` says that `u` has lines of `n` elements; then `u[n + 1]` is element 1 of line 1.
Division has no remainder to prove: index = quotient * stride + rest holds as it stands, and where
sections are compared the rest must lie between 0 and the stride (`affine.within`).
"""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.sections import layout_of
from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.linear_indices import Strides, parts_of_index
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Argument, Call, Program, Routine


def split_linear(program: Program) -> None:
    """Give the indices of linear arrays their dimensions; footprints become stale."""
    for routine in program.routines.values():
        known = _strides(program, routine)
        if not known:
            continue
        for statement in routine.statements():
            if any(_linear(program, a.variable, known) for a in statement.accesses):
                statement.accesses = [_access(program, a, known) for a in statement.accesses]
            for call in statement.calls:
                for part in mpi_calls.PARTS.get(call.name, ()):
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


def _vectors(program: Program, call: Call) -> list[tuple[str, Affine]]:
    """Buffers of messages that are columns, and their strides."""
    found = []
    for part in mpi_calls.PARTS.get(call.name, ()):
        if len(call.arguments) > part.communicator:
            buffer = call.arguments[part.buffer]
            layout = layout_of(program, call.arguments[part.datatype])
            if layout is not None and layout.stride.terms and buffer.base is not None:
                found.append((buffer.base, layout.stride))
    return found


def _linear(program: Program, key: str, known: dict[str, Strides]) -> bool:
    variable = program.variables.get(key)
    return key in known and variable is not None and len(variable.bounds) == 1


def _access(program: Program, access: Access, known: dict[str, Strides]) -> Access:
    section = access.section
    if access.strides or section is None or not _linear(program, access.variable, known):
        return access
    (only,) = section
    if only.low is None or only.low != only.high:
        return access
    strides = known[access.variable]
    parts = tuple(Range.point(part) for part in parts_of_index(only.low, strides))
    return access._replace(section=parts, strides=strides)


def _argument(program: Program, argument: Argument, known: dict[str, Strides]) -> None:
    origin = argument.origin
    if argument.strides or origin is None or not _linear(program, argument.base or "", known):
        return
    if len(origin) == 1 and origin[0] is not None:
        argument.strides = known[argument.base or ""]
        argument.origin = parts_of_index(origin[0], argument.strides)
