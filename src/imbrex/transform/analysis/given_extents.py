"""The extents of Fortran's dummies of assumed shape, in terms of sizes that their routines know.

A message of `n` elements from `x(1, 0)` is one column of `x(:, 0:)` where each caller in the whole
program gives an array that it allocated as `u(n, 0:nl + 1)`: `n` is a variable that nothing sets
behind the allocation, or what the same call gives another dummy.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from imbrex.transform.analysis.derived import Derived, is_of_main, split
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.given_elements import given_element
from imbrex.transform.analysis.mentions import Mentions
from imbrex.transform.analysis.sections import as_number, shape_at
from imbrex.transform.analysis.told import told
from imbrex.transform.model.affine import PRODUCT, Affine, array_of_element, field_of
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.shapes import extent_of

Extents = dict[str, tuple[Affine, ...]]

_MOST = 8  # expressions that are tried for an extent


def find_extents(program: Program, footprints: Footprints) -> Extents:
    """The expressions that have the value of an extent as long as its routine runs."""
    shaped = [
        (routine, position)
        for routine in program.routines.values()
        for position, key in enumerate(routine.parameters)
        if _has_shape(program, program.variables.get(key))
    ]
    if not shaped or not program.is_whole:
        return {}
    given = _Given(program, footprints)
    if not given.derived.possible:
        return {}
    shaped = [(routine, at) for routine, at in shaped if given.calls_known(routine)]
    found: Extents = {}
    while True:  # what a routine gives on is known once its own dummies are
        more: Extents = {}
        for routine, position in shaped:
            key = routine.parameters[position]
            for dimension in range(len(program.variables[key].bounds)):
                symbol = extent_of(key, dimension)
                values = () if symbol in found else given.values(routine, position, dimension)
                if values:
                    more[symbol] = values
        if not more:
            return found
        found |= more
        given.found = found


def _has_shape(program: Program, variable: Variable | None) -> bool:
    return (
        variable is not None
        and variable.assumed_shape
        and not (variable.optional or variable.volatile or variable.pointer)
        and variable.key not in program.overlays
    )


class _Given:
    """What the calls of each routine give its dummies."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self.derived = Derived(program, footprints)
        self.setters = self.derived.setters
        self.mentions = Mentions(program)
        self.found: Extents = {}
        self.calls: dict[str, list[tuple[Routine, Call]]] = {}
        for user in program.routines.values():
            for statement in user.statements():
                for call in statement.calls:
                    self.calls.setdefault(call.name, []).append((user, call))

    def calls_known(self, routine: Routine) -> bool:
        """Whether all calls of a routine are read, and none of them is one of its own."""
        calls = self.calls.get(routine.name, [])
        if not calls or routine.address_taken or not self.mentions.all_known(routine):
            return False
        return not any(
            call.unknown or user is routine or self.program.callee(call.name, user.file) != routine
            for user, call in calls
        )

    def values(self, routine: Routine, position: int, dimension: int) -> tuple[Affine, ...]:
        """The expressions of a routine that each call gives the value of an extent."""
        there = []
        for user, call in self.calls[routine.name]:
            extents = self._at_call(user, call, position, dimension)
            if not extents:
                return ()
            there.append((call, extents))
        first, extents = there[0]
        return tuple(
            value
            for value in dict.fromkeys(self._candidates(routine, first, extents))
            if self._kept(routine, value)
            and all(self._value(routine, call, value) in known for call, known in there)
        )

    def _at_call(
        self, user: Routine, call: Call, position: int, dimension: int
    ) -> tuple[Affine, ...]:
        """The extent of what a call gives a dummy, in terms of its caller."""
        if position >= len(call.arguments):
            return ()
        argument = call.arguments[position]
        mine = self.program.variables.get(argument.base or "")
        if mine is None or not argument.whole or mine.key in self.program.overlays:
            return ()
        if dimension >= len(mine.bounds) or mine.name.lower() in self.program.inactive:
            return ()
        if mine.assumed_shape:
            own = mine.key in user.parameters
            return self.found.get(extent_of(mine.key, dimension), ()) if own else ()
        extent = self._declared(user, mine, argument, dimension)
        if extent is None:
            return ()
        settled = as_number(self.program, extent)
        used = {key for each in call.arguments if each.value for key in each.value.variables()}
        known = [extent] if settled is None else [extent, settled]
        return tuple(dict.fromkeys((*known, *told(extent, call.given, used))))

    def _declared(
        self, user: Routine, mine: Variable, argument: Argument, dimension: int
    ) -> Affine | None:
        """The extent of an array that is allocated once, or declared with bounds that stay."""
        if mine.allocatable:
            shape = shape_at(self.program, mine, argument)
        elif mine.pointer or mine.kind == "field" or mine.optional:
            return None
        else:
            shape = list(mine.bounds)
        low, high = (None, None) if shape is None else shape[dimension]
        if low is None or high is None:
            return None
        extent = high.plus(low, -1).plus(Affine(1))
        if mine.allocatable or not extent.terms:
            return extent
        own = mine.key in user.parameters or mine.kind == "local"
        return extent if own and self._kept(user, extent) else None

    def _candidates(
        self, routine: Routine, call: Call, extents: tuple[Affine, ...]
    ) -> Iterator[Affine]:
        """Expressions of a routine that may have the value of an extent in one call."""
        given = [
            (Affine.variable(key), argument.value)
            for key, argument in zip(routine.parameters, call.arguments, strict=False)
            if key and argument.value is not None
        ]
        for extent in extents:
            for name, value in given:
                rest = extent.plus(value, -1)
                if not rest.terms:
                    yield name.plus(rest)
            factors = sorted({f for term, _ in extent.terms for f in term.split(PRODUCT)})
            choices = [
                [name for name, value in given if value == Affine.variable(factor)]
                + self._fields(routine, call, factor)
                + self._elements(routine, call, factor)
                + ([Affine.variable(factor)] if self._seen(routine, factor) else [])
                for factor in factors
            ]
            for chosen in islice(product(*choices), _MOST):
                told = extent.replace(dict(zip(factors, chosen, strict=True)).get)
                if told is not None:
                    yield told

    def _fields(self, routine: Routine, call: Call, factor: str) -> list[Affine]:
        """A field of an object of the caller, as one of the dummy that a call gives the object."""
        owner, field = split(factor)
        return [
            Affine.variable(field_of(key, field))
            for key, argument in zip(routine.parameters, call.arguments, strict=False)
            if owner and key and argument.whole and argument.base == owner
        ]

    def _elements(self, routine: Routine, call: Call, factor: str) -> list[Affine]:
        """An element of an array of the caller, as one of the dummy that a call gives the array."""
        array = array_of_element(factor)
        if array == factor:
            return []
        number = factor.removeprefix(array)
        return [
            Affine.variable(key + number)
            for key, argument in zip(routine.parameters, call.arguments, strict=False)
            if given_element(self.program, key + number, argument) == Affine.variable(factor)
        ]

    def _value(self, routine: Routine, call: Call, value: Affine) -> Affine | None:
        """An expression of a routine in the terms of a call of it."""
        given = dict(zip(routine.parameters, call.arguments, strict=False))

        def of(factor: str) -> Affine | None:
            owner, field = split(factor)
            if owner:
                of = given.get(owner)
                if of is None or not of.whole or of.base is None:
                    return None
                return Affine.variable(field_of(of.base, field))
            if factor in given:
                return given[factor].value
            array = array_of_element(factor)
            if array in given:
                return given_element(self.program, factor, given[array])
            return Affine.variable(factor) if self._seen(routine, factor) else None

        return value.replace(of)

    def _seen(self, routine: Routine, key: str) -> bool:
        """Whether a variable is no dummy, and the same one in all routines that can name it."""
        element, key = key, array_of_element(key)
        variable = self.program.variables.get(key)
        if variable is None or key.startswith("common:"):
            return False
        if self.program.is_of_single(key):
            return self.derived.tellable("", element)
        main = self.program.routines["main"]
        inside = routine is main or routine.host == f"{main.name}@{main.file}"
        return variable.kind in ("global", "static") or (inside and is_of_main(self.program, key))

    def _kept(self, routine: Routine, value: Affine) -> bool:
        """Whether nothing sets a variable of an expression while a routine runs."""
        factors = {f for term, _ in value.terms for f in term.split(PRODUCT)}
        return all(self._is_plain(routine, factor) for factor in factors) and not any(
            where.key in self.setters.reached(routine) or where.address_taken
            for key in value.variables()
            for where, _ in self.setters.writers(key)
        )

    def _is_plain(self, routine: Routine, key: str) -> bool:
        """Whether it is an integer that only what is seen to set it changes."""
        owner, field = split(key)
        if owner:
            holder = self.program.variables.get(owner)
            own = holder is not None and owner in routine.parameters and not holder.optional
            return own and self.derived.tellable(owner, field)
        element, key = key, array_of_element(key)
        variable = self.program.variables.get(key)
        if variable is None or not (key in routine.parameters or self._seen(routine, element)):
            return False
        if variable.pointer or variable.volatile or variable.optional:
            return False
        if variable.bounds and element == key:
            return False
        unseen = self.program.overlays.keys() | self.footprints.aliases.escaped
        if key in unseen or key in self.setters.set_later:
            return False
        return variable.name.lower() not in self.program.inactive
