"""Fortran expressions: names resolved, accesses with sections, function references."""

from __future__ import annotations

import re
from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.conditions import Test
from imbrex.transform.model.memory import TEMPORARY, Access, Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.readers.fortran_arguments import Arguments, Effects
from imbrex.transform.readers.fortran_components import BASE, Component
from imbrex.transform.readers.fortran_integers import INQUIRIES
from imbrex.transform.readers.fortran_keywords import KEYWORD, ordered
from imbrex.transform.readers.fortran_library import FUNCTIONS, OPERATORS, SUBROUTINES
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    at_depth_zero,
    closing,
    split_arguments,
)
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_picking import Picking
from imbrex.transform.readers.fortran_plain import Plain
from imbrex.transform.readers.fortran_scopes import Scope

_TOKEN = re.compile(
    r"(?P<string>'[^']*'|\"[^\"]*\")"
    r"|(?P<operator>\.(?P<word>[a-z]+)\.)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[ed][+-]?\d+)?(?:_\w+)?)"
    r"|(?P<name>[a-z_]\w*)"
    r"|(?P<other>.)"
)
_NUMBER_DOT = re.compile(r"(\d+)(?=\.[a-z]+\.)")
_COMPARED = re.compile(r"([\w+*-]+)(==|/=|\.eq\.|\.ne\.)([\w+*-]+)")
_LOGICAL = re.compile(r"(\.not\.)?([a-z]\w*)")
_PARTS = frozenset({"re", "im", "kind", "len"})


def mpi_name(name: str) -> str:
    """A name of MPI as the standard writes it."""
    return "MPI_" + name[4:].capitalize()


class Expressions(Arguments):
    """Reads the expressions of one scope."""

    def __init__(self, names: Names, scope: Scope) -> None:
        super().__init__(names, scope)
        self.plain = Plain(names, scope)

    def read(self, line: LogicalLine, start: int, end: int, effects: Effects) -> None:
        """Record what evaluating `line[start:end]` reads and calls."""
        text = line.masked
        if self.names.own.operators and not effects.stop:
            part = text[start:end]
            used = any(sign in part for sign in self.names.own.operators)
            if used and self.plain.rank(part) is None:
                effects.stop = ReasonKind.DERIVED_OPERATOR()
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
                    position = self._component(line, token, match.end(), end, effects)
                else:
                    position = self._name(line, match.start(), match.end(), end, effects)
                previous = "name"
            else:
                keyword = match["word"]
                if keyword and keyword not in OPERATORS:
                    effects.stop = effects.stop or ReasonKind.OWN_OPERATOR(operator=keyword)
                position = match.end()
                previous = token if token == "%" else ""

    def _component(
        self, line: LogicalLine, name: str, after: int, end: int, effects: Effects
    ) -> int:
        own = self.names.own
        if line.masked[after : after + 1] == "(":
            if name in own.bound or (name not in own.components and name not in _PARTS):
                effects.stop = effects.stop or ReasonKind.BOUND_FUNCTION(name=name)
                self.names.bindings.call_unknown(self.names.program, name)
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
        component = self.components.resolve(text, start) if "%" in text[after:end] else None
        if component is not None and component.end <= end:
            self._operand(component.last, text, start, component.end, effects)
            self._component_access(component, False, line, effects)
            return component.end
        if follow != "(" or after >= end:
            variable = self.names.variable(self.scope, name)
            if variable is not None:
                self._note_copy(variable.element)
                self._operand(variable, text, start, after, effects)
                self._access(variable, False, line, self._whole(variable), effects)
            return after
        stop = closing(text, after)
        if stop < 0:
            effects.stop = effects.stop or ReasonKind.PARENTHESIS()
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
                self._note_copy(variable.element)
                self._operand(variable, text, start, stop + 1, effects)
                section = self.section(variable, text[after + 1 : stop])
                self._access(variable, False, line, section, effects)
            return stop + 1
        own = name in self.names.own.functions or name in self.names.own.generics
        external = found is not None and "external" in found[1].attributes
        intrinsic = name in FUNCTIONS or self.names.of_intrinsic_module(self.scope, name)
        if intrinsic and not own and not external:
            if name == "present":  # the same all along, whatever becomes of the argument
                return stop + 1
            if name in INQUIRIES:
                after = self._asked(line, after + 1, stop, effects) - 1
            self.read(line, after + 1, stop, effects)
            return stop + 1
        if found is None and not own and self.names.types.of(f"type({name})") is not None:
            self.read(line, after + 1, stop, effects)  # it makes a value of that type
            return stop + 1
        reference = self.call(line, name, start, after + 1, stop, effects)
        # A generic name that extends an intrinsic function may stand for one of the program's.
        extended = name in FUNCTIONS and name in self.names.own.generics
        reference.unknown = extended or name in self.scope.dummies
        effects.calls += self.targets(reference, effects)
        return stop + 1

    def _asked(self, line: LogicalLine, first: int, stop: int, effects: Effects) -> int:
        """Where the arguments of an inquiry go on behind an array: asking its shape reads none."""
        text = line.masked
        named = BASE.match(text, first)
        component = None if named is None else self.components.resolve(text, first)
        variable, end = None, first
        if component is not None and component.subscripts is None and not component.part:
            variable, end = component.last, component.end
            inner = component.inner
        elif named is not None:
            found = self.names.find(self.scope, named[0])
            variable = None if found is None else self.names.variable(self.scope, named[0])
            end, inner = named.end(), []
        if variable is None or end > stop or text[end] not in ",)":
            return first
        if not variable.bounds or variable.volatile or variable.key in self.names.program.overlays:
            return first
        bounds = bounds_of(variable)
        if not bounds and (variable.allocatable or not all(h for _, h in variable.bounds)):
            return first
        for a, b in inner:
            self.read(line, a, b, effects)
        effects.accesses += [Access(key, False, False, line.line) for key in bounds]
        return end

    def _takes(self, name: str, keywords: set[str]) -> bool:
        """Whether all that a name may stand for has dummy arguments of these names.

        An interface block may give those of an external procedure other names.
        """
        found = self.names.find(self.scope, name)
        if name in self.scope.dummies or (found is not None and "external" in found[1].attributes):
            return False
        keys = self.names.specifics(self.scope, name) or {self.names.procedure(self.scope, name)}
        scopes = [self.names.bindings.procedures.get(key) for key in keys]
        return all(
            scope is not None and scope.parent is not None and keywords <= set(scope.dummies)
            for scope in scopes
        )

    def _placed(self, call: Call) -> Call:
        """The call with each argument in the place of its dummy argument, whatever its keyword."""
        scope = self.names.bindings.procedures.get(call.name)
        if scope is None or not any(argument.keyword for argument in call.arguments):
            return call
        placed = {
            scope.dummies.index(argument.keyword) if argument.keyword else position: argument
            for position, argument in enumerate(call.arguments)
        }
        absent = Argument("", call.start, call.start, base=TEMPORARY, absent=True)
        order = [placed.get(position, absent) for position in range(max(placed) + 1)]
        return replace(call, arguments=order)

    def targets(self, call: Call, effects: Effects) -> list[Call]:
        """The calls that a reference may be, with their arguments in order."""
        return [self._placed(each) for each in self._targets(call, effects)]

    def _targets(self, call: Call, effects: Effects) -> list[Call]:
        """The calls that the reference of a generic name may be; others stay as they are.

        A function of MPI by such a name is what it is, and stays as it stands.
        """
        found = self.names.find(self.scope, call.name)
        external = found is not None and "external" in found[1].attributes
        if call.unknown or external or call.name in self.scope.dummies:
            return [call]
        specifics = self.names.specifics(self.scope, call.name)
        if not specifics or call.name in specifics:
            return [call]
        by_type = call.name in self.names.bindings.several
        if not by_type and call.name not in FUNCTIONS and call.name not in SUBROUTINES:
            specifics = self._picking(specifics, call)
        calls = [replace(call, name=name, is_statement=False) for name in sorted(specifics)]
        if len(calls) == 1 and not by_type and not calls[0].name.startswith("mpi_"):
            calls[0].is_statement = call.is_statement
        for target in calls:
            target.generic = "" if by_type else call.name
            target.picked = by_type or len(calls) > 1
            if target.name.startswith("mpi_"):
                target.name, target.macro = mpi_name(target.name), call.name
                self._values(target.name, target.arguments, call.line, effects)
        return calls

    def _picking(self, specifics: set[str], call: Call) -> set[str]:
        """Those of several procedures that a reference may be, by its arguments."""
        given = call.arguments
        texts = [f"{each.keyword}={each.text}" if each.keyword else each.text for each in given]
        return Picking(self.names, self.scope).left(specifics, texts)

    def test(self, condition: str) -> Test | None:
        """What a condition compares, where that is two integers, or a logical variable."""
        found = _COMPARED.fullmatch(condition)
        if found is not None:
            sides = ["0" if side == "mpi_success" else side for side in (found[1], found[3])]
            left, right = (self.names.affine(self.scope, side) for side in sides)
            if left is None or right is None:
                return None
            return Test(left.plus(right, -1), found[2] in ("==", ".eq."))
        found = _LOGICAL.fullmatch(condition)
        variable = None if found is None else self.names.variable(self.scope, found[2])
        if found is None or variable is None or variable.bounds or variable.volatile:
            return None
        return Test(Affine.variable(variable.key), bool(found[1]))

    @staticmethod
    def _operand(variable: Variable, text: str, start: int, end: int, effects: Effects) -> None:
        """Operators on derived types, and assignments of them, are functions of the program."""
        derived = variable.element.startswith(("type(", "class("))
        if not derived or variable.element.startswith("type(mpi_") or text[end : end + 1] == "%":
            return
        neighbours = text[start - 1 : start] + text[end : end + 1]
        if set(neighbours) & set("+-*/<>=."):
            effects.stop = effects.stop or ReasonKind.DERIVED_OPERATOR()

    def call(
        self, line: LogicalLine, name: str, start: int, first: int, last: int, effects: Effects
    ) -> Call:
        """A procedure reference whose arguments are `line[first:last]`."""
        text, arguments = line.masked[first:last], []
        parts = split_arguments(text)
        mpi = mpi_name(name) if name.startswith("mpi_") else ""
        order = ordered(mpi, [text[a:b] for a, b in parts]) if mpi else None
        named = {each[1] for a, b in parts if (each := KEYWORD.match(text[a:b])) is not None}
        by_name = bool(named) and not mpi and self._takes(name, named)
        if order is not None:
            parts = [(parts[number][0] + inside, parts[number][1]) for number, inside in order]
        for a, b in parts:
            inner, keyword = Effects(), KEYWORD.match(text[a:b]) if by_name else None
            a += 0 if keyword is None else keyword.end()
            arguments.append(self.argument(line, first + a, first + b, inner))
            arguments[-1].keyword = "" if keyword is None else keyword[1]
            effects.accesses += inner.accesses
            effects.calls += inner.calls
            effects.stop = effects.stop or inner.stop
        if mpi:
            name = mpi
            self._values(name, arguments, line.line, effects)
        end = last if last < len(line.bytes) else len(line.bytes) - 1
        key = self.names.procedure(self.scope, name)
        made = Call(key, arguments, line.bytes[start], line.bytes[end] + 1, line.line)
        before = max(first - 1 - len(name), 0)
        made.on = line.bound.get(line.bytes[before]) if line.bound else None
        return made

    @staticmethod
    def _values(name: str, arguments: list[Argument], line: int, effects: Effects) -> None:
        """MPI reads what it takes by value in C: counts, ranks, tags and handles, in arrays too."""
        memory = mpi_calls.EFFECTS.get(name)
        for position, argument in enumerate(arguments[: mpi_calls.C_ARGUMENTS.get(name)]):
            if memory is None or position in memory or argument.base in (None, TEMPORARY):
                continue
            access = Access(argument.base or "", argument.through, False, line)
            effects.accesses.append(access)
            if access not in argument.reads:
                argument.reads = [*argument.reads, access]

    def _component_access(
        self, component: Component, write: bool, line: LogicalLine, effects: Effects
    ) -> None:
        for a, b in component.inner:
            self.read(line, a, b, effects)
        section = None
        if component.subscripts is not None and not component.part:
            section = self.section(component.last, line.masked[slice(*component.subscripts)])
        if component.definition is not None:
            self._note_copy(component.last.element)
        self._access(component.last, write, line, section, effects, component.owner)

    def _note_copy(self, element: str) -> None:
        """An object is named as a whole: its value may go into another one."""
        if self.names.types.of(element) is not None:
            self.names.program.copied_records.add(self.names.types.record(element))

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
        owner: str = "",
    ) -> None:
        if variable.volatile:
            effects.stop = effects.stop or ReasonKind.VOLATILE(variable=variable.name)
        through = variable.kind == "dummy"
        effects.accesses.append(
            Access(variable.key, through, write, line.line, section, owner=owner)
        )

    def read_bounds(self, line: LogicalLine, start: int, end: int, effects: Effects) -> None:
        """A list of bounds, or of subscripts, in which colons stand between expressions."""
        first = start
        for position in [*at_depth_zero(line.masked[start:end], ":"), end - start]:
            self.read(line, first, start + position, effects)
            first = start + position + 1
