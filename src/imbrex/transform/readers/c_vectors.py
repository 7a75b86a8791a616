"""std::vector of numbers, or of structures of them: a variable that holds an array by a pointer.

The variable may be a member: then all objects of its class have one, as they have one field. A
vector of MPI's requests is one of numbers too.

Elements stay where they are while only `[]`, `data`, `front`, `back`, `size` and `empty` are used.
Any other method may give the vector other memory: nothing moves over it. `resize` and its like
take new memory of the vector's own; after the others whatever another vector, a pointer or unknown
code may hold counts as its memory. A `std::unique_ptr` to an array of numbers is read as a vector
that has no size.
"""

from __future__ import annotations

import re
from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Variable, size_of
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import TWICE
from imbrex.transform.readers import c_calls, c_nested, c_std_arrays
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck

ELEMENTS = frozenset({"operator[]", "front", "back"})
SIZES = frozenset({"size", "empty", "capacity"})
MOVES = frozenset(
    {
        *("operator=", "resize", "reserve", "shrink_to_fit", "assign", "clear", "swap"),
        *("push_back", "emplace_back", "pop_back", "insert", "emplace", "erase"),
        *("reset", "release"),
    }
)
# Those after which the elements lie in memory that no other vector had, if given numbers only.
GROWS = frozenset(
    {"resize", "reserve", "shrink_to_fit", "assign", "clear", "push_back", "pop_back"}
)
# Those whose value is the address of the first element.
ADDRESSES = frozenset({"data", "get"})
# Those that give out where the elements are, and leave the vector as it is.
ITERATORS = frozenset({"begin", "end", "cbegin", "cend", "rbegin", "rend", "crbegin", "crend"})
LISTS = frozenset({"std::vector<MPI_Request>", "vector<MPI_Request>"})
RECAST = "recast"  # the cell of facts where a vector is cast to one that is not constant
_VECTOR = re.compile(
    r"(?:const )?(?:class )?std::(?:__\w+::)?vector<"
    r"((?:(?:unsigned |signed )?(?:char|short|int|long|long long)|float|double"
    r"|(?:struct )?(?:ompi_request_t|imbrex_request) \*))"
    r"(?:, std::(?:__\w+::)?allocator<\1 ?>)? ?>$"
)
_OWNED = re.compile(
    r"(?:const )?(?:class )?std::(?:__\w+::)?unique_ptr<"
    r"((?:unsigned |signed )?(?:char|short|int|long|long long)|float|double) ?\[\]"
    r"(?:, std::(?:__\w+::)?default_delete<\1 ?\[\] ?>)? ?>$"
)
# Of a type with a name: whether that is a structure of numbers is asked of the type.
_OF_NAMED = re.compile(
    r"(?:const )?(?:class )?std::(?:__\w+::)?vector<(?:struct |class )?([\w:]+(?:<[\w ,]+>)?)"
    r"(?:, std::(?:__\w+::)?allocator<(?:struct |class )?\1 ?>)? ?>$"
)
_MAKERS = frozenset({ck.CONSTRUCTOR, ck.DESTRUCTOR})


def element_of(kind: Any) -> str:
    """The element type of a vector of numbers, or of a reference to one; else nothing."""
    if kind.vector_element is None:
        kind.vector_element = _element_of(kind)
    return str(kind.vector_element)


def _element_of(kind: Any) -> str:
    kind = _own_kind(kind)
    match = _VECTOR.match(kind.spelling) or _OWNED.match(kind.spelling)
    if match is not None:
        return match[1]
    made = _structure(kind)
    if made is None:
        return ""
    return str(made.spelling) if c_std_arrays.extent_of(made) is not None else cc.element_type(made)


def _own_kind(kind: Any) -> Any:
    """The type without what it is a reference to, or an array or a vector of."""
    return c_nested.innermost(c_nested.referred(kind).innermost)


def _structure(kind: Any) -> Any | None:
    """The structure, or std::array, of numbers that a vector has as elements.

    None where making one may run code.
    """
    if _OF_NAMED.match(kind.spelling) is None:
        return None
    arguments = c_calls.type_arguments(kind.canonical.raw)
    element = kind.tree.type(arguments[0]).canonical if arguments else None
    if element is not None and c_std_arrays.extent_of(element) is not None:
        return element if element.innermost.is_number else None
    if element is None or not element.is_record_of_numbers:
        return None
    if element.is_complex:
        return element
    own = any(child.kind in _MAKERS for child in element.record.children)
    return None if own else element


def is_structured(kind: Any) -> bool:
    """Whether the elements of a vector are structures, or arrays, of numbers."""
    made = _structure(_own_kind(kind))
    return made is not None and not made.is_complex


def structure_in(kind: Any) -> str:
    """The type of the elements of a vector that are structures, or arrays, of numbers."""
    made = _structure(_own_kind(kind))
    return "" if made is None or made.is_complex else str(made.spelling).removeprefix("const ")


def is_owned(kind: Any) -> bool:
    """Whether a type is that of a std::unique_ptr to an array, or of arrays of such."""
    return _OWNED.match(_own_kind(kind).spelling) is not None


def is_vector(kind: Any) -> bool:
    """Of an array or a vector of vectors too: each is a row of it, with memory of its own."""
    return bool(element_of(kind))


def _is_one(kind: Any) -> bool:
    """Whether a type is that of one vector, of numbers or of vectors, and of no array of them."""
    canonical = c_nested.referred(kind)
    return is_vector(kind) and canonical.innermost is canonical


def declared(cursor: Any) -> bool:
    """Whether a declaration is of a vector, or of a reference that is no other name of one."""
    if not cursor.tree.plus_plus or not is_vector(cursor.type):
        return False
    if cursor.type.is_reference and not _is_one(cursor.type):
        return False  # to an array of vectors
    return not (cursor.kind is ck.VAR_DECL and is_alias(cursor))


def is_request(kind: Any) -> bool:
    """Whether a vector's elements may be MPI's requests (numbers, with some libraries)."""
    return element_of(kind) == "int" or "request" in element_of(kind)


def holds_requests(kind: Any) -> bool:
    """Whether a type is that of a list of requests, or of a reference to one."""
    inner = kind.pointee if kind.is_reference else kind
    spelled = str(inner.spelling).removeprefix("const ")
    return spelled in LISTS or "request" in element_of(inner)


def enter(program: Program, key: str, variable: Variable, cursor: Any) -> None:
    """Note a vector and the memory that it has of its own, if it is no reference."""
    variable.pointer = True
    variable.record = ""
    variable.owned = is_owned(cursor.type)
    variable.element = element_of(cursor.type).removeprefix("struct ").removesuffix(" *")
    inner = c_nested.referred(cursor.type)
    extents = cc.array_extents(inner) + [None] * c_nested.depth_of(inner.innermost)
    structure = _structure(_own_kind(cursor.type))
    variable.element_bytes = 0 if structure is None else structure.size_bytes
    variable.rows = bool(extents)
    if not extents and holds_requests(cursor.type):
        program.request_vectors.add(key)
    rows = tuple((Affine(0), None if n is None else Affine(n - 1)) for n in reversed(extents))
    variable.bounds = ((Affine(0), None), *rows)
    size = size_of(key)
    kind = variable.kind
    program.variables[size] = Variable(
        size, f"{variable.name}.size()", kind, element="unsigned long"
    )
    if cursor.type.is_reference:
        if cursor.kind is not ck.PARM_DECL:  # to what a function returned
            program.pointer_facts.append((key, "addr", "external"))
        return
    memory = f"vector:{key}"
    program.variables[memory] = Variable(
        memory,
        f"the elements of {variable.name}",
        "heap",
        lifetime=variable.lifetime,
        line=variable.line,
    )
    program.pointer_facts.append((key, "addr", memory))


def named(cursor: Any) -> Any | None:
    """The declaration of the vector that an expression names: a variable, or a member.

    Of one in an array of vectors, the array's.
    """
    return None if c_nested.rows_of(cursor.stripped.type) is not None else one(cursor)


def one(cursor: Any) -> Any | None:
    """As `named`, of a vector of vectors too."""
    if not cursor.tree.plus_plus or not _is_one(cursor.stripped.type):
        return None
    inner = _meant(cursor)
    if inner is None or inner.referenced is None:
        return None
    found = inner.referenced
    if inner.kind is ck.MEMBER_REF_EXPR:
        if found.kind is not ck.FIELD_DECL or found.type.is_reference or _in_union(found):
            return None
        return found if is_vector(found.type) else None
    known = found.kind in (ck.VAR_DECL, ck.PARM_DECL)
    return found if known and declared(found) else None


def _meant(cursor: Any) -> Any | None:
    """The expression that names a vector, of a local reference what it is bound to."""
    if not cursor.tree.plus_plus:
        return None
    inner = _array(cursor.stripped)
    while inner.kind is ck.DECL_REF_EXPR and inner.referenced is not None:
        found = inner.referenced
        if found.kind is not ck.VAR_DECL or not is_alias(found):
            return inner
        inner = _array(found.initializer.stripped)
    return inner if inner.kind is ck.MEMBER_REF_EXPR else None


def _array(cursor: Any) -> Any:
    """The array of an element that an expression names, if it is one."""
    inner = cursor
    while True:
        if inner.kind is ck.ARRAY_SUBSCRIPT_EXPR and inner.operands[0].stripped.type.is_array:
            inner = inner.operands[0].stripped
            continue
        name, array = c_std_arrays.method(inner)
        if name != "operator[]" or array is None or array.type.is_pointer:
            array, _ = c_nested.row(inner)
        if array is None:
            return inner
        inner = array.stripped


def row_of(cursor: Any) -> list[Any | None]:
    """The indices of a vector in an array of vectors, in source order.

    None for one that may have changed since a reference was bound.
    """
    found: list[Any | None] = []
    inner = cursor.stripped
    fixed = False
    while True:
        array, index = None, None
        if inner.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            array, index = inner.operands
        elif inner.kind is ck.CALL_EXPR:
            array, index = c_std_arrays.method(inner)[1], inner.operands[-1]
            if array is None:
                array, index = c_nested.row(inner)
        if array is not None and index is not None:
            found.insert(0, None if fixed and index.integer is None else index)
            inner = array.stripped
            continue
        named_by = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
        if named_by is None or named_by.kind is not ck.VAR_DECL or not is_alias(named_by):
            return found
        inner, fixed = named_by.initializer.stripped, True


def _in_union(field: Any) -> bool:
    parent = field.semantic_parent
    return parent is None or parent.kind is ck.UNION_DECL


def is_alias(declaration: Any) -> bool:
    """Whether a local reference is another name of a vector that is known."""
    if not declaration.type.is_reference or not is_vector(declaration.type):
        return False
    value = declaration.initializer
    return value is not None and one(value) is not None


def owner_of(cursor: Any) -> Any | None:
    """The expression of a member that names a vector; None where a variable is one."""
    inner = _meant(cursor)
    return inner if inner is not None and inner.kind is ck.MEMBER_REF_EXPR else None


def method(cursor: Any) -> tuple[str, Any | None]:
    """The name of the method that a call calls on a vector, and the expression that names it."""
    if cursor.kind is not ck.CALL_EXPR or not cursor.tree.plus_plus:
        return "", None
    children = cursor.operands
    if not children:
        return "", None
    first = children[0]
    if cursor.spelling.startswith("operator"):
        return cursor.spelling, first if _has(first, cursor.spelling) else None
    if first.kind is ck.MEMBER_REF_EXPR:
        inner = first.operands
        known = bool(inner) and _has(inner[0], cursor.spelling)
        return cursor.spelling, inner[0] if known else None
    return "", None


def _has(vector: Any, name: str) -> bool:
    """Whether a method of what an expression names is one of a vector.

    Those of a vector of vectors name rows, but for some.
    """
    return named(vector) is not None or (name in SIZES | MOVES and one(vector) is not None)


def settle(program: Program) -> None:
    """Note what is known of vectors only when all is read.

    A vector passed by reference to what may change its memory has any memory afterwards. Where a
    vector is cast, one that is given out as constant may be changed.
    """
    facts = program.pointer_facts
    if any(target == RECAST for target, _, _ in facts):
        own = [key for key in program.variables if f"vector:{key}" in program.variables]
        facts += [("escape", "addr", key) for key in own]
    unsettled = {key for target, form, key in facts if target == "escape" and form == "addr"}
    grown = True
    while grown:
        grown = False
        for name, position, key in program.passed_vectors:
            routine = program.routines.get(name)
            parameter = None
            twice = routine is not None and routine.problem == TWICE
            if routine is not None and not twice and position < len(routine.parameters):
                parameter = routine.parameters[position]
            if key not in unsettled and (parameter is None or parameter in unsettled):
                facts.append(("escape", "addr", key))
                unsettled.add(key)
                grown = True
