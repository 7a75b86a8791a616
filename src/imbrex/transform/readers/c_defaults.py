"""What C++ evaluates though it is not written: defaults of parameters and of members.

`void put(int tag = next());` runs `next` in `put()`, and `struct Box { int id = next(); };` does in
`Box{}`. libclang shows neither in the call or the list, but in the declaration alone.
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
