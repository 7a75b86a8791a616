"""Targets that a procedure of Fortran may be given twice: one object by two names.

The language lets both names change it where both arguments are targets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from imbrex.transform.readers.fortran_lines import closing, split_arguments
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope, Symbol
from imbrex.transform.readers.fortran_types import Definition, type_class

_PATH = re.compile(r"(?:[a-z_]\w*=(?!=))?([a-z_]\w*(?:%[a-z_]\w*)*)")


def given_twice(
    scopes: list[Scope], definitions: list[Definition], names: Names
) -> Iterator[Symbol]:
    """The arguments that may be other names of each other, as a statement gives a thing twice."""
    pairs = [pair for scope in scopes for pair in _pairs(scope)]
    if not pairs:
        return
    repeated = set(_repeated(scopes, definitions, names))
    for pair in pairs:
        if type_class(pair[0].type) in repeated:
            yield from pair


def _pairs(scope: Scope) -> Iterator[list[Symbol]]:
    """The targets of one type that a procedure is given, where there are several."""
    of_type: dict[str, list[Symbol]] = {}
    for name in scope.dummies:
        symbol = scope.symbols.get(name)
        if symbol is not None and "target" in symbol.attributes:
            of_type.setdefault(type_class(symbol.type), []).append(symbol)
    yield from (symbols for symbols in of_type.values() if len(symbols) > 1)


def _repeated(scopes: list[Scope], definitions: list[Definition], names: Names) -> Iterator[str]:
    """The types of what stands twice in one list of arguments, whatever its subscripts are."""
    parts: dict[str, set[str]] = {}
    for definition in definitions:
        for symbol in definition.scope.symbols.values():
            parts.setdefault(symbol.name, set()).add(type_class(symbol.type))
    for scope in scopes:
        for line in scope.body:
            text = line.masked
            for match in re.finditer(r"\(", text):
                inside = text[match.end() : closing(text, match.start())]
                given = [_plain(inside[a:b]) for a, b in split_arguments(inside)]
                receiver = _plain(text[: match.start()].rpartition("call")[2].rpartition("%")[0])
                for path, count in Counter([*given, receiver]).items():
                    last = path.rpartition("%")[2]
                    found = names.find(scope, path) if last == path else None
                    if path and count > 1 and last != path:
                        yield from parts.get(last, ())
                    elif path and count > 1 and found is not None:
                        yield type_class(found[1].type)


def _plain(text: str) -> str:
    """What an argument names, without its subscripts; empty where it is an expression."""
    while "(" in text:
        at = text.index("(")
        end = closing(text, at)
        if end < 0:
            return ""
        text = text[:at] + text[end + 1 :]
    named = _PATH.fullmatch(text)
    return "" if named is None else named[1]
