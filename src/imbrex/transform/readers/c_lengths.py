"""Lengths of C's arrays as their declarations write them: `double u[n + 2][m]`, `double (*v)[m]`.

They have the values that their expressions had where the variable was declared (C11, 6.7.6.2).
"""

from __future__ import annotations

from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.readers import c_cursor_kinds as ck

_OF_LENGTH = (TypeKind.CONSTANTARRAY, TypeKind.VARIABLEARRAY)
_NAMED = (TypeKind.TYPEDEF, TypeKind.ELABORATED)


def written_lengths(declaration: Any) -> list[Any]:
    """The expressions that are the lengths of an array's dimensions, fastest first.

    Empty where a type's name stands for some of them. The slowest dimension of a parameter is left
    out: it is a pointer to its first element, and its length promises nothing.
    """
    levels = _levels(declaration.type.written)
    value = declaration.initializer
    begin = None if value is None else value.span[1]
    lengths = [each for each in declaration.operands if begin is None or each.span[1] < begin]
    if TypeKind.VARIABLEARRAY not in levels or len(lengths) != _written(levels):
        return []
    return lengths[: len(levels) - 1] if _is_adjusted(declaration) else lengths


def parts_of_cast(cast: Any) -> tuple[list[Any], list[Any]]:
    """The lengths of arrays in the type of a cast, fastest first, and what is converted, which is
    one expression: `(double (*)[m]) a`.
    """
    operands = cast.operands
    if cast.kind is not ck.CSTYLE_CAST_EXPR or len(operands) < 2:
        return [], operands
    of_lengths = len(operands) == 1 + _written(_levels(cast.type))
    return (operands[:-1], operands[-1:]) if of_lengths else ([], operands)


def _levels(kind: Any) -> list[TypeKind]:
    """The kinds of the arrays that a type is, or that it points to; empty where one has a name."""
    if kind.kind is TypeKind.POINTER:
        kind = kind.pointee
    levels: list[TypeKind] = []
    while kind.is_array:
        if kind.kind in _NAMED:
            return []
        kind = kind.canonical if kind.kind is TypeKind.UNEXPOSED else kind  # in parentheses
        levels.append(kind.kind)
        kind = kind.element_type
    return levels


def _written(levels: list[TypeKind]) -> int:
    """How many of the arrays have a length that is written."""
    return sum(level in _OF_LENGTH for level in levels)


def _is_adjusted(declaration: Any) -> bool:
    """Whether it is a pointer that is written as an array."""
    return bool(declaration.type.is_pointer and declaration.type.written.is_array)
