"""Pointers to the rows of an array, `double **u`: what sets them, and what `u[i][j]` is then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.row_pointers import Place, RowsSet, RowStore, length_of_rows
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_library
from imbrex.transform.readers.c_memory import Effects, Memory


class Reader(Protocol):
    """What is asked of the reader of expressions."""

    program: Program

    def key_of(self, declaration: Any) -> str: ...
    def owner(self, cursor: Any) -> str | None: ...
    def affine(self, cursor: Any) -> Affine | None: ...
    def memory(self, cursor: Any, effects: Effects) -> Memory: ...
    def read(self, cursor: Any, effects: Effects) -> None: ...


class _Row(NamedTuple):
    key: str
    number: Any | None  # the expression; None: the first row
    pointer: Any  # what names the pointer
    owner: str = ""  # the object whose field it is


def _parts(cursor: Any) -> tuple[Any, Any | None] | None:
    """The pointer and the index of `u[i]`; no index of `*u`."""
    if cursor.kind is ck.ARRAY_SUBSCRIPT_EXPR:
        base, index = cursor.operands
        return base.stripped, index
    if cursor.kind is ck.UNARY_OPERATOR and cursor.unary_operator == cc.DEREFERENCE:
        return cursor.operands[0].stripped, None
    return None


def _row(reader: Reader, cursor: Any) -> _Row | None:
    """Which row `u[i]` or `*u` is a pointer to."""
    parts = _parts(cursor.stripped)
    if parts is None:
        return None
    base, index = parts
    named = base.referenced if cc.points_to_rows(base.type) else None
    if named is None or named.type.is_reference:
        return None
    if base.kind is ck.MEMBER_REF_EXPR and named.kind is ck.FIELD_DECL:
        return _Row(reader.key_of(named), index, base, reader.owner(base) or "")
    plain = base.kind is ck.DECL_REF_EXPR and named.kind in (ck.VAR_DECL, ck.PARM_DECL)
    return _Row(reader.key_of(named), index, base) if plain else None


def _index_of(reader: Reader, row: _Row) -> Affine | None:
    return Affine(0) if row.number is None else reader.affine(row.number)


def note_row_stored(reader: Reader, place: Memory, left: Any, right: Any | None) -> None:
    """Note what sets a pointer to a row, at a place; `right`: an assignment's value."""
    if place.through and place.key in reader.program.to_rows:
        known = None if right is None else _row_store(reader, left, right)
        row = _row(reader, left)
        owner = "" if row is None else row.owner
        store = replace(known or RowStore(place.key), owner=owner, place=_place(left))
        reader.program.row_stores.append(store)


def _row_store(reader: Reader, left: Any, right: Any) -> RowStore | None:
    """The row that an assignment sets, and to what; None where it may be anything."""
    row = _row(reader, left)
    if row is None:
        return None
    index, value = _index_of(reader, row), right.stripped
    size = _allocated_bytes(reader, value)
    if size is not None and index == Affine(0):  # of more than one row, maybe
        return RowStore(row.key, known=True)
    if size is not None:
        length = size.share(left.type.canonical.pointee.size_bytes)
        return None if length is None else RowStore(row.key, "", length, known=True)
    if index is None or cc.element_type(left.type) != cc.element_type(right.type):
        return None
    base, begin = _base_of(reader, value)
    if base is None or begin is None:
        return None
    from_row = _row(reader, base)
    if from_row is not None:
        first = _index_of(reader, from_row)
        if (from_row.key, from_row.owner) != (row.key, row.owner) or first is None:
            return None
        index = index.plus(first, -1)
    key = row.key if from_row is not None else _pointer(reader, base, row.owner)
    if not key:
        return None
    if index == Affine(0):
        return RowStore(row.key, key, known=True) if begin == index else None
    length = begin.divided(index) if index.terms else begin.share(index.constant)
    if length is None or length == Affine(0) or length.product(index) != begin:
        return None
    return RowStore(row.key, key, length, known=True)


def _allocated_bytes(reader: Reader, value: Any) -> Affine | None:
    """The size of the memory that an expression allocates."""
    if value.kind is ck.CXX_NEW_EXPR:  # `new double[cols]`
        counts = [reader.affine(part) for part in value.operands if part.type.is_number]
        one = counts[0] if len(counts) == 1 else None
        return None if one is None else one.times(value.type.canonical.pointee.size_bytes)
    if value.kind is not ck.CALL_EXPR or value.spelling not in c_library.ALLOCATORS:
        return None
    given = [reader.affine(argument) for argument in value.arguments]
    if value.spelling == "aligned_alloc":
        given = given[1:]
    size: Affine | None = Affine(1)
    for number in given:
        size = None if size is None or number is None else size.product(number)
    return size


def _base_of(reader: Reader, value: Any) -> tuple[Any | None, Affine | None]:
    """The pointer that an address is counted from, and how many elements."""
    if value.kind is ck.UNARY_OPERATOR and value.unary_operator == cc.ADDRESS_OF:
        element = value.operands[0].stripped
        if element.kind is not ck.ARRAY_SUBSCRIPT_EXPR:
            return None, None
        base, index = element.operands
        return base.stripped, reader.affine(index)
    if value.kind is ck.BINARY_OPERATOR and value.binary_operator == cc.ADD:
        base, index = value.operands
        if not base.type.is_address:
            base, index = index, base
        return base.stripped, reader.affine(index)
    return value, Affine(0)


def _pointer(reader: Reader, base: Any, owner: str) -> str:
    """The local pointer, or the field of an object, that an expression names; else ""."""
    named = base.referenced if base.kind in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR) else None
    if named is None or not named.type.is_pointer:
        return ""
    if named.kind is ck.FIELD_DECL:
        return reader.key_of(named) if owner and reader.owner(base) == owner else ""
    key = reader.key_of(named) if named.kind is ck.VAR_DECL else ""
    return key if key and reader.program.variables[key].kind == "local" else ""


def _place(cursor: Any) -> Place:
    location = cursor.location
    return str(location.file), location.offset


def note_rows_set(reader: Reader, cell: str, owner: str, value: Any) -> None:
    """Note what a pointer to rows is set to; `owner`: the object whose field it is."""
    if cell not in reader.program.to_rows:
        return
    made = RowsSet(cell, owner, _place(value))
    inner = value.stripped
    named = inner.referenced if inner.kind in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR) else None
    if inner.kind is ck.CALL_EXPR and cc.points_to_rows(inner.type):
        given = tuple(reader.affine(argument) for argument in inner.arguments)
        made = replace(made, routine=inner.spelling, arguments=given)
    elif named is not None and named.kind in (ck.VAR_DECL, ck.PARM_DECL, ck.FIELD_DECL):
        made = replace(made, source=reader.key_of(named), source_owner=reader.owner(inner) or "")
    elif _allocated_bytes(reader, inner) is not None:
        made = replace(made, new=True)
    reader.program.rows_set.append(made)


def length(program: Program, key: str) -> Affine:
    """The length of the rows of a pointer, or the variable that stands for it."""
    known = program.row_lengths.get(key)
    if known is not None:
        return known
    name = length_of_rows(key)
    program.variables.setdefault(name, Variable(name, "the length of the rows", "local"))
    return Affine.variable(name)


def note_reached(reader: Reader, held: Memory, cursor: Any) -> None:
    """Note that a pointer to a row is got at in another way than `u[i]`."""
    if held.through and held.key in reader.program.to_rows and _row(reader, cursor) is None:
        reader.program.row_stores.append(RowStore(held.key))


def row_memory(reader: Reader, cursor: Any, effects: Effects) -> Memory | None:
    """What the pointer to a row refers to, of rows that are parts of one array: its first element.

    None where the expression is no such pointer.
    """
    row = _row(reader, cursor) if reader.program.row_lengths else None
    if row is None or row.key not in reader.program.row_lengths:
        return None
    return _element(reader, row, Affine(0), cursor, effects)


def row_element(reader: Reader, cursor: Any, effects: Effects) -> Memory | None:
    """What `u[i][j]` refers to; the pointer `u[i]` itself is one that nothing sets any more."""
    if not reader.program.row_lengths:
        return None
    row = _row(reader, cursor)
    if row is not None and row.key in reader.program.row_lengths:
        found = _element(reader, row, None, cursor, effects)
        found.fixed = True
        return found
    parts = _parts(cursor)
    if parts is None:
        return None
    base, index = parts
    row = _row(reader, base)
    if row is None or row.key not in reader.program.row_lengths:
        return None
    if index is not None:
        reader.read(index, effects)
    number = Affine(0) if index is None else reader.affine(index)
    return _element(reader, row, number, cursor, effects)


def _element(
    reader: Reader, row: _Row, number: Affine | None, cursor: Any, effects: Effects
) -> Memory:
    reader.read(row.pointer, effects)
    if row.number is not None:
        reader.read(row.number, effects)
    index = _index_of(reader, row)
    of_field = row.pointer.kind is ck.MEMBER_REF_EXPR
    if index is None or number is None or (of_field and not row.owner):
        return Memory(row.key, True, exact=False, owner=row.owner)
    stride = length(reader.program, row.key).of_object(row.owner)
    whole = index.product(stride).plus(number)
    return Memory(row.key, True, [whole], parts=(index, number), strides=(stride,), owner=row.owner)
