"""Pointers of Fortran that own what they point to: nothing but ALLOCATE ever gives them memory.

Such a pointer is no other name of anything, and what it points to has no other name: it is told
apart as an allocatable array is. That is so where no pointer assignment of the program names it, no
procedure takes such a pointer or a target, and no object that holds it is copied as a whole. A swap
of such pointers leaves each with memory that is its own, and so does what points each of them to a
target of its own: the target is then one more name of what some of them points to. What is a
target, but nowhere pointed at, is a plain variable likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers.fortran_extended import Families
from imbrex.transform.readers.fortran_groups import without_mixed
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    closing,
    first_of_reference,
    linked_names,
)
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import OWNS, Scope, Symbol
from imbrex.transform.readers.fortran_twice import given_twice
from imbrex.transform.readers.fortran_types import Definition, type_class, type_name
from imbrex.transform.readers.fortran_views import View

_WORD = re.compile(r"[a-z_]\w*")
_ASKED = re.compile(r"(?:deallocate|nullify|associated|allocated)\(")
_NEVER = frozenset({"pointer", "allocatable", "optional", "volatile", "codimension"})


def own_pointers(
    scopes: list[Scope], definitions: list[Definition], names: Names, linked: set[str]
) -> bool:
    """Take pointers that own their memory for allocatable ones, in what scopes and types declare.

    `linked`: words of all statements that associate pointers. The program must be there as a whole.
    Views of what owns its memory are names of it, and all others count as pointers like any.
    Whether this can be told.
    """
    problems = [scope.problem for scope in scopes if scope.problem is not None]
    entries = any(problem.kind is ReasonKind.ENTRY for problem in problems)
    if entries or "null" in names.own.functions:
        return False
    while True:
        names.pointed = []
        found = _owning(scopes, definitions, names, linked)
        if found is None:
            return False
        owners = {id(symbol) for symbol in found}
        dummies = {type_class(symbol.type) for symbol in _dummies(scopes, linked)}
        wrong = [
            (scope, view)
            for scope in scopes
            for view in scope.views
            if type_class(scope.symbols[view.name].type) in dummies
            or not _stays(_viewed(scope, view, definitions, names), owners)
        ]
        if not wrong:
            break
        linked = linked | _words_of(view for scope, _ in wrong for view in scope.views)
        for scope, _ in wrong:
            scope.views = []
    for symbol in found:
        if "pointer" in symbol.attributes:
            symbol.attributes |= {"allocatable", OWNS}
        symbol.attributes -= {"pointer", "target"}
    for scope in scopes:
        for view in scope.views:
            scope.symbols[view.name].attributes -= {"pointer"}
    return True


def _stays(symbol: Symbol | None, owners: set[int]) -> bool:
    """Whether what a view names is an array that has memory of its own, and no other name."""
    return symbol is not None and ("allocatable" in symbol.attributes or id(symbol) in owners)


def _owning(
    scopes: list[Scope], definitions: list[Definition], names: Names, linked: set[str]
) -> list[Symbol] | None:
    """The pointers that own their memory, and the targets that nothing points at."""
    taken = list(_dummies(scopes, linked))
    if any(symbol.type.startswith(("class(*", "type(*")) for symbol in taken):
        return None
    twice = {id(symbol) for symbol in given_twice(scopes, definitions, names)}
    found = [
        symbol
        for scope in scopes
        for symbol in scope.symbols.values()
        if not (symbol.name in scope.dummies and "pointer" in symbol.attributes)
        and symbol.name not in (scope.result, scope.name)
        and symbol.name not in scope.equivalences
        and id(symbol) not in twice
        and _may_own(symbol, linked, taken)
    ]
    components = [
        (definition, symbol)
        for definition in definitions
        for symbol in definition.scope.symbols.values()
        if _may_own(symbol, linked, taken)
    ]
    copied = copied_types(scopes, definitions, names)
    found += [symbol for each, symbol in components if each.scope.name not in copied]
    return without_mixed(found, scopes, definitions, names)


def _viewed(
    scope: Scope, view: View, definitions: Iterable[Definition], names: Names
) -> Symbol | None:
    """The component that a view names, where it is an array of one object that stays in it."""
    families = Families(definitions)
    base, *path = view.target.split("%")
    found = names.find(scope, base)
    if found is None:
        return None
    symbol = found[1]
    for name in path:
        if symbol.attributes & _NEVER or symbol.bounds or symbol.common is not None:
            return None
        known = families.component(type_name(symbol.type), name)
        if known is None:
            return None
        symbol = known[1]
    pointer = scope.symbols[view.name]
    if type_class(symbol.type) != type_class(pointer.type) or len(symbol.bounds) != len(
        pointer.bounds
    ):
        return None
    keeps = symbol.attributes & {"pointer", "allocatable"}
    return symbol if keeps and not symbol.attributes & {"volatile", "codimension"} else None


def _words_of(views: Iterable[View]) -> set[str]:
    """The words of the lines that set views, which count where these may not be read so."""
    return set().union(*(linked_names(view.line) for view in views))


def constructed_words(
    lines: Iterable[LogicalLine], scopes: list[Scope], definitions: list[Definition]
) -> set[str] | None:
    """The words of lines that make an object by the name of its type, with pointers in it.

    These may be associated with what stands there. None: a type has another name somewhere.
    """
    holding = {
        each.scope.name
        for each in definitions
        if each.extends
        or any("pointer" in symbol.attributes for symbol in each.scope.symbols.values())
    }
    for scope in scopes:
        for _, names in scope.uses:
            if any(a != b and b in holding for a, b in (names or {}).items()):
                return None
    if not holding:
        return set()
    made = re.compile(rf"(?<![\w%])(?:{'|'.join(map(re.escape, sorted(holding)))})\(")
    texts = [line.masked for line in lines]
    return set().union(*(_WORD.findall(text) for text in texts if made.search(text)))


def _dummies(scopes: list[Scope], linked: set[str]) -> Iterator[Symbol]:
    """The dummy arguments that may point to, or be pointed at, what they are given."""
    moves = [move for scope in scopes for run in scope.pointings for move in run]
    moves += [move for scope in scopes for swap in scope.swaps for move in swap.moves]
    linked = linked.union(*(_WORD.findall(move.source) for move in moves))
    for scope in scopes:
        for name in scope.dummies:
            symbol = scope.symbols.get(name)
            if symbol is None:
                continue
            pointed = name in linked or symbol.type.startswith(("class(*", "type(*"))
            if "pointer" in symbol.attributes or ("target" in symbol.attributes and pointed):
                yield symbol


def _may_own(symbol: Symbol, linked: set[str], taken: list[Symbol]) -> bool:
    attributes = symbol.attributes
    if not attributes & {"pointer", "target"} or symbol.common is not None:
        return False
    if symbol.name in linked or symbol.type.startswith("procedure"):
        return False
    if symbol.type.startswith("class") and "pointer" in attributes:
        return False
    if attributes & {"external", "volatile", "codimension", "bind"}:
        return False
    return not any(type_class(other.type) == type_class(symbol.type) for other in taken)


def copied_types(scopes: list[Scope], definitions: list[Definition], names: Names) -> set[str]:
    """Types of which an object may be copied as a whole, with the pointers in it."""
    families = Families(definitions)
    known = families.known
    holders = {
        symbol.name: type_name(symbol.type)
        for each in definitions
        for symbol in each.scope.symbols.values()
        if type_name(symbol.type)
    }
    several = len(definitions) != len(known)
    found: set[str] = set(known) if several else set()
    routines = {scope.name for scope in scopes if scope.kind in ("subroutine", "function")}
    routines |= {f"%{name}" for each in definitions for name in each.bindings}
    for scope in scopes:
        for line in scope.body:
            for name in _copied_in(scope, line, names, known, holders, routines):
                found |= _inside(name, families)
    return found


def _inside(name: str, families: Families) -> set[str]:
    """A type with those that it extends, or that extend it, and the types of what objects hold."""
    found: set[str] = set()
    work = [name]
    while work:
        inner = work.pop()
        if inner in found or inner not in families.known:
            continue
        for each in families.members(inner):
            found.add(each.scope.name)
            work += [type_name(symbol.type) for symbol in each.scope.symbols.values()]
    return found


def _copied_in(
    scope: Scope,
    line: LogicalLine,
    names: Names,
    known: dict[str, Definition],
    holders: dict[str, str],
    routines: set[str],
) -> Iterator[str]:
    """The types whose objects a statement names as a whole, other than as arguments of a call."""
    text = line.masked
    asked = _ASKED.match(text) is not None
    asked |= text.startswith("allocate(") and "source=" not in text
    for match in _WORD.finditer(text):
        name, start, end = match[0], match.start(), match.end()
        if start and text[start - 1] == "%":
            kind = holders.get(name, "")
        elif name in known and text[end : end + 1] == "(":
            yield name
            continue
        else:
            symbol = names.find(scope, name)
            kind = "" if symbol is None else type_name(symbol[1].type)
        if not kind:
            continue
        if text[end : end + 1] == "(":
            end = closing(text, end) + 1
        if text[end : end + 1] == "%" or asked:
            continue
        begin = first_of_reference(text, start)
        if text[end : end + 1] not in (",", ")") or _receiver(text, begin) not in routines:
            yield kind


def _receiver(text: str, begin: int) -> str:
    """The procedure to which what begins at a place is passed as an argument; "" for none.

    One that is called by the type of an object as `%name`.
    """
    if text[begin - 1 : begin] not in ("(", ",", "="):
        return ""
    depth = 0
    while begin and depth <= 0:
        begin -= 1
        depth += {")": -1, "(": 1}.get(text[begin], 0)
    if depth <= 0:
        return ""
    end = begin
    while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    name = text[begin:end]
    if text[begin - 1 : begin] == "%":  # by the type of an object
        return f"%{name}"
    return name.removeprefix("call") if begin == 0 or text[begin - 1] == ")" else name
