"""Fortran expressions: names resolved, accesses with sections, function references."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.program import (
    UNKNOWN_MEMORY,
    Access,
    Argument,
    Call,
    Program,
    Variable,
)
from imbrex.transform.readers.fortran_library import FUNCTIONS, OPERATORS
from imbrex.transform.readers.fortran_lines import LogicalLine, closing, split_arguments
from imbrex.transform.readers.fortran_scopes import Declarations, Scope, Symbol

_TOKEN = re.compile(
    r"(?P<string>'[^']*'|\"[^\"]*\")"
    r"|(?P<operator>\.(?P<word>[a-z]+)\.)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[ed][+-]?\d+)?(?:_\w+)?)"
    r"|(?P<name>[a-z_]\w*)"
    r"|(?P<other>.)"
)
_NUMBER_DOT = re.compile(r"(\d+)(?=\.[a-z]+\.)")
_BASE = re.compile(r"[a-z_]\w*")
TEMPORARY = "temporary"
UNKNOWN_TYPE = "?"


@dataclass(slots=True)
class Effects:
    accesses: list[Access] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    stop: str | None = None


class Names:
    """Resolves names in a scope to variables of the model."""

    def __init__(self, program: Program, modules: dict[str, Scope]) -> None:
        self.program = program
        self.modules = modules

    def find(self, scope: Scope, name: str) -> tuple[Scope, Symbol] | None:
        """The scope that owns a name, and its symbol; None for a name nobody declares."""
        where: Scope | None = scope
        while where is not None:
            symbol = where.symbols.get(name)
            if symbol is not None:
                return where, symbol
            found = self._used(where, name, 0)
            if found is not None:
                return found
            where = where.parent
        return None

    def _used(self, scope: Scope, name: str, depth: int) -> tuple[Scope, Symbol] | None:
        if depth > 20:
            return None
        for module_name, names in scope.uses:
            remote = name if names is None else names.get(name)
            module = self.modules.get(module_name)
            if remote is None or module is None:
                continue
            symbol = module.symbols.get(remote)
            if symbol is not None:
                return module, symbol
            found = self._used(module, remote, depth + 1)
            if found is not None:
                return found
        return None

    def variable(self, scope: Scope, name: str) -> Variable | None:
        """The variable of a name; None for constants, procedures and MPI's own names."""
        found = self.find(scope, name)
        if found is None:
            if name.startswith("mpi_"):
                return None
            if self._from_unread_module(scope):
                return self._enter(
                    f"module:?.{name}", name, scope, Symbol(name, UNKNOWN_TYPE), "global"
                )
            return self._enter_local(scope, scope, scope.symbol(name))
        owner, symbol = found
        if symbol.value is not None or symbol.attributes & {"external", "intrinsic"}:
            return None
        return self._enter_local(scope, owner, symbol)

    def _from_unread_module(self, scope: Scope) -> bool:
        where: Scope | None = scope
        while where is not None:
            if any(module not in self.modules for module, _ in where.uses):
                return True
            where = where.parent
        return False

    def _enter_local(self, scope: Scope, owner: Scope, symbol: Symbol) -> Variable:
        name = symbol.name
        if symbol.common is not None:
            return self._enter(f"common:{symbol.common}.{name}", name, owner, symbol, "global")
        if owner.kind in ("module", "submodule"):
            return self._enter(f"module:{owner.name}.{name}", name, owner, symbol, "global")
        key = f"{name}@{owner.file}:{owner.name}:{owner.line}"
        if name in owner.dummies:
            kind = "dummy"
        elif owner.has_contained:
            kind = "host"
        elif "save" in symbol.attributes or owner.saves_all:
            kind = "static"
        else:
            kind = "local"
        return self._enter(key, name, owner, symbol, kind)

    def _enter(self, key: str, name: str, owner: Scope, symbol: Symbol, kind: str) -> Variable:
        known = self.program.variables.get(key)
        if known is not None:
            return known
        type_name = symbol.type
        if not type_name:
            letters = owner.implicit
            default = "integer" if name[0] in "ijklmn" else "real"
            type_name = default if letters is None else letters.get(name[0], default)
        variable = Variable(key, name, kind, element=type_name, line=symbol.line)
        variable.volatile = "volatile" in symbol.attributes
        self.program.variables[key] = variable
        variable.bounds = tuple(
            (self.affine(owner, low), self.affine(owner, high)) for low, high in symbol.bounds
        )
        shared = self.program.overlays
        derived = type_name.startswith(("type(", "class(")) or type_name == UNKNOWN_TYPE
        if derived or symbol.attributes & {"pointer", "target"}:
            shared.setdefault(key, set()).add("a pointer")
        where: Scope | None = owner
        while where is not None:
            if name in where.equivalences:
                shared.setdefault(key, set()).add("an EQUIVALENCE")
            where = where.parent
        return variable

    def is_array(self, scope: Scope, name: str) -> bool:
        found = self.find(scope, name)
        return found is not None and bool(found[1].bounds)

    def affine(self, scope: Scope, text: str) -> Affine | None:
        """An integer expression as an affine form; None where it is not one."""
        return _AffineParser(self, scope, text).parse() if text else None

    def atom(self, scope: Scope, name: str) -> Affine | None:
        found = self.find(scope, name)
        if found is not None and found[1].value is not None:
            owner, symbol = found
            text = Declarations.constant(owner, symbol.name)
            return None if text == name else self.affine(owner, text)
        variable = self.variable(scope, name)
        if variable is None or variable.bounds or variable.volatile:
            return None
        if not variable.element.startswith("integer") or variable.key in self.program.overlays:
            return None
        return Affine.variable(variable.key)


class _AffineParser:
    """Sums, products by constants, parentheses."""

    def __init__(self, names: Names, scope: Scope, text: str) -> None:
        self.names, self.scope = names, scope
        self.tokens = re.findall(r"\d+|[a-z_]\w*|\*\*|.", text)
        self.position = 0

    def parse(self) -> Affine | None:
        value = self._sum()
        return value if self.position == len(self.tokens) else None

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _sum(self) -> Affine | None:
        sign = 1
        if self._peek() in ("+", "-"):
            sign = -1 if self._peek() == "-" else 1
            self.position += 1
        value = self._product()
        value = None if value is None else value.times(sign)
        while value is not None and self._peek() in ("+", "-"):
            sign = 1 if self._peek() == "+" else -1
            self.position += 1
            right = self._product()
            value = None if right is None else value.plus(right, sign)
        return value

    def _product(self) -> Affine | None:
        value = self._primary()
        while value is not None and self._peek() == "*":
            self.position += 1
            right = self._primary()
            if right is None:
                return None
            if not value.terms:
                value = right.times(value.constant)
            elif not right.terms:
                value = value.times(right.constant)
            else:
                return None
        return value

    def _primary(self) -> Affine | None:
        token = self._peek()
        self.position += 1
        if token.isdigit():
            return Affine(int(token))
        if token == "(":
            value = self._sum()
            if self._peek() != ")":
                return None
            self.position += 1
            return value
        if token and _BASE.fullmatch(token) and self._peek() not in ("(", "%"):
            return self.names.atom(self.scope, token)
        return None


_SMALL = 64


def _is_small(array: Variable) -> bool:
    """Whether an array is known to have so few elements that assigning it takes no time."""
    size = 1
    for low, high in array.bounds:
        extent = None if low is None or high is None else high.plus(low, -1)
        if extent is None or extent.terms:
            return False
        size *= extent.constant + 1
    return size <= _SMALL


class Expressions:
    """Reads the expressions of one scope."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope

    def read(self, line: LogicalLine, start: int, end: int, effects: Effects) -> None:
        """Record what evaluating `line[start:end]` reads and calls."""
        text = line.masked
        position = start
        previous = ""
        while position < end:
            if previous.isdigit() and text[position] == ".":
                position += 1
            match = _NUMBER_DOT.match(text, position, end) or _TOKEN.match(text, position, end)
            assert match is not None
            token = match[0]
            group = match.lastgroup
            if match.re is _NUMBER_DOT:
                position = match.end()
                previous = ""
            elif group == "name":
                if previous == "%":
                    position = self._component(line, match.end(), end, effects)
                else:
                    position = self._name(line, match.start(), match.end(), end, effects)
                previous = "name"
            else:
                word = match["word"]
                if word and word not in OPERATORS:
                    effects.stop = effects.stop or f"the operator .{word}."
                position = match.end()
                previous = token if token == "%" else ""

    def _component(self, line: LogicalLine, after: int, end: int, effects: Effects) -> int:
        if line.masked[after : after + 1] == "(":
            stop = closing(line.masked, after)
            self.read(line, after + 1, stop, effects)
            return stop + 1
        return after

    def _name(self, line: LogicalLine, start: int, after: int, end: int, effects: Effects) -> int:
        """A name in an expression: variable, array element, section or function."""
        text = line.masked
        name = text[start:after]
        follow = text[after : after + 1]
        if follow == "=" and text[after + 1 : after + 2] != "=" and after < end:
            return after + 1  # a keyword, or the index of an implied loop
        if follow != "(" or after >= end:
            variable = self.names.variable(self.scope, name)
            if variable is not None:
                self._access(variable, False, line, self._whole(variable), effects)
            return after
        stop = closing(text, after)
        if stop < 0:
            effects.stop = effects.stop or "a parenthesis that does not close"
            return end
        found = self.names.find(self.scope, name)
        declared = found is not None and (
            found[1].bounds
            or found[1].type.startswith("character")
            or text[stop + 1 : stop + 2] == "%"
        )
        if declared:
            variable = self.names.variable(self.scope, name)
            self.read(line, after + 1, stop, effects)
            if variable is not None:
                section = self.section(variable, text[after + 1 : stop])
                self._access(variable, False, line, section, effects)
            return stop + 1
        if name in FUNCTIONS and (found is None or "external" not in found[1].attributes):
            self.read(line, after + 1, stop, effects)
            return stop + 1
        reference = self.call(line, name, start, after + 1, stop, effects)
        reference.unknown = name in self.scope.dummies
        effects.calls.append(reference)
        return stop + 1

    def call(
        self, line: LogicalLine, name: str, start: int, first: int, last: int, effects: Effects
    ) -> Call:
        """A procedure reference whose arguments are `line[first:last]`."""
        arguments = []
        for a, b in split_arguments(line.masked[first:last]):
            inner = Effects()
            arguments.append(self.argument(line, first + a, first + b, inner))
            effects.accesses += inner.accesses
            effects.calls += inner.calls
            effects.stop = effects.stop or inner.stop
        if name.startswith("mpi_"):
            name = "MPI_" + name[4:].capitalize()
        end = last if last < len(line.bytes) else len(line.bytes) - 1
        return Call(name, arguments, line.bytes[start], line.bytes[end] + 1, line.line)

    def argument(self, line: LogicalLine, start: int, end: int, effects: Effects) -> Argument:
        """An actual argument, which Fortran passes by reference."""
        text = line.masked[start:end]
        found = Argument(
            line.text[start:end], line.bytes[start], line.bytes[end - 1] + 1, pointer=True
        )
        match = _BASE.match(text)
        keyword = re.match(r"[a-z_]\w*=(?!=)", text)
        if keyword is not None:
            found.problem = "a keyword argument"
            self.read(line, start, end, effects)
            found.reads = effects.accesses
            return found
        name = match[0] if match else ""
        rest = text[len(name) :]
        symbol = self.names.find(self.scope, name) if name else None
        element = rest.startswith("(") and closing(rest, 0) == len(rest) - 1
        array = symbol is not None and bool(symbol[1].bounds)
        is_variable = name and (not rest or (element and array))
        variable = self.names.variable(self.scope, name) if is_variable else None
        if variable is None and "%" in text and match is not None and "(" not in name:
            self._derived(line, name, start, end, found, effects)
        elif variable is None:
            found.base = TEMPORARY
            self.read(line, start, end, effects)
        else:
            found.base, found.through = variable.key, variable.kind == "dummy"
            if element:
                self.read(line, start + len(name) + 1, end - 1, effects)
            self._shape(found, variable, rest[1:-1] if element else "", symbol)
        found.value = self.names.affine(self.scope, text)
        found.reads = list(effects.accesses)
        if found.value is not None and variable is not None:
            found.reads.append(Access(variable.key, found.through, False, line.line))
        return found

    def _derived(
        self,
        line: LogicalLine,
        name: str,
        start: int,
        end: int,
        found: Argument,
        effects: Effects,
    ) -> None:
        variable = self.names.variable(self.scope, name)
        self.read(line, start, end, effects)
        found.problem = "a component of a derived type"
        if variable is not None:
            found.base, found.through = variable.key, variable.kind == "dummy"
        else:
            found.base = UNKNOWN_MEMORY

    def _shape(
        self,
        found: Argument,
        variable: Variable,
        subscripts: str,
        symbol: tuple[Scope, Symbol] | None,
    ) -> None:
        """Where in the array the argument begins, and whether it may be a temporary copy."""
        rank = len(variable.bounds)
        attributes = symbol[1].attributes if symbol else set()
        own_shape = symbol is not None and all(high for _, high in symbol[1].bounds)
        contiguous = own_shape or "allocatable" in attributes or "contiguous" in attributes
        if not subscripts:
            if rank and not contiguous:
                found.problem = "an array that may not be contiguous becomes a temporary copy"
            found.origin = tuple(low for low, _ in variable.bounds) if rank else None
            found.whole = True
            return
        parts = [subscripts[a:b] for a, b in split_arguments(subscripts)]
        ranges = [position for position, part in enumerate(parts) if ":" in part]
        if ranges:
            full = [part == ":" for part in parts[: ranges[-1]]]
            stride = parts[ranges[-1]].count(":") > 1
            if not contiguous or not all(full) or stride:
                found.problem = "a noncontiguous section becomes a temporary copy"
        found.origin = tuple(
            self._low(part, bounds[0]) for part, bounds in zip(parts, variable.bounds, strict=False)
        )

    def _low(self, part: str, default: Affine | None) -> Affine | None:
        low, colon, _ = part.partition(":")
        if colon and not low:
            return default
        return self.names.affine(self.scope, low)

    def section(self, variable: Variable, subscripts: str) -> Section | None:
        """The section that a list of subscripts selects."""
        parts = [subscripts[a:b] for a, b in split_arguments(subscripts)]
        if not variable.bounds or len(parts) != len(variable.bounds):
            return None
        ranges = []
        for part, (low, high) in zip(parts, variable.bounds, strict=True):
            if ":" not in part:
                ranges.append(Range.point(self.names.affine(self.scope, part)))
                continue
            first, _, rest = part.partition(":")
            last, _, step = rest.partition(":")
            if step and not step.isdigit():
                ranges.append(Range(None, None))
                continue
            ranges.append(
                Range(
                    self.names.affine(self.scope, first) if first else low,
                    self.names.affine(self.scope, last) if last else high,
                )
            )
        return tuple(ranges)

    def _whole(self, variable: Variable) -> Section | None:
        return None

    def _access(
        self,
        variable: Variable,
        write: bool,
        line: LogicalLine,
        section: Section | None,
        effects: Effects,
    ) -> None:
        if variable.volatile:
            effects.stop = effects.stop or f"{variable.name} is volatile"
        through = variable.kind == "dummy"
        effects.accesses.append(Access(variable.key, through, write, line.line, section))

    def assign(self, line: LogicalLine, equals: int, effects: Effects) -> bool:
        """An assignment: the right side is read, the left side is written.

        True where it assigns a whole array or a section of one.
        """
        text = line.masked
        self.read(line, equals + 1, len(text), effects)
        match = _BASE.match(text)
        assert match is not None
        name = match[0]
        variable = self.names.variable(self.scope, name)
        rest = text[match.end() : equals]
        if variable is None:
            effects.stop = effects.stop or f"an assignment to {name}"
            return False
        section = None
        if rest.startswith("("):
            stop = closing(rest, 0)
            self.read(line, match.end() + 1, match.end() + stop, effects)
            if not variable.bounds and not variable.element.startswith("character"):
                effects.stop = effects.stop or f"the statement function {name}"
            if stop == len(rest) - 1:
                section = self.section(variable, rest[1:stop])
            else:
                self.read(line, match.end() + stop + 1, equals, effects)
        elif "%" in rest:
            self.read(line, match.end(), equals, effects)
        if variable.element.startswith(("type(", "class(")) and "%" not in rest:
            effects.stop = effects.stop or "an assignment of a derived type"
        self._access(variable, True, line, section, effects)
        return bool(variable.bounds) and (not rest or ":" in rest) and not _is_small(variable)

    def write_to(self, line: LogicalLine, name: str, effects: Effects) -> Variable | None:
        variable = self.names.variable(self.scope, name)
        if variable is not None:
            self._access(variable, True, line, None, effects)
        return variable
