"""Complex numbers: those of C, and std::complex, which is a class but holds a number as they do.

What the library declares for std::complex in <complex> (C++20, section 26.4) computes a number, or
sets the one that it is called for. It runs no code of the program, and keeps no address.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import is_call_of

_CLASS = re.compile(
    r"(?:const )?(?:class )?std::(?:__\w+::)?complex<(?:float|double|long double)>$"
)
_HEADER = re.compile(r"/c\+\+/(?:.*/)?complex$")
_SETS = frozenset({"operator=", "operator+=", "operator-=", "operator*=", "operator/="})
_PARTS = frozenset({"real", "imag"})


def is_complex(kind: Any) -> bool:
    """Whether a type is that of a complex number."""
    canonical = kind.canonical
    if canonical.kind is TypeKind.COMPLEX:
        return True
    return canonical.kind is TypeKind.RECORD and _CLASS.match(canonical.spelling) is not None


def computed_of(cursor: Any) -> list[Any] | None:
    """The operands of a call that sets nothing and computes, or makes, a number; else None."""
    if not is_call_of(cursor, _HEADER, is_complex):
        return None
    owner = _owner(cursor)
    operands = [*([] if owner is None else [owner]), *cursor.arguments]
    if owner is not None and cursor.spelling not in _PARTS:
        return None
    makes = cursor.referenced.kind is ck.CONSTRUCTOR
    made = cursor.type.innermost if makes else cursor.type  # of an array each element
    known = all(_is_number(operand.type) for operand in operands) and _is_number(made)
    return operands if known else None


def set_by(cursor: Any) -> tuple[Any, Any, bool] | None:
    """What a call sets, from what, and whether its value from before counts; None: it sets none."""
    if not is_call_of(cursor, _HEADER, is_complex):
        return None
    owner, given = _owner(cursor), cursor.arguments
    if cursor.spelling in _SETS and owner is None and len(given) == 2:
        owner, *given = given
    elif cursor.spelling not in _PARTS:
        return None
    if owner is None or len(given) != 1 or not _is_number(given[0].type):
        return None
    return owner, given[0], cursor.spelling != "operator="


def _owner(cursor: Any) -> Any | None:
    """The expression of the object that a method is called for by its name."""
    first = cursor.operands[0] if cursor.operands else None
    if first is None or first.kind is not ck.MEMBER_REF_EXPR or not first.operands:
        return None
    return first.operands[0] if cursor.referenced.kind is ck.CXX_METHOD else None


def _is_number(kind: Any) -> bool:
    canonical = kind.canonical
    if canonical.is_reference:
        canonical = canonical.pointee.canonical
    return canonical.is_number or is_complex(canonical)
