"""References to procedures by the type of an object, `g%exchange()`, as those of the procedures.

`call g%exchange(u)` is read as `call grid_exchange(g, u)`. Where the type that an object has at
run time says which procedure it is, the reference stands for all that it may be, as a generic name
does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from imbrex.transform.model.memory import UNKNOWN_MEMORY
from imbrex.transform.model.program import Program
from imbrex.transform.readers.fortran_components import BASE, Components
from imbrex.transform.readers.fortran_extended import Families
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    at_depth_zero,
    closing,
    first_of_reference,
    split_arguments,
)
from imbrex.transform.readers.fortran_scopes import Scope, Symbol, is_call, is_specification
from imbrex.transform.readers.fortran_types import Binding, Definition, type_name

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names

_REFERENCE = re.compile(r"%([a-z]\w*)(?=\(|$)")
_GIVEN = re.compile(r"[(,]([a-z]\w*)=>")
_CONSTRUCT = re.compile(r"(?:[a-z]\w*:)?(?:associate|selecttype|selectrank|changeteam)\(")
_SELECTED = re.compile(r"(?:[a-z]\w*:)?selecttype\(([a-z]\w*)\)")
_KEYWORD = re.compile(r"[a-z]\w*=(?!=)")
_MARK = "\u0192"  # of no source: files are read as Latin-1


@dataclass(frozen=True, slots=True)
class _Target:
    """A procedure that a reference may be, and where it has the object; -1 for nowhere."""

    name: str
    position: int


@dataclass(slots=True)
class _Reference:
    """`a%b(i)%name(arguments)` in a line."""

    begin: int  # of the object
    percent: int  # behind the object
    name: str
    arguments: tuple[int, int] | None
    end: int


@dataclass(slots=True)
class Bindings:
    """What the types of a program are bound to."""

    families: Families = field(default_factory=lambda: Families([]))
    # Each of them with those that it extends; empty where these are not all known.
    lines: dict[str, list[Definition]] = field(default_factory=dict)
    procedures: dict[str, Scope] = field(default_factory=dict)
    # By a name that no source has: the procedures that a reference may be.
    several: dict[str, set[str]] = field(default_factory=dict)
    # By such a name too: the key of one procedure.
    written: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)  # names by which any may be called
    known: bool = False  # that these are all the types there are

    @staticmethod
    def of(scopes: list[Scope], definitions: list[Definition], *, known: bool) -> Bindings:
        """Those of a program. What has a name twice, or is renamed, is left out."""
        found = Bindings(known=known)
        renamed = {
            name
            for scope in scopes
            for _, names in scope.uses
            for pair in (names or {}).items()
            if pair[0] != pair[1]
            for name in pair
        }
        listed = Counter(each.scope.name for each in definitions)
        found.known &= renamed.isdisjoint(listed) and listed.total() == len(listed)
        found.families = Families(
            each
            for each in definitions
            if each.scope.name not in renamed and listed[each.scope.name] == 1
        )
        found.lines = {name: found._line_of(name) for name in found.types}
        routines = [scope for scope in scopes if scope.kind in ("subroutine", "function")]
        named = Counter(scope.key for scope in routines)
        for scope in routines:
            if named[scope.key] == 1 and not scope.name.startswith("mpi_"):
                found.procedures[scope.key] = scope
        return found

    @property
    def types(self) -> dict[str, Definition]:
        """The types by their names."""
        return self.families.known

    def find(self, name: str, bound: str) -> Binding | None:
        """What a type of this name has by a name, of its own or from the type it extends."""
        for definition in self._line_of(name):
            if bound in definition.bindings:
                return definition.bindings[bound]
        return None

    def component(self, name: str, component: str) -> Symbol | None:
        """A component of a type; the one that it extends is one too, by its name."""
        if not self._line_of(name):
            return None
        if self.families.is_part(name, component):
            return Symbol(component, f"type({component})")
        known = self.families.component(name, component)
        return None if known is None else known[1]

    def _line_of(self, name: str) -> list[Definition]:
        """A type and those that it extends, which must be known all."""
        line = self.families.line(name)
        whole = bool(line) and not line[-1].extends and not any(each.unread for each in line)
        return line if whole else []

    def targets(self, kind: str, bound: str) -> set[_Target]:
        """The procedures that a reference on an object of `type(..)` or `class(..)` may be.

        Empty where that is not known.
        """
        name = type_name(kind)
        names = [name]
        if kind.startswith("class("):
            if not self.known:
                return set()
            names = [n for n, line in self.lines.items() if any(d.scope.name == name for d in line)]
            if not all(self.lines.values()):
                return set()
        found: set[_Target] = set()
        for each in names:
            targets = self._of_type(each, bound)
            if targets is None:
                return set()
            found |= targets
        return found

    def _of_type(self, name: str, bound: str) -> set[_Target] | None:
        """The procedures of one type by a name; None where one is not known."""
        found: set[_Target] = set()
        binding = self.find(name, bound)
        if binding is None:
            return None
        if not binding.generic:
            return found if binding.deferred else self._target(binding)
        specifics: set[str] = set()
        for definition in self._line_of(name):
            more = definition.bindings.get(bound)
            if more is not None:
                specifics |= set(more.generic)
        for specific in specifics:
            targets = None if specific == bound else self._of_type(name, specific)
            if targets is None:
                return None
            found |= targets
        return found

    def _target(self, binding: Binding) -> set[_Target] | None:
        scope = self.procedures.get(binding.procedure)
        if scope is None:
            return None
        if binding.nopass:
            return {_Target(scope.key, -1)}
        named = binding.passed or (scope.dummies[0] if scope.dummies else "")
        if named not in scope.dummies:
            return None
        return {_Target(scope.key, scope.dummies.index(named))}

    def fits(self, target: _Target, count: int) -> bool:
        """Whether a procedure can be called with so many arguments and the object."""
        scope = self.procedures[target.name]
        optional = sum("optional" in scope.symbols[name].attributes for name in scope.dummies)
        count += target.position >= 0
        return len(scope.dummies) - optional <= count <= len(scope.dummies)

    def bound_to(self, bound: str) -> set[str]:
        """The procedures that any type has by a name."""
        every = list(self.types.values())
        found: set[str] = set()
        for each in (t.bindings[bound] for t in every if bound in t.bindings):
            found |= {each.procedure, *each.generic}
            for name in each.generic:  # of the same type, or of one that it extends
                found |= {t.bindings[name].procedure for t in every if name in t.bindings}
        return found

    def call_unknown(self, program: Program, bound: str) -> None:
        """Note that any procedure may be called that a type has by a name."""
        if bound in self.unknown:
            return
        self.unknown.add(bound)
        program.called_cells.append(UNKNOWN_MEMORY)
        for name in sorted(self.bound_to(bound) & self.procedures.keys()):
            program.pointer_facts.append(("address", "addr", f"function:{name}"))

    def takes(self, target: _Target, kind: str) -> bool:
        """Whether a plain call may give a procedure an object of this declared type."""
        if target.position < 0:
            return True
        scope = self.procedures[target.name]
        wanted = type_name(scope.symbols[scope.dummies[target.position]].type)
        return any(each.scope.name == wanted for each in self._line_of(type_name(kind)))


class Bound:
    """Writes references to bound procedures of one scope as those of the procedures."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope
        self.bindings = names.bindings
        self.components = Components(names, scope)

    @cached_property
    def hidden(self) -> set[str]:
        """Names that constructs of the scope give another meaning."""
        return names_hidden(self.scope.body)

    def plain(self, line: LogicalLine) -> LogicalLine:
        """The line with all such references that are known."""
        if "%" not in line.masked or line.directive:
            return line
        position = 0
        while (match := _REFERENCE.search(line.masked, position)) is not None:
            position = match.end()
            if match[1] not in self.names.own.bound:
                continue
            found = _reference(line.masked, match)
            written = None if found is None else self._written(line, found)
            if written is not None:
                line, position = written, 0
        return line

    def _written(self, line: LogicalLine, found: _Reference) -> LogicalLine | None:
        """The line with a reference written as that of a procedure; None where that is not known.

        Each character stands where its own is, or where the object begins.
        """
        kind = self._kind(line.masked[found.begin : found.percent])
        targets = self.bindings.targets(kind, found.name) if kind else set()
        given = [] if found.arguments is None else _parts(line.masked, *found.arguments)
        targets = {target for target in targets if self.bindings.fits(target, len(given))}
        positions = {target.position for target in targets}
        if len(positions) != 1 or any(self._is_hidden(target.name) for target in targets):
            return None
        (position,) = positions
        name = self._name(targets, kind)
        text, places = line.text, line.bytes
        if position >= 0:
            if len(given) < position:
                return None
            if any(_KEYWORD.match(line.masked[a:b]) for a, b in given[:position]):
                return None
            given.insert(position, (found.begin, found.percent))
        elif "(" in line.masked[found.begin : found.percent]:
            return None
        begin, end = places[found.begin], places[found.end - 1]
        new = [text[: found.begin], f"{name}("]
        where = [*places[: found.begin], *[begin] * (len(name) + 1)]
        for number, (a, b) in enumerate(given):
            if number:
                new.append(",")
                where.append(where[-1])
            new.append(text[a:b])
            where += places[a:b]
        new += [")", text[found.end :]]
        where += [end, *places[found.end :]]
        return line.rewritten("".join(new), where, {**line.bound, begin: position})

    def _name(self, targets: set[_Target], kind: str) -> str:
        """The name of the procedure, or one that stands for those that it may be."""
        names = sorted(target.name for target in targets)
        if len(names) == 1 and all(self.bindings.takes(target, kind) for target in targets):
            if "::" not in names[0]:
                return names[0]
            name = names[0].replace("::", _MARK)
            self.bindings.written[name] = names[0]
            return name
        names = [name.replace("::", _MARK) for name in names]
        name = f"{_MARK.join(names)}{_MARK}"
        self.bindings.several[name] = {target.name for target in targets}
        return name

    def _is_hidden(self, name: str) -> bool:
        """Whether the name of a procedure stands for something else here."""
        return self.names.find(self.scope, name) is not None or name in self.hidden

    def _kind(self, text: str) -> str:
        """The declared type of the one object that a reference like `a%b(i)` names; "" for none."""
        kind, at = "", 0
        while at < len(text):
            named = BASE.match(text, at)
            if named is None:
                return ""
            symbol: Symbol | None
            if not kind:
                found = self.names.find(self.scope, named[0])
                symbol = None if found is None or named[0] in self.hidden else found[1]
            else:
                symbol = self.bindings.component(type_name(kind), named[0])
            if symbol is None or type_name(symbol.type) not in self.bindings.types:
                return ""
            at, subscripts = named.end(), ""
            if text[at : at + 1] == "(":
                stop = closing(text, at)
                subscripts, at = text[at + 1 : stop], stop + 1
            if bool(symbol.bounds) is not bool(subscripts) or self._are_several(subscripts):
                return ""
            kind = symbol.type
            if at < len(text) and text[at] != "%":
                return ""
            at += 1
        return kind

    def _are_several(self, subscripts: str) -> bool:
        """Whether subscripts may choose more than one element."""
        parts = [subscripts[a:b] for a, b in split_arguments(subscripts)]
        several = any(any(at_depth_zero(part, ":")) or ":" in part for part in parts)
        return several or any(self.components.is_vector(part) for part in parts)


def note_unknown(names: Names, lines: Iterable[LogicalLine]) -> None:
    """Any procedure by such a name may be called in lines where it is not known which."""
    for line in lines:
        found = {match[1] for match in _REFERENCE.finditer(line.masked)}
        for name in found & names.own.bound:
            names.bindings.call_unknown(names.program, name)


def _reference(text: str, match: re.Match[str]) -> _Reference | None:
    """The reference that ends with a name behind `%`; None where it is none of a procedure."""
    percent, after = match.start(), match.end()
    arguments, end = None, after
    if text[after : after + 1] == "(":
        stop = closing(text, after)
        if stop < 0:
            return None
        arguments, end = (after + 1, stop), stop + 1
    begin = first_of_reference(text, percent + 1)
    if end == len(text) and is_call(text, begin):
        begin += 4
    elif arguments is None or text[end : end + 1] == "%":
        return None
    return _Reference(begin, percent, match[1], arguments, end)


def _parts(text: str, first: int, last: int) -> list[tuple[int, int]]:
    return [(first + a, first + b) for a, b in split_arguments(text[first:last])]


def names_hidden(lines: Iterable[LogicalLine]) -> set[str]:
    """Names that constructs of a routine give another meaning, in some of its lines."""
    found: set[str] = set()
    for line in lines:
        text = line.masked
        if _CONSTRUCT.match(text):
            found |= set(_GIVEN.findall(text))
            found |= set(_SELECTED.findall(text))
        elif not line.directive and is_specification(text):  # of a BLOCK
            found |= set(BASE.findall(text))
    return found
