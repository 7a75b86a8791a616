"""What calls touch for each value of what they pass: `pack(b, u, 2 * axis, ...)` by its axis."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from imbrex.transform.analysis.followed import follow, holds, names_parameter
from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.calls import Call
from imbrex.transform.model.cases import Case
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind

if TYPE_CHECKING:
    from imbrex.transform.analysis.footprint import Footprints

Given = tuple[tuple[str, int], ...]
Array = tuple[str, str]  # a parameter and "", or a field and the parameter whose field it is
_MOST = 16  # values for which a call is looked at
_LONGEST = 60  # statements of a routine that is followed


class ByValue:
    """Follows routines whose accesses are not known for all values of a call at one time."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self._followed: dict[tuple[str, Given], dict[Array, list[Access]] | None] = {}
        self._worth: dict[str, frozenset[Array]] = {}

    def of(self, call: Call, routine: Routine, accesses: list[Access]) -> list[Access]:
        """The accesses of a routine as those of one call, told by cases where that tells more."""
        accesses = self.footprints.by_pointers(routine, accesses)
        names = self._open(routine, accesses)
        if not names:
            return self.footprints.bound(call, routine, accesses)
        cases = self._cases(call, routine, names)
        rest = [a for a in accesses if not (a.through and (a.variable, a.owner) in cases)]
        found = self.footprints.bound(call, routine, rest)
        for (key, owner), sides in cases.items():
            for write, each in sides.items():
                anywhere = Access(key, True, write, call.line, owner=owner)
                for access in self._at_call(call, routine, anywhere):
                    found += access.of_cases(each)
        return found

    def _at_call(self, call: Call, routine: Routine, access: Access) -> list[Access]:
        """An access of what parameters name as that of one call."""
        if access.owner:
            return self.footprints.bound(call, routine, [access])
        binding = self.footprints.binding(call, routine)
        return [binding.access(access, routine.parameters.index(access.variable))]

    def _open(self, routine: Routine, accesses: list[Access]) -> frozenset[Array]:
        """The arrays of which a routine touches what is not known, if it may be followed."""
        known = self._worth.get(routine.key)
        if known is not None:
            return known
        source = self.program.files.get(routine.file)
        if self.footprints.is_active(routine):
            return frozenset()  # it calls itself
        found: frozenset[Array] = frozenset()
        if source is not None and not source.is_fortran and len(routine.statements()) <= _LONGEST:
            found = frozenset(
                (access.variable, access.owner)
                for access in accesses
                if names_parameter(routine, access)
                and (access.section is None or any(map(self._is_open, access.section)))
            ) - {(access.variable, access.owner) for access in accesses if access.slot}
        self._worth[routine.key] = found
        return found

    def _is_open(self, touched: Range) -> bool:
        """Whether an end is not known, or by variables that are gone with a call."""
        named = (self.program.variables.get(name) for name in touched.variables())
        return None in touched or any(v is not None and v.kind == "local" for v in named)

    def _cases(
        self, call: Call, routine: Routine, names: frozenset[Array]
    ) -> dict[Array, dict[bool, list[Case]]]:
        """What the call touches of each array, reads and writes; empty where it is not known."""
        ranges = self._domains.get(id(call), {})
        asked: dict[str, Affine] = {}
        for key, argument in zip(routine.parameters, call.arguments, strict=False):
            value = argument.value
            variable = self.program.variables.get(key)
            if variable is None or value is None:
                continue
            if holds(variable) and value.variables() <= ranges.keys():
                asked[key] = value
        over = sorted(frozenset().union(*(value.variables() for value in asked.values())))
        number = 1
        for key in over:
            number *= len(ranges[key])
        if number > _MOST or len(call.arguments) != len(routine.parameters):
            return {}
        found: dict[Array, dict[bool, list[Case]]] = {key: {} for key in names}
        for values in product(*(ranges[key] for key in over)):
            here = tuple(zip(over, values, strict=True))
            given = []
            for key, value in asked.items():
                constant = Case(here, None, (value,)).known(dict(here))[1][0]
                given.append((key, constant.constant))
            touched = self._follow(routine, tuple(given))
            if touched is None:
                return {}
            for array in list(found):
                for access in touched.get(array, []):
                    at_call = self._at_call(call, routine, access)
                    if any(bound.section is None for bound in at_call):
                        found.pop(array, None)
                        break
                    sides = found[array].setdefault(access.write, [])
                    for bound in at_call:
                        case = Case(here, bound.section, bound.strides)
                        if case not in sides:
                            sides.append(case)
        return found

    def _follow(self, routine: Routine, given: Given) -> dict[Array, list[Access]] | None:
        known = (routine.key, given)
        if known not in self._followed:
            self._followed[known] = follow(self.footprints, routine, given)
        return self._followed[known]

    @cached_property
    def _domains(self) -> dict[int, dict[str, range]]:
        """The values that the indices of loops have at each call in them."""
        found: dict[int, dict[str, range]] = {}

        def enter(block: Block, known: dict[str, range]) -> None:
            for statement in block.statements:
                if known:
                    for call in statement.calls:
                        found[id(call)] = known
                inner = known
                loop = statement.loop
                if statement.kind is Kind.LOOP and loop is not None:
                    short = not loop.low.terms and not loop.high.terms
                    values = range(loop.low.constant, loop.high.constant + 1)
                    kept = loop.index not in self.footprints.addressed and not any(
                        access.write and access.variable == loop.index
                        for child in statement.blocks[0].statements
                        for part in child.walk()
                        for access in part.accesses
                    )
                    variable = self.program.variables.get(loop.index)  # none for a component
                    local = variable is not None and variable.kind == "local"
                    if short and local and kept and 0 < len(values) <= _MOST:
                        inner = {**known, loop.index: values}
                for child in statement.blocks:
                    enter(child, inner)

        for routine in self.program.routines.values():
            enter(routine.body, {})
        return found
