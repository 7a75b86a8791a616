"""Actual arguments of Fortran: the memory that they name, and whether they may be copies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.allocation import Allocation, Shaped
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.memory import TEMPORARY, UNKNOWN_MEMORY, Access, Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers.fortran_components import BASE, Component, Components
from imbrex.transform.readers.fortran_keywords import KEYWORD
from imbrex.transform.readers.fortran_lines import LogicalLine, closing, split_arguments
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Declarations, Scope, Symbol


@dataclass(slots=True)
class Effects:
    accesses: list[Access] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    stop: Cause | None = None
    shaped: Shaped | None = None
    allocates: tuple[Allocation, ...] = ()


class Arguments(ABC):
    """Reads the arguments of calls in one scope."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope
        self.components = Components(names, scope)

    @abstractmethod
    def read(self, line: LogicalLine, start: int, end: int, effects: Effects) -> None:
        """Record what evaluating `line[start:end]` reads and calls."""

    def argument(self, line: LogicalLine, start: int, end: int, effects: Effects) -> Argument:
        """An actual argument, which Fortran passes by reference."""
        text = line.masked[start:end]
        whole = self.components.object_of(text)
        if whole != text:
            found = self.argument(line, start, start + len(whole), effects)
            found.text, found.end = line.text[start:end], line.bytes[end - 1] + 1
            return found
        found = Argument(
            line.text[start:end], line.bytes[start], line.bytes[end - 1] + 1, pointer=True
        )
        match = BASE.match(text)
        if KEYWORD.match(text) is not None:
            found.problem = ReasonKind.KEYWORD_ARGUMENT()
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
        component = self.components.resolve(text, 0) if variable is None else None
        if component is not None and (component.end == len(text) or text[component.end] in "+-*/"):
            symbol = None
            self._component_argument(line, start, component, found, effects)
        elif variable is None and "%" in text and match is not None and "(" not in name:
            self._derived(line, name, start, end, found, effects)
        elif variable is None:
            found.base = TEMPORARY
            self.read(line, start, end, effects)
        else:
            found.base, found.through = variable.key, variable.kind == "dummy"
            if element:
                self.read(line, start + len(name) + 1, end - 1, effects)
            self._shape(found, variable, rest[1:-1] if element else "", symbol)
            if variable.record:
                found.problem = ReasonKind.DERIVED_OBJECT()
        if symbol is not None and symbol[1].value is not None and not rest:
            value = Declarations.constant(symbol[0], name)
            found.meaning = value if value.startswith("mpi_") else ""
        found.value = self.names.affine(self.scope, text)
        found.reads = list(effects.accesses)
        if found.value is not None and variable is not None and not variable.bounds:
            found.reads.append(Access(variable.key, found.through, False, line.line))
        return found

    def _component_argument(
        self, line: LogicalLine, start: int, component: Component, found: Argument, effects: Effects
    ) -> None:
        """A component as an argument, or an expression that begins with one."""
        end = start + len(found.text)
        if start + component.end != end:
            found.base = TEMPORARY
            self.read(line, start, end, effects)
            return
        for a, b in component.inner:
            self.read(line, start + a, start + b, effects)
        variable, text = component.last, found.text.lower()
        found.base = variable.key
        subscripts = component.subscripts
        listed = "" if subscripts is None else text[slice(*subscripts)]
        self._shape(found, variable, listed, component.symbol)
        if component.scattered or component.part:
            found.problem = ReasonKind.NONCONTIGUOUS()
        if component.definition is not None or component.base.optional:
            found.problem = ReasonKind.DERIVED_OBJECT()
        one = component.one_object
        found.part_of = component.holder
        found.owner = component.owner
        found.fence = found.text[: component.name_end] if one else component.base.name

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
        element = "" if variable is None else variable.element
        found.problem = ReasonKind.DERIVED_COMPONENT(why=self.names.types.reason(element))
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
                found.problem = ReasonKind.MAY_BE_NONCONTIGUOUS()
            found.origin = tuple(low for low, _ in variable.bounds) if rank else None
            found.whole = True
            return
        parts = [subscripts[a:b] for a, b in split_arguments(subscripts)]
        ranges = [position for position, part in enumerate(parts) if ":" in part]
        if any(self.components.is_vector(part) for part in parts if ":" not in part):
            found.problem = ReasonKind.NONCONTIGUOUS()
        if ranges:
            full = [part == ":" for part in parts[: ranges[-1]]]
            stride = parts[ranges[-1]].count(":") > 1
            if not all(full) or stride:
                found.problem = ReasonKind.NONCONTIGUOUS()
            elif not contiguous:
                found.problem = found.problem or ReasonKind.MAY_BE_NONCONTIGUOUS()
            found.section = tuple(
                self._range(part, bounds)
                for part, bounds in zip(parts, variable.bounds, strict=False)
            )
        found.origin = tuple(
            self._low(part, bounds[0]) for part, bounds in zip(parts, variable.bounds, strict=False)
        )

    def _range(self, part: str, bounds: tuple[Affine | None, Affine | None]) -> Range:
        """The indices that a subscript selects, between its ends whatever its stride."""
        _, colon, rest = part.partition(":")
        first = self._low(part, bounds[0])
        if not colon:
            return Range(first, first)
        high, _, stride = rest.partition(":")
        if stride:
            return Range(None, None)
        return Range(first, self.names.affine(self.scope, high) if high else bounds[1])

    def _low(self, part: str, default: Affine | None) -> Affine | None:
        low, colon, _ = part.partition(":")
        if colon and not low:
            return default
        return self.names.affine(self.scope, low)
