"""Algorithms of the C++ library that go through the elements of vectors and arrays, as `std::copy`.

Each counts as a loop over all elements of what its iterators are of, where these are numbers: then
nothing of the program's own runs in it, and no iterator is left of it.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_std_arrays, c_vectors
from imbrex.transform.readers.c_applied import AppliedReader, Passed
from imbrex.transform.readers.c_lambdas import lambda_given
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.cxx_library import is_library

# By position: elements that are read (`r`), set (`w`) or both (`u`), the end of the same (`e`),
# values that are no iterators (`v`), and functions (`f`). For each function, what it is given: the
# elements of which argument, or values (`v`).
_ALGORITHMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "accumulate": (("rev",), ("revf", "v0")),
    "adjacent_difference": (("rew",), ("rewf", "00")),
    "all_of": (("ref", "0"),),
    "any_of": (("ref", "0"),),
    "binary_search": (("rev",),),
    "copy": (("rew",),),
    "copy_backward": (("rew",),),
    "copy_if": (("rewf", "0"),),
    "copy_n": (("rvw",),),
    "count": (("rev",),),
    "count_if": (("ref", "0"),),
    "equal": (("rer",), ("rerf", "02")),
    "fill": (("wev",),),
    "fill_n": (("wvv",),),
    "for_each": (("ref", "0"),),
    "for_each_n": (("rvf", "0"),),
    "generate": (("wef", ""),),
    "generate_n": (("wvf", ""),),
    "inner_product": (("rerv",), ("rervff", "vv", "02")),
    "iota": (("wev",),),
    "is_sorted": (("re",), ("ref", "00")),
    "max_element": (("re",), ("ref", "00")),
    "min_element": (("re",), ("ref", "00")),
    "none_of": (("ref", "0"),),
    "nth_element": (("uee",), ("ueef", "00")),
    "partial_sum": (("rew",), ("rewf", "vv")),
    "reduce": (("re",), ("rev",), ("revf", "vv")),
    "replace": (("uevv",),),
    "replace_if": (("uefv", "0"),),
    "reverse": (("ue",),),
    "rotate": (("uee",),),
    "sort": (("ue",), ("uef", "00")),
    "stable_sort": (("ue",), ("uef", "00")),
    "swap_ranges": (("ueu",),),
    "transform": (("rewf", "0"), ("rerwf", "02")),
    "transform_reduce": (("rerv",), ("revff", "vv", "0"), ("rervff", "vv", "02")),
}
# Not counted as computation, as `memcpy` is not: they may be all that packs a message.
_COPIES = frozenset({"copy", "copy_backward", "copy_n"})
_ITERATORS = frozenset({"begin", "cbegin", "end", "cend", "rbegin", "crbegin", "rend", "crend"})
_STEPS = frozenset({"operator+", "operator-"})
_SIGNS = (cc.ADD, cc.SUBTRACT)


def iterated(cursor: Any) -> tuple[Any | None, list[Any]]:
    """The vector or array that an iterator is of, and the numbers that it is moved by."""
    inner = cursor.stripped
    numbers: list[Any] = []
    while inner.kind in (ck.CALL_EXPR, ck.BINARY_OPERATOR):
        given = inner.arguments
        if inner.kind is ck.BINARY_OPERATOR:  # iterators of std::array are pointers
            first, second = inner.operands
            if inner.binary_operator not in _SIGNS or not second.type.is_number:
                return None, []
            numbers.append(second)
            inner = first.stripped
        elif inner.spelling in _STEPS and len(given) == 2 and given[1].type.is_number:
            if inner.referenced is None or not is_library(inner.referenced):
                return None, []
            numbers.append(given[1])
            inner = given[0].stripped
        elif inner.referenced is not None and inner.referenced.kind is ck.CONSTRUCTOR:
            if len(given) != 1 or not is_library(inner.referenced):
                return None, []
            inner = given[0].stripped  # one that may set elements becomes one that only reads
        else:
            break
    if inner.kind is not ck.CALL_EXPR or inner.spelling not in _ITERATORS:
        return None, []
    if inner.referenced is None or not is_library(inner.referenced):
        return None, []
    callee = inner.operands[0]
    if callee.kind is ck.MEMBER_REF_EXPR and callee.operands and not inner.arguments:
        return callee.operands[0], numbers
    return (inner.arguments[0], numbers) if len(inner.arguments) == 1 else (None, [])


def holds_numbers(kind: Any, *, structures: bool) -> bool:
    """Whether the elements of a vector or of an array are numbers, and no requests."""
    spelled = c_vectors.element_of(kind)
    if spelled:
        return "request" not in spelled and (structures or not c_vectors.is_structured(kind))
    inner = c_std_arrays.element_of(kind)
    if inner is None and kind.is_array:
        inner = kind.canonical.element_type
    return inner is not None and bool(inner.is_number)


def structure_of(argument: Any) -> str:
    """The type of the elements that an iterator goes through, where these are structures."""
    of, _ = iterated(argument)
    return "" if of is None else c_vectors.structure_in(of.stripped.type)


def _anywhere(found: Memory) -> Memory:
    """The memory without the places in it; which element it is in may change meanwhile."""
    inside = found.inside
    if inside is not None:
        inside = replace(inside, element=replace(inside.element, exact=False))
    return replace(found, exact=False, inside=inside)


class AlgorithmReader(AppliedReader, ABC):
    """What the reader of expressions does with such algorithms."""

    def _algorithm(self, cursor: Any, effects: Effects) -> bool:
        """Read the call of one; False where it is none, or may do more."""
        if not cursor.tree.plus_plus:
            return False
        if cursor.spelling == "operator*" and len(cursor.arguments) == 1:
            picked = cursor.arguments[0].stripped  # the value of `*std::max_element(...)`
            chosen = picked.kind is ck.CALL_EXPR and picked.spelling.endswith("_element")
            return chosen and self._through(picked, effects)
        whole = effects.alone
        alone = whole is not None and whole.raw.second == cursor.raw.second
        if not (alone or cursor.type.is_number):
            return False  # an iterator is left
        return self._through(cursor, effects)

    def _through(self, cursor: Any, effects: Effects) -> bool:
        named, given = cursor.referenced, cursor.arguments
        if named is None or not is_library(named):
            return False
        for roles, *functions in _ALGORITHMS.get(cursor.spelling, ()):
            if len(roles) == len(given) and self._fits(roles, given):
                inner = Effects()
                if not self._goes_through(roles, functions, given, inner):
                    return False
                effects.take(inner)
                effects.computes = effects.computes or cursor.spelling not in _COPIES
                return True
        return False

    @staticmethod
    def _fits(roles: str, given: list[Any]) -> bool:
        """Whether the functions stand where the algorithm has them."""
        return all(
            role == "f" or lambda_given(argument) is None
            for role, argument in zip(roles, given, strict=True)
        )

    def _goes_through(
        self, roles: str, functions: list[str], given: list[Any], effects: Effects
    ) -> bool:
        """Read the arguments of an algorithm, and what it does with them; False where not known."""
        elements = [Passed() for _ in given]
        for number, (role, argument) in enumerate(zip(roles, given, strict=True)):
            if role == "v":
                if not argument.stripped.type.is_number or self.is_null_request(argument):
                    return False
                self.read(argument, effects)
            elif role != "f":
                structures = "f" in roles and role in "re"
                found = self._range(argument, role, effects, structures=structures)
                if found is None:
                    return False
                elements[number] = Passed(found, structure_of(argument))
        places = [number for number, role in enumerate(roles) if role == "f"]
        for place, taken in zip(places, functions, strict=True):
            passed = [Passed() if number == "v" else elements[int(number)] for number in taken]
            if not self.applied(given[place], passed, effects):
                return False
        return True

    def _range(
        self, argument: Any, role: str, effects: Effects, *, structures: bool
    ) -> Memory | None:
        """Read an iterator, or a pointer, and the elements behind it; None where it is neither.

        `structures`: whether elements may be structures, which nothing but functions go into.
        """
        found = self._elements_of(argument, effects, structures=structures)
        if found is None:
            return None
        if role in "ru":
            self._record(effects, found, argument, write=False)
        if role in "wu":
            self._record(effects, found, argument, write=True)
        return found

    def _elements_of(self, argument: Any, effects: Effects, *, structures: bool) -> Memory | None:
        of, numbers = iterated(argument)
        if of is None and argument.type.is_pointer:
            if not argument.type.canonical.pointee.is_number:
                return None
            return _anywhere(self.memory(argument, effects))
        if of is None or not holds_numbers(of.stripped.type, structures=structures):
            return None
        found = self.whole(of, effects)
        for number in [] if found is None else numbers:
            self.read(number, effects)
        return found
