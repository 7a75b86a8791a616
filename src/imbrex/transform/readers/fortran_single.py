"""Derived types of Fortran of which a program has one object, whatever name each routine gives it.

What such an object holds is as much one variable as what a module declares: the sizes of a
decomposition, say, that are passed to all routines. That is so where one variable has the type, or
one component of an object that is itself the only one, where no value of the type is made elsewhere
and no object of it is named as a whole but as an argument of a routine that takes such an object.
"""

from __future__ import annotations

import re

from imbrex.transform.readers.fortran_extended import Families
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_owned import copied_types
from imbrex.transform.readers.fortran_scopes import Scope, Symbol
from imbrex.transform.readers.fortran_types import Definition, type_name

_TYPED = re.compile(r"(?:type|class)\((\w+)\)")


def single_types(
    scopes: list[Scope], definitions: list[Definition], names: Names
) -> frozenset[str]:
    """These types, as `type(name)`, of a program that is there as a whole.

    Of those that extend others, and of these, the first one stands for all.
    """
    families = names.types.families
    first = families.first  # those of one family are one record
    objects: dict[str, list[tuple[Scope, Symbol]]] = {}
    for scope in (*scopes, *(each.scope for each in definitions)):
        for symbol in scope.symbols.values():
            definition = names.types.of(symbol.type)
            if definition is None:
                continue
            if symbol.name not in scope.dummies:
                objects.setdefault(first(type_name(symbol.type)), []).append((scope, symbol))
    named = {name for name, items in objects.items() if _is_alone(items)}
    if not named:
        return frozenset()
    named -= copied_types(scopes, definitions, names)
    for scope in scopes:
        for line in scope.body:  # a declaration in a BLOCK, an ALLOCATE with a type
            named -= {first(name) for name in _TYPED.findall(line.masked)}
    found: set[str] = set()
    while new := {
        name for name in named - found if _is_held_once(objects[name][0][0], found, families)
    }:
        found |= new
    return frozenset(f"type({name})" for name in found)


def _is_alone(items: list[tuple[Scope, Symbol]]) -> bool:
    """Whether a type's objects are one plain variable, or one such component.

    A variable of a procedure is there once at a time, where the procedure is not recursive.
    """
    if len(items) != 1:
        return False
    scope, symbol = items[0]
    if symbol.bounds or "allocatable" in symbol.attributes:
        return False
    result = symbol.name in (scope.result, scope.name)
    return scope.kind == "type" or not (scope.recursive or result)


def _is_held_once(scope: Scope, found: set[str], families: Families) -> bool:
    """Whether where an object is declared is there once: a type only with its one object."""
    return scope.kind != "type" or families.first(scope.name) in found
