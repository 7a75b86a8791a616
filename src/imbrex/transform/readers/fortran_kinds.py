"""Kinds of Fortran's numbers: the types that they make, by number, by constant, by module."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names
    from imbrex.transform.readers.fortran_scopes import Scope

_KINDS = {
    "8": "8", "kind(1.0d0)": "8", "kind(1d0)": "8", "kind(1.d0)": "8", "kind(0d0)": "8",
    "kind(0.d0)": "8", "kind(0.0d0)": "8", "real64": "8", "c_double": "8",
    "4": "4", "kind(1.0)": "4", "kind(1.e0)": "4", "real32": "4", "c_float": "4", "int32": "4",
    "c_int": "4", "selected_real_kind(15,307)": "8", "selected_real_kind(15)": "8",
}  # fmt: skip
_OF_KIND = re.compile(r"(real|complex|integer|logical)\(([a-z]\w*)\)")
_OF_NUMBERS = frozenset({"iso_fortran_env", "iso_c_binding"})


def of_kind(kind: str, size: str) -> str:
    """The name of a type of numbers of a kind, whose number or constant is given."""
    size = _KINDS.get(size, size)
    if size == "8" and kind in ("real", "complex"):
        return "double precision" if kind == "real" else "double complex"
    return kind if size == "4" else f"{kind}({size})"


def kind_meant(text: str) -> str | None:
    """A text that is the same for expressions of one kind, `kind(1d0)`; None for what is none.

    A number alone is left out: which kind that is depends on the compiler.
    """
    known = "(" in text and text in _KINDS
    return f"=kind {_KINDS[text]}" if known else None


def of_used_kind(names: Names, scope: Scope, text: str) -> str:
    """A type of numbers; where its kind is a constant of a module, by what that is."""
    match = _OF_KIND.fullmatch(text)
    if match is None:
        return text
    found = names.find(scope, match[2])
    if found is not None:
        owner, symbol = found
        value = names.constant(owner, symbol.name) if symbol.value else ""
        return of_kind(match[1], value) if value else text
    number = ""
    where: Scope | None = scope
    while where is not None and not number:
        number = _number(names, where, match[2], 0)
        where = where.parent
    return of_kind(match[1], number) if number else text


def _number(names: Names, scope: Scope, kind: str, depth: int) -> str:
    """The constant of an intrinsic module that a kind's name stands for, through other modules."""
    for module, renamed in scope.uses if depth < 20 else ():
        remote = kind if renamed is None else renamed.get(kind)
        inner = names.modules.get(module)
        if remote is not None and inner is None and module in _OF_NUMBERS:
            return remote if renamed is not None or remote in _KINDS else ""
        found = "" if remote is None or inner is None else _number(names, inner, remote, depth + 1)
        if found:
            return found
    return ""
