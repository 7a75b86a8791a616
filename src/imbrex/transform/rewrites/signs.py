"""Whether the headers of loops mean the same numbers in parts, with a sign or without one."""

from __future__ import annotations

import re

from imbrex.transform.analysis.space import Space
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind, LoopRange, Statement
from imbrex.transform.text.loop_headers import Header, read_header

_DEDUCED = re.compile(r"\bauto\b")
_SMALL = 1 << 10  # so that a few more are no number that an index of any type cannot be


def signed(program: Program, ranges: list[LoopRange]) -> bool:
    """Whether all that the ranges are made of are numbers with a sign, also in between."""
    for span in ranges:
        if span.unsigned:
            return False
        for name in {span.index} | span.low.numbers() | span.high.numbers():
            variable = program.variables.get(name)
            if variable is not None and variable.element.startswith(("type(", "class(")):
                continue  # the object whose component it is
            if variable is None or "unsigned" in variable.element or "_t" in variable.element:
                return False
    return True


def headers_keep(program: Program, source: SourceFile, space: Space, cuts: list[int]) -> bool:
    """Whether the loops that are cut, as their headers write them, can be cut for any numbers."""
    for number in cuts:
        span = space.loops[number].loop or space.ranges[number]
        if signed(program, [span]):
            continue
        header = read_header(source, space.loops[number], named=True, ahead=True)
        if header is None or not span.unsigned or not _from_constant(span, header):
            return False
        if _may_wrap(program, span, header) and not _fails_there(space, number):
            return False
    return True


def _from_constant(span: LoopRange, header: Header) -> bool:
    if _DEDUCED.search(header.first):
        return False
    return not span.low.terms and 0 <= span.low.constant < _SMALL


def _may_wrap(program: Program, span: LoopRange, header: Header) -> bool:
    """Whether the bound may be a number below 0, which counts as a very large one."""
    bound = span.high.plus(Affine(int(header.strict)))
    variables = [program.variables.get(name) for name in bound.numbers()]
    numbers = (bound.constant, *(number for _, number in bound.terms))
    return any(number < 0 for number in numbers) or not all(
        variable is not None and "unsigned" in variable.element for variable in variables
    )


def _fails_there(space: Space, number: int) -> bool:
    """Whether the nest surely gets out of an array if it goes on and on.

    Then no program has a bound that makes it do so.
    """
    span = space.loops[number].loop
    assert span is not None
    for loop in space.loops:
        if loop.loop is None:  # it begins at a remainder, of the index perhaps
            return False
        if span.index in (loop.loop.low.variables() | loop.loop.high.variables()):
            return False
    for statement in space.loops[-1].blocks[0].statements:
        if statement.kind not in (Kind.SIMPLE, Kind.DECLARE):
            return False
        if _writes_at(statement, span.index):
            return True
    return False


def _writes_at(statement: Statement, index: str) -> bool:
    return any(
        access.write
        and access.section is not None
        and any(index in dimension.variables() for dimension in access.section)
        for access in statement.accesses
    )
