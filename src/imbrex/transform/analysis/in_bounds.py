"""What the iterations of a loop nest touch, told by the bounds of the arrays.

`u(i + 1, j)` is an element of `u` in the last iteration too, so that without that iteration the
nest leaves the last row of `u` alone, whatever the bounds are. That is what an exchange needs whose
routine takes the bounds from the array: it fills row `ubound(a, 1)`.
"""

from __future__ import annotations

from collections.abc import Iterable

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.shapes import Bounds, bounds_of, shape_of
from imbrex.transform.model.statements import Kind, LoopRange, Statement

# An operand of these need not be evaluated, so that its subscripts say nothing.
_IN_PART = (b".and.", b".or.", b"?")


def made_each_time(
    program: Program,
    footprints: Footprints,
    routine: Routine,
    ranges: list[LoopRange],
    body: list[Statement],
) -> frozenset[str]:
    """The arrays of which a nest makes all its accesses in each of its iterations.

    Those whose bounds have names have the same ones in each.
    """
    source = program.files.get(routine.file)
    indices = {span.index for span in ranges}
    if source is None or not source.is_fortran:
        return frozenset()
    if any((span.low.variables() | span.high.variables()) & indices for span in ranges):
        return frozenset()
    sure: set[str] = set()
    unsure: set[str] = set()
    changed: set[str] = set()
    for statement in body:
        found = footprints.of(statement, routine.file)
        if found.stop or found.leaves or found.jumps:
            return frozenset()
        changed |= footprints.changed_in(found)
        text = source.data[statement.start : statement.end].lower()
        plain = statement.kind is Kind.SIMPLE and not statement.calls
        if plain and not any(operator in text for operator in _IN_PART):
            sure |= {access.variable for access in found.accesses}
        else:
            unsure |= {access.variable for access in found.accesses}
    return frozenset(
        key
        for key in sure - unsure
        if (variable := program.variables.get(key)) is not None
        and variable.bounds
        and key not in program.overlays
        and changed.isdisjoint(bounds_of(variable))
    )


def by_bounds(
    program: Program,
    ranges: list[LoopRange],
    access: Access,
    cuts: dict[int, tuple[int, int]],
    widened: Access,
) -> Access | None:
    """What an access touches where some iterations are cut off, in terms of its array's bounds.

    `access`: as of one iteration; `widened`: the same over all that is left. None where the bounds
    say nothing.
    """
    variable = program.variables.get(access.variable)
    if variable is None or not (variable.allocatable or variable.assumed_shape):
        return None  # it may be declared shorter than it is
    named = variable.kind != "field" and variable.key not in program.by_given
    made = program.shapes.get(variable.key) if named else None
    shape = made or shape_of(variable)
    if shape is None or access.section is None or widened.section is None:
        return None
    if len(shape) != len(access.section):
        return None
    found = [
        _within(touched, bounds, ranges, cuts) or known
        for touched, bounds, known in zip(access.section, shape, widened.section, strict=True)
    ]
    return widened.at(tuple(found)) if tuple(found) != widened.section else None


def rooms(program: Program, ranges: list[LoopRange], certain: Iterable[Access]) -> set[Affine]:
    """What is not below 0 where the nest has an iteration: how far each end of a loop is from the
    upper bound of a dimension that an index of it selects from in each iteration.

    Not of the last dimension, which may be declared shorter than it is, nor where another has no
    index: `u(i, 1)` may go through all of an array.
    """
    found: set[Affine] = set()
    for access in certain:
        variable = program.variables.get(access.variable)
        if variable is None or access.section is None:
            continue
        indices = {span.index for span in ranges}
        points = [t.low for t in access.section if t.low is not None and t.low == t.high]
        if not len(access.section) == len(variable.bounds) == len(points):
            continue
        if not all(point.variables() & indices for point in points):
            continue
        for subscript, (_, high) in zip(points[:-1], variable.bounds[:-1], strict=True):
            if high is None or high.terms:
                continue
            for span in ranges:
                if span.every and subscript.coefficient(span.index) == 1:
                    found.add(high.plus(subscript.substitute(span.index, span.high), -1))
    return found


def _within(
    touched: Range, bounds: Bounds, ranges: list[LoopRange], cuts: dict[int, tuple[int, int]]
) -> Range | None:
    """The part of a dimension that is left, if its subscript is one index and a number."""
    low, high = bounds
    subscript = touched.low
    if subscript is None or subscript != touched.high or low is None or high is None:
        return None
    for number, span in enumerate(ranges):
        if subscript.terms in (((span.index, 1),), ((span.index, -1),)):
            first, last = cuts.get(number, (0, 0))
            if subscript.terms[0][1] < 0:
                first, last = last, first
            return Range(low.plus(Affine(first)), high.plus(Affine(last), -1))
    return None
