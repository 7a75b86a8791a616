"""Text of the C++ library that an expression makes: it holds nothing that is the program's.

`timer.start("halo")` makes a `std::string` for the call, and `"step" + std::to_string(k)` one of
others. Elements of a map from text or numbers to real numbers count as all of the map.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.readers import c_calls
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import holds_its_own, is_library

_TEXT = re.compile(r"(?:const )?std::(?:__cxx11::)?basic_string<char")
_MAP = re.compile(r"(?:const )?std::(?:__\w+::)?(?:unordered_)?map<")
_REAL = frozenset({TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE})


def text_made_of(cursor: Any) -> list[Any] | None:
    """What text is made of that an expression makes by code of the library; None: it may do more.

    Literals and what is left out are not among it.
    """
    call = cursor.stripped
    if call.kind is not ck.CALL_EXPR or not call.tree.plus_plus or call.referenced is None:
        return None
    named, given = call.referenced, call.arguments
    function = named.kind in (ck.FUNCTION_DECL, ck.CONSTRUCTOR) and is_library(named)
    if not function or not _is_text(call.type) or named.returns_reference:
        return None
    found: list[Any] = []
    for formal, argument in zip(named.arguments, given, strict=False):
        inner = argument.stripped
        left_out = argument.kind is ck.UNEXPOSED_EXPR and not argument.children
        if inner.kind is ck.STRING_LITERAL or left_out:
            continue
        if argument.type.is_number:
            found.append(argument)
            continue
        made = text_made_of(argument)
        if made is not None:
            found += made
        elif _is_text(argument.type) and inner.kind in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR):
            if not formal.refers_to_constant:
                return None  # it may change
            found.append(argument)
        else:
            return None
    return found if len(named.arguments) == len(given) else None


def mapped(cursor: Any) -> tuple[Any, Any] | None:
    """The map and the key, where an expression is an element of a map to real numbers."""
    if cursor.kind is not ck.CALL_EXPR or cursor.spelling != "operator[]":
        return None
    if cursor.referenced is None or not is_library(cursor.referenced) or len(cursor.arguments) != 2:
        return None
    container, key = (each.stripped for each in cursor.arguments)
    kind = container.type.canonical
    kind = kind.pointee.canonical if kind.is_reference else kind
    if not _MAP.match(kind.spelling) or not (key.type.is_number or _is_text(key.type)):
        return None
    held = [kind.tree.type(raw) for raw in c_calls.type_arguments(kind.raw)][:2]
    if len(held) != 2 or held[1].canonical.kind not in _REAL:
        return None
    keys = held[0].is_number or _is_text(held[0])
    named = container.kind in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR)
    return (container, cursor.arguments[1]) if keys and named else None


def _is_text(kind: Any) -> bool:
    return _TEXT.match(kind.canonical.spelling) is not None and holds_its_own(kind)
