"""Which elements of an array a message is made of: a run of elements, or the blocks of a vector."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice, product

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.told import told
from imbrex.transform.model.affine import ARROW, Affine, Fit, Range, Section, surely_less
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.linear_indices import whole_lines
from imbrex.transform.model.memory import Layout, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.shapes import extent_of

_NUMBERS_OF_C = frozenset({"double", "float", "int", "long", "short", "unsigned"})
_MOST = 16  # ways to tell the extents of an array that are tried
Extents = list[tuple[Affine | None, Affine | None]]


def buffer_section(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Section | None:
    """The elements of its variable that a message is made of; None where they are not known."""
    found = _elements(program, call, part) or _elements(program, call, part, named=False)
    found = found or _in_given(program, call, part) or _in_names(program, call, part)
    if found is None and part.buffer in call.within_line:
        return line_section(program, call, part)
    return found


def _in_given(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Section | None:
    """The same of a dummy of assumed shape, by what all callers give it the extents of."""
    variable = program.variables.get(call.arguments[part.buffer].base or "")
    if variable is None or not variable.assumed_shape:
        return None
    symbols = [extent_of(variable.key, number) for number in range(len(variable.bounds))]
    known = [symbol for symbol in symbols if symbol in program.given_extents]
    choices = product(*(program.given_extents[symbol] for symbol in known))
    for chosen in islice(choices, _MOST if known else 0):
        found = _elements(program, call, part, extents=dict(zip(known, chosen, strict=True)))
        if found is not None:
            return found
    return None


def _in_names(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Section | None:
    """The same by what the routine calls sizes that other routines name otherwise."""
    argument = call.arguments[part.buffer]
    variable = program.variables.get(argument.base or "")
    shape = None if variable is None or not call.given else shape_at(program, variable, argument)
    if shape is None:
        return None
    layout = layout_of(program, call.arguments[part.datatype])
    sizes = () if layout is None else (layout.count, layout.length, layout.stride)
    ends = [high for _, high in shape[:-1] if high is not None]
    used: set[str] = set()
    for value in (*(argument.origin or ()), *(each.value for each in call.arguments)):
        used |= set() if value is None else value.variables()
    choices = product(
        *(dict.fromkeys((value, *told(value, call.given, used))) for value in (*ends, *sizes))
    )
    for chosen in islice(choices, _MOST if len(ends) == len(shape) - 1 else 0):
        faster = [(low, high) for (low, _), high in zip(shape, chosen, strict=False)]
        made = None if layout is None else Layout(layout.element, *chosen[len(ends) :])
        bounds = [*faster[: len(ends)], shape[-1]]
        found = _elements(program, call, part, bounds=bounds, layout=made)
        if found is not None:
            return found
    return None


def _elements(
    program: Program,
    call: Call,
    part: mpi_calls.PointToPoint,
    *,
    named: bool = True,
    extents: Mapping[str, Affine] | None = None,
    bounds: Extents | None = None,
    layout: Layout | None = None,
) -> Section | None:
    """The same; `named`: with bounds of allocatable arrays in terms of variables that set them.

    `extents`: what those of a dummy of assumed shape are. `bounds`, `layout`: where they are known.
    """
    argument = call.arguments[part.buffer]
    variable = program.variables.get(argument.base or "")
    count = call.arguments[part.count].value
    if variable is None or argument.origin is None or count is None:
        return _given(program, call, part)
    first = [index for index in argument.origin if index is not None]
    if len(first) != len(argument.origin):
        return _given(program, call, part)
    if not variable.bounds or variable.scattered:
        return None
    layout = layout or _layout(program, call.arguments[part.datatype])
    size_bytes = variable.element_bytes or _in_bytes(variable, layout)
    if size_bytes:
        scaled = _in_structures(layout, count, size_bytes)
        if scaled is None:
            return None
        layout, count = scaled
    elif variable.element not in mpi_calls.ELEMENT_OF.get(layout.element, frozenset()):
        return None
    if len(first) != len(variable.bounds) + len(argument.strides):
        return None
    bounds = bounds or _extents(program, variable, argument)
    if not named:
        bounds = [(as_number(program, low), as_number(program, high)) for low, high in bounds]
    if extents:
        bounds = [(_told(low, extents), _told(high, extents)) for low, high in bounds]
    if layout.count == Affine(1):
        number = count.product(layout.length)
        if variable.rows:  # no message goes on from one into the next
            rest = (Range.point(index) for index in first[1:])
            return (Range(first[0], first[0].plus(number).plus(Affine(1), -1)), *rest)
        return _run(first, bounds, number) or _given(program, call, part)
    if count != Affine(1):
        return None  # where the second begins depends on the type's extent
    return _vector(first, bounds, len(argument.strides), layout)


def _told(bound: Affine | None, extents: Mapping[str, Affine]) -> Affine | None:
    """A bound with the values of extents in the place of their names."""
    if bound is None or bound.variables().isdisjoint(extents):
        return bound
    return bound.replace(lambda name: extents.get(name, Affine.variable(name)))


def _in_bytes(variable: Variable, layout: Layout) -> int:
    """The size of a number of C of which a message is told in bytes; 0 where it is none.

    Options of a compiler change the sizes of Fortran's numbers.
    """
    if layout.element != "MPI_BYTE" or variable.element.split(" ")[0] not in _NUMBERS_OF_C:
        return 0
    sizes = {
        mpi_calls.ELEMENT_SIZE[name]
        for name, elements in mpi_calls.ELEMENT_OF.items()
        if variable.element in elements and name in mpi_calls.ELEMENT_SIZE
    }
    return sizes.pop() if len(sizes) == 1 else 0


def _in_structures(layout: Layout, count: Affine, size_bytes: int) -> tuple[Layout, Affine] | None:
    """A message of numbers as one of whole structures; None where it is none."""
    number = mpi_calls.ELEMENT_SIZE.get(layout.element)
    if number is None:
        return None
    if layout.count == Affine(1):
        length = count.product(layout.length).times(number).share(size_bytes)
        one = Layout(layout.element, Affine(1), Affine(1), Affine(1))
        return None if length is None else (one, length)
    length, stride = (of.times(number).share(size_bytes) for of in (layout.length, layout.stride))
    if length is None or stride is None:
        return None
    return Layout(layout.element, layout.count, length, stride), count


def buffer_fit(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Fit | None:
    """Where a message of elements one after the other is, if it fits into the lines that it begins.

    `call mpi_send(u(1, ny), nx, ...)` is one of row `ny` where `nx` is no more than `ubound(u, 1)`.
    """
    section = line_section(program, call, part)
    variable = program.variables.get(call.arguments[part.buffer].base or "")
    high = None if section is None or variable is None else variable.bounds[0][1]
    if section is None or high is None or section[0].high is None:
        return None
    return Fit(section, high.plus(section[0].high, -1))


def message_fit(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Fit | None:
    """The same, also of a message that is a column of an array of assumed shape."""
    return buffer_fit(program, call, part) or _column_fit(program, call, part)


def _column_fit(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Fit | None:
    """Where a vector of single elements is, if its stride is the length of the array's lines."""
    argument = call.arguments[part.buffer]
    variable = program.variables.get(argument.base or "")
    layout = layout_of(program, call.arguments[part.datatype])
    if variable is None or layout is None or argument.origin is None or argument.strides:
        return None
    if not variable.assumed_shape or variable.scattered or len(variable.bounds) != 2:
        return None
    if variable.element not in mpi_calls.ELEMENT_OF.get(layout.element, frozenset()):
        return None
    line, first = argument.origin
    extent = _extent(*variable.bounds[0])
    once = call.arguments[part.count].value == Affine(1) and layout.length == Affine(1)
    if line is None or first is None or extent is None or not once:
        return None
    last = first.plus(layout.count).plus(Affine(1), -1)
    return Fit((Range.point(line), Range(first, last)), extent.plus(layout.stride, -1), exact=True)


def line_section(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Section | None:
    """The elements of a message that ends in the line of the array that it begins."""
    argument = call.arguments[part.buffer]
    variable = program.variables.get(argument.base or "")
    count = call.arguments[part.count].value
    if variable is None or argument.origin is None or count is None or argument.strides:
        return None
    first = [index for index in argument.origin if index is not None]
    if len(first) != len(variable.bounds) or len(first) != len(argument.origin):
        return None
    element = call.arguments[part.datatype].constant
    if variable.scattered or variable.rows or len(first) < 2:
        return None
    if variable.element not in mpi_calls.ELEMENT_OF.get(element, frozenset()):
        return None
    last = first[0].plus(count).plus(Affine(1), -1)
    return (Range(first[0], last), *map(Range.point, first[1:]))


def _given(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Section | None:
    """The section that is passed: a message of its elements stays in it, as Fortran asks."""
    argument = call.arguments[part.buffer]
    variable = program.variables.get(argument.base or "")
    element = call.arguments[part.datatype].constant
    if variable is None or argument.section is None or variable.scattered:
        return None
    if variable.element not in mpi_calls.ELEMENT_OF.get(element, frozenset()):
        return None
    return argument.section if len(argument.section) == len(variable.bounds) else None


def _layout(program: Program, datatype: Argument) -> Layout:
    """What one element of a message is: of MPI's own types, or of one that the program made."""
    basic = Layout(datatype.constant, Affine(1), Affine(1), Affine(1))
    return layout_of(program, datatype) or basic


def layout_of(program: Program, datatype: Argument) -> Layout | None:
    """The layout of a type that the program made, by the variable or the field that holds it."""
    key = handle(datatype)
    if key is not None and not key.startswith("field:"):
        return program.layouts.get(key)
    owner, key = field_handle(program, datatype)
    layout = program.layouts.get(key)
    if layout is None or not owner:
        return layout if key else None
    return layout.of_object(owner)


def field_handle(program: Program, datatype: Argument) -> tuple[str, str]:
    """The object, and the field of it, that holds a datatype; empty where there is none.

    No object for a field of one that is the only one of its type.
    """
    base = datatype.base or ""
    if base.startswith("field:") and datatype.through:  # of C, where it is a pointer
        first = datatype.origin == (Affine(0),) and not datatype.slot
        return (datatype.owner, base) if first else ("", "")
    value = datatype.value
    if value is None or value.constant or len(value.terms) != 1 or value.terms[0][1] != 1:
        return "", ""
    owner, _, key = value.terms[0][0].partition(ARROW)
    if program.is_of_single(owner):
        return "", owner
    return (owner, key) if key.startswith("field:") and ARROW not in key else ("", "")


def handle(datatype: Argument) -> str | None:
    """The variable that holds a datatype, where it is a plain one."""
    if not re.fullmatch(r"\s*\w+\s*", datatype.text):
        return None
    read = {access.variable for access in datatype.reads if not access.through}
    return read.pop() if len(read) == 1 else None


def _run(first: list[Affine], extents: Extents, count: Affine) -> Section | None:
    """`count` elements one after the other."""
    ranges: list[Range] = []
    for number, index in enumerate(first):
        low, high = extents[number]
        if count == Affine(1):
            return (*ranges, *map(Range.point, first[number:]))
        extent = _extent(low, high)
        lines = None if extent is None else whole_lines(count, extent)
        last_dimension = number == len(extents) - 1
        if last_dimension or lines is None or index != low:
            last = index.plus(count).plus(Affine(1), -1)
            if not last_dimension and (high is None or not surely_less(last, high.plus(Affine(1)))):
                return None
            rest = [Range.point(index) for index in first[number + 1 :]]
            return (*ranges, Range(index, last), *rest)
        assert high is not None
        ranges.append(Range(low, high))  # whole lines of this dimension
        count = lines
    return None


def whole_of(program: Program, argument: Argument) -> Section | None:
    """All elements of an array that is passed as a whole, as it is declared."""
    variable = program.variables.get(argument.base or "")
    if variable is None or not variable.bounds or not argument.whole:
        return None
    return tuple(Range(low, high) for low, high in variable.bounds)


def element_of(program: Program, argument: Argument) -> Section | None:
    """The element of an array that is passed; None where all of it may be."""
    variable = program.variables.get(argument.base or "")
    first = [index for index in argument.origin or () if index is not None]
    if variable is None or argument.whole or argument.strides or variable.scattered:
        return None
    if not first or len(first) != len(variable.bounds):
        return None
    return tuple(Range.point(index) for index in first)


def run_of(
    program: Program, variable: Variable, argument: Argument, first: list[Affine], count: Affine
) -> Section | None:
    """`count` elements of an array that is passed, from the element `first` on."""
    return _run(first, _extents(program, variable, argument), count) if first else None


def _vector(first: list[Affine], extents: Extents, linear: int, layout: Layout) -> Section | None:
    """The blocks of a vector whose stride is that of one of the array's dimensions.

    Of the first `linear` dimensions, `affine.within` looks whether they hold what is touched.
    """
    stride = Affine(1)
    for number in range(1, len(first)):
        extent = _extent(*extents[number - 1])
        if extent is None:
            return None
        stride = stride.product(extent)
        if stride != layout.stride:
            continue
        block = _run(first[:number], extents[:number], layout.length)
        if block is None:
            return None
        last = first[number].plus(layout.count).plus(Affine(1), -1)
        whole = (*block, Range(first[number], last), *map(Range.point, first[number + 1 :]))
        checked = range(linear, len(first) - 1)
        return whole if all(_holds(whole[n], extents[n]) for n in checked) else None
    return None


def _holds(touched: Range, bounds: tuple[Affine | None, Affine | None]) -> bool:
    """Whether a dimension holds what is touched: a single index is within by the language."""
    if touched.low == touched.high:
        return True
    high = bounds[1]
    return high is not None and surely_less(touched.high, high.plus(Affine(1)))


def _extent(low: Affine | None, high: Affine | None) -> Affine | None:
    if low is None or high is None:
        return None
    return high.plus(low, -1).plus(Affine(1))


def shape_at(program: Program, variable: Variable, argument: Argument) -> Extents | None:
    """Low and high bound of each dimension of an array that one statement allocates."""
    shape = program.shapes.get(variable.key)
    if shape is None or (variable.kind == "field" and not argument.part_of):
        return None
    of = argument.part_of
    return [(low.of_object(of), high.of_object(of)) for low, high in shape]


def _extents(program: Program, variable: Variable, argument: Argument) -> Extents:
    """Low and high bound of each dimension, of a linear array's as its strides tell."""
    shape = shape_at(program, variable, argument)
    if shape is not None:
        return shape
    faster: Extents = [(Affine(0), stride.plus(Affine(1), -1)) for stride in argument.strides]
    return [*faster, *variable.bounds]


def as_number(program: Program, bound: Affine | None) -> Affine | None:
    """A bound by what its variables are set to, where one statement of their routine sets them."""
    if bound is None or bound.variables().isdisjoint(program.set_once):
        return bound
    return bound.replace(lambda name: program.set_once.get(name, Affine.variable(name)))
