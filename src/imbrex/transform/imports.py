"""Adds what rewritten text uses of MPI to the lists of names that Fortran scopes import."""

from __future__ import annotations

import re
from pathlib import Path

from imbrex.transform.readers.fortran_imports import CONSTANTS, Imports, procedures
from imbrex.transform.readers.fortran_scopes import Scope
from imbrex.transform.readers.fortran_units import Units
from imbrex.transform.text.edits import Edit, apply_edits
from imbrex.transform.text.layout import indent_at
from imbrex.transform.text.wrapping import wrapped

_NAME = re.compile(rb"(?i)(?<![\w%])mpi_\w+")
_IMPORTS = re.compile(rb"(?i)\bmpi(?:_f08)?\s*,\s*only\s*:")


def complete_imports(path: Path, before: bytes, after: bytes, flags: list[str]) -> bytes:
    """The text of a file in Fortran with further `use mpi, only:` where it needs them.

    A name is added to the nearest scope that imports such names. Procedures are added if it
    imports others like them; else they are called without an interface, as those of the program.
    """
    if before == after or not _IMPORTS.search(after):
        return after
    scopes = Units.of(path, after, flags)
    named_before = _names_of(Units.of(path, before, flags))
    edits = []
    for importing, named in _by_import(scopes).items():
        at, imports = scopes.scopes[importing], scopes.scopes[importing].imports
        assert imports is not None
        known = _visible(at)
        found = {
            name.lower(): name
            for scope, names in named
            for name in names
            if name.lower() not in known
            and name.lower() not in named_before.get(_path_of(scope), set())
            and _is_to_add(imports, name.lower())
        }
        if found:
            edits.append(_edit(scopes, imports, [found[name] for name in sorted(found)]))
    return apply_edits(after, edits)


def _is_to_add(imports: Imports, name: str) -> bool:
    return imports.lacks(name) if name in procedures() else name in CONSTANTS


def _visible(scope: Scope) -> set[str]:
    """The names that a scope and those around it import or declare."""
    found: set[str] = set()
    where: Scope | None = scope
    while where is not None:
        found |= where.symbols.keys()
        if where.imports is not None:
            found |= where.imports.names
        where = where.parent
    return found


def _by_import(units: Units) -> dict[int, list[tuple[Scope, list[str]]]]:
    """The names in the scopes that need what a scope imports, by the number of this scope."""
    found: dict[int, list[tuple[Scope, list[str]]]] = {}
    numbers = {id(scope): number for number, scope in enumerate(units.scopes)}
    for scope, names in _spelled(units):
        where: Scope | None = scope
        while where is not None and where.imports is None and not where.interface:
            where = where.parent
        if where is not None and where.imports is not None:
            found.setdefault(numbers[id(where)], []).append((scope, names))
    return found


def _spelled(units: Units) -> list[tuple[Scope, list[str]]]:
    """The names of MPI in each scope's own lines, as they are spelled there."""
    lines = units.source.data.split(b"\n")
    owners: list[Scope | None] = [None] * (len(lines) + 1)
    for scope in units.scopes:  # a scope stands behind those around it
        last = scope.last_line or len(lines)
        owners[scope.line : last + 1] = [scope] * (last + 1 - scope.line)
    found: dict[int, tuple[Scope, list[str]]] = {}
    for number, line in enumerate(lines, start=1):
        owner = owners[number]
        if owner is not None:
            names = [name.decode() for name in _NAME.findall(line.partition(b"!")[0])]
            found.setdefault(id(owner), (owner, []))[1].extend(names)
    return list(found.values())


def _names_of(units: Units) -> dict[tuple[str, ...], set[str]]:
    return {_path_of(scope): {name.lower() for name in names} for scope, names in _spelled(units)}


def _path_of(scope: Scope) -> tuple[str, ...]:
    found: list[str] = []
    where: Scope | None = scope
    while where is not None:
        found.append(where.name)
        where = where.parent
    return tuple(found)


def _edit(units: Units, imports: Imports, names: list[str]) -> Edit:
    source = units.source
    indent = indent_at(source.data, imports.start)
    text = f"use {imports.module}, only: {', '.join(names)}"
    at = source.data.index(b"\n", imports.end)
    return Edit(at, at, f"\n{indent}{wrapped(source.language, text, len(indent), indent)}")
