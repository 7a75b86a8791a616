"""Statements of C that copy one pointer to another: how these are named, also within a macro."""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck


def move_of(cursor: Any) -> tuple[str, str] | None:
    """Target and value of such an assignment, or of a declaration of one variable."""
    if cursor.kind is ck.DECL_STMT:
        declared = [child for child in cursor.children if child.kind is ck.VAR_DECL]
        if len(declared) != 1 or not declared[0].type.is_pointer:
            return None
        value = declared[0].initializer
        target = str(declared[0].spelling)
    else:
        inner = cursor.stripped
        if inner.kind is not ck.BINARY_OPERATOR or inner.binary_operator != cc.ASSIGN:
            return None
        left, value = inner.operands
        if not left.type.is_pointer:
            return None
        target = _name(left)
    named = None if value is None else _name(value)
    return (target, named) if target and named else None


def _name(cursor: Any) -> str:
    """The words for a variable, a field or an element of an array; "" where it is another thing."""
    inner = cursor.stripped
    if inner.kind is ck.DECL_REF_EXPR:
        return str(inner.spelling)
    if inner.kind is ck.MEMBER_REF_EXPR:
        if not inner.operands:
            return str(inner.spelling)  # of `this`
        (base,) = inner.operands
        of = _name(base)
        return f"{of}{'->' if base.type.is_pointer else '.'}{inner.spelling}" if of else ""
    if inner.kind is ck.ARRAY_SUBSCRIPT_EXPR:
        array, index = inner.operands
        number = index.stripped
        where = str(number.integer) if number.kind is ck.INTEGER_LITERAL else _name(index)
        of = _name(array)
        return f"{of}[{where}]" if of and where and "[" not in of + where else ""
    return ""
