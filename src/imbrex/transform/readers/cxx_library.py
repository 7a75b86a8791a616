"""Calls of the C++ library that run no code of the program.

A function of the library is known by the header that declares it. It may call what it is given: a
function, a lambda or an operator of a class of the program. So it counts only where the types of
the arguments and of the result are the library's own and the language's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from imbrex.transform.readers import c_cursor_kinds as ck

_HEADERS = re.compile(r"/c\+\+/")
_OWN = re.compile(r"\b(?:std|__gnu_cxx)(?:::\w+)+")
_ASKING = frozenset({"size", "empty", "capacity"})
_BUILT_IN_NAMES = (
    "bool char short int long float double signed unsigned void const volatile wchar_t char8_t "
    "char16_t char32_t nullptr_t __int128 size_t ptrdiff_t true false struct class enum noexcept"
)
_BUILT_IN = frozenset(_BUILT_IN_NAMES.split(" "))
# Text, streams, times, random numbers, allocators: what they hold is their own. A view of text, a
# container or a function may hold what the program has given it by its address.
_APART = re.compile(
    r"(?:const )?std::(?:__cxx11::)?(?:basic_(?:string|[io]stream|iostream|[io]?fstream|"
    r"[io]?stringstream|ios)<|chrono::|ios_base\b|_Set(?:w|precision|fill)\b|allocator<|"
    r"\w+_engine<|\w+_distribution<|random_device\b|(?:exception|\w+_error)$)"
)


def runs_no_user_code(referenced: Any, arguments: list[Any], result: Any) -> bool:
    """Whether a call of this function runs nothing but the library's code."""
    if not is_library(referenced) or not _is_own(result):
        return False
    return all(_is_harmless(argument) for argument in arguments)


def is_closed_method(call: Any, callee: Any | None, arguments: list[Any]) -> bool:
    """Whether a call of a method of the library runs nothing but the library's code.

    `arguments`: of an operator with the object, which another method's callee names.
    """
    if callee is None or call.referenced.is_virtual or not is_library(call.referenced):
        return False
    owners = callee.operands if callee.kind is ck.MEMBER_REF_EXPR else []
    if not owners and callee.kind is ck.MEMBER_REF_EXPR:
        return False  # of an object of the program's that is derived from one of the library
    kind = owners[0].type.canonical.spelling if owners else ""
    if call.referenced.spelling in _ASKING and kind.removeprefix("const ").startswith("std::"):
        return True  # whatever the elements are
    return runs_no_user_code(call.referenced, [*owners, *arguments], call.type)


def is_library(cursor: Any) -> bool:
    name = cursor.location.file
    return name is not None and _HEADERS.search(name) is not None


def is_call_of(cursor: Any, header: re.Pattern[str], is_own: Callable[[Any], bool]) -> bool:
    """Whether an expression calls what a header of the library declares for its classes.

    `is_own`: of a type, whether it is such a class.
    """
    if cursor.kind is not ck.CALL_EXPR or not cursor.tree.plus_plus or cursor.referenced is None:
        return False
    name = cursor.referenced.location.file
    if name is not None and header.search(name) is not None:
        return True
    # What the compiler makes has the place of the class.
    return cursor.referenced.kind is ck.CONSTRUCTOR and is_own(cursor.type)


def holds_its_own(kind: Any) -> bool:
    """Whether it is a class of the library whose objects hold nothing that is the program's."""
    return _APART.match(kind.canonical.spelling) is not None and _is_own(kind)


def _is_harmless(argument: Any) -> bool:
    inner = argument.stripped
    named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
    if named is not None and named.kind not in (ck.VAR_DECL, ck.PARM_DECL):
        return is_library(named)  # std::endl
    kind = argument.type
    return "(" not in kind.canonical.spelling and _is_own(kind)


def _is_own(kind: Any) -> bool:
    """Whether a type names nothing but the library's types and the language's."""
    rest = _OWN.sub("", kind.canonical.spelling)
    return all(name in _BUILT_IN for name in re.findall(r"[A-Za-z_]\w*", rest))
