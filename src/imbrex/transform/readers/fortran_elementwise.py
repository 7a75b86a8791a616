"""Assignments to a section of an array whose elements each are computed from elements alone.

What stands on the right are sections of as many ranges, elements, scalars, and functions of the
language that are applied to each element.
"""

from __future__ import annotations

import re

from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.elementwise import Extent, Part
from imbrex.transform.model.memory import Variable
from imbrex.transform.readers.fortran_expressions import Expressions
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    at_depth_zero,
    closing,
    split_arguments,
)
from imbrex.transform.readers.fortran_plain import ELEMENTAL

_NAME = re.compile(r"(?<![\w.%])[a-z]\w*")
_OTHER = re.compile(r"['\"\[]|\.(?:and|or|not|eqv|neqv|true|false)\.|//|\(/")
_NUMBERS = ("integer", "real", "double", "complex")
_MOST = 64  # names in an assignment that is looked at


def elementwise(reader: Expressions, line: LogicalLine, equals: int) -> tuple[Part, ...]:
    """The arrays that an assignment names, that it sets first; none if it is another one."""
    text, own = line.masked, reader.names.own
    if own.operators or own.assignment or _OTHER.search(text) or not line.alone or line.label:
        return ()
    if any(reader.names.find(reader.scope, name) is not None for name in ("min", "max")):
        return ()
    found: list[Part] = []
    for match in _NAME.finditer(text):
        if len(found) > _MOST:
            return ()
        part = _part(reader, line, match, write=match.start() == 0)
        if part is None:
            return ()
        found += [part] if part.variable else []
    if not found or not found[0].write or not found[0].extents:
        return ()
    ranges = len(found[0].extents)
    if any(len(part.extents) not in (0, ranges) for part in found):
        return ()
    return tuple(found)


_NOTHING = Part("", False, False, (), ())


def _part(
    reader: Expressions, line: LogicalLine, match: re.Match[str], *, write: bool
) -> Part | None:
    """What a name stands for: an array, or what has no elements; None where it is not known."""
    text, name = line.masked, match[0]
    end = match.end()
    component = reader.components.resolve(text, match.start())
    if component is not None:
        if component.scattered or component.part or component.definition is not None:
            return None
        variable, subscripts = component.last, component.subscripts
        if not component.one_object:
            return None
    elif text[end : end + 1] == "%":
        return None
    else:
        found = reader.names.find(reader.scope, name)
        follows = text[end : end + 1] == "("
        if found is None and follows:
            known = name in ELEMENTAL and name not in reader.names.own.functions
            return _NOTHING if known and name not in reader.names.own.generics else None
        if found is None:
            return None
        if found[1].value is not None:
            return None if found[1].bounds else _NOTHING
        known_variable = reader.names.variable(reader.scope, name)
        if known_variable is None:
            return None
        variable = known_variable
        subscripts = (end + 1, closing(text, end)) if follows else None
    if not variable.element.startswith(_NUMBERS) or variable.volatile:
        return None
    if not variable.bounds:
        return _NOTHING if subscripts is None else None
    if subscripts is None or variable.key in reader.names.program.overlays:
        return None
    return _section(reader, line, variable, subscripts, write)


def _section(
    reader: Expressions,
    line: LogicalLine,
    variable: Variable,
    subscripts: tuple[int, int],
    write: bool,
) -> Part | None:
    text = line.masked
    first, last = subscripts
    listed = split_arguments(text[first:last])
    if len(listed) != len(variable.bounds):
        return None
    section: list[Range] = []
    extents: list[tuple[int, Extent]] = []
    for dimension, (a, b) in enumerate(listed):
        start, stop = first + a, first + b
        colons = list(at_depth_zero(text[start:stop], ":"))
        if not colons:
            subscript = text[start:stop]
            if ":" in subscript or reader.components.is_vector(subscript):
                return None
            section.append(Range.point(_value(reader, subscript)))
            continue
        low, high = text[start : start + colons[0]], text[start + colons[0] + 1 : stop]
        if len(colons) != 1 or not low or not high:
            return None
        ends = _value(reader, low), _value(reader, high)
        section.append(Range(*ends))
        span = line.bytes[start], line.bytes[stop - 1] + 1
        extents.append((dimension, Extent(*span, low, high, *ends)))
    through = variable.kind == "dummy"
    return Part(variable.key, through, write, tuple(section), tuple(extents))


def _value(reader: Expressions, text: str) -> Affine | None:
    return reader.names.affine(reader.scope, text)
