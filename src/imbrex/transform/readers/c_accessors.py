"""Functions and methods that do nothing but return one expression, as the expression itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods, c_vectors
from imbrex.transform.readers.c_lambdas import called_lambda


@dataclass(frozen=True, slots=True)
class Accessor:
    """A call of such a function."""

    function: Any
    value: Any  # what it returns
    actuals: list[Any]
    on_object: bool
    owner: Any | None  # the expression that names the object, or points to it; None: `this`
    variable: Any | None = None  # that holds the function, a lambda

    @property
    def identity(self) -> str:
        """What no other function has; two lambdas of one function have one USR."""
        place = self.function.location
        return f"{self.function.get_usr()}@{place.file}:{place.offset}"


def sole_return(function: Any) -> Any | None:
    """What a function returns whose body is one return statement."""
    bodies = [child for child in function.children if child.kind is ck.COMPOUND_STMT]
    inner = list(bodies[0].children) if bodies else []
    if len(inner) != 1 or inner[0].kind is not ck.RETURN_STMT:
        return None
    return next(iter(inner[0].children), None)


def accessor(call: Any) -> Accessor | None:
    """The call as one of such a function, if it is known which one it runs."""
    named = c_methods.called(call)
    if named is None:
        return _lambda_of(call)
    function = named.get_definition()
    if function is None or function.in_system_header:
        return None
    on_object = c_methods.has_object(function)
    owner, actuals = None, call.arguments
    if on_object and c_methods.is_operator(function):
        if not actuals:
            return None
        owner = None if _is_this(actuals[0]) else actuals[0]
        actuals = actuals[1:]
    elif on_object:
        callee = call.operands[0].stripped
        if callee.kind is not ck.MEMBER_REF_EXPR:
            return None
        owner = callee.operands[0] if callee.operands else None
    formals = function.arguments
    if len(formals) != len(actuals) or not all(map(_is_value_or_vector, formals)):
        return None
    value = sole_return(function)
    return None if value is None else Accessor(function, value, actuals, on_object, owner)


def _is_value_or_vector(formal: Any) -> bool:
    return c_vectors.declared(formal) or not formal.type.is_reference


def _is_this(cursor: Any) -> bool:
    """Whether an expression is `*this`."""
    inner = cursor.stripped
    if inner.kind is not ck.UNARY_OPERATOR or inner.unary_operator != cc.DEREFERENCE:
        return False
    return inner.operands[0].stripped.kind is ck.CXX_THIS_EXPR


def _lambda_of(call: Any) -> Accessor | None:
    """The call as that of a lambda which only returns an expression."""
    variable = called_lambda(call)
    function = None if variable is None else call.referenced
    if function is None or function.kind is not ck.CXX_METHOD or function.is_instance:
        return None
    actuals = call.arguments[1:]
    value = sole_return(function)
    if value is None or len(function.arguments) != len(actuals):
        return None
    if not all(formal.type.is_number for formal in function.arguments):
        return None
    return Accessor(function, value, actuals, False, None, variable)
