"""Addresses as numbers, and distances between them: `(char *)&s.x - (char *)&s`, in datatypes.

Within one object they join nothing. Between two objects, a datatype with such a displacement lets
a message that begins in the one reach into the other.
"""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck


def is_distance(cursor: Any) -> bool:
    """Whether one address, or the number that it has become, is subtracted from another."""
    return (
        cursor.kind is ck.BINARY_OPERATOR
        and cursor.binary_operator == cc.SUBTRACT
        and all(side.stripped.type.is_address for side in cursor.operands)
    )


def within_one(cursor: Any) -> bool:
    """Whether both sides of a distance surely lie in one object."""
    left, right = (_object(side.stripped) for side in cursor.operands)
    return left is not None and left == right


def becomes_number(cursor: Any, cast: Any) -> bool:
    """Whether a conversion of an expression makes something else of an address than an address."""
    kind = cast.type
    kept = kind.is_address or kind.is_truth
    converted = cast.kind in ck.CASTS and cursor.kind in ck.EXPRESSIONS  # no member of offsetof
    return bool(converted and not kept and cursor.type.is_address)


def is_offset(cursor: Any) -> bool:
    """Whether an address is a null pointer, or that of a member of no structure (offsetof)."""
    cursor = cursor.stripped
    if cursor.kind is ck.UNARY_OPERATOR and cursor.unary_operator == cc.ADDRESS_OF:
        cursor = cursor.operands[0].stripped
    while cursor.kind in (ck.MEMBER_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR) and cursor.operands:
        cursor = cursor.operands[0].stripped
    return cursor.kind is ck.INTEGER_LITERAL


def may_hold_pointer(kind: Any) -> bool:
    """Whether memory of this type holds pointers as such."""
    kind = kind.innermost
    return bool(kind.is_pointer) or any(may_hold_pointer(field.type) for field in kind.fields)


def _object(cursor: Any) -> tuple[int, bool] | None:
    """The declaration that an address is named by, and whether it is a pointer to the object."""
    if cursor.kind is ck.UNARY_OPERATOR and cursor.unary_operator == cc.ADDRESS_OF:
        cursor = cursor.operands[0].stripped
    elif cursor.type.is_pointer:
        return _declared(cursor, pointer=True)
    while cursor.kind in (ck.MEMBER_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR) and cursor.operands:
        cursor = cursor.operands[0].stripped
        if cursor.type.is_pointer:
            return _declared(cursor, pointer=True)
    return _declared(cursor, pointer=False)


def _declared(cursor: Any, *, pointer: bool) -> tuple[int, bool] | None:
    if cursor.kind is not ck.DECL_REF_EXPR or cursor.referenced is None:
        return None
    named = cursor.referenced
    if named.kind not in (ck.VAR_DECL, ck.PARM_DECL) or named.type.is_reference:
        return None
    return id(named), pointer
