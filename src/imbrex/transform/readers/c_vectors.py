"""std::vector of numbers: a variable that holds its elements as a pointer holds an array.

Elements stay where they are while only `[]`, `data`, `front`, `back`, `size` and `empty` are used.
Any other method may give the vector other memory: nothing moves over it, and whatever another
vector, a pointer or unknown code may hold counts as its memory from then on.
"""

from __future__ import annotations

import re
from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import Program, Variable
from imbrex.transform.model.reasons import TWICE
from imbrex.transform.readers import c_cursor_kinds as ck

ELEMENTS = frozenset({"operator[]", "front", "back"})
SIZES = frozenset({"size", "empty", "capacity"})
MOVES = frozenset(
    {
        *("operator=", "resize", "reserve", "shrink_to_fit", "assign", "clear", "swap"),
        *("push_back", "emplace_back", "pop_back", "insert", "emplace", "erase"),
    }
)
_VECTOR = re.compile(
    r"(?:const )?(?:class )?std::(?:__\w+::)?vector<"
    r"((?:(?:unsigned |signed )?(?:char|short|int|long|long long)|float|double))"
    r"(?:, std::(?:__\w+::)?allocator<\1 ?>)? ?>$"
)


def element_of(kind: Any) -> str:
    """The element type of a vector of numbers, or of a reference to one; else nothing."""
    if kind.vector_element is None:
        kind.vector_element = _element_of(kind)
    return str(kind.vector_element)


def _element_of(kind: Any) -> str:
    canonical = kind.canonical
    if canonical.is_reference:
        canonical = canonical.pointee.canonical
    match = _VECTOR.match(canonical.spelling)
    return "" if match is None else match[1]


def is_vector(kind: Any) -> bool:
    return bool(element_of(kind))


def declared(cursor: Any) -> bool:
    """Whether a declaration is of a vector, or of a parameter that is a reference to one."""
    if not cursor.tree.plus_plus or not is_vector(cursor.type):
        return False
    return not cursor.type.is_reference or cursor.kind is ck.PARM_DECL


def enter(program: Program, key: str, variable: Variable, cursor: Any) -> None:
    """Note a vector and the memory that it has of its own, if it is no reference."""
    variable.pointer = True
    variable.record = ""
    variable.element = element_of(cursor.type)
    variable.bounds = ((Affine(0), None),)
    if cursor.type.is_reference:
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
    """The declaration of the vector that an expression names."""
    if not cursor.tree.plus_plus:
        return None
    inner = cursor.stripped
    if inner.kind is not ck.DECL_REF_EXPR or inner.referenced is None:
        return None
    found = inner.referenced
    known = found.kind in (ck.VAR_DECL, ck.PARM_DECL)
    return found if known and declared(found) else None


def method(cursor: Any) -> tuple[str, Any | None]:
    """The name of the method that a call calls on a vector, and the vector's declaration."""
    if cursor.kind is not ck.CALL_EXPR or not cursor.tree.plus_plus:
        return "", None
    children = cursor.operands
    if not children:
        return "", None
    first = children[0]
    if cursor.spelling.startswith("operator"):
        return cursor.spelling, named(first)
    if first.kind is ck.MEMBER_REF_EXPR:
        inner = first.operands
        return cursor.spelling, named(inner[0]) if inner else None
    return "", None


def settle(program: Program) -> None:
    """A vector passed by reference to what may change its memory has any memory afterwards."""
    facts = program.pointer_facts
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
