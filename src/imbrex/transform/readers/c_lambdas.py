"""Lambdas that only return an expression, held by a local variable that is only called.

A call of one counts as the expression, as that of a function of one return statement does. What it
captures is captured by reference, or is a number or a pointer that nothing in the function changes,
so that the expression means the same where it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clang.cindex import LinkageKind, StorageClass

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck

_ONE = r"(?:=|this|&?\s*\w+|&)"
_CAPTURES = re.compile(rf"\[\s*(?P<list>(?:{_ONE}\s*(?:,\s*{_ONE}\s*)*)?)\]")
_WRITTEN = re.compile(rb"=\s*\[")
_VARIABLES = frozenset({ck.VAR_DECL, ck.PARM_DECL})


def note_lambdas(body: Any, text: bytes) -> None:
    """Note at the variables of a function which hold such lambdas; `text`: of its file."""
    start, end = cc.spelled(body)
    if not _WRITTEN.search(text, start, end):
        return
    found: dict[int, tuple[Any, Any]] = {}
    _declared_in(body, text, found)
    if found:
        _uses_in(body, [], found)
    for key, (_, value) in [*found.items()]:
        if any(not _keeps(body, variable) for variable in _copied(value, text)):
            del found[key]
    for declaration, value in found.values():
        declaration.held_lambda = value


def _declared_in(cursor: Any, text: bytes, found: dict[int, tuple[Any, Any]]) -> None:
    for child in cursor.children:
        if child.kind is ck.VAR_DECL:
            value = _expression(child, text)
            if value is not None:
                found[child.raw.first] = (child.tree.declaration(child.raw), value)
        _declared_in(child, text, found)


def _expression(declaration: Any, text: bytes) -> Any | None:
    """The lambda that a local variable is declared with, if it is one expression of numbers."""
    local = declaration.linkage == LinkageKind.NO_LINKAGE
    if (
        not local
        or declaration.storage_class == StorageClass.STATIC
        or declaration.type.is_reference
    ):
        return None
    value = declaration.initializer
    inner = None if value is None else value.stripped
    if inner is None or inner.kind is not ck.LAMBDA_EXPR:
        return None
    start, end = cc.spelled(inner)
    if _CAPTURES.match(text[start:end].decode(errors="replace")) is None:
        return None
    bodies = [child for child in inner.children if child.kind is ck.COMPOUND_STMT]
    formals = [child for child in inner.children if child.kind is ck.PARM_DECL]
    if len(bodies) != 1 or not all(formal.type.is_number for formal in formals):
        return None
    statements = bodies[0].children
    return inner if len(statements) == 1 and statements[0].kind is ck.RETURN_STMT else None


def _copied(value: Any, text: bytes) -> list[Any]:
    """The variables of the function that a lambda holds copies of, by their declarations."""
    start, end = cc.spelled(value)
    match = _CAPTURES.match(text[start:end].decode(errors="replace"))
    listed = [part.strip() for part in match["list"].split(",")] if match is not None else []
    by_copy = {part for part in listed if part.isidentifier()}
    by_reference = {part[1:].strip() for part in listed if part.startswith("&")}
    found: dict[int, Any] = {}
    formals = {child.raw.first for child in value.children if child.kind is ck.PARM_DECL}
    for cursor in _named_in(value):
        named = cursor.referenced
        if named is None or named.kind not in _VARIABLES or named.raw.first in formals:
            continue
        if named.linkage != LinkageKind.NO_LINKAGE or named.spelling in by_reference:
            continue
        if "=" in listed or named.spelling in by_copy:
            found[named.raw.first] = named
    return [*found.values()]


def _keeps(body: Any, variable: Any) -> bool:
    """Whether a function changes nothing of a variable behind its declaration.

    Each expression that names it is read at once: libclang shows that as a conversion.
    """
    return variable.type.is_fixed or _is_only_read(body, variable.raw.first)


def _is_only_read(cursor: Any, variable: int) -> bool:
    for child in cursor.children:
        if child.kind is ck.DECL_REF_EXPR:
            named = child.referenced
            here = named is not None and named.raw.first == variable
            if here and cursor.kind not in (ck.UNEXPOSED_EXPR, ck.LAMBDA_EXPR):
                return False
        elif not _is_only_read(child, variable):
            return False
    return True


def _named_in(cursor: Any) -> Iterator[Any]:
    for child in cursor.children:
        if child.kind is ck.DECL_REF_EXPR:
            yield child
        yield from _named_in(child)


def _uses_in(cursor: Any, above: list[Any], found: dict[int, tuple[Any, Any]]) -> None:
    """Drop those that something else is done with than to call them."""
    if cursor.kind is ck.DECL_REF_EXPR:
        named = cursor.referenced
        if named is not None and named.raw.first in found and not _is_called(cursor, above):
            del found[named.raw.first]
        return
    inner = above if cursor.kind in ck.CASTS else [*above, cursor]
    for child in cursor.children:
        _uses_in(child, inner, found)


def _is_called(cursor: Any, above: list[Any]) -> bool:
    call = above[-1]
    if call.kind is not ck.CALL_EXPR or call.spelling != "operator()":
        return False
    return bool(call.operands) and call.operands[0].stripped.raw.second == cursor.raw.second


def called_lambda(call: Any) -> Any | None:
    """The variable whose lambda a call runs, where that is one that is noted."""
    if call.kind is not ck.CALL_EXPR or call.spelling != "operator()" or not call.operands:
        return None
    inner = call.operands[0].stripped
    named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
    return named if named is not None and named.held_lambda is not None else None
