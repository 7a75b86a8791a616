"""What C++ evaluates though it is not written: defaults, and conversions in lists.

`void put(int tag = next());` runs `next` in `put()`, and `struct Box { int id = next(); };` does in
`Box{}`: libclang shows both in the declaration alone. Of lists in braces it shows what is written:
neither a constructor nor an operator by which a value becomes that of a member.
"""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import is_library

_CODE = frozenset(
    {ck.CXX_NEW_EXPR, ck.CXX_DELETE_EXPR, ck.CXX_THROW_EXPR, ck.COMPOUND_ASSIGNMENT_OPERATOR}
)
_STEPS = cc.INCREMENTS | cc.DECREMENTS


def of_parameters(call: Any, arguments: list[Any]) -> bool:
    """Whether a parameter that a call gives nothing runs code of the program by its default."""
    if not call.tree.plus_plus or call.referenced is None:
        return False
    parameters = call.referenced.arguments
    return any(
        given.kind is ck.UNEXPOSED_EXPR and not given.children and _of_declaration(parameter)
        for given, parameter in zip(arguments, parameters, strict=False)
    )


def of_members(values: Any) -> bool:
    """Whether members that a list in braces leaves out run code of the program by theirs."""
    return bool(values.tree.plus_plus) and any(map(_of_declaration, values.type.fields))


def converts(values: Any) -> bool:
    """Whether a value in braces may become what it is there for by code of the program."""
    kind = values.type.canonical
    whole = kind.innermost.record
    if not values.tree.plus_plus or (whole is not None and is_library(whole)):
        return False
    members = [kind] if kind.is_array or whole is None else [each.type for each in kind.fields]
    records = [record for each in members if (record := each.innermost.record) is not None]
    names = {record.spelling for record in records}
    made = any(map(_is_made, records))
    for part in values.operands:
        value = part.operands[-1] if part.kind is ck.UNEXPOSED_EXPR and part.operands else part
        record = value.type.canonical.innermost.record
        if value.kind is ck.INIT_LIST_EXPR:
            continue
        if record is None or is_library(record):
            if made:  # a constructor may take it
                return True
        elif record.spelling not in names or _is_made(record):
            return True
    return False


def _is_made(record: Any) -> bool:
    """Whether code of the program may run where one is made: it has constructors."""
    declared = any(child.kind is ck.CONSTRUCTOR for child in record.children)
    return declared and not is_library(record)


def _of_declaration(declaration: Any) -> bool:
    return any(_runs(part) for part in declaration.children if part.kind in ck.EXPRESSIONS)


def _runs(expression: Any) -> bool:
    kind = expression.kind
    if kind is ck.CALL_EXPR:
        called = expression.referenced
        runs = called is None or not is_library(called)
    elif kind is ck.INIT_LIST_EXPR:
        runs = of_members(expression)
    elif kind is ck.BINARY_OPERATOR:
        runs = expression.binary_operator == cc.ASSIGN
    elif kind is ck.UNARY_OPERATOR:
        runs = expression.unary_operator in _STEPS
    else:
        runs = kind in _CODE
    return runs or any(map(_runs, expression.children))
