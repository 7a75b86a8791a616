"""Lambdas that are held by a local variable which is only called, or given to an algorithm.

A call of one that only returns an expression counts as the expression, as that of a function of one
return statement does, that of another one as its statements (see c_closures). What it captures is
captured by reference, or is a number or a pointer that nothing in the function changes, so that
what it says means the same where it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clang.cindex import LinkageKind, StorageClass

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.cxx_library import is_library

_ONE = r"(?:=|this|&?\s*\w+|&)"
_CAPTURES = re.compile(rf"\[\s*(?P<list>(?:{_ONE}\s*(?:,\s*{_ONE}\s*)*)?)\]")
_CHANGES_COPIES = re.compile(r"\bmutable\b")
_GIVES = re.compile(r"->[^{]*[&*]")  # a reference or an address
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
        start, end = cc.spelled(value)
        if any(not _keeps(body, variable) for variable in _copied(value, text[start:end])):
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
    """The lambda that a local variable is declared with, if it is one that can be read."""
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
    text = text[slice(*cc.spelled(inner))]
    bodies = [child for child in inner.children if child.kind is ck.COMPOUND_STMT]
    formals = [child for child in inner.children if child.kind is ck.PARM_DECL]
    if len(bodies) != 1 or _CAPTURES.match(text.decode(errors="replace")) is None:
        return None
    statements = bodies[0].children
    alone = len(statements) == 1 and statements[0].kind is ck.RETURN_STMT
    if alone and all(formal.type.is_number for formal in formals):
        return inner
    return inner if is_plain(inner, text) and all(map(_may_be_given, formals)) else None


def _may_be_given(formal: Any) -> bool:
    """Whether a parameter is a number, or refers to one, to a structure of them or to a vector."""
    if not formal.type.is_reference:
        return bool(formal.type.is_number)
    target = formal.type.canonical.pointee
    return bool(c_vectors.declared(formal) or target.is_number or target.is_record_of_numbers)


def is_plain(code: Any, text: bytes) -> bool:
    """Whether the text of a lambda says all that it does, and MPI has no part in that."""
    body = next(child for child in code.children if child.kind is ck.COMPOUND_STMT)
    head = text[: cc.spelled(body)[0] - cc.spelled(code)[0]].decode(errors="replace")
    if _CAPTURES.match(head) is None or _CHANGES_COPIES.search(head) or _GIVES.search(head):
        return False
    for child in _inside(code):
        if child.kind is ck.CALL_EXPR and child.spelling.startswith(("MPI_", "PMPI_")):
            return False
        if child.kind in ck.EXPRESSIONS and "equest" in child.type.spelling:
            return False
        if child.kind is ck.RETURN_STMT and not all(c.type.is_number for c in child.operands):
            return False
    return all(_is_copied_alone(variable) for variable in _copied(code, text))


def _inside(cursor: Any) -> Iterator[Any]:
    for child in cursor.children:
        yield child
        yield from _inside(child)


def _is_copied_alone(variable: Any) -> bool:
    """Whether to copy a variable into a lambda runs no code, and gives nothing away."""
    kind = variable.type
    return bool(kind.is_number or kind.is_pointer or c_vectors.declared(variable))


def _copied(value: Any, text: bytes) -> list[Any]:
    """The variables of the function that a lambda holds copies of; `text`: the lambda's own."""
    match = _CAPTURES.match(text.decode(errors="replace"))
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
    if call.kind is not ck.CALL_EXPR:
        return False
    if call.spelling != "operator()":
        return _is_copied_for(above)
    return bool(call.operands) and call.operands[0].stripped.raw.second == cursor.raw.second


def _is_copied_for(above: list[Any]) -> bool:
    """Whether the lambda is copied for an argument of a function of the library."""
    if len(above) < 2 or above[-1].referenced is None or above[-2].referenced is None:
        return False
    copied = above[-1].referenced.kind is ck.CONSTRUCTOR and len(above[-1].arguments) == 1
    call = above[-2]
    function = call.kind is ck.CALL_EXPR and call.referenced.kind is ck.FUNCTION_DECL
    return copied and function and is_library(call.referenced)


def lambda_given(argument: Any) -> Any | None:
    """The lambda that an argument is, written there or held by a variable, if it is one."""
    inner = argument.stripped
    if inner.kind is ck.CALL_EXPR and len(inner.arguments) == 1:
        inner = inner.arguments[0].stripped
        named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
        return None if named is None else named.held_lambda
    return inner if inner.kind is ck.LAMBDA_EXPR else None


def called_lambda(call: Any) -> Any | None:
    """The variable whose lambda a call runs, where that is one that is noted."""
    if call.kind is not ck.CALL_EXPR or call.spelling != "operator()" or not call.operands:
        return None
    inner = call.operands[0].stripped
    named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
    return named if named is not None and named.held_lambda is not None else None
