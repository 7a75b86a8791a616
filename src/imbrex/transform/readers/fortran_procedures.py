"""Procedures of Fortran that share a name: which of them a name stands for in each scope.

A name means an internal procedure of the scope, or of a host, before what modules that are used
give, and that before an external one. Procedures are told apart where each place that has their
name is understood; the name of a scope in front of theirs makes their keys, `heat::exchange`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from functools import cached_property

from imbrex.transform.model.program import Program
from imbrex.transform.readers.fortran_lines import LogicalLine
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope, is_assignment, is_call, is_specification
from imbrex.transform.readers.fortran_types import Definition
from imbrex.transform.readers.fortran_units import Units

_WORD = re.compile(r"[a-z_]\w*")
_STANDARD = re.compile(r"iso_(?:c_binding|fortran_env)|ieee_\w+|omp_lib(?:_kinds)?|openacc")
_HEADER = re.compile(r"[a-z*\d()=_,]*?(?:subroutine|function)([a-z]\w*)(?:\(.*)?")
_STRUCTURE = frozenset(
    {"use", "public", "private", "contains", "interface", "procedure", "generic"}
)
_CONSTRUCT = re.compile(r"(?:[a-z]\w*:)?(?:associate|selecttype|selectrank|changeteam)\(")
_ITEM = re.compile(r"([a-z_]\w*)(?:=>([a-z_]\w*))?")
_BRINGS_IN = ("use", "interface", "abstractinterface")
_MOST = 20  # modules that use each other, one by the next
_UNKNOWN = "?"  # what a name stands for is not known
_VARIABLE = "="  # it is no procedure of the program


def tell_apart(procedures: Procedures, program: Program) -> set[str]:
    """Give procedures that share a name keys of their own, and note what stands for which where.

    Returns the procedures' names that a list of names may give another one where that is not told.
    """
    shared = procedures.shared
    if not shared:
        return set()
    certain = procedures.is_readable and not program.skipped
    told = {name for name in shared if certain and procedures.is_told(name)}
    # One name may be another one's where a list says so: both are told apart, or none is.
    grown = True
    while grown:
        unclear = {pair for pair in procedures.renamed if not told.issuperset(pair)}
        left = told - {name for pair in unclear for name in pair}
        grown, told = left != told, left
    for name in told:
        procedures.give_keys(name)
    if told:
        procedures.write(told, program)
    return {name for pair in procedures.renamed for name in pair} - told


class Procedures:
    """All of a program, with the scopes that they stand in."""

    def __init__(
        self,
        units: list[Units],
        scopes: list[Scope],
        definitions: list[Definition],
        names: Names,
        shared: Set[str],
    ) -> None:
        """`shared`: names that procedures are told apart by even where no others have them."""
        self.before = shared
        self.units = units
        self.scopes = scopes
        self.definitions = definitions
        self.names = names
        self.inside: dict[int, dict[str, list[Scope]]] = {}  # by identity of the host
        self.external: dict[str, list[Scope]] = {}
        self.named: dict[str, list[Scope]] = {}
        self._words: dict[int, set[str]] = {}  # by identity of the scope
        self._known: dict[tuple[int, str], dict[object, Scope | str]] = {}
        for scope in scopes:
            if scope.kind in ("subroutine", "function"):
                self.named.setdefault(scope.name, []).append(scope)
                beside = self.external
                if scope.parent is not None:
                    beside = self.inside.setdefault(id(scope.parent), {})
                beside.setdefault(scope.name, []).append(scope)

    @cached_property
    def renamed(self) -> set[tuple[str, str]]:
        """The names that lists give procedures, each with the procedure's."""
        found = set()
        for scope in self.scopes:
            for module, names in scope.uses:
                inner = self.names.modules.get(module)
                for local, remote in (names or {}).items():
                    if local == remote:
                        continue
                    if inner is None:
                        found |= {(local, local)} if local in self.named else set()
                    elif remote in self.named and set(self._given(inner, remote, 0)) - {_VARIABLE}:
                        found.add((local, remote))
        return found

    @cached_property
    def shared(self) -> set[str]:
        """Names of more than one procedure, and those that lists put in the place of others."""
        several = {name for name, found in self.named.items() if len(found) > 1}
        several |= self.before & self.named.keys()
        return several | {name for pair in self.renamed for name in pair}

    @cached_property
    def is_readable(self) -> bool:
        """Whether all that says what names stand for is read."""
        modules = Counter(s.name for s in self.scopes if s.kind in ("module", "submodule"))
        if any(count > 1 for count in modules.values()):
            return False
        if any(scope.hidden or scope.missing for scope in self.scopes):
            return False
        # What is declared in a BLOCK, and what a submodule knows of its module.
        inner = (line.masked for scope in self.scopes for line in scope.body if not line.directive)
        if any(text.startswith(_BRINGS_IN) and not is_assignment(text) for text in inner):
            return False
        if any(scope.name.startswith("submodule(") for scope in self.scopes):
            return False
        return self._expanded.isdisjoint(_STRUCTURE)

    @cached_property
    def _expanded(self) -> set[str]:
        """The words of lines that the preprocessor changes."""
        found: set[str] = set()
        for unit in self.units:
            for line in unit.lines:
                if line.directive.startswith("macro "):
                    text = unit.source.data[line.start : line.end].decode("latin-1").lower()
                    found |= set(_WORD.findall(text))
        return found

    @cached_property
    def _unread(self) -> set[str]:
        """Words of code that is not read as statements: directives, files that are included."""
        found = set(self._expanded)
        for unit in self.units:
            for line in unit.lines:
                found |= set(_WORD.findall(line.directive.lower()))
            for data in unit.declarations.included:
                found |= set(_WORD.findall(data.decode("latin-1").lower()))
        return found

    @cached_property
    def _told_of(self) -> set[str]:
        """Names of procedures that statements describe otherwise than by defining them.

        An interface block tells of one that is elsewhere; a pointer may be set to one.
        """
        found: set[str] = set()
        for unit in self.units:
            heads = {scope.line for scope in unit.scopes}
            for line in unit.lines:
                text = line.masked
                ended = text.startswith("end") or is_assignment(text)
                header = None if ended else _HEADER.fullmatch(text)
                if header is not None and (line.line not in heads or "bind(" in text):
                    found.add(header[1])
                found |= set(re.findall(r"procedure\(([a-z]\w*)\)", text))
                if text.startswith("entry"):
                    found |= {text[5:].partition("(")[0]}
                bound = text.startswith(("procedure", "generic")) and text[9:10] != "("
                if not text.startswith("use") and not bound:
                    found |= set(re.findall(r"=>([a-z]\w*)(?![\w%(])", text))
        return found

    def is_told(self, name: str) -> bool:
        """Whether it is known of each place that has a name what it stands for."""
        own = self.names.own
        if name == "main" or name.startswith("mpi_") or name in own.generics | own.types:
            return False
        if name in self._unread or name in self._told_of or len(self.external.get(name, ())) > 1:
            return False
        if any(len(each.get(name, ())) > 1 for each in self.inside.values()):
            return False
        if any(scope.problem is not None for scope in self.named.get(name, ())):
            return False
        users = self._users.get(name, ())
        for scope in users:
            lines = scope.body if self._mentions(scope, name) else []
            if not all(self._is_understood(scope, line, name) for line in lines):
                return False
            specific = any(name in (each or ()) for each in scope.generics.values())
            if specific and not isinstance(self.of(scope, name), Scope):
                return False
        for each in self.definitions:
            for binding in each.bindings.values():
                host = each.scope.parent
                bound = binding.procedure == name and not binding.deferred
                if bound and (host is None or not isinstance(self.of(host, name), Scope)):
                    return False
        return all(
            self.of(scope, name) is not _UNKNOWN
            for scope in users
            if any(name in (listed or ()) for _, listed in scope.uses)
        )

    def _is_understood(self, scope: Scope, line: LogicalLine, name: str) -> bool:
        text = line.masked
        if name not in text or line.directive:
            return True
        places = list(_places(text, name))
        if not places:
            return True
        if _CONSTRUCT.match(text) or (not is_assignment(text) and is_specification(text)):
            return False  # of a BLOCK, or what gives names for a while
        meant = self.of(scope, name)
        if meant is _VARIABLE:
            return True
        if not isinstance(meant, Scope) or self.names.find(scope, name) is not None:
            return False
        for at, called in places:
            behind = text[at + len(name) :]
            if called:
                if meant.kind != "subroutine":
                    return False
            elif re.match(r"=(?!=)", behind) and text[at - 1 : at] in ("(", ","):
                continue  # the keyword of an argument
            elif meant.kind != "function" or not behind.startswith("("):
                return False
        return True

    def of(self, scope: Scope, name: str) -> Scope | str:
        """The procedure that a name stands for in a scope, or that it is none, or not known."""
        where: Scope | None = scope
        while where is not None:
            if name in where.symbols:
                return self._declared(scope, where, name)
            found = self._here(where, name, 0)
            if len(found) > 1:
                return _UNKNOWN
            if found:
                return next(iter(found.values()))
            where = where.parent
        outside = self.external.get(name, [])
        return outside[0] if len(outside) == 1 else _UNKNOWN

    def _declared(self, scope: Scope, owner: Scope, name: str) -> str:
        """What a name is in a scope that itself or a host declares."""
        symbol = owner.symbols[name]
        if name in owner.dummies or symbol.value is not None:
            return _VARIABLE
        if "external" in symbol.attributes:
            return _UNKNOWN
        if owner.kind == "function" and name == owner.result:
            return _VARIABLE if owner is scope else _UNKNOWN
        # It may be a function whose type is declared, or a pointer to a procedure.
        plain = symbol.bounds or not self._is_called(scope, name)
        return _VARIABLE if plain else _UNKNOWN

    def _is_called(self, scope: Scope, name: str) -> bool:
        """Whether a name is called in a scope, or parentheses follow it."""
        return self._mentions(scope, name) and any(
            called or line.masked[at + len(name) :].startswith("(")
            for line in scope.body
            for at, called in _places(line.masked, name)
        )

    def _mentions(self, scope: Scope, name: str) -> bool:
        words = self._words.get(id(scope))
        if words is None:
            found: set[str] = set().union(*(_WORD.findall(line.masked) for line in scope.body))
            found |= {each[4:] for each in found if each.startswith("call")}
            words = self._words[id(scope)] = found & self.shared
        return name in words

    def _here(self, scope: Scope, name: str, depth: int) -> dict[object, Scope | str]:
        """What a scope itself or the modules that it uses give by a name."""
        own = self.inside.get(id(scope), {}).get(name, [])
        found: dict[object, Scope | str] = {id(each): each for each in own}
        if found:
            return found
        if depth > _MOST:
            return {_UNKNOWN: _UNKNOWN}
        for module, names in scope.uses:
            remote = self._remote(scope, module, names, name)
            inner = self.names.modules.get(module)
            if remote == _UNKNOWN or (remote and inner is None):
                if remote == _UNKNOWN or not _STANDARD.fullmatch(module):
                    found[_UNKNOWN] = _UNKNOWN
            elif remote and inner is not None and _gives(inner, remote):
                found |= self._given(inner, remote, depth + 1)
        return found

    def _given(self, module: Scope, name: str, depth: int) -> dict[object, Scope | str]:
        if name in module.generics:
            return {_UNKNOWN: _UNKNOWN}
        if name in module.symbols:
            return {_VARIABLE: _VARIABLE}
        key = (id(module), name)
        if key not in self._known:
            self._known[key] = {_UNKNOWN: _UNKNOWN}  # where modules use each other in a ring
            self._known[key] = self._here(module, name, depth)
        return self._known[key]

    @staticmethod
    def _remote(scope: Scope, module: str, names: dict[str, str] | None, name: str) -> str:
        """The name in a module that a name is by one statement that uses it; "" for none."""
        if names is not None:
            return names.get(name, "")
        lists = [each for used, each in scope.uses if used == module]
        renaming = [each for each in lists if each is not None]
        if not any(r == name != n for each in renaming for n, r in each.items()):
            return name
        return "" if len(lists) == 2 and len(renaming) == 1 else _UNKNOWN

    def give_keys(self, name: str) -> None:
        """The procedures of a name get keys of their own; an external one is known by its name."""
        for scope in self.named.get(name, ()):
            if scope.parent is not None:
                hosts = [scope]
                while hosts[-1].parent is not None:
                    hosts.append(hosts[-1].parent)
                scope.key = "::".join(each.name for each in reversed(hosts))

    @cached_property
    def _users(self) -> dict[str, list[Scope]]:
        """By name of procedures: the scopes that call, list or bind one."""
        found: dict[str, list[Scope]] = {}
        bound: dict[int, set[str]] = {}
        for each in self.definitions:
            procedures = {binding.procedure for binding in each.bindings.values()}
            bound.setdefault(id(each.scope.parent), set()).update(procedures)
        for scope in self.scopes:
            self._mentions(scope, "")
            names = self._words[id(scope)] | bound.get(id(scope), set())
            names |= set().union(*(each or set() for each in scope.generics.values()))
            names |= {local for _, listed in scope.uses for local in listed or {}}
            for name in names & self.shared:
                found.setdefault(name, []).append(scope)
        return found

    def write(self, told: set[str], program: Program) -> None:
        """Note what names stand for: in scopes, generic names, types and lists of names."""
        for name in told:
            for scope in self._users.get(name, ()):
                meant = self.of(scope, name)
                if isinstance(meant, Scope) and meant.key != name:
                    scope.meant[name] = meant.key
        for scope in self.scopes:
            for specifics in filter(None, scope.generics.values()):
                for name in told & specifics & scope.meant.keys():
                    specifics.remove(name)
                    specifics.add(scope.meant[name])
            for line in scope.listing:
                for at, name in _listed(line.masked):
                    if name in told:
                        meant = self.of(scope, name)
                        key = meant.key if isinstance(meant, Scope) else _UNKNOWN
                        program.listed[scope.file, line.bytes[at]] = key
        for each in self.definitions:
            host = each.scope.parent
            for bound, binding in each.bindings.items():
                key = "" if host is None else host.meant.get(binding.procedure, "")
                if key and not binding.deferred:
                    each.bindings[bound] = replace(binding, procedure=key)


def _listed(text: str) -> Iterator[tuple[int, str]]:
    """The places of names in a list, and by which name each is known in the scope of the list."""
    begin = 7 if text.startswith("private") else 6
    begin = text.find(",") + 1 if text.startswith("use") else begin
    for match in _ITEM.finditer(text, begin):
        yield match.start(2) if match[2] else match.start(1), match[1]


def _gives(module: Scope, name: str) -> bool:
    """Whether a module makes a name known where it is used."""
    private = False
    for line in module.listing:
        text = line.masked
        if text.startswith("use"):
            continue
        keyword = "private" if text.startswith("private") else "public"
        listed = text.removeprefix(keyword).removeprefix("::")
        if not listed:
            private = keyword == "private"
        elif name in listed.split(","):
            return keyword == "public"
    return not private


def _places(text: str, name: str) -> Iterator[tuple[int, bool]]:
    """Where a statement names something, and whether it calls it there."""
    for match in re.finditer(rf"(?<!\w)(call)?{name}(?!\w)", text):
        called = bool(match[1]) and is_call(text, match.start())
        if match[1] and not called:
            continue
        if not match[1] and text[match.start() - 1 : match.start()] == "%":
            continue
        yield match.end() - len(name), called


def bound_keys(definitions: Iterable[Definition]) -> set[str]:
    """The keys of procedures that types are bound to, beside those known by their names."""
    return {b.procedure for each in definitions for b in each.bindings.values()}
