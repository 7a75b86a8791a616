"""The iteration space of a perfect loop nest, or of an assignment to a section of an array.

It is in the terms of the routine that it stands in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.in_bounds import made_each_time
from imbrex.transform.analysis.index_signs import not_negative
from imbrex.transform.analysis.pointed import by_memory
from imbrex.transform.analysis.reductions import counted_arrays, reductions
from imbrex.transform.analysis.space import Space, in_front_of_inner, nest
from imbrex.transform.analysis.work_arrays import work_arrays
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.elementwise import Part
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.remainders import Congruence
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, LoopRange, Statement


def space_of_loops(
    program: Program, footprints: Footprints, statement: Statement, routine: Routine
) -> Space | None:
    """The space of a statement that is a nest; None where its ranges are not known."""
    if statement.elementwise:
        return _space_of_elements(program, footprints, statement, routine)
    loops = nest(statement, remainders=True)
    if not loops:
        return None
    spans = [loops[0].loop, *(loop.reach or loop.loop for loop in loops[1:])]
    ranges = [span for span in spans if span is not None]
    inner = loops[-1].blocks[0].statements
    every = [*in_front_of_inner(loops), *inner]
    body = [a for part in every for a in footprints.of(part, routine.file).accesses]
    changed = footprints.changed(body)
    headers = [access for loop in loops for access in loop.accesses]
    for span in ranges:
        if (span.low.variables() | span.high.variables()) & changed or span.index in changed:
            return None
    indices = {span.index for span in ranges}
    signs = not_negative(footprints, routine, statement, ranges)
    ranges = [s if s.first is None else replace(s, low=s.first.least(signs)) for s in ranges]
    named = by_memory(program, footprints, routine, loops, body)
    accesses = [_one_array(footprints, footprints.after(a, changed), indices) for a in named]
    private = {span.index for span in ranges}
    private |= {a.variable for a in body if a.write and _scalar(program, a)}
    private |= work_arrays(program, footprints, routine, statement, inner)
    sure = made_each_time(program, footprints, routine, ranges, inner)
    return Space(
        statement,
        loops,
        ranges,
        accesses,
        headers,
        private=frozenset(private),
        owned=frozenset(footprints.aliases.slotted),
        certain=frozenset(access for access in accesses if access.variable in sure),
        reduced=reductions(program, footprints, routine, inner),
        counted=counted_arrays(program, footprints, routine, inner),
        congruent=tuple(
            each
            for each in _congruent(ranges, inner)
            if changed.isdisjoint(each.difference.variables() - indices)
        ),
    )


def _congruent(ranges: list[LoopRange], inner: list[Statement]) -> Iterator[Congruence]:
    """What holds of the indices: by the steps of the loops, and by the condition of all inside."""
    for span in ranges:
        if span.congruent is not None:
            yield span.congruent
    sole = inner[0] if len(inner) == 1 else None
    if sole is not None and sole.kind is Kind.IF and len(sole.blocks) == 1 and sole.congruent:
        yield sole.congruent


def _space_of_elements(
    program: Program, footprints: Footprints, statement: Statement, routine: Routine
) -> Space | None:
    """The space of an assignment to a section: its ranges that are as long in each array."""
    parts = statement.elementwise
    places = range(len(parts[0].extents))
    lengths = {n: {_length(part, n) for part in parts if part.extents} for n in places}
    indices: dict[int, str] = {}
    ranges: list[LoopRange] = []
    for number, known in lengths.items():
        length = next(iter(known))
        if len(known) != 1 or length is None or not _counted(program, parts, number):
            continue
        index = f"element:{number}@{routine.file}:{routine.name}:{statement.start}"
        program.variables.setdefault(
            index, Variable(index, "its elements", "local", element="integer")
        )
        indices[number] = index
        ranges.append(LoopRange(index, Affine(0), length))
    changed = footprints.changed(statement.accesses)
    if not ranges or any(span.high.variables() & changed for span in ranges):
        return None
    named = {part.variable for part in parts}.union(*(part.own for part in parts))
    accesses = [a for a in statement.accesses if a.variable not in named]
    accesses += [
        Access(p.variable, p.through, p.write, statement.line, p.at(indices)) for p in parts
    ]
    places_of = tuple(indices)
    loops = [statement] * len(ranges)
    return Space(statement, loops, ranges, accesses, [], elements=places_of)


def _length(part: Part, number: int) -> Affine | None:
    """How many elements a range has, less one."""
    extent = part.extents[number][1]
    if extent.first is None or extent.last is None:
        return None
    return extent.last.plus(extent.first, -1)


def _counted(program: Program, parts: tuple[Part, ...], number: int) -> bool:
    """Whether the ends of a range are made of integers of the default kind."""
    ends = [
        end
        for part in parts
        if part.extents
        for end in (part.extents[number][1].first, part.extents[number][1].last)
    ]
    names = {name for end in ends if end is not None for name in end.numbers()}
    variables = [program.variables.get(name) for name in names]
    return all(v is not None and v.element in ("integer", "") for v in variables)


def _one_array(footprints: Footprints, access: Access, indices: set[str]) -> Access:
    """The access; anywhere where each iteration may have another array, which may overlap."""
    if access.variable in footprints.aliases.slotted:
        return access
    moves = any(index.variables() & indices for index in access.slot)
    return access.anywhere() if moves else access


def _scalar(program: Program, access: Access) -> bool:
    variable = program.variables.get(access.variable)
    if variable is None or access.placed:
        return False
    return not variable.bounds and not access.through
