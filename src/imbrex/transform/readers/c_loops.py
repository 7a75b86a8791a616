"""Counted loops of C: the range of the index, where the header tells it."""

from __future__ import annotations

from typing import Any, NamedTuple

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.remainders import Congruence, Value
from imbrex.transform.model.statements import LoopRange
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_expressions import ExpressionReader
from imbrex.transform.readers.c_remainders import value_of


def counted(reader: ExpressionReader, first: Any, test: Any, step: Any) -> LoopRange | None:
    """The range of `for (i = low; i < high; i++)` and its variants."""
    header = _header(reader, first, test, step)
    start = None if header is None else reader.affine(header.first)
    if header is None or start is None:
        return None
    by = _step(reader, step)
    every = by is not None and abs(by) == 1
    unsigned = _unsigned(header.first) or _unsigned(test)
    last = _last(start, header.bound, by)
    low, high = (start, last) if header.upward else (last, start)
    congruent = _congruent(header.counter, Value(start), by, unsigned=unsigned)
    return LoopRange(header.counter, low, high, every, by, unsigned, congruent)


def begun_at_remainder(
    reader: ExpressionReader, first: Any, test: Any, step: Any
) -> LoopRange | None:
    """What the index of `for (j = 1 + (i + color) % 2; j < n; j += 2)` stays within."""
    header = _header(reader, first, test, step)
    start = None if header is None else value_of(reader, header.first)
    by = _step(reader, step)
    if header is None or start is None or not header.upward or by is None or by < 2:
        return None
    unsigned = _unsigned(header.first) or _unsigned(test)
    congruent = _congruent(header.counter, start, by, unsigned=unsigned)
    low, high = start.least(), header.bound
    return LoopRange(header.counter, low, high, False, by, unsigned, congruent, start)


class _Header(NamedTuple):
    counter: str  # the key of the index
    first: Any
    bound: Affine  # the last value that it may take
    upward: bool


def _header(reader: ExpressionReader, first: Any, test: Any, step: Any) -> _Header | None:
    if first.kind is ck.DECL_STMT:
        declared = [c for c in first.children if c.kind is ck.VAR_DECL]
        value = declared[0].initializer if len(declared) == 1 else None
        index = reader.key_of(declared[0]) if value is not None else None
    elif first.kind is ck.BINARY_OPERATOR and first.binary_operator == cc.ASSIGN:
        left, value = first.operands
        index = _index_of(reader, left)
    else:
        return None
    if index is None or value is None or test.kind is not ck.BINARY_OPERATOR:
        return None
    upward = _direction(reader, step, index)
    left, right = test.operands
    operator = test.binary_operator
    bound = reader.affine(right)
    ahead = _ahead(reader, left, index)
    if upward is None or bound is None or ahead is None or (ahead and not upward):
        return None
    bound = bound.plus(Affine(-ahead))
    strict = int(operator in (cc.LESS, cc.GREATER))
    if upward and operator in (cc.LESS, cc.LESS_EQUAL):
        return _Header(index, value, bound.plus(Affine(-strict)), True)
    if not upward and operator in (cc.GREATER, cc.GREATER_EQUAL):
        return _Header(index, value, bound.plus(Affine(strict)), False)
    return None


def _ahead(reader: ExpressionReader, cursor: Any, index: str) -> int | None:
    """What is added to the index where it is compared, as in `i + 1 < n`; None: not known."""
    value = reader.affine(cursor)
    ahead = 0 if value is None else value.constant
    if value is None or ahead < 0 or value.plus(Affine(-ahead)) != Affine.variable(index):
        return None
    return ahead if ahead or _index_of(reader, cursor) == index else None


def _congruent(index: str, first: Value, by: int | None, *, unsigned: bool) -> Congruence | None:
    """What the index has in common with the value that it begins with."""
    found = Value(Affine.variable(index)).plus(first, -1).congruent(abs(by or 1))
    if by is None or found is None:
        return None
    # Integers without a sign that overflow keep remainders by powers of two alone.
    return found if not unsigned or found.modulus & (found.modulus - 1) == 0 else None


def _last(start: Affine, bound: Affine, by: int | None) -> Affine:
    """The last value that is taken, where that can be told; else the bound."""
    way = bound.plus(start, -1)
    if by is None or way.terms or way.constant * by < 0:
        return bound
    return start.plus(Affine(way.constant - way.constant % by))


def _unsigned(cursor: Any) -> bool:
    """Whether any part of an expression has a type without a sign."""
    if cursor.kind in ck.EXPRESSIONS and cursor.type.is_unsigned:
        return True
    return any(_unsigned(operand) for operand in cursor.operands)


def _step(reader: ExpressionReader, step: Any) -> int | None:
    """How far a step that is known to go in one direction goes, where that is a constant."""
    if step.kind is ck.UNARY_OPERATOR:
        return 1 if step.unary_operator in cc.INCREMENTS else -1
    amount = reader.affine(step.operands[1])
    if amount is None or amount.terms:
        return None
    return amount.constant * (1 if step.binary_operator == cc.ADD_ASSIGN else -1)


def _index_of(reader: ExpressionReader, cursor: Any) -> str | None:
    """The variable that counts; what sets a field or an element is known by other names."""
    value = reader.affine(cursor)
    if value is None or value.constant or len(value.terms) != 1:
        return None
    (key, coefficient) = value.terms[0]
    plain = key in reader.program.variables
    return key if coefficient == 1 and plain else None


def _direction(reader: ExpressionReader, step: Any, index: str) -> bool | None:
    """True for a step upward, False for one downward, None where it is not known."""
    operands = step.operands
    if not operands or _index_of(reader, operands[0]) != index:
        return None
    if step.kind is ck.UNARY_OPERATOR:
        operator = step.unary_operator
        if operator in cc.INCREMENTS:
            return True
        return False if operator in cc.DECREMENTS else None
    if step.kind is ck.COMPOUND_ASSIGNMENT_OPERATOR and len(operands) == 2:
        if step.binary_operator == cc.ADD_ASSIGN and _positive(reader, operands[1]):
            return True
        amount = reader.affine(operands[1])
        if amount is None or amount.terms or amount.constant == 0:
            return None
        operator = step.binary_operator
        if operator == cc.ADD_ASSIGN:
            return amount.constant > 0
        if operator == cc.SUBTRACT_ASSIGN:
            return amount.constant < 0
    return None


def _positive(reader: ExpressionReader, cursor: Any) -> bool:
    """Whether the expression is `a <= b ? 1 : a - b`, also with `... ||` before `a`."""
    cursor = cursor.stripped
    if cursor.kind is not ck.CONDITIONAL_OPERATOR:
        return False
    condition, one, rest = cursor.operands
    condition = condition.stripped
    while condition.kind is ck.BINARY_OPERATOR and condition.binary_operator == cc.LOGICAL_OR:
        condition = condition.operands[1].stripped
    if condition.kind is not ck.BINARY_OPERATOR:
        return False
    if condition.binary_operator != cc.LESS_EQUAL:
        return False
    high, low = (reader.affine(side) for side in condition.operands)
    first, other = reader.affine(one), reader.affine(rest)
    if high is None or low is None or first != Affine(1):
        return False
    return other == high.plus(low, -1)
