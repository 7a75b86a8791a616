"""Derived types of Fortran: their components, and of which types all memory is known.

The components of a type are told apart by type and name, whatever object they are in, where no
pointer can name them, and no object can be anything but what its declaration says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from imbrex.transform.readers.fortran_extended import Families
from imbrex.transform.readers.fortran_lines import LogicalLine, split_arguments
from imbrex.transform.readers.fortran_scopes import Declarations, Scope, Symbol

_CLASS = re.compile(r"integer|double|real|complex|logical|character")
_NAMED = re.compile(r"(type|class)\((\w+)\)")
_HEADER = re.compile(r"type((,(public|private|abstract|extends\(\w+\)))*::)?[a-z]\w*")
_EXTENDS = re.compile(r"(?<=,)extends\((\w+)\)")
_OF_LIBRARIES = re.compile(r"mpi_\w+|c_ptr|c_funptr")
_BOUND = re.compile(r"procedure|generic|final")
_PROCEDURE = re.compile(r"procedure(?:\(\w*\))?((?:,[^:]*)?)(?:::)?(.*)$")
_GENERIC = re.compile(r"generic(?:,\w+)?::(.*?)=>(.*)$")
_PASSED = re.compile(r"(?<=,)pass\((\w+)\)")
_NAME = re.compile(r"[a-z]\w*")
_WORDS = frozenset({"private", "public"})
_ADDRESSED = frozenset({"pointer", "target"})


def type_class(kind: str) -> str:
    """What two declarations of one type have in common, however its kind is written."""
    found = _CLASS.match(kind)
    if found is not None:
        return "real" if found[0] == "double" and "complex" not in kind else found[0][:6]
    return type_name(kind) or kind


def type_name(text: str) -> str:
    """The name in `type(name)` or `class(name)`; "" for other types."""
    found = _NAMED.fullmatch(text)
    return "" if found is None else found[2]


@dataclass(frozen=True, slots=True)
class Binding:
    """What a type is bound to by a name: a procedure, or the names of several of its bindings."""

    procedure: str = ""
    generic: tuple[str, ...] = ()
    deferred: bool = False
    nopass: bool = False
    passed: str = ""  # the dummy argument that is the object, where it is not the first


class Definition:
    """The definition of one derived type, as far as its lines are read."""

    def __init__(self, header: str, scope: Scope) -> None:
        self.scope = scope  # its symbols are the components
        extended = _EXTENDS.search(header)
        self.extends = "" if extended is None else extended[1]
        self.why = ""  # why its components cannot be told apart
        self.bindings: dict[str, Binding] = {}
        self.binding_lines: list[tuple[int, int]] = []  # their spans in the file
        self.unread = False  # whether it may have more bindings
        self._bound = False
        if _HEADER.fullmatch(header) is None:
            self.why = f"`{scope.name}` is laid out for C, or has parameters"

    def read(self, line: LogicalLine, declarations: Declarations) -> None:
        """One line of the definition."""
        text = line.masked
        if line.directive:
            self.unread = True
            self.why = f"lines of `{self.scope.name}` depend on the preprocessor"
        elif text == "contains":
            self._bound = True
        elif text in _WORDS or (self._bound and _BOUND.match(text)):
            self._bind(text)
            if not text.startswith("final"):
                self.binding_lines.append((line.start, line.end))
        elif _is_data(text):
            declarations.read(self.scope, line)
        else:
            self.why = f"`{self.scope.name}` holds `{line.text.strip()}`"

    def _bind(self, text: str) -> None:
        """Note the bindings of a line."""
        listed = _GENERIC.match(text)
        if listed is not None:
            names = tuple(listed[2].split(","))
            known = self.bindings.get(listed[1])
            if _NAME.fullmatch(listed[1]):
                names += () if known is None else known.generic
                self.bindings[listed[1]] = Binding(generic=names)
            return
        found = _PROCEDURE.match(text)
        if found is None or text in _WORDS:
            return
        attributes = found[1].split(",")
        passed = _PASSED.search(found[1])
        for start, end in split_arguments(found[2]):
            name, _, procedure = found[2][start:end].partition("=>")
            self.bindings[name] = Binding(
                procedure or name,
                deferred="deferred" in attributes,
                nopass="nopass" in attributes,
                passed="" if passed is None else passed[1],
            )


def _is_data(text: str) -> bool:
    intrinsic = r"doubleprecision|doublecomplex|integer|real|complex|logical|character|type\("
    return re.match(intrinsic, text) is not None


class Types:
    """The derived types of a program."""

    def __init__(
        self,
        scopes: list[Scope],
        definitions: list[Definition],
        unread: str,
        *,
        whole: bool = False,
    ) -> None:
        """`unread`: why declarations of the program may not be known, or "".

        `whole`: no other file can extend a type.
        """
        self.whole = whole
        self.families = Families(definitions)
        self.known = self.families.known
        self.why: dict[str, str] = {}
        for name, count in Counter(each.scope.name for each in definitions).items():
            if count > 1:
                self.why[name] = f"two types are called `{name}`"
        for definition in definitions:
            name = definition.scope.name
            why = definition.why or self.families.why_not(name)
            if why:
                self.why.setdefault(name, why)
        symbols = [
            symbol
            for scope in [*scopes, *(each.scope for each in definitions)]
            for symbol in scope.symbols.values()
        ]
        self._judge_symbols(symbols)
        self._judge_scopes(scopes)
        for name in self.known if unread else ():
            self.why.setdefault(name, unread)
        self._spread()

    def of(self, element: str) -> Definition | None:
        """The type of `type(name)`, where its components can be told apart."""
        name = type_name(element)
        return None if name in self.why else self.known.get(name)

    def is_of_numbers(self, name: str) -> bool:
        """Whether an object of a type is numbers, texts and logical values alone, in its memory."""
        definition = self.of(f"type({name})")
        if definition is None or definition.extends:
            return False
        for symbol in definition.scope.symbols.values():
            if symbol.attributes & {"allocatable", "pointer"} or symbol.type.endswith("(:)"):
                return False
            if symbol.type.startswith(("type(", "class(", "procedure")):
                inner = type_name(symbol.type)
                if not symbol.type.startswith("type(") or not self.is_of_numbers(inner):
                    return False
        return True

    def reason(self, element: str) -> str:
        """Why the components of a type cannot be told apart."""
        name = type_name(element)
        if name in self.known and name not in self.why:
            return f"the part of a `{name}` that is of the type it extends is named as a whole"
        return self.why.get(name) or f"`{name or element}` is not defined in the files"

    def record(self, element: str) -> str:
        """The record that an object of `type(name)` or `class(name)` is: of all its family."""
        return f"type({self.families.first(type_name(element))})"

    def of_records(self) -> dict[str, set[str]]:
        """By record the names of its types."""
        found: dict[str, set[str]] = {}
        for name in self.known:
            found.setdefault(self.record(f"type({name})"), set()).add(name)
        return found

    def _judge_symbols(self, symbols: Iterable[Symbol]) -> None:
        unknown = ""
        for symbol in symbols:
            name = type_name(symbol.type)
            if not name:
                continue
            if name not in self.known:
                if not _OF_LIBRARIES.fullmatch(name) and name != "*":
                    unknown = unknown or name
                continue
            if symbol.attributes & _ADDRESSED:
                self.why.setdefault(name, f"an object of `{name}` is a pointer or a target")
            elif symbol.attributes & {"volatile", "codimension", "value"}:
                self.why.setdefault(name, f"an object of `{name}` is volatile, a copy or a coarray")
            elif symbol.common is not None:
                self.why.setdefault(name, f"an object of `{name}` is in a common block")
            elif self._is_polymorphic(symbol):
                self.why.setdefault(name, f"an object of `{name}` is polymorphic")
        if unknown:
            for name in self.known:
                self.why.setdefault(name, f"`{unknown}`, which is not known, may hold it")

    def _is_polymorphic(self, symbol: Symbol) -> bool:
        """Whether memory of an object may be of another type, which no definition shows."""
        given = symbol.type.startswith("class") and "allocatable" in symbol.attributes
        return given and not self.whole

    def _judge_scopes(self, scopes: list[Scope]) -> None:
        for scope in scopes:
            for _, names in scope.uses:
                for local, remote in (names or {}).items():
                    if local != remote and remote in self.known:
                        self.why.setdefault(remote, f"`{remote}` has another name somewhere")
            for name in scope.equivalences & scope.symbols.keys():
                inner = type_name(scope.symbols[name].type)
                if inner in self.known:
                    self.why.setdefault(inner, f"an object of `{inner}` is in an EQUIVALENCE")
            if any(type_name(kind) for kind in (scope.implicit or {}).values()):
                for name in self.known:
                    self.why.setdefault(name, "objects are declared by IMPLICIT")

    def _spread(self) -> None:
        """What holds of a type holds of those that it has objects of, and that have some of it."""
        for name, definition in self.known.items():
            for symbol in definition.scope.symbols.values():
                if "pointer" in symbol.attributes:
                    self.why.setdefault(name, f"`{name}` holds a pointer")
                elif symbol.type in ("type(c_ptr)", "type(c_funptr)"):
                    self.why.setdefault(name, f"`{name}` holds an address")
                elif symbol.attributes & {"volatile", "codimension"}:
                    self.why.setdefault(name, f"`{name}` holds a coarray or what is volatile")
        grown = True
        while grown:
            grown = False
            for name, definition in self.known.items():
                inside = [type_name(symbol.type) for symbol in definition.scope.symbols.values()]
                for inner in (*inside, definition.extends):
                    if inner not in self.known or (name in self.why) == (inner in self.why):
                        continue
                    why = self.why.get(name) or self.why[inner]
                    self.why.setdefault(name, why)
                    self.why.setdefault(inner, why)
                    grown = True
