"""Pointers that C code rounds up to a multiple: `(double *)(((size_t)p + n - 1) / n * n)`.

The result lies in what `p` points into, a little further on. It is computed as a number, of which
nothing else remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck

_WHOLE = frozenset({TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG})
_NARROW = frozenset({TypeKind.SHORT, TypeKind.USHORT, TypeKind.INT, TypeKind.UINT})
_WORD = 1 << 64
_MOST = 1 << 16  # bytes to a multiple of which anyone rounds


@dataclass(slots=True)
class Aligned:
    """The pointer that is rounded up, and the expressions that say to which multiple."""

    pointer: Any
    multiples: list[Any]


def aligned(cursor: Any) -> Aligned | None:
    """What a pointer is made of, if it is another one, rounded up as a number."""
    inner = _kept(cursor)
    if inner is None or inner.kind is not ck.BINARY_OPERATOR:
        return None
    left, right = inner.operands
    if inner.binary_operator == cc.MULTIPLY:
        return _divided(left, right) or _divided(right, left)
    if inner.binary_operator == cc.AND:
        return _masked(left, right) or _masked(right, left)
    return None


def _kept(cursor: Any) -> Any | None:
    """The expression inside parentheses and casts that keep all bits of an address."""
    while cursor.kind in ck.CASTS:
        if len(cursor.operands) != 1:
            return None
        if cursor.kind not in (ck.PAREN_EXPR, ck.UNEXPOSED_EXPR) and not _holds(cursor):
            return None
        cursor = cursor.operands[0]
    return cursor if _holds(cursor) else None


def _holds(cursor: Any) -> bool:
    return bool(cursor.type.canonical.kind in _WHOLE or cursor.type.is_address)


def _divided(quotient: Any, multiple: Any) -> Aligned | None:
    """`(p + n - 1) / n * n`."""
    inner = _kept(quotient)
    if inner is None or inner.kind is not ck.BINARY_OPERATOR:
        return None
    above, below = inner.operands
    if inner.binary_operator != cc.DIVIDE or not _alike(below, multiple):
        return None
    return _raised(above, multiple)


def _masked(raised: Any, mask: Any) -> Aligned | None:
    """`(p + n - 1) & ~(n - 1)`, or `& -n`."""
    inner = mask.stripped
    number = mask.integer
    if number is not None:
        size = -number % _WORD
        # A mask of fewer bits is negative, or it would clear the upper ones.
        wide = number < 0 or mask.type.canonical.kind in _WHOLE
        return _raised(raised, None, size) if wide and size and not size & (size - 1) else None
    if inner.kind is not ck.UNARY_OPERATOR:
        return None
    if inner.type.canonical.kind not in _WHOLE | {TypeKind.INT}:
        return None  # without a sign, a mask of fewer bits clears the upper ones
    (operand,) = inner.operands
    if inner.unary_operator == cc.MINUS:
        return _raised(raised, operand)
    operand = operand.stripped
    if inner.unary_operator != cc.COMPLEMENT or operand.kind is not ck.BINARY_OPERATOR:
        return None
    multiple, one = operand.operands
    if operand.binary_operator != cc.SUBTRACT or one.integer != 1:
        return None
    return _raised(raised, multiple)


def _raised(cursor: Any, multiple: Any | None, size: int | None = None) -> Aligned | None:
    """`p + n - 1` or `p + n`, the terms in any order: no less than `p` when it is rounded down.

    `size`: the value of `n`, where there is no expression for it.
    """
    if multiple is not None and multiple.integer is not None:
        size, multiple = multiple.integer, None
    pointer, constant, multiples = None, 0, []
    work = [(cursor, 1)]
    while work:
        term, sign = work.pop()
        number = term.integer
        inner = None if number is not None else _kept(term) or _small_sum(term)
        if number is not None:
            constant += sign * number
        elif multiple is not None and sign > 0 and _alike(term, multiple):
            multiples.append(term)
        elif inner is None:
            return None
        elif inner.kind is ck.BINARY_OPERATOR and inner.binary_operator in (cc.ADD, cc.SUBTRACT):
            if inner.type.is_address:
                return None
            left, right = inner.operands
            work += [(left, sign), (right, -sign if inner.binary_operator == cc.SUBTRACT else sign)]
        elif inner.type.is_address:
            if pointer is not None or sign < 0:
                return None
            pointer = inner
        else:
            return None
    if pointer is None:
        return None
    if multiple is None:
        right_amount = size is not None and 0 < size <= _MOST and constant in (size - 1, size)
        return Aligned(pointer, []) if right_amount else None
    return Aligned(pointer, multiples) if len(multiples) == 1 and constant in (-1, 0) else None


def _small_sum(cursor: Any) -> Any | None:
    """A sum or difference of fewer bits than an address has, whose terms are looked at."""
    inner = cursor.stripped
    sums = (cc.ADD, cc.SUBTRACT)
    small = inner.kind is ck.BINARY_OPERATOR and inner.type.canonical.kind in _NARROW
    return inner if small and inner.binary_operator in sums else None


def _alike(left: Any, right: Any) -> bool:
    """Whether two expressions are the same number, too small to be an address itself.

    That is a constant, a variable of fewer bits, the product of both, or a local variable that is
    set to nothing else.
    """
    if left.integer is not None or right.integer is not None:
        return bool(left.integer == right.integer and 0 < left.integer <= _MOST)
    left, right = left.stripped, right.stripped
    if left.kind is not right.kind:
        return False
    if left.kind is ck.BINARY_OPERATOR:
        if left.binary_operator != cc.MULTIPLY or right.binary_operator != cc.MULTIPLY:
            return False
        factors = list(zip(left.operands, right.operands, strict=True))
        constants = [pair for pair in factors if pair[0].integer is not None]
        return len(constants) == 1 and all(_alike(*pair) for pair in factors)
    if left.referenced is None or left.referenced is not right.referenced:
        return False
    if left.type.canonical.kind not in _NARROW:
        return left.kind is ck.DECL_REF_EXPR and only_small(left.referenced)
    if left.kind is ck.MEMBER_REF_EXPR:
        return _same_owner(left, right)
    return bool(left.kind is ck.DECL_REF_EXPR)


def _same_owner(left: Any, right: Any) -> bool:
    """Whether a field is that of one variable, named in the same way."""
    if not left.operands or not right.operands:
        return False
    mine, theirs = left.operands[0].stripped, right.operands[0].stripped
    named = mine.kind is ck.DECL_REF_EXPR and mine.referenced is not None
    return bool(named and mine.referenced is theirs.referenced)


def only_small(declaration: Any) -> bool:
    """Whether a local variable of C holds nothing but numbers too small to be an address."""
    if declaration.small is None:
        declaration.small = _only_small(declaration)
    return bool(declaration.small)


def _only_small(declaration: Any) -> bool:
    plus_plus = declaration.tree.plus_plus
    if declaration.kind is not ck.VAR_DECL or plus_plus or declaration.type.is_ordered:
        return False
    routine = declaration.semantic_parent
    if routine is None or routine.kind is not ck.FUNCTION_DECL:
        return False
    if declaration.initializer is not None and not _small(declaration.initializer):
        return False
    work = [routine]
    while work:
        cursor = work.pop()
        for child in cursor.children:
            inner = child
            while inner.kind is ck.PAREN_EXPR:
                (inner,) = inner.operands
            if inner.kind is not ck.DECL_REF_EXPR or inner.referenced is not declaration:
                work.append(child)
            elif not _read_or_set(cursor, child):
                return False
    return True


def _read_or_set(cursor: Any, variable: Any) -> bool:
    """Whether the expression that a variable stands in reads it or sets it to a small number."""
    if cursor.kind is ck.BINARY_OPERATOR and cursor.binary_operator == cc.ASSIGN:
        left, right = cursor.operands
        return left is not variable or _small(right)
    return cursor.kind is ck.UNEXPOSED_EXPR  # its value is taken


def _small(cursor: Any) -> bool:
    """A constant, a number of fewer bits than an address has, or the product of both."""
    while cursor.integer is None and cursor.kind in ck.CASTS and len(cursor.operands) == 1:
        if cursor.type.canonical.kind in _NARROW:
            return True
        cursor = cursor.operands[0]
    if cursor.integer is not None:
        return bool(0 < cursor.integer <= _MOST)
    if cursor.kind is ck.BINARY_OPERATOR and cursor.binary_operator == cc.MULTIPLY:
        left, right = cursor.operands
        if left.integer is None:
            left, right = right, left
        return left.integer is not None and _small(left) and _small(right)
    return cursor.type.canonical.kind in _NARROW
