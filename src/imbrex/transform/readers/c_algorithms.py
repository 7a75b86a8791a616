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
from imbrex.transform.readers.c_exchanges import ExchangeReader
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.cxx_library import is_library

# By position: elements that are read (`r`), set (`w`) or both (`u`), the end of the same (`e`), and
# values that are no iterators (`v`). One that takes a function of the program has more arguments.
_ALGORITHMS = {
    "accumulate": "rev",
    "adjacent_difference": "rew",
    "binary_search": "rev",
    "copy": "rew",
    "copy_backward": "rew",
    "copy_n": "rvw",
    "count": "rev",
    "equal": "rer",
    "fill": "wev",
    "fill_n": "wvv",
    "inner_product": "rerv",
    "iota": "wev",
    "is_sorted": "re",
    "max_element": "re",
    "min_element": "re",
    "partial_sum": "rew",
    "replace": "uevv",
    "reverse": "ue",
    "rotate": "uee",
    "sort": "ue",
    "stable_sort": "ue",
    "swap_ranges": "ueu",
}
# Not counted as computation, as `memcpy` is not: they may be all that packs a message.
_COPIES = frozenset({"copy", "copy_backward", "copy_n"})
_ITERATORS = frozenset({"begin", "cbegin", "end", "cend"})
_STEPS = frozenset({"operator+", "operator-"})
_SIGNS = (cc.ADD, cc.SUBTRACT)


def _iterated(cursor: Any) -> tuple[Any | None, list[Any]]:
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


def _holds_numbers(kind: Any) -> bool:
    """Whether the elements of a vector or of an array are numbers, and no requests."""
    spelled = c_vectors.element_of(kind)
    if spelled:
        return "request" not in spelled and not c_vectors.is_structured(kind)
    inner = c_std_arrays.element_of(kind)
    if inner is None and kind.is_array:
        inner = kind.canonical.element_type
    return inner is not None and bool(inner.is_number)


def _anywhere(found: Memory) -> Memory:
    """The memory without the places in it; which element it is in may change meanwhile."""
    inside = found.inside
    if inside is not None:
        inside = replace(inside, element=replace(inside.element, exact=False))
    return replace(found, exact=False, inside=inside)


class AlgorithmReader(ExchangeReader, ABC):
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
        roles = _ALGORITHMS.get(cursor.spelling, "")
        named, given = cursor.referenced, cursor.arguments
        if not roles or len(given) != len(roles) or named is None or not is_library(named):
            return False
        inner = Effects()
        for role, argument in zip(roles, given, strict=True):
            if role == "v":
                if not argument.stripped.type.is_number or self.is_null_request(argument):
                    return False
                self.read(argument, inner)
            elif not self._range(argument, role, inner):
                return False
        effects.accesses += inner.accesses
        effects.calls += inner.calls
        effects.stop = effects.stop or inner.stop
        effects.computes = effects.computes or cursor.spelling not in _COPIES
        return True

    def _range(self, argument: Any, role: str, effects: Effects) -> bool:
        """Read an iterator, or a pointer, and the elements behind it; False where it is neither."""
        found = self._elements_of(argument, effects)
        if found is None:
            return False
        if role in "ru":
            self._record(effects, found, argument, write=False)
        if role in "wu":
            self._record(effects, found, argument, write=True)
        return True

    def _elements_of(self, argument: Any, effects: Effects) -> Memory | None:
        of, numbers = _iterated(argument)
        if of is None and argument.type.is_pointer:
            if not argument.type.canonical.pointee.is_number:
                return None
            return _anywhere(self.memory(argument, effects))
        if of is None or not _holds_numbers(of.stripped.type):
            return None
        found = self.whole(of, effects)
        for number in [] if found is None else numbers:
            self.read(number, effects)
        return found
