"""C values: integer expressions as affine forms, and linear indices as those of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.model.affine import ARROW, QUOTIENT, Affine, Range, element_of, field_of
from imbrex.transform.model.conditions import Test
from imbrex.transform.model.memory import UNKNOWN_MEMORY, size_of
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods, c_std_arrays, c_vectors
from imbrex.transform.readers.c_accessors import Accessor, accessor
from imbrex.transform.readers.c_named_objects import NamedObjectReader
from imbrex.transform.readers.c_tables import bounds_of

_INTEGERS = frozenset(
    {
        TypeKind.SHORT,
        TypeKind.INT,
        TypeKind.LONG,
        TypeKind.LONGLONG,
        TypeKind.USHORT,
        TypeKind.UINT,
        TypeKind.ULONG,
        TypeKind.ULONGLONG,
    }
)
SIGNED = frozenset({TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG})
_NARROW = frozenset(
    {TypeKind.BOOL, TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.CHAR_S, TypeKind.SCHAR}
    | {TypeKind.SHORT, TypeKind.USHORT}
)
_FLOATING = frozenset({TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE})


def _joined(parts: tuple[Affine, ...], strides: tuple[Affine, ...]) -> Affine | None:
    """The linear index of several, each multiplied by the strides behind it."""
    if not parts:
        return None
    value = parts[0]
    for part, stride in zip(parts[1:], strides, strict=True):
        value = value.product(stride).plus(part)
    return value


def narrows(cursor: Any, inner: Any) -> bool:
    """Whether a conversion on the way to the expression inside may change its value."""
    while cursor is not inner:
        if cursor.type.canonical.kind in _NARROW:
            return True
        (cursor,) = cursor.operands
    return inner.type.canonical.kind in _FLOATING


class ValueReader(NamedObjectReader):
    """Reads the integer expressions of one translation unit."""

    # Bounds of the elements of constant arrays in a subscript that is read, by what names them.
    within: dict[str, tuple[int, int]] | None = None

    def test(self, condition: Any) -> Test | None:
        """What a condition compares, where that is two integers, or one with 0."""
        inner = condition.stripped
        if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.NOT:
            value = self.affine(inner.operands[0])
            return None if value is None else Test(value, True)
        if inner.kind is ck.BINARY_OPERATOR:
            if inner.binary_operator not in (cc.EQUAL, cc.NOT_EQUAL):
                return None
            left, right = (self.affine(side) for side in inner.operands)
            if left is None or right is None:
                return None
            return Test(left.plus(right, -1), inner.binary_operator == cc.EQUAL)
        value = self.affine(inner)
        return None if value is None else Test(value, False)

    def not_negative(self, condition: Any, *, holds: bool) -> tuple[Affine, ...]:
        """What is not below 0 where a condition of signed integers holds, or does not."""
        inner = condition.stripped
        if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.NOT:
            return self.not_negative(inner.operands[0], holds=not holds)
        if inner.kind is not ck.BINARY_OPERATOR:
            return ()
        operator, sides = inner.binary_operator, inner.operands
        if operator == (cc.LOGICAL_AND if holds else cc.LOGICAL_OR):
            return tuple(f for side in sides for f in self.not_negative(side, holds=holds))
        if any(side.type.canonical.kind not in SIGNED for side in sides):
            return ()
        left, right = (self.affine(side) for side in sides)
        if left is None or right is None:
            return ()
        above, below = left.plus(right, -1), right.plus(left, -1)
        if operator == (cc.EQUAL if holds else cc.NOT_EQUAL):
            return above, below
        if operator == (cc.GREATER_EQUAL if holds else cc.LESS):
            return (above,)
        if operator == (cc.GREATER if holds else cc.LESS_EQUAL):
            return (above.plus(Affine(-1)),)
        if operator == (cc.LESS_EQUAL if holds else cc.GREATER):
            return (below,)
        if operator == (cc.LESS if holds else cc.GREATER_EQUAL):
            return (below.plus(Affine(-1)),)
        return ()

    def sets(self, cursor: Any) -> tuple[str, Affine] | None:
        """The factor that an assignment sets, a signed integer's, and to what."""
        inner = cursor.stripped
        if inner.kind is not ck.BINARY_OPERATOR or inner.binary_operator != cc.ASSIGN:
            return None
        target, given = inner.operands
        if target.type.canonical.kind not in SIGNED:
            return None
        place, value = self.affine(target), self.affine(given)
        if place is None or value is None or place.constant or len(place.terms) != 1:
            return None
        factor, number = place.terms[0]
        return (factor, value) if number == 1 else None

    def affine(self, cursor: Any) -> Affine | None:
        """The expression as an affine form of integer variables, if it is one."""
        inner = cursor.stripped
        if inner is not cursor and narrows(cursor, inner):
            return None
        cursor = inner
        kind = cursor.kind
        if kind in (ck.INTEGER_LITERAL, ck.CHARACTER_LITERAL):
            value = cursor.integer
            return None if value is None else Affine(value)
        if kind is ck.CXX_UNARY_EXPR:  # sizeof, of no array of variable size
            value = cursor.integer
            return None if value is None else Affine(value)
        if kind is ck.DECL_REF_EXPR:
            referenced = cursor.referenced
            if referenced is None:
                return None
            if referenced.kind is ck.ENUM_CONSTANT_DECL:
                return Affine(int(referenced.enum_value))
            if referenced.kind in (ck.VAR_DECL, ck.PARM_DECL):
                key = self.key_of(referenced)
                variable = self.program.variables[key]
                reference = referenced.type.is_reference
                if not variable.bounds and not variable.volatile and not reference:
                    return Affine.variable(key)
            return None
        if kind in (ck.MEMBER_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR):
            return self._field(cursor)
        if kind is ck.CALL_EXPR:
            name, vector = c_vectors.method(cursor)
            if name == "size" and vector is not None:
                return None if c_vectors.row_of(vector) else self._size(vector)
            name, array = c_std_arrays.method(cursor)
            if array is not None:
                return self._of_array(array, name, cursor)
            parts, strides = self._split(cursor)
            return _joined(parts, strides)
        if kind is ck.UNARY_OPERATOR and cursor.unary_operator == cc.MINUS:
            (operand,) = cursor.operands
            value_of = self.affine(operand)
            return None if value_of is None else value_of.times(-1)
        if kind is ck.BINARY_OPERATOR:
            operator = cursor.binary_operator
            if operator not in (cc.ADD, cc.SUBTRACT, cc.MULTIPLY):
                return None
            left, right = (self.affine(child) for child in cursor.operands)
            if left is None or right is None:
                return None
            if operator == cc.ADD:
                return left.plus(right)
            if operator == cc.SUBTRACT:
                return left.plus(right, -1)
            return left.product(right)
        return None

    def residue(self, cursor: Any) -> Affine | None:
        """As `affine`, with remainders by a number: `t % 2` is `t - 2 * quotient`.

        Of no use where a variable runs through its values: the quotient runs with it.
        """
        known = self.affine(cursor)
        inner = cursor.stripped
        if known is not None or inner.kind is not ck.BINARY_OPERATOR:
            return known
        if inner is not cursor and narrows(cursor, inner):
            return None
        left, right = (self.residue(child) for child in inner.operands)
        if left is None or right is None:
            return None
        if inner.binary_operator in (cc.ADD, cc.SUBTRACT):
            return left.plus(right, 1 if inner.binary_operator == cc.ADD else -1)
        start, _ = cc.spelled(inner)
        quotient = Affine.variable(f"{QUOTIENT}{self.source.path}:{start}")
        if inner.binary_operator == cc.REMAINDER and not right.terms and right.constant > 0:
            return left.plus(quotient, -right.constant)
        if inner.binary_operator == cc.XOR and right == Affine(1):  # one more, or one less
            return left.plus(right).plus(quotient, -2)
        return None

    def note_residue(self, key: str, value: Any) -> None:
        """Note what an integer is declared with."""
        found = self.residue(value)
        if found is not None and self.program.variables[key].kind == "local":
            self.program.residues[key] = found

    def _size_of(self, declaration: Any) -> str:
        """The number of elements of a vector as a variable: nothing that is moved over sets it."""
        return size_of(self.key_of(declaration))

    def _size(self, vector: Any) -> Affine | None:
        """The number of elements of the vector that an expression names."""
        size = self._size_of(c_vectors.one(vector))
        member = c_vectors.owner_of(vector)
        if member is None:
            return Affine.variable(size)
        owner = self.owner(member)
        return None if owner is None else Affine.variable(field_of(owner, size))

    def span(self, cursor: Any) -> Range | None:
        """What a subscript is within that adds elements of constant arrays to an affine form."""
        self.within = {}
        value, within, self.within = self.affine(cursor), self.within, None
        if value is None or not within:
            return None
        found = Range.point(value)
        for key, (low, high) in within.items():
            found = found.widen(key, Affine(low), Affine(high))
        return found

    def _of_table(self, cursor: Any) -> Affine | None:
        """An element of a constant array, as a variable that is bounded and stands for nothing."""
        bounds = bounds_of(cursor)
        if bounds is None or self.within is None:
            return None
        key = f"element:{len(self.within)}"
        self.within[key] = bounds
        return Affine.variable(key)

    def _field(self, cursor: Any) -> Affine | None:
        """An integer field of a structure, or an element of one, that a variable names."""
        if self.within is not None and cursor.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            return self._of_table(cursor)
        if cursor.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            array, number = cursor.operands
            if not array.stripped.type.is_array:
                return None
            if array.stripped.kind is ck.DECL_REF_EXPR:
                return self._of_variable(array.stripped, number, cursor.type)
            return self._numbered(array, number)
        return self._component(cursor, "")

    def _of_array(self, array: Any, method: str, call: Any) -> Affine | None:
        """What the method of a std::array returns: its size, or an integer field's element."""
        if method == "size":
            return Affine(c_std_arrays.extent_of(array.type) or 0)
        return self._numbered(array, call.operands[-1]) if method == "operator[]" else None

    def _numbered(self, array: Any, number: Any) -> Affine | None:
        """An element of an array of integers that is a field."""
        value = self.affine(number)
        if value is None or value.terms:
            return None
        return self._component(array.stripped, element_of("", value.constant))

    def _of_variable(self, array: Any, number: Any, element: Any) -> Affine | None:
        """An element of a variable that is declared as an array of integers."""
        declared, value = array.referenced, self.affine(number)
        if element.canonical.kind not in _INTEGERS or value is None or value.terms:
            return None
        if declared is None or declared.kind is not ck.VAR_DECL or not declared.type.is_array:
            return None
        if value.constant < 0:
            return None
        key = self.key_of(declared)
        variable = self.program.variables[key]
        if variable.volatile or variable.reference or len(variable.bounds) != 1:
            return None
        return Affine.variable(element_of(key, value.constant))

    def _component(self, cursor: Any, index: str) -> Affine | None:
        if index:
            if cursor.kind is not ck.MEMBER_REF_EXPR:
                return None
        elif cursor.type.canonical.kind not in _INTEGERS:
            return None
        owner = self.owner(cursor)
        if owner is not None and (
            cursor.referenced is None or cursor.referenced.kind is not ck.FIELD_DECL
        ):
            return None  # a static member
        name = self._field_key(cursor) if owner is not None else UNKNOWN_MEMORY
        if owner is None or name not in self.program.variables:
            return None
        if self.program.variables[name].volatile:
            return None
        return Affine.variable(field_of(owner, name + index))

    def _split(self, cursor: Any) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
        """A linear index as those of several dimensions, and their strides; empty if unknown.

        `(i * n + j) * m + k` is (i, j, k) with the strides n and m.
        """
        cursor = cursor.stripped
        if cursor.kind is ck.CALL_EXPR:
            return self._expanded(cursor)
        if cursor.kind is ck.BINARY_OPERATOR:
            operator = cursor.binary_operator
            if operator == cc.MULTIPLY:
                left, right = cursor.operands
                stride, number = self.affine(right), self.affine(left)
                if stride is not None and number is not None and stride.terms and number.terms:
                    parts, strides = self._split(left)
                    return ((*parts, Affine(0)), (*strides, stride)) if parts else ((), ())
            elif operator in (cc.ADD, cc.SUBTRACT):
                left, right = cursor.operands
                (parts, strides), rest = self._split(left), self.affine(right)
                if not strides and operator == cc.ADD:
                    (parts, strides), rest = self._split(right), self.affine(left)
                if strides:
                    if rest is None:
                        return (), ()
                    last = parts[-1].plus(rest, 1 if operator == cc.ADD else -1)
                    return (*parts[:-1], last), strides
        value = self.affine(cursor)
        return ((), ()) if value is None else ((value,), ())

    def _expanded(self, cursor: Any) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
        """The value of a function whose body is one return statement, in the caller's terms."""
        made = accessor(cursor)
        if made is None:
            return (), ()
        name = made.identity
        if name not in self.returned:
            self.returned[name] = ((), ())  # one that calls itself
            outer = self.this
            self.this = self.this_of(made)
            self.returned[name] = self._split(made.value)
            self.this = outer
        parts, strides = self.returned[name]
        replaced = self.in_callers_terms(made, (*parts, *strides))
        known = [part for part in replaced if part is not None]
        if not parts or len(known) < len(replaced):
            return (), ()
        return tuple(known[: len(parts)]), tuple(known[len(parts) :])

    def this_of(self, made: Accessor) -> str:
        """The key of `this` in a method; nothing of a function without an object."""
        if made.variable is not None:
            return self.this  # a lambda's is that of the method that it stands in
        if not made.on_object:
            return ""
        return self.enter_this(c_methods.routine_name(made.function), made.function)

    def owner_in(self, made: Accessor) -> str | None:
        """The variable that an accessor's object, or a pointer to it, is."""
        if not made.on_object:
            return None
        return self._named(made.owner) if made.owner is not None else self.this or None

    def in_callers_terms(self, made: Accessor, forms: Sequence[Affine]) -> list[Affine | None]:
        """Affine forms of a function's arguments, with what a call passes in their place.

        None where that is not known.
        """
        values: dict[str, Affine] = {}
        owners: dict[str, str] = {}
        formals = {self.key_of(formal) for formal in made.function.arguments}
        object_named = self.owner_in(made)
        if object_named is not None:
            owners[self.this_of(made)] = object_named
        for formal, actual in zip(made.function.arguments, made.actuals, strict=True):
            key = self.key_of(formal)
            owner = self._named(actual)
            if formal.type.is_pointer:
                if owner is not None:
                    owners[key] = owner
            else:
                passed = self.affine(actual)
                if passed is not None:
                    values[key] = passed

        def value_of(factor: str) -> Affine | None:
            base, arrow, rest = factor.partition(ARROW)
            if made.variable is not None and base not in formals:
                return Affine.variable(factor)  # what is captured is what it is outside
            if not arrow:
                return values.get(factor)
            return Affine.variable(field_of(owners[base], rest)) if base in owners else None

        return [form.replace(value_of) for form in forms]
