"""Kinds of Fortran's numbers: the types that they make, by number, by constant, by module."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names
    from imbrex.transform.readers.fortran_scopes import Scope

_KINDS = {
    "8": "8", "kind(1.0d0)": "8", "kind(1d0)": "8", "kind(1.d0)": "8", "kind(0d0)": "8",
    "kind(0.d0)": "8", "kind(0.0d0)": "8", "real64": "8", "c_double": "8", "int64": "8",
    "c_double_complex": "8", "c_int64_t": "8", "c_long": "8", "c_long_long": "8", "c_size_t": "8",
    "4": "4", "kind(1.0)": "4", "kind(1.e0)": "4", "real32": "4", "c_float": "4", "int32": "4",
    "c_float_complex": "4", "c_int": "4", "c_int32_t": "4", "kind(1)": "4", "kind(0)": "4",
    "kind(0.0)": "4", "int16": "2", "c_short": "2", "c_int16_t": "2", "int8": "1",
    "c_signed_char": "1", "c_int8_t": "1",
}  # fmt: skip
_SELECTED_REAL = re.compile(r"selected_real_kind\((?:p=)?(\d+)(?:,(?:r=)?(\d+))?\)")
_SELECTED_INTEGER = re.compile(r"selected_int_kind\((?:r=)?(\d+)\)")
# The digits and exponents of each kind of real numbers, the digits of each kind of integers.
_REALS = ((6, 37, "4"), (15, 307, "8"))
_INTEGERS = ((2, "1"), (4, "2"), (9, "4"), (18, "8"))
_OF_KIND = re.compile(r"(real|complex|integer|logical)\(([a-z]\w*)\)")
_OF_NUMBERS = frozenset({"iso_fortran_env", "iso_c_binding"})


def of_kind(kind: str, size: str) -> str:
    """The name of a type of numbers of a kind, whose number or constant is given."""
    size = _number_of(size) or size
    if size == "8" and kind in ("real", "complex"):
        return "double precision" if kind == "real" else "double complex"
    return kind if size == "4" else f"{kind}({size})"


def _number_of(size: str) -> str:
    """The number of a kind; nothing where it is not known. (Fortran 2018, sections 16.9.169, 170.)

    `selected_real_kind` and `selected_int_kind` give the least kind that holds so many digits.
    """
    fits = [_KINDS[size]] if size in _KINDS else []
    if (match := _SELECTED_REAL.fullmatch(size)) is not None:
        digits, exponent = int(match[1]), int(match[2] or 0)
        fits = [kind for most, to, kind in _REALS if digits <= most and exponent <= to]
    elif (match := _SELECTED_INTEGER.fullmatch(size)) is not None:
        fits = [kind for most, kind in _INTEGERS if int(match[1]) <= most]
    return fits[0] if fits else ""


def kind_meant(text: str) -> str | None:
    """A text that is the same for expressions of one kind, `kind(1d0)`; None for what is none.

    A number alone is left out: which kind that is depends on the compiler.
    """
    number = _number_of(text) if "(" in text else ""
    return f"=kind {number}" if number else None


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
