"""Statements that take a value into a maximum, a minimum or a sum, and do nothing else.

A maximum is the same whatever order its values come in, if the comparison passes over what is no
number and none of the values is a zero with a sign: `if (d > m) m = d` with `d = fabs(...)`, or
integers. `m > d ? m : d` keeps what is no number until the next value comes: that is not taken.
"""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.reduction import Reduction
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_memory import Effects
from imbrex.transform.readers.c_places import PlaceReader
from imbrex.transform.readers.cxx_library import is_library

_ABSOLUTE = frozenset({"fabs", "fabsf", "fabsl", "abs", "labs"})
_KEEPING = {"fmax": "max", "fmaxf": "max", "fmin": "min", "fminf": "min"}
_COMPARABLE = frozenset(
    {
        *(ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR, ck.CALL_EXPR),
        *(ck.BINARY_OPERATOR, ck.UNARY_OPERATOR, ck.INTEGER_LITERAL, ck.CXX_THIS_EXPR),
    }
)
_SIDES = {cc.GREATER: "max", cc.LESS: "min"}


def reduction(reader: PlaceReader, cursor: Any) -> Reduction | None:
    """What a statement takes into which scalar; None where it is another statement."""
    inner = cursor.stripped if cursor.kind in ck.EXPRESSIONS else cursor
    if inner.kind is ck.IF_STMT and len(inner.children) == 2:
        return _asked(reader, *inner.children)
    if inner.kind is ck.COMPOUND_ASSIGNMENT_OPERATOR:
        target, added = inner.operands
        sums = inner.binary_operator in (cc.ADD_ASSIGN, cc.SUBTRACT_ASSIGN)
        return _of(reader, "sum", target, added) if sums else None
    if inner.kind is ck.BINARY_OPERATOR and inner.binary_operator == cc.ASSIGN:
        target, value = (side.stripped for side in inner.operands)
        if value.kind is ck.CONDITIONAL_OPERATOR:
            asked, taken, left = value.operands
            return _compared(reader, asked.stripped, target, taken, left)
        if value.kind is ck.CALL_EXPR and len(value.arguments) == 2:
            return _called(reader, value, target)
        if value.kind is ck.BINARY_OPERATOR and value.binary_operator == cc.ADD:
            first, second = value.operands
            return _of(reader, "sum", target, second) if _same(first, target) else None
    return None


def counted_array(reader: PlaceReader, cursor: Any) -> str:
    """The array of integers to an element of which a statement adds, as `n[key[i]]++`; else ""."""
    inner = cursor.stripped if cursor.kind in ck.EXPRESSIONS else cursor
    value = None
    if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator in cc.STEPS:
        (target,) = inner.operands
    elif inner.kind is ck.COMPOUND_ASSIGNMENT_OPERATOR:
        target, value = inner.operands
        if inner.binary_operator not in (cc.ADD_ASSIGN, cc.SUBTRACT_ASSIGN):
            return ""
    else:
        return ""
    target = target.stripped
    sides = [target] if value is None else [target, value]
    if target.kind is not ck.ARRAY_SUBSCRIPT_EXPR or target.type.is_ordered:
        return ""
    if not all(side.type.is_integer for side in sides):
        return ""
    effects = Effects()
    place = reader.place(target, effects)
    if value is not None:
        reader.read(value, effects)
    variable = reader.program.variables.get(place.key)
    plain = not effects.stop and not effects.calls
    if variable is None or variable.volatile or not plain:
        return ""
    own = any(
        a.write or (a.variable, a.through) == (place.key, place.through) for a in effects.accesses
    )
    return "" if own else place.key


def _asked(reader: PlaceReader, asked: Any, then: Any) -> Reduction | None:
    """`if (value > m) m = value;`"""
    if then.kind is ck.COMPOUND_STMT and len(then.children) == 1:
        (then,) = then.children
    then = then.stripped
    if then.kind is not ck.BINARY_OPERATOR or then.binary_operator != cc.ASSIGN:
        return None
    target, value = then.operands
    return _compared(reader, asked.stripped, target.stripped, value, target)


def _compared(
    reader: PlaceReader, asked: Any, target: Any, taken: Any, left: Any
) -> Reduction | None:
    """A value that is taken where it compares, and the target that is left else."""
    if asked.kind is not ck.BINARY_OPERATOR or not _same(left, target):
        return None
    kind = _SIDES.get(asked.binary_operator)
    first, second = asked.operands
    if kind is None:
        return None
    if _same(second, target) and _same(first, taken):
        return _of(reader, kind, target, taken)
    if _same(first, target) and _same(second, taken):
        return _of(reader, "min" if kind == "max" else "max", target, taken)
    return None


def _called(reader: PlaceReader, call: Any, target: Any) -> Reduction | None:
    """`m = std::max(m, value)`, which keeps m where the value is no number; `fmax` of both."""
    first, second = call.arguments
    kind = _KEEPING.get(call.spelling) if _is_standard(call) else None
    if kind is not None and _same(second, target):
        first, second = second, first
    known = call.referenced is not None and is_library(call.referenced)
    if known and call.spelling in ("max", "min"):
        kind = str(call.spelling)
    return _of(reader, kind, target, second) if kind and _same(first, target) else None


def _of(reader: PlaceReader, kind: str, target: Any, value: Any) -> Reduction | None:
    if target.kind not in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR):
        return None
    place, effects = reader.place(target, Effects()), Effects()
    reader.read(value, effects)
    pure = not any(access.write for access in effects.accesses) and not effects.stop
    own = any(access.variable == place.key for access in effects.accesses)
    variable = reader.program.variables.get(place.key)
    if not pure or own or place.through or variable is None or variable.volatile:
        return None
    if variable.bounds or variable.pointer or not target.type.is_number:
        return None
    whole = "float" not in variable.element and "double" not in variable.element
    absolute = "" if whole else _is_absolute(reader, value)
    operation = kind if kind == "sum" else f"chosen {kind}"
    exact = whole or (kind != "sum" and absolute is not None)
    return Reduction(operation, exact, place.key, absolute or "" if kind != "sum" else "")


def _is_standard(call: Any) -> bool:
    """Whether a function is that of the system's headers, and none of the program's own."""
    return call.referenced is not None and bool(call.referenced.in_system_header)


def _is_absolute(reader: PlaceReader, value: Any) -> str | None:
    """Whether a number is never below zero, nor a zero with a sign.

    Not None: the variable that it is so of where nothing but its declaration sets it; none is "".
    """
    inner = value.stripped
    if inner.kind is ck.CALL_EXPR:
        return "" if inner.spelling in _ABSOLUTE and _is_standard(inner) else None
    if inner.kind is not ck.DECL_REF_EXPR or inner.referenced is None:
        return None
    declared = inner.referenced
    if declared.kind is not ck.VAR_DECL or declared.initializer is None:
        return None
    first = declared.initializer.stripped
    known = first.kind is ck.CALL_EXPR and first.spelling in _ABSOLUTE and _is_standard(first)
    return str(reader.key_of(declared)) if known else None


def _same(left: Any, right: Any) -> bool:
    """Whether two expressions without numbers of their own say the same."""
    left, right = left.stripped, right.stripped
    if left.kind is not right.kind or left.spelling != right.spelling:
        return False
    if left.kind not in _COMPARABLE or left.type.is_ordered:
        return False
    named, other = left.referenced, right.referenced
    if (named is None) is not (other is None):
        return False
    if named is not None and other is not None and named.location != other.location:
        return False
    if left.kind is ck.BINARY_OPERATOR and left.binary_operator != right.binary_operator:
        return False
    if left.kind is ck.UNARY_OPERATOR and left.unary_operator != right.unary_operator:
        return False
    if left.kind is ck.INTEGER_LITERAL:
        return bool(left.integer == right.integer)
    mine, theirs = left.operands, right.operands
    return len(mine) == len(theirs) and all(map(_same, mine, theirs))
