"""Work arrays: what each iteration of a nest sets anew before it reads it, as a line of sums.

Iterations may change places although all of them use such an array: none sees what another left.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.filled import covers, each_once, joined, unchanged, whole_ranges
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Section, widen
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, LoopRange, Statement

_NUMBERS = ("integer", "real", "double", "complex", "logical")
_NUMBERS_OF_C = ("double", "float", "int", "long", "short", "unsigned", "signed", "char")


def work_arrays(
    program: Program,
    footprints: Footprints,
    routine: Routine,
    nest: Statement,
    body: list[Statement],
) -> set[str]:
    """Arrays of a routine that only this nest uses, and each iteration anew."""
    if routine.file not in program.files:
        return set()
    used = {
        access.variable
        for statement in body
        for access in footprints.of(statement, routine.file).accesses
        if access.write and access.section is not None and not access.through
    }
    numbers = _NUMBERS if program.in_fortran(routine.file) else _NUMBERS_OF_C
    variables = program.variables
    found = {key for key in used if _is_own(footprints, numbers, variables.get(key))}
    if not found:
        return set()
    if any(s.kind is Kind.JUMP or s.leaves or s.stop for each in body for s in each.walk()):
        return set()
    found = {key for key in found if _only_declared(program, routine, nest, key)}
    return {key for key in found if _Use(footprints, routine, key).is_set_first(body, [])}


def _only_declared(program: Program, routine: Routine, nest: Statement, key: str) -> bool:
    """Whether the text around the nest names the array in its declaration alone.

    What is not analysed, as output of it or of a namelist, names it in the text at least; what a
    macro of C names is analysed.
    """
    source = program.files[routine.file]
    for statement in routine.statements():
        if statement.kind is Kind.DECLARE or nest.start <= statement.start < nest.end:
            continue
        arguments = (argument for call in statement.calls for argument in call.arguments)
        if any(each.base == key for each in arguments):
            return False
        if any(access.variable == key for access in statement.accesses):
            return False
    data, begin = source.data, source.start_of(routine.line)
    ends = [statement.end for statement in routine.body.statements]
    text = data[begin : nest.start] + data[nest.end : max(routine.body.end, *ends)]
    name = re.escape(program.variables[key].name.encode())
    return len(re.findall(rb"(?i)\b" + name + rb"\b", text)) == 1


def _is_own(footprints: Footprints, numbers: tuple[str, ...], variable: Variable | None) -> bool:
    """Whether it is an array of numbers that lives and ends with a call of its routine."""
    return (
        variable is not None
        and variable.kind == "local"
        and bool(variable.bounds)
        and variable.element.startswith(numbers)
        and not (variable.record or variable.pointer or variable.allocatable or variable.volatile)
        and variable.key not in footprints.program.overlays
        and variable.key not in footprints.addressed
    )


class _Use:
    """Follows one array through the statements of an iteration."""

    def __init__(self, footprints: Footprints, routine: Routine, key: str) -> None:
        program = footprints.program
        self.footprints = footprints
        self.file = routine.file
        self.source = program.files[routine.file]
        name = re.escape(program.variables[key].name).encode()
        self.assigns = re.compile(rb"\s*" + name + rb"\s*(?:\[[^][=?&|]*\]\s*)+=(?!=)")
        self.key = key
        self.outer_loops: list[LoopRange] = []  # loops of the iteration that a statement stands in

    def is_set_first(self, statements: list[Statement], filled: list[Section]) -> bool:
        """Whether all that is read has been set by then; adds what is surely set to `filled`."""
        for statement in statements:
            if not self._follow(statement, filled):
                return False
            changed = self.footprints.changed_by([statement], self.file)
            filled[:] = unchanged(filled, changed)
        return True

    def _mine(self, accesses: list[Access]) -> list[Access]:
        return [access for access in accesses if access.variable == self.key]

    def _follow(self, statement: Statement, filled: list[Section]) -> bool:
        every = self._mine(self.footprints.of(statement, self.file).accesses)
        if not every:
            return True
        own = self._mine(statement.accesses)
        if not all(self._is_filled(access, filled) for access in own if not access.write):
            return False
        if statement.kind is Kind.LOOP:
            return not own and self._loop(statement, filled)
        if statement.kind in (Kind.IF, Kind.BLOCK):
            return all(self.is_set_first(b.statements, list(filled)) for b in statement.blocks)
        if statement.kind is not Kind.SIMPLE:
            return False
        if statement.calls:
            return all(self._is_filled(access, filled) for access in every if not access.write)
        filled += self._set_by(statement)
        return True

    def _loop(self, statement: Statement, filled: list[Section]) -> bool:
        """Follow a loop, which sets over all its iterations what each of them sets."""
        changed = self.footprints.changed_by([statement], self.file)
        loop = statement.loop
        if loop is None or (loop.low.variables() | loop.high.variables()) & changed:
            return False
        inside = unchanged(filled, changed)
        before = len(inside)
        self.outer_loops.append(loop)
        done = all(self._iteration(block.statements, inside) for block in statement.blocks)
        self.outer_loops.pop()
        if not done or not whole_ranges([statement]):
            return done
        for section in inside[before:]:
            widened = widen(section, loop.index, loop.low, loop.high)
            if widened is not None and _each_once(section, statement):
                filled.append(widened)
        return True

    def _iteration(self, statements: list[Statement], filled: list[Section]) -> bool:
        """As `is_set_first`, with what stood in `filled` before at its beginning still."""
        known = list(filled)
        added: list[Section] = []
        for statement in statements:
            now = known + added
            if not self._follow(statement, now):
                return False
            changed = self.footprints.changed_by([statement], self.file)
            added = unchanged(now[len(known) :], changed)
        filled += added
        return True

    def _is_filled(self, access: Access, filled: list[Section]) -> bool:
        """Whether what is read, in this iteration of the loops around it or in all, is set."""
        if access.strides or access.through:
            return False
        section = access.section
        sections = joined(filled)
        for loop in (None, *reversed(self.outer_loops)):
            if loop is not None:
                section = widen(section, loop.index, loop.low, loop.high)
            if any(covers(known, section) for known in sections):
                return True
        return False

    def _set_by(self, statement: Statement) -> list[Section]:
        """What an assignment surely sets: one element, or the ranges of an array expression."""
        found = []
        own = self._mine(statement.accesses)
        if not self.source.is_fortran and not self._assigns_one(statement, own):
            return []
        for access in own:
            section = access.section
            if not access.write or access.through or access.strides or section is None:
                continue
            point = all(d.low is not None and d.low == d.high for d in section)
            ranges = bool(statement.elementwise) and statement.elementwise[0].section == section
            if point or ranges:
                found.append(section)
        return found

    def _assigns_one(self, statement: Statement, own: list[Access]) -> bool:
        """Whether a statement of C is one assignment to an element, which it makes in each case."""
        text = self.source.data[statement.start : statement.end]
        return sum(access.write for access in own) == 1 and bool(self.assigns.match(text))


def _each_once(section: Section, loop: Statement) -> bool:
    """Whether a section of one iteration becomes, over all of them, exactly what they set."""
    assert loop.loop is not None
    index = loop.loop.index
    using = tuple(dimension for dimension in section if index in dimension.variables())
    return len(using) <= 1 and each_once(using, [loop])
