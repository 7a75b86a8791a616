"""libclang's types, each asked once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from clang.cindex import TypeKind

from imbrex.transform.readers import c_calls
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_complex import is_complex
from imbrex.transform.readers.c_std_arrays import element_of
from imbrex.transform.readers.c_times import is_time
from imbrex.transform.readers.once import Once

if TYPE_CHECKING:
    from imbrex.transform.readers.c_node import Node, Tree

_ARRAYS = frozenset({TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY})
_TRUTHS = frozenset({TypeKind.BOOL, TypeKind.VOID})
_NUMBERS = frozenset(
    {
        *(TypeKind.from_id(number) for number in range(TypeKind.BOOL.value, 24)),
        TypeKind.ENUM,
        TypeKind.ATOMIC,
        TypeKind.COMPLEX,
    }
)
_INTEGERS = frozenset(TypeKind.from_id(number) for number in range(TypeKind.CHAR_U.value, 21))
_UNSIGNED = frozenset(
    {
        TypeKind.CHAR_U,
        TypeKind.UCHAR,
        TypeKind.USHORT,
        TypeKind.UINT,
        TypeKind.ULONG,
        TypeKind.ULONGLONG,
        TypeKind.UINT128,
    }
)
_ADDRESSES = frozenset(
    {
        TypeKind.POINTER,
        TypeKind.ATOMIC,
        TypeKind.LONG,
        TypeKind.ULONG,
        TypeKind.LONGLONG,
        TypeKind.ULONGLONG,
    }
)
_REFERENCES = frozenset({TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE})
_ALONE = re.compile(r"\*(?:const )?(?:__)?restrict\b[^*]*")
_QUALIFIED = re.compile(r"[^\[]*\[[\w ]*\brestrict\b")  # a parameter that is declared as an array
_ORDERED = re.compile(r"\b(?:volatile|_Atomic)\b")


def _ends_alone(spelling: str) -> bool:
    """Whether the last pointer of a type is `restrict`."""
    star = spelling.rfind("*")
    return star >= 0 and _ALONE.fullmatch(spelling[star:]) is not None


class TypeNode:
    """A type."""

    def __init__(self, tree: Tree, raw: Any) -> None:
        self.tree = tree
        self.raw = raw
        self.kind = TypeKind.from_id(raw.kind_id)
        # What the readers find out, once each.
        self.element_name: str | None = None
        self.vector_element: str | None = None

    canonical: Once[TypeNode] = Once(lambda node: node.tree.type(c_calls.canonical(node.raw)))
    pointee: Once[TypeNode] = Once(lambda node: node.tree.type(c_calls.pointee(node.raw)))
    element_type: Once[TypeNode] = Once(lambda node: node.tree.type(c_calls.element_type(node.raw)))
    is_array: Once[bool] = Once(lambda node: node.canonical.kind in _ARRAYS)
    is_pointer: Once[bool] = Once(lambda node: node.canonical.kind is TypeKind.POINTER)
    # Of an expression: its value is an address.
    is_address: Once[bool] = Once(lambda node: node.is_pointer or node.is_array)
    # Only whether a pointer is null is left of it.
    is_truth: Once[bool] = Once(lambda node: node.canonical.kind in _TRUTHS)
    is_number: Once[bool] = Once(lambda node: node.canonical.kind in _NUMBERS)
    is_complex: Once[bool] = Once(lambda node: is_complex(node))
    is_integer: Once[bool] = Once(lambda node: node.canonical.kind in _INTEGERS)
    is_unsigned: Once[bool] = Once(lambda node: node.canonical.kind in _UNSIGNED)
    # A number that nothing may change.
    is_fixed: Once[bool] = Once(
        lambda node: node.is_number and node.canonical.spelling.startswith("const ")
    )
    # Accesses keep their order, or other threads see it.
    is_ordered: Once[bool] = Once(lambda node: _ORDERED.search(node.canonical.spelling) is not None)
    # A pointer to numbers that is `restrict`. What it holds of pointers may be held elsewhere too,
    # and a structure that nothing changes may be reached by another name.
    is_restricted: Once[bool] = Once(
        lambda node: (
            _ends_alone(node.canonical.spelling) and node.canonical.pointee.innermost.is_number
        )
    )
    # Of C++: what it names is another object.
    is_reference: Once[bool] = Once(lambda node: node.canonical.kind in _REFERENCES)
    # Of C++: nothing of the program's own runs where a variable ends (some other types too).
    is_plain: Once[bool] = Once(
        lambda node: node.is_complex or is_time(node) or bool(c_calls.is_plain(node.canonical.raw))
    )
    spelling: Once[str] = Once(lambda node: c_calls.type_spelling(node.raw))
    # With the lengths and the names that the source gives it.
    written: Once[TypeNode] = Once(lambda node: node)
    # Of a std::array: the type of its elements.
    library_element: Once[TypeNode | None] = Once(lambda node: element_of(node))

    @Once
    def record(self) -> Node | None:
        """The definition of the class that this type is, where it is seen."""
        raw = c_calls.declaration_of(self.canonical.raw)
        if self.canonical.kind is not TypeKind.RECORD or c_calls.is_null(raw):
            return None
        return self.tree.declaration(raw).get_definition()

    @Once
    def innermost(self) -> TypeNode:
        """The elements' canonical type, of an array or of arrays of them; else its own."""
        kind = self.canonical
        element = kind.element_type if kind.is_array else kind.library_element
        return kind if element is None else element.innermost

    @Once
    def fields(self) -> list[Node]:
        """Of a structure, a union or an array of them: the fields, also of those inside."""
        kind = self.innermost
        if kind.kind is not TypeKind.RECORD:
            return []
        raw = c_calls.declaration_of(kind.raw)
        work = [] if c_calls.is_null(raw) else [*self.tree.declaration(raw).children]
        found = []
        while work:
            child = work.pop()
            if child.kind in (ck.STRUCT_DECL, ck.UNION_DECL):
                work += child.children
            elif child.kind is ck.FIELD_DECL:
                found += [child, *child.type.fields]
        return found

    @Once
    def holds_address(self) -> bool:
        """Whether an address may be in memory of this type, as one or as a number."""
        kind = self.innermost
        return (
            kind.kind in _ADDRESSES
            or kind.kind is TypeKind.VOID
            or any(field.type.holds_address for field in self.fields)
        )

    @Once
    def is_record_of_numbers(self) -> bool:
        """Whether it is a structure, and in it are numbers, arrays and structures of them alone."""
        if self.library_element is not None:
            return bool(self.innermost.is_number)
        record = self.record
        if record is None or record.kind is ck.UNION_DECL:
            return False
        if self.is_complex or is_time(self):
            return True
        if any(c.kind in (ck.CXX_BASE_SPECIFIER, ck.UNION_DECL) for c in record.children):
            return False
        if any(inner.type.innermost.is_pointer for inner in self.fields):
            return False
        types = [c.type.innermost for c in record.children if c.kind is ck.FIELD_DECL]
        numbers = all(each.is_number or each.is_record_of_numbers for each in types)
        return bool(types) and numbers

    @property
    def size_bytes(self) -> int:
        """The size of an object of this type; below 0 where it has none."""
        return int(c_calls.size_of(self.raw))

    @property
    def element_count(self) -> int:
        return int(c_calls.element_count(self.raw))


class AdjustedType(TypeNode):
    """A parameter that is declared as an array is a pointer to its elements.

    libclang shows the array that was written, also of expressions that name the parameter.
    """

    def __init__(self, array: TypeNode) -> None:
        super().__init__(array.tree, array.raw)
        self.written = array
        self.kind = TypeKind.POINTER
        self.canonical = self
        self.pointee = array.canonical.element_type
        self.is_array, self.is_pointer, self.is_reference = False, True, False
        alone = _QUALIFIED.match(self.spelling) is not None
        self.is_restricted = alone and self.pointee.innermost.is_number
