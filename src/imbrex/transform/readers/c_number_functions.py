"""Functions of the C++ library that make a number of numbers: they only read what they are given.

`std::pow(x, 2)` is an instance of a template, `std::numeric_limits<double>::max()` a method, and
`std::max(x, y)` gives a reference to one of its arguments, of which only the value counts here.
"""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import is_library

# Headers of functions that take numbers by value and keep no state, but `lgamma`.
_HEADERS = ("/cmath", "/limits", "/bits/std_abs.h", "/numeric", "/bits/stl_algo.h")
_STATES = frozenset({"lgamma"})
_REFERRING = frozenset({"max", "min", "clamp"})


def computed_from(call: Any) -> list[Any] | None:
    """What a call computes a number from; None where it may do more, or leaves a reference."""
    named = call.referenced
    if not call.tree.plus_plus or named is None or not is_library(named):
        return None
    listed = _listed(call)
    if listed is not None:
        return listed
    known = call.spelling not in _STATES and str(named.location.file).endswith(_HEADERS)
    if not known or not call.type.is_number or call.spelling in _REFERRING:
        # Without an argument what has the name of these is of std::numeric_limits.
        return [] if known and call.type.is_number and not call.arguments else None
    return call.arguments if all(map(_is_number, call.arguments)) else None


def value_chosen_from(cast: Any) -> list[Any] | None:
    """What the value is chosen from that an expression takes of what `std::max(x, y)` refers to."""
    operands = cast.operands
    if cast.kind is not ck.UNEXPOSED_EXPR or len(operands) != 1 or not cast.tree.plus_plus:
        return None
    return _chosen(operands[0]) if cast.type.is_number and not cast.type.is_fixed else None


def _chosen(call: Any) -> list[Any] | None:
    named = call.referenced if call.kind is ck.CALL_EXPR else None
    if named is None or call.spelling not in _REFERRING or not is_library(named):
        return None
    found: list[Any] = []
    for argument in call.arguments:
        inner = _chosen(argument)
        if inner is None and not _is_number(argument):
            return None
        found += [argument] if inner is None else inner
    return found


def _listed(call: Any) -> list[Any] | None:
    """The numbers of `std::max({x, y, z})`."""
    if call.spelling not in _REFERRING or len(call.arguments) != 1:
        return None
    inner = call.arguments[0].stripped
    while inner.kind is not ck.INIT_LIST_EXPR and len(inner.operands) == 1:
        inner = inner.operands[0].stripped
    numbers = inner.kind is ck.INIT_LIST_EXPR and all(map(_is_number, inner.operands))
    return inner.operands if numbers and call.type.is_number else None


def _is_number(argument: Any) -> bool:
    return bool(argument.stripped.type.is_number and argument.type.is_number)
