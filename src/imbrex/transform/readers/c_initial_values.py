"""What the members of a structure begin with, by the list that it is declared with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from imbrex.transform.readers import c_cursor_kinds as ck

_CLASSES = (ck.STRUCT_DECL, ck.UNION_DECL, ck.CLASS_DECL)


class Begun(NamedTuple):
    """A value, and the field that begins with it; None where it may be any field."""

    field: Any | None
    value: Any


def members(kind: Any, values: Any) -> list[Begun]:
    """What the fields of a structure of this type begin with; `values`: the list in braces."""
    operands = list(values.operands)
    if any(_is_named(part) for part in operands):
        if all(_is_named(part) and len(part.operands) == 2 for part in operands):
            return [Begun(part.operands[0].referenced, part.operands[1]) for part in operands]
        return [Begun(None, value_of(part)) for part in operands]
    fields = _in_order(kind.record)
    if fields is None or len(operands) > len(fields) or not all(map(_is_whole, fields, operands)):
        return [Begun(None, part) for part in operands]
    return list(map(Begun, fields, operands))


def pointers(kind: Any, values: Any, field: Any | None = None) -> Iterator[Begun]:
    """The pointers that a list has for a structure of this type, or for an array of them.

    `field`: what the list as a whole is for.
    """
    if values.type.is_array or kind.record is None:
        for part in values.operands:
            yield from _pointers_of(kind, value_of(part), field)
        return
    for begun in members(kind, values):
        if begun.field is None:
            yield from (Begun(None, leaf) for leaf in _leaves(begun.value))
        else:
            yield from _pointers_of(begun.field.type, begun.value, begun.field)


def _pointers_of(kind: Any, value: Any, field: Any | None) -> Iterator[Begun]:
    """The same of one value, which may be a list again."""
    inner = value.stripped
    if inner.kind is ck.INIT_LIST_EXPR:
        yield from pointers(kind.innermost, inner, field)
    else:
        yield from (Begun(field, leaf) for leaf in _leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    """The pointers in a value, whatever they are for."""
    inner = value.stripped
    decays = value.type.is_pointer and inner.kind is ck.DECL_REF_EXPR  # as the name of a function
    if inner.type.is_pointer or decays or (inner.type.is_array and not inner.operands):
        yield inner
    elif inner.kind is ck.INIT_LIST_EXPR or inner.kind in ck.CASTS:
        for part in inner.operands:
            yield from _leaves(value_of(part))


def value_of(part: Any) -> Any:
    """The value in a part of a list, which may say what it is for."""
    return part.operands[-1] if _is_named(part) else part


def _in_order(record: Any | None) -> list[Any] | None:
    """The fields of a structure as a list has values for them; None where that is not told."""
    if record is None or record.kind is ck.UNION_DECL:
        return None
    fields = [child for child in record.children if child.kind is ck.FIELD_DECL]
    named = {field.type.innermost.spelling for field in fields}
    for child in record.children:
        if child.kind is ck.CXX_BASE_SPECIFIER:
            return None
        if child.kind in _CLASSES and child.type.canonical.spelling not in named:
            return None  # it may be a member without a name
    return fields


def _is_whole(field: Any, value: Any) -> bool:
    """Whether a value is that of one field: those of a structure in it need no braces."""
    aggregate = field.type.is_array or bool(field.type.fields)
    return not aggregate or value.stripped.kind is ck.INIT_LIST_EXPR


def _is_named(part: Any) -> bool:
    """Whether it is as in `{.n = 3}`, or `{[2] = 3}`."""
    return part.kind is ck.UNEXPOSED_EXPR and len(part.operands) > 1
