"""Where functions and methods of C++ belong, as libclang tells it."""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.scopes import Scope
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods
from imbrex.transform.readers.c_instances import members_of, pattern_of

_CLASSES = frozenset({ck.CLASS_DECL, ck.STRUCT_DECL})


def scope_of(cursor: Any) -> Scope | None:
    """The scope of a definition; None in C, and for a function of no namespace and no class."""
    if not cursor.tree.plus_plus:
        return None
    namespaces: list[str] = []
    classes: list[str] = []
    parent = cursor.semantic_parent
    record = parent if parent is not None and parent.kind in _CLASSES else None
    while parent is not None and parent.kind in (*_CLASSES, ck.NAMESPACE):
        name = "" if parent.spelling.startswith("(") else str(parent.spelling)
        (classes if parent.kind in _CLASSES else namespaces).insert(0, name)
        parent = parent.semantic_parent
    if not namespaces and not classes:
        return None
    if record is None:
        return Scope(tuple(namespaces))
    members = members_of(record)  # of an instance they are none of its own children
    alike = [child for child in members if child.spelling == cursor.spelling]
    first = pattern_of(cursor).canonical
    declared = None
    if first is not None and first.location != cursor.location:
        declared = (str(first.location.file), first.span[1], first.span[3])
    return Scope(
        tuple(namespaces),
        tuple(classes),
        c_methods.has_object(cursor),
        len(alike) != 1,
        cursor.kind is ck.CXX_METHOD and bool(cursor.is_virtual),
        declared,
    )
