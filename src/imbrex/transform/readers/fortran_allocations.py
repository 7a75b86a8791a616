"""The arrays that an ALLOCATE names, and the bounds that it gives them."""

from __future__ import annotations

import re

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.allocation import Allocation
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_assignments import Assignments
from imbrex.transform.readers.fortran_components import Components
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    at_depth_zero,
    closing,
    split_arguments,
)
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope

_NUMBERS = ("integer", "real", "double", "complex", "logical", "type(mpi_")
_STATUS = re.compile(r"stat=([a-z_]\w*)")
_PLAIN = re.compile(r"[a-z_]\w*(?=\(|$)")


def allocations(
    names: Names, components: Components, scope: Scope, text: str
) -> tuple[Allocation, ...]:
    """Of `allocate(u(0:nx+1, ny), stat=ierr)` in small letters, without blanks.

    What takes its shape from others (`source=`, `mold=` without bounds), has a type of its own, or
    is a component of an object that is not named alone has bounds that are not known.
    """
    inside = text[len("allocate(") : closing(text, len("allocate"))]
    typed = [at for at in at_depth_zero(inside, ":") if inside.startswith("::", at)]
    listed = inside[typed[0] + 2 :] if typed else inside
    found = []
    for a, b in split_arguments(listed):
        item = listed[a:b]
        component = components.resolve(item, 0)
        owner, shape = "", None
        if component is not None:
            array = component.last
            one = component.holder and not component.part
            if one and component.subscripts is not None and component.end == len(item):
                owner = "" if array.record in names.single else component.holder
                shape = item[slice(*component.subscripts)]
        elif parts := list(at_depth_zero(item, "%")):
            last = item[parts[-1] + 1 :]
            found.append(Allocation("", f"%{last.partition('(')[0]}", ()))
            continue
        else:
            plain = _PLAIN.match(item)
            variable = None if plain is None else names.variable(scope, plain[0])
            if plain is None or variable is None:
                continue
            array = variable
            if item[plain.end() :] and closing(item, plain.end()) == len(item) - 1:
                shape = item[plain.end() + 1 : -1]
        bounds = _bounds(names, scope, shape) if not typed and shape is not None else []
        if len(bounds) != len(array.bounds):
            bounds = [(None, None)] * len(array.bounds)
        if array.allocatable:
            found.append(Allocation(owner, array.key, tuple(bounds)))
        _, pointers = names.pointers.get(array.key, ([], []))
        for pointer in pointers:  # it will have the bounds of what it points to
            also = Allocation("", pointer.key, tuple(bounds))
            found += [also] if also not in found else []
    return tuple(found)


def _bounds(names: Names, scope: Scope, shape: str) -> list[tuple[Affine | None, Affine | None]]:
    """The bounds that a list gives, one where only the upper one stands there."""
    bounds: list[tuple[Affine | None, Affine | None]] = []
    for low, high in split_arguments(shape):
        first, colon, last = shape[low:high].rpartition(":")
        ends = names.affine(scope, first) if colon else Affine(1), names.affine(scope, last)
        bounds.append(ends)
    return bounds


def plainly_allocates(reader: Assignments, line: LogicalLine, effects: Effects) -> bool:
    """Whether an ALLOCATE or DEALLOCATE does nothing but give or free memory of plain arrays.

    What it sets is entered: the arrays as a whole, and what asking for their bounds reads. Copies,
    messages of errors and objects of derived types, which may hold more, are not plain.
    """
    text = line.masked
    first = text.index("(") + 1
    stop = closing(text, first - 1)
    if stop != len(text) - 1:
        return False
    for a, b in split_arguments(text[first:stop]):
        start, end = first + a, first + b
        status = _STATUS.fullmatch(text, start, end)
        if status is not None:
            variable = reader.names.variable(reader.scope, status[1])
            if variable is None or variable.bounds or not variable.element.startswith("integer"):
                return False
            reader.write_to(line, status[1], effects)
            continue
        array = _array(reader, line, start, end, effects)
        if array is None:
            return False
        reader.touch(array, line, effects)
    return effects.stop is None and not effects.calls


def _array(
    reader: Assignments, line: LogicalLine, start: int, end: int, effects: Effects
) -> Variable | None:
    """The array that an item names, with or without bounds, which are read."""
    text = line.masked
    component = reader.components.resolve(text, start)
    if component is not None:
        if component.end != end or component.part or component.base.optional:
            return None
        array = component.last
        for a, b in component.inner:
            reader.read_bounds(line, a, b, effects)
    else:
        named = re.compile(r"[a-z_]\w*").match(text, start, end)
        variable = None if named is None else reader.names.variable(reader.scope, named[0])
        if named is None or variable is None:
            return None
        array, opening = variable, named.end()
        if opening != end:
            if text[opening] != "(" or closing(text, opening) != end - 1:
                return None
            reader.read_bounds(line, opening + 1, end - 1, effects)
    plain = array.allocatable and bool(bounds_of(array)) and not array.volatile
    plain = plain and array.element.startswith(_NUMBERS)
    known = array.key in reader.names.pointers or array.key not in reader.names.program.overlays
    return array if plain and known else None
