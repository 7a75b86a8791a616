"""Instances of templates: which are read, by which names, and what their classes hold.

An instance is read as a routine of its own where a call names it. Its text is that of the template,
which other instances may share: c_sole_instances tells where it is rewritten.
"""

from __future__ import annotations

import hashlib
from typing import Any

from imbrex.transform import mpi_calls
from imbrex.transform.readers import c_calls
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import is_library

# Calls that a user asks about where they are not seen.
COMMUNICATION = frozenset(
    {
        *(*mpi_calls.BLOCKING, *mpi_calls.STARTS, *mpi_calls.COLLECTIVES),
        *(*mpi_calls.COMPLETIONS, *mpi_calls.LEFT_ALONE),
    }
)
_CLASSES = frozenset({ck.CLASS_DECL, ck.STRUCT_DECL})
_MEMBERS = frozenset({ck.CXX_METHOD, ck.CONSTRUCTOR})


def is_readable(function: Any) -> bool:
    """Whether the instance of a template is read as a routine."""
    if function.readable is None:
        function.readable = _is_readable(function)
    return bool(function.readable)


def _is_readable(function: Any) -> bool:
    if is_library(function) or function.in_system_header:
        return False
    if function.kind in _MEMBERS:
        parent = function.semantic_parent
        if parent is None or parent.kind not in _CLASSES or function.is_virtual:
            return False
    elif function.kind is not ck.FUNCTION_DECL:
        return False
    definition = function.get_definition()
    if definition is None:
        return False
    return any(child.kind is ck.COMPOUND_STMT for child in definition.children)


def instance_name(function: Any, record: str) -> str:
    """A name that no other instance has, for messages to show; `record`: the class of a method."""
    name = f"{record}::{function.spelling}" if record else str(function.spelling)
    given = _arguments(function)
    if given:
        return f"{name}<{', '.join(given)}>"
    pattern = pattern_of(function)
    number = None
    if record and pattern is not function:
        parent = pattern.semantic_parent
        alike = [c for c in parent.children if c.kind is pattern.kind] if parent is not None else []
        alike = [c.get_usr() for c in alike if c.spelling == pattern.spelling]
        number = alike.index(pattern.get_usr()) if pattern.get_usr() in alike else None
    if number is None:
        mark = hashlib.sha1(function.get_usr().encode(), usedforsecurity=False).hexdigest()[:8]
        return f"{name}<{mark}>"
    return name + (f"#{number + 1}" if number else "")


def pattern_of(instance: Any) -> Any:
    """What a function or a class is an instance of; itself where it is none."""
    raw = c_calls.template_of(instance.raw)
    return instance if c_calls.is_null(raw) else instance.tree.declaration(raw)


def _arguments(function: Any) -> list[str]:
    """The types and numbers that a function template is instantiated for; none if not known."""
    found = []
    for kind, text in c_calls.function_arguments(function.raw):
        if kind not in ("type", "number"):
            return []
        found.append(text)
    return found


def is_own_class(record: Any) -> bool:
    """Whether a class is an instance of a template of the program, and all it runs is read.

    No destructor, base class or virtual method, and no constructor that is a template itself.
    """
    if is_library(record):
        return False
    template = _template_of(record)
    return template is not None and _is_plain_template(template)


def is_specialization(record: Any) -> bool:
    """Whether a class is what a template is for certain arguments, written out as its own text."""
    template = _template_of(record)
    if template is None or template.kind is not ck.CLASS_TEMPLATE or not record.is_definition():
        return False
    first = template.canonical
    places = [template.location] + ([] if first is None else [first.location])
    return record.location not in places


def _template_of(record: Any) -> Any | None:
    """The definition of the template that a class is made of; what declares it ahead tells less."""
    declared = pattern_of(record)
    if declared is record:
        return None
    return declared.get_definition() or declared


def runs_by_instances(template: Any) -> bool:
    """Whether all code of a template that runs is that of its instances, which are read."""
    if template.kind is ck.FUNCTION_TEMPLATE:
        return True
    return _is_plain_template(template)


def _is_plain_template(pattern: Any) -> bool:
    if pattern.kind is not ck.CLASS_TEMPLATE:
        return False
    for child in pattern.children:
        if child.kind in (ck.DESTRUCTOR, ck.CXX_BASE_SPECIFIER, ck.FUNCTION_TEMPLATE):
            return False
        if child.kind is ck.CXX_METHOD and child.is_virtual:
            return False
    return True


def initialized(record: Any) -> set[str]:
    """The fields of an instance that its template gives a value, no constant."""
    template = _template_of(record)
    return {
        child.spelling
        for child in ([] if template is None else template.children)
        if child.kind is ck.FIELD_DECL
        and any(part.kind in ck.EXPRESSIONS and part.integer is None for part in child.children)
    }


def members_of(record: Any) -> list[Any]:
    """What a class declares; of an instance, what its template does."""
    template = None if is_specialization(record) else _template_of(record)
    return list(record.children if template is None else template.children)


def fields_of(record: Any) -> list[Any]:
    """The fields of a class; those of an instance are none of its children."""
    if "<" not in record.type.canonical.spelling:
        return [child for child in record.children if child.kind is ck.FIELD_DECL]
    return [record.tree.declaration(raw) for raw in c_calls.fields(record.type.canonical.raw)]
