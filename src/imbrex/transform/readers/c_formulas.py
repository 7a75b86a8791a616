"""C expressions of integers as formulas, and what statements set by them."""

from __future__ import annotations

from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.model.formulas import (
    Assignment,
    Cell,
    Component,
    Formula,
    Number,
    Operation,
    Span,
)
from imbrex.transform.model.memory import Variable
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_places import PlaceReader
from imbrex.transform.readers.c_values import narrows

_WHOLE = frozenset(
    {
        *(TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG),
        *(TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG),
    }
)
_BINARY = {
    3: "*",
    4: "/",
    5: "%",
    6: "+",
    7: "-",
    8: "<<",
    9: ">>",
    11: "<",
    12: ">",
    13: "<=",
    14: ">=",
    15: "==",
    16: "!=",
    17: "&",
    18: "^",
    19: "|",
    20: "&&",
    21: "||",
}
_COMPOUND = {23: "*", 24: "/", 25: "%", cc.ADD_ASSIGN: "+", cc.SUBTRACT_ASSIGN: "-"}


def formula(reader: PlaceReader, cursor: Any) -> Formula | None:
    """An expression without effects; None where it holds something else than integers."""
    inner = cursor.stripped
    if inner is not cursor and narrows(cursor, inner):
        return None
    kind = inner.kind
    if kind in (ck.INTEGER_LITERAL, ck.CHARACTER_LITERAL):
        value = inner.integer
        return None if value is None else Number(value)
    named = inner.referenced if kind is ck.DECL_REF_EXPR else None
    if named is not None and named.kind is ck.ENUM_CONSTANT_DECL:
        return Number(int(named.enum_value))
    if kind in (ck.DECL_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR, ck.MEMBER_REF_EXPR):
        return _place(reader, inner)
    if kind is ck.UNARY_OPERATOR:
        return _unary(reader, inner)
    if kind is ck.CONDITIONAL_OPERATOR:
        return _operation(reader, "?", inner)
    if kind is ck.BINARY_OPERATOR:
        operator = _BINARY.get(inner.binary_operator)
        return None if operator is None else _operation(reader, operator, inner)
    return None


def _unary(reader: PlaceReader, cursor: Any) -> Formula | None:
    operator = cursor.unary_operator
    if operator == cc.DEREFERENCE:
        return _place(reader, cursor)
    if operator in (cc.MINUS, cc.NOT):
        return _operation(reader, "-" if operator == cc.MINUS else "!", cursor)
    return None


def _operation(reader: PlaceReader, operator: str, cursor: Any) -> Formula | None:
    operands = [formula(reader, child) for child in cursor.operands]
    known = tuple(operand for operand in operands if operand is not None)
    if len(known) != len(operands) or any(child.type.is_address for child in cursor.operands):
        return None
    unsigned = any(_unsigned(child) for child in (cursor, *cursor.operands))
    return Operation(operator, known, unsigned)


def _unsigned(cursor: Any) -> bool:
    return "UINT" in cursor.type.canonical.kind.name or "ULONG" in cursor.type.canonical.kind.name


def _place(reader: PlaceReader, cursor: Any) -> Cell | Component | None:
    """The variable, element or field that an expression names."""
    if cursor.type.canonical.kind not in _WHOLE or cursor.type.is_ordered:
        return None
    if cursor.kind is ck.MEMBER_REF_EXPR:
        return _component(reader, cursor, None)
    if cursor.kind is ck.DECL_REF_EXPR:
        variable = _named(reader, cursor)
        plain = variable is not None and not variable.bounds and not variable.pointer
        return Cell(variable.key, False, ()) if variable is not None and plain else None
    if cursor.kind is ck.UNARY_OPERATOR:
        base, index = cursor.operands[0].stripped, Number(0)
        return _element(reader, base, [index])
    indices: list[Formula] = []
    base = cursor
    while base.kind is ck.ARRAY_SUBSCRIPT_EXPR:
        array, number = base.operands
        found = formula(reader, number)
        if found is None or not array.type.is_address:
            return None
        indices.insert(0, found)
        base = array.stripped
    if base.kind is ck.MEMBER_REF_EXPR and base.type.is_array and len(indices) == 1:
        return _component(reader, base, indices[0])
    return _element(reader, base, indices)


def _element(reader: PlaceReader, base: Any, indices: list[Formula]) -> Cell | None:
    variable = _named(reader, base) if base.kind is ck.DECL_REF_EXPR else None
    if variable is None:
        return None
    if base.type.is_array:
        whole = len(variable.bounds) == len(indices)
        return Cell(variable.key, False, tuple(indices)) if whole else None
    if variable.pointer and variable.kind == "parameter" and len(indices) == 1:
        return Cell(variable.key, True, tuple(indices))
    return None


def _named(reader: PlaceReader, cursor: Any) -> Variable | None:
    referenced = cursor.referenced
    if referenced is None or referenced.kind not in (ck.VAR_DECL, ck.PARM_DECL):
        return None
    variable = reader.program.variables[reader.key_of(referenced)]
    if variable.volatile or variable.reference or referenced.type.is_reference:
        return None
    return variable if variable.kind in ("local", "parameter") else None


def _component(reader: PlaceReader, cursor: Any, index: Formula | None) -> Component | None:
    owner = reader.owner(cursor)
    if owner is None or cursor.referenced is None or cursor.referenced.kind is not ck.FIELD_DECL:
        return None
    key = reader.key_of(cursor.referenced)
    variable = reader.program.variables.get(key)
    if variable is None or variable.volatile or (index is None) == bool(variable.bounds):
        return None
    return Component(owner, key, index)


def assignments(reader: PlaceReader, cursor: Any) -> tuple[Assignment, ...]:
    """What an expression that is a statement sets, in its order."""
    inner = cursor.stripped
    if inner.kind is ck.BINARY_OPERATOR and inner.binary_operator == cc.COMMA:
        left, right = inner.operands
        return (*assignments(reader, left), *assignments(reader, right))
    if inner.kind is ck.BINARY_OPERATOR and inner.binary_operator == cc.ASSIGN:
        targets = []
        while inner.kind is ck.BINARY_OPERATOR and inner.binary_operator == cc.ASSIGN:
            target, value = inner.operands
            targets.append(target.stripped)
            inner = value.stripped
        return _set(reader, targets, formula(reader, value))
    if inner.kind is ck.COMPOUND_ASSIGNMENT_OPERATOR:
        target, amount = inner.operands
        operator, added = _COMPOUND.get(inner.binary_operator), formula(reader, amount)
        return _set(reader, [target.stripped], _updated(reader, target, operator, added))
    if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator in cc.STEPS:
        (target,) = inner.operands
        operator = "+" if inner.unary_operator in cc.INCREMENTS else "-"
        value = _updated(reader, target, operator, Number(1))
        return _set(reader, [target.stripped], value)
    return ()


def _updated(
    reader: PlaceReader, target: Any, operator: str | None, amount: Formula | None
) -> Formula | None:
    old = formula(reader, target)
    if old is None or operator is None or amount is None:
        return None
    return Operation(operator, (old, amount), _unsigned(target))


def _set(reader: PlaceReader, targets: list[Any], value: Formula | None) -> tuple[Assignment, ...]:
    places = [_place(reader, target) for target in targets]
    if len(places) > 1 and not all(isinstance(p, Cell) and p.indices for p in places):
        return ()  # one may be in the index of another
    return tuple([Assignment(place, value) for place in places if isinstance(place, Cell)])


def declared(reader: PlaceReader, declaration: Any) -> tuple[Assignment, ...]:
    """What a declaration of an integer, or of an array of them, sets it to."""
    value = declaration.initializer
    kind = declaration.type
    if value is None or kind.is_reference:
        return ()
    variable = reader.program.variables[reader.key_of(declaration)]
    if variable.kind != "local" or variable.volatile:
        return ()
    if kind.canonical.kind in _WHOLE:
        return (Assignment(Cell(variable.key, False, ()), formula(reader, value)),)
    inner = value.stripped
    if not kind.is_array or len(variable.bounds) != 1 or inner.kind is not ck.INIT_LIST_EXPR:
        return ()
    if kind.canonical.element_type.canonical.kind not in _WHOLE:
        return ()
    if any(child.kind is ck.UNEXPOSED_EXPR and len(child.operands) > 1 for child in inner.operands):
        return ()  # with indices
    return tuple(
        Assignment(Cell(variable.key, False, (Number(number),)), formula(reader, child))
        for number, child in enumerate(inner.operands)
    )


def span(reader: PlaceReader, first: Any, test: Any, step: Any) -> Span | None:
    """The range of `for (i = low; i <= high; i++)`, its ends formulas."""
    if first.kind is ck.DECL_STMT:
        begun = [c for c in first.children if c.kind is ck.VAR_DECL]
        if len(begun) != 1 or begun[0].initializer is None:
            return None
        key, value = reader.key_of(begun[0]), begun[0].initializer
    else:
        set_to = first.stripped
        if set_to.kind is not ck.BINARY_OPERATOR or set_to.binary_operator != cc.ASSIGN:
            return None
        target = _place(reader, set_to.operands[0].stripped)
        if not isinstance(target, Cell) or target.through or target.indices:
            return None
        key, value = target.variable, set_to.operands[1]
    index = Cell(key, False, ())
    moved = step.stripped
    if moved.kind is not ck.UNARY_OPERATOR or moved.unary_operator not in cc.INCREMENTS:
        return None
    test = test.stripped
    if test.kind is not ck.BINARY_OPERATOR or test.binary_operator not in (cc.LESS, cc.LESS_EQUAL):
        return None
    left, right = test.operands
    stepped = _place(reader, moved.operands[0].stripped)
    if stepped != index or formula(reader, left) != index:
        return None
    low, high = formula(reader, value), formula(reader, right)
    if low is None or high is None:
        return None
    if test.binary_operator == cc.LESS:
        high = Operation("-", (high, Number(1)))
    return Span(key, low, high)
