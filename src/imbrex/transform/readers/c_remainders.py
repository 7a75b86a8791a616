"""Integers of C with remainders in them: where loops begin, and what conditions compare."""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.remainders import Congruence, Value, remainder
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_expressions import ExpressionReader
from imbrex.transform.readers.c_values import narrows


def value_of(reader: ExpressionReader, cursor: Any) -> Value | None:
    """An expression as a sum of what is affine and of remainders by numbers, if it is one."""
    known = reader.affine(cursor)
    if known is not None:
        return Value(known)
    inner = cursor.stripped
    if inner.kind is not ck.BINARY_OPERATOR or (inner is not cursor and narrows(cursor, inner)):
        return None
    left, right = (value_of(reader, operand) for operand in inner.operands)
    if left is None or right is None:
        return None
    operator = inner.binary_operator
    if operator in (cc.ADD, cc.SUBTRACT):
        return left.plus(right, 1 if operator == cc.ADD else -1)
    if right.remainders or right.affine.terms:
        return None
    number = right.affine.constant
    if operator == cc.REMAINDER and _keeps(inner, number):
        return remainder(left, number, floored=inner.type.is_unsigned)
    if operator == cc.AND and number == 1:
        return remainder(left, 2, floored=True)
    return None


def congruence(reader: ExpressionReader, condition: Any) -> Congruence | None:
    """What a condition says of remainders where it holds: `(i + j) % 2 == color`."""
    inner = condition.stripped
    if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.NOT:
        value = value_of(reader, inner.operands[0])
        return None if value is None else value.congruent()
    if inner.kind is ck.BINARY_OPERATOR and inner.binary_operator in (cc.EQUAL, cc.NOT_EQUAL):
        left, right = (value_of(reader, side) for side in inner.operands)
        if left is None or right is None:
            return None
        value = left.plus(right, -1)
        if inner.binary_operator == cc.EQUAL:
            return value.congruent()
        return value.odd() if right == Value(Affine(0)) else None
    value = value_of(reader, inner)
    return None if value is None else value.odd()


def _keeps(cursor: Any, number: int) -> bool:
    """Whether integers that overflow have this remainder too; those with a sign do not overflow."""
    return not cursor.type.is_unsigned or (number > 0 and number & (number - 1) == 0)
