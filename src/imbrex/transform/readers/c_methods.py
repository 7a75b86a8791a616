"""Methods of classes as functions: the names that the model knows them by, and which are read.

A method is a function whose first parameter is `this`. What a virtual call runs is not known here,
but on a variable: it is a call through a pointer, and a virtual method a function whose address is
taken. Of a template the instances are read that calls name, but for virtual ones.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import LinkageKind, StorageClass

from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_instances import (
    instance_name,
    is_own_class,
    is_readable,
    is_specialization,
)
from imbrex.transform.readers.cxx_library import is_library

_CLASSES = frozenset({ck.CLASS_DECL, ck.STRUCT_DECL})
_MEMBERS = frozenset({ck.CXX_METHOD, ck.CONSTRUCTOR, ck.DESTRUCTOR})
# Operators whose calls are read as those of methods.
_READ_OPERATORS = re.compile(r"operator(?:\(\)|\[\]|[-+*/%|^]?=|[-+*/%<>|^]|[=!<>]=|\+\+|--)$")


def routine_name(cursor: Any) -> str:
    """The name of the routine that a function, method or constructor is in the model."""
    if cursor.routine_name is None:
        cursor.routine_name = _routine_name(cursor)
    return str(cursor.routine_name)


def _routine_name(cursor: Any) -> str:
    name = str(cursor.spelling)
    if not cursor.tree.plus_plus:
        return name
    if cursor.kind not in _MEMBERS:
        return instance_name(cursor, "") if cursor.is_instance else name
    parent = cursor.semantic_parent
    record = parent.type.canonical.spelling
    if cursor.is_instance:
        return instance_name(cursor, record)
    alike = [c.get_usr() for c in parent.children if c.kind is cursor.kind and c.spelling == name]
    number = alike.index(cursor.get_usr()) if cursor.get_usr() in alike else 0
    return f"{record}::{name}" + (f"#{number + 1}" if number else "")


def is_read(cursor: Any) -> bool:
    """Whether the definition of a function or method is read as a routine."""
    if not cursor.tree.plus_plus:
        return True
    if cursor.kind is ck.CXX_METHOD and (cursor.is_implicit or _is_of_lambda(cursor)):
        return False
    if cursor.is_instance:
        return is_readable(cursor) and not _is_hidden_operator(cursor)
    if is_library(cursor):
        return False
    if cursor.kind is ck.FUNCTION_DECL:
        return True
    parent = cursor.semantic_parent
    if cursor.kind not in _MEMBERS or parent is None or parent.kind not in _CLASSES:
        return False
    inside = "<" in parent.type.canonical.spelling  # of a template, or of a class within one
    if inside and not is_specialization(parent):
        return False
    if cursor.kind is not ck.CXX_METHOD:
        return True
    return not _is_hidden_operator(cursor)


def _is_of_lambda(cursor: Any) -> bool:
    """Whether a method is the code of a lambda, which may hold copies of what it names."""
    parent = cursor.semantic_parent
    return parent is None or not parent.spelling or parent.spelling.startswith("(")


def _is_hidden_operator(cursor: Any) -> bool:
    """Whether a method is an operator of a kind that is not analysed."""
    return is_operator(cursor) and _READ_OPERATORS.match(cursor.spelling) is None


def objects_of(kind: Any) -> str:
    """The cell that holds all objects of a class, whose constructors get them as `this`."""
    return f"objects {kind.canonical.spelling.removeprefix('const ')}"


def is_own(record: Any) -> bool:
    """Whether the constructors of a class are the program's own and are read."""
    if record is None or record.kind not in _CLASSES:
        return False
    if "<" in record.type.canonical.spelling:
        return is_own_class(record)
    return not is_library(record)


def names_object(declaration: Any) -> bool:
    """Whether a local variable is a reference to an object of the program's own classes."""
    local = declaration.kind is ck.VAR_DECL and declaration.linkage == LinkageKind.NO_LINKAGE
    if not local or declaration.storage_class == StorageClass.STATIC:
        return False
    return bool(declaration.type.is_reference) and is_own(declaration.type.canonical.pointee.record)


def is_override(member: Any) -> bool:
    """Whether a member of a class is a virtual method, which calls of a base class's may run."""
    return member.kind is ck.CXX_METHOD and bool(member.is_virtual) and not member.is_implicit


def runs_unseen(member: Any) -> bool:
    """Whether a constructor or destructor has a body, here or elsewhere."""
    if member.kind not in (ck.CONSTRUCTOR, ck.DESTRUCTOR):
        return False
    return not member.is_implicit


def copies(value: Any, record: str) -> bool:
    """Whether a value that an object of a class is made of is another object of it."""
    inner = value.stripped
    if inner.kind is ck.INIT_LIST_EXPR:
        return False
    if inner.kind is not ck.CALL_EXPR or inner.referenced is None:
        return True
    if inner.referenced.kind is not ck.CONSTRUCTOR:
        return True
    given = [child for child in inner.arguments if record in child.type.canonical.spelling]
    return bool(given)


def is_operator(cursor: Any) -> bool:
    name = cursor.spelling
    return bool(name.startswith("operator") and not name[8:9].isalnum() and name[8:9] != "_")


def has_object(cursor: Any) -> bool:
    """Whether a function is called on an object."""
    return cursor.kind in _MEMBERS and not cursor.is_static_method


def called(call: Any) -> Any | None:
    """The declaration of the function or method that a call runs for certain; else None."""
    found = call.referenced
    if found is None or (_calls_result(call) and not is_operator(found)):
        return None
    if not found.tree.plus_plus:
        return found if found.kind is ck.FUNCTION_DECL else None
    if found.kind is ck.FUNCTION_DECL:
        return found
    if found.kind is not ck.CXX_METHOD or not is_read(found):
        return None
    return found if not found.is_virtual or _is_of_variable(call) else None


def _calls_result(call: Any) -> bool:
    """Whether it calls what another call returns, `pick(k)(u)`, which is known by that one."""
    callee = call.operands[0].stripped if call.operands else None
    while callee is not None and callee.kind is ck.UNARY_OPERATOR and callee.operands:
        callee = callee.operands[0].stripped
    return callee is not None and callee.kind is ck.CALL_EXPR


def _is_of_variable(call: Any) -> bool:
    """Whether a method is called on a variable, or a member, which is of its own class."""
    callee = call.operands[0].stripped if call.operands else None
    if callee is None or callee.kind is not ck.MEMBER_REF_EXPR or not callee.operands:
        return False
    inner = callee.operands[0]
    while inner.kind in (ck.UNEXPOSED_EXPR, ck.PAREN_EXPR) and len(inner.operands) == 1:
        inner = inner.operands[0]
    named = inner.referenced if inner.kind in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR) else None
    if named is None or named.kind not in (ck.VAR_DECL, ck.PARM_DECL, ck.FIELD_DECL):
        return False
    return named.type.canonical.record is not None
