"""Functions of Fortran around messages that return a number: they become subroutines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform.model.calls import Call
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Statement
from imbrex.transform.rewrites.private import free_name, taken_names
from imbrex.transform.rewrites.returned_values import COMMUNICATION, Edits, ReturnedValues
from imbrex.transform.rewrites.splitting import RoutineSite
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.result_arguments import Taken, has_room, is_always_asked, is_body
from imbrex.transform.text.routine_text import as_subroutine, fortran_routine_text
from imbrex.transform.text.wrapping import wrapped

# Types that need no name to be declared.
_NUMBERS = frozenset(
    ("integer", "real", "double precision", "complex", "double complex", "logical")
)
_LINE = 132  # columns of free form
_NAMED = re.compile(rb"([A-Za-z]\w*)\s*=\s*")


class FortranReturnedValues(ReturnedValues):
    """A function of a module that communicates becomes a subroutine, so that it can be split.

    Before:
        pq = dot(p, q, n)

    After:
        call dot(p, q, n, pq)
    """

    def sites(self) -> Iterator[RoutineSite]:
        if not self.program.is_whole or self.program.unread_code:
            return
        for routine in self.program.editable():
            free = self.program.files[routine.file].language is Language.FORTRAN_FREE
            known = free and bool(routine.result and routine.host) and not routine.problem
            if not known or routine.stays or routine.conditional or routine.address_taken:
                continue
            names = {call.name for s in routine.statements() for call in s.calls}
            if names & COMMUNICATION and routine.name not in names:
                yield RoutineSite(routine)

    def conditions(self, site: RoutineSite) -> Edits | None:
        """The edits; None where it has no plain number, or a call asks for it in other ways."""
        routine = site.routine
        source, result = self.program.files[routine.file], self.program.variables[routine.result]
        plain = not (result.bounds or result.pointer or result.allocatable or result.record)
        if not plain or result.key in self.program.overlays or result.object:
            return None
        found = fortran_routine_text(self.program, routine, value=True)
        if found.problem is not None or routine.name not in self.named.calls:
            return None
        name, named = result.name, list[Edit]()
        if name.lower() == routine.plain_name.lower():
            name = free_name(f"{name}_value", taken_names(source.data, routine))
            named = self._renamed(routine, found.span, name)
        edits: Edits = {routine.file: [*as_subroutine(self.program, routine, found.span, name)]}
        edits[routine.file] += named
        self.result = name
        self.change_calls(routine, result.element, edits)
        return edits

    def _renamed(self, routine: Routine, span: tuple[int, int], name: str) -> list[Edit]:
        """The edits by which the variable that has the function's name gets another one."""
        data = self.program.files[routine.file].data
        first = data.find(b"\n", span[0])
        last = line_start(data, span[1] - 1)
        own = re.compile(rb"(?i)\b%s\b" % re.escape(routine.plain_name.encode()))
        found = []
        for match in own.finditer(data, first, last):
            line = data[line_start(data, match.start()) : match.start()]
            if b"!" not in line and not (line.count(b"'") % 2 or line.count(b'"') % 2):
                found.append(Edit(*match.span(), name))
        return found

    def _handed(
        self,
        user: Routine,
        statement: Statement,
        calls: list[Call],
        kind: str,
        takers: list[str],
        names: list[str],
    ) -> Taken | None:
        source = self.program.files[user.file]
        data, indent = source.data, indent_at(source.data, statement.start)
        written = all(data[call.end - 1 : call.end] == b")" for call in calls)
        if source.language is not Language.FORTRAN_FREE or not written:
            return None
        body = is_body(statement)
        if not (body or has_room(source, statement)):
            return None
        if any(argument.absent for call in calls for argument in call.arguments):
            return None
        before = _NAMED.fullmatch(data, statement.code_start, calls[0].start)
        name = "" if before is None else before[1].decode()
        alone = len(calls) == 1 and not data[calls[0].end : statement.end].strip()
        if alone and name.lower() in takers:
            (call,) = calls
            text = self._called(data, call, name, indent)
            ahead = statement.code_start - line_start(data, statement.code_start)
            if body and ahead + len(text) > _LINE:
                return None
            return Taken([Edit(statement.code_start, call.end, text)], name)
        if body:
            return None
        if kind not in _NUMBERS or user.declare_after < 0 or not is_always_asked(data, statement):
            return None
        front = "".join(
            f"{self._called(data, call, name, indent)}\n{indent}"
            for call, name in zip(calls, names, strict=True)
        )
        behind = data.find(b"\n", max(user.declare_after - 1, 0))
        inner = indent_at(data, line_start(data, user.declare_after - 1))
        lines = "".join(f"\n{inner}{kind} :: {name}" for name in names)
        edits = [Edit(behind, behind, lines)]
        edits.append(Edit(statement.code_start, statement.code_start, front))
        edits += [Edit(c.start, c.end, name) for c, name in zip(calls, names, strict=True)]
        return Taken(edits)

    def _called(self, data: bytes, call: Call, taker: str, indent: str) -> str:
        """The call as that of a subroutine."""
        own = data[call.start : call.end].partition(b"(")[0].decode().strip()
        given = [
            f"{a.keyword}={a.text.strip()}" if a.keyword else a.text.strip() for a in call.arguments
        ]
        named = any(a.keyword for a in call.arguments)
        given.append(f"{self.result}={taker}" if named else taker)
        text = f"call {own}({', '.join(given)})"
        return wrapped(Language.FORTRAN_FREE, text, len(indent), indent)
