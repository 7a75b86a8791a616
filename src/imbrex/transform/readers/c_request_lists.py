"""Lists of requests: local vectors that a function fills by `push_back`, waits for and empties.

Such a vector is a variable like an array of requests where all that is done with it is seen: its
elements come from starts, from request variables of the function and from MPI_REQUEST_NULL or
`MPI_Request()`, and nothing but MPI is given their address, for the time of the call.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import LinkageKind, StorageClass

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_vectors

TAKES = frozenset({"push_back", "emplace_back"})
CHANGES = TAKES | {"assign", "clear", "reserve", "resize"}
_ADDRESSED = frozenset({"back", "front"})
_NONE = re.compile(rb"MPI_REQUEST_NULL|MPI_Request\s*(?:\(\s*\)|\{\s*\})")
_BODIES = frozenset(
    {
        *(ck.COMPOUND_STMT, ck.IF_STMT, ck.FOR_STMT, ck.WHILE_STMT, ck.DO_STMT),
        ck.CXX_FOR_RANGE_STMT,
    }
)


def identity(declaration: Any) -> int:
    """What two nodes of one declaration share."""
    return int(declaration.raw.first or 0)


def is_no_request(text: bytes) -> bool:
    """Whether an expression is a request that nothing has started, as `MPI_Request()` is."""
    return _NONE.fullmatch(text) is not None


def request_lists(body: Any, text: bytes) -> frozenset[int]:
    """The identities of the lists that a function declares; `text`: of its file."""
    start, end = cc.spelled(body)
    inside = text[start:end]
    if b"MPI_Request" not in inside or b"vector" not in inside:
        return frozenset()
    found = _Lists(text)
    found.declared_in(body)
    if found.known:
        found.uses_in(body, [])
    return frozenset(found.known)


class _Lists:
    """Looks at all uses of the lists in one function."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.known: set[int] = set()

    def declared_in(self, cursor: Any) -> None:
        for child in cursor.children:
            if child.kind is ck.VAR_DECL and _is_list(child):
                self.known.add(identity(child))
            self.declared_in(child)

    def uses_in(self, cursor: Any, above: list[Any]) -> None:
        """`above`: what encloses the expression, without casts, the innermost last."""
        if cursor.kind is ck.DECL_REF_EXPR:
            named = cursor.referenced
            if named is not None and identity(named) in self.known and not self._is_known(above):
                self.known.discard(identity(named))
            return
        inner = above if cursor.kind in ck.CASTS else [*above, cursor]
        for child in cursor.children:
            self.uses_in(child, inner)

    def _is_known(self, above: list[Any]) -> bool:
        """Whether a use is one of those that the model knows."""
        if any(each.kind in (ck.LAMBDA_EXPR, ck.CXX_TRY_STMT) for each in above):
            return False
        parent, outer = above[-1], above[:-1]
        if parent.kind is ck.CALL_EXPR and parent.spelling == "operator[]":
            return _is_given_to_mpi(outer, address=True)
        if parent.kind is not ck.MEMBER_REF_EXPR or not outer:
            return False
        call, outer = outer[-1], outer[:-1]
        name = parent.spelling
        if (
            call.kind is not ck.CALL_EXPR
            or call.operands[0].stripped.raw.second != parent.raw.second
        ):
            return False
        if name in c_vectors.SIZES:
            return True
        if name == "data":
            return _is_given_to_mpi(outer, address=False)
        if name in _ADDRESSED:
            return _is_given_to_mpi(outer, address=True)
        alone = bool(outer) and outer[-1].kind in _BODIES
        return alone and is_change(call, name, self.text)


def is_change(call: Any, name: str, text: bytes) -> bool:
    """Whether a method of a list, alone in a statement, is one of those that the model knows.

    It brings in no other handle than that of a request variable of the function.
    """
    given = [child for child in call.arguments if not _is_default(child)]
    if name in TAKES:
        made = name == "emplace_back" and not given
        return made or (len(given) == 1 and _is_handle(given[0], text))
    if name == "assign" and len(given) != 2:
        return False
    return name in CHANGES and all(_is_null(value, text) for value in given[1:])


def _is_default(value: Any) -> bool:
    return value.kind is ck.UNEXPOSED_EXPR and not value.operands


def _is_null(value: Any, text: bytes) -> bool:
    return is_no_request(text[slice(*cc.spelled(value))])


def _is_handle(value: Any, text: bytes) -> bool:
    """Whether it is a request variable of the function, or no request."""
    if _is_null(value, text):
        return True
    inner = value.stripped
    named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
    return named is not None and _is_local(named) and named.type.spelling == "MPI_Request"


def _is_local(declaration: Any) -> bool:
    local = declaration.kind is ck.VAR_DECL and declaration.linkage == LinkageKind.NO_LINKAGE
    return bool(local) and declaration.storage_class != StorageClass.STATIC


def _is_list(declaration: Any) -> bool:
    if not _is_local(declaration) or declaration.type.is_reference:
        return False
    return declaration.type.spelling in c_vectors.LISTS


def _is_given_to_mpi(above: list[Any], *, address: bool) -> bool:
    """Whether an element, or a pointer to the first one, is an argument of a function of MPI."""
    rest = list(above)
    if address:
        if not rest or rest[-1].kind is not ck.UNARY_OPERATOR:
            return False
        if rest.pop().unary_operator != cc.ADDRESS_OF:
            return False
    while rest and rest[-1].kind is ck.BINARY_OPERATOR and rest[-1].type.is_pointer:
        if rest.pop().binary_operator not in (cc.ADD, cc.SUBTRACT):
            return False
    return bool(rest) and rest[-1].kind is ck.CALL_EXPR and rest[-1].spelling.startswith("MPI_")
