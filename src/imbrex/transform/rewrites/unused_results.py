"""Functions of C that return constants, which no call asks for, lose their value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.messages import communicates
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Plan
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS
from imbrex.transform.rewrites.splitting import RoutineSite
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, whole_lines
from imbrex.transform.text.routine_text import c_routine_text

_RETURN = re.compile(rb"return\s*\(?\s*(\w+)\s*\)?\s*;")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


class UnusedResults(Preparing[RoutineSite, dict[str, list[Edit]]]):
    """A function around a message that returns constants becomes one without a value.

    Then it can be split. It must be called by statements alone, by its name, and all code of the
    program must be among the files.

    Before:
        static int exchange(double *u)
        {
            MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[9], 1, MPI_DOUBLE, right, 0, comm, &st);
            return 0;
        }

    After:
        static void exchange(double *u)
        {
            MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 0, &u[9], 1, MPI_DOUBLE, right, 0, comm, &st);
        }
    """

    name = "unused-results"

    def sites(self) -> Iterator[RoutineSite]:
        if not self.program.is_whole or self.program.unread_code:
            return
        for routine in self.program.editable():
            plain = routine.scope is None and not routine.of_template
            in_c = self.program.files[routine.file].language is Language.C
            if in_c and plain and not routine.address_taken and self._communicates(routine):
                yield RoutineSite(routine)

    def _communicates(self, routine: Routine) -> bool:
        waits = (call.name for s in routine.statements() for call in s.calls)
        return communicates(routine) or any(name in mpi_calls.WAITS for name in waits)

    def conditions(self, site: RoutineSite) -> dict[str, list[Edit]] | None:
        """The edits by file; None where its value is asked for, or is no constant."""
        routine = site.routine
        data = self.program.files[routine.file].data
        returns = self._returns(routine, data)
        found = c_routine_text(self.program, routine, value=True)
        kind = data[slice(*found.type)]
        if returns is None or found.problem is not None or kind != b"int":
            return None
        *early, last = returns
        edits = {
            routine.file: [
                Edit(*found.type, "void"),
                *(Edit(s.code_start, s.end, "return;") for s in early),
                Edit(*whole_lines(data, last.code_start, after_line(data, last.end)), ""),
            ]
        }
        return edits if self._known(routine, found.span[0], edits) else None

    def _returns(self, routine: Routine, data: bytes) -> list[Statement] | None:
        """The statements that return, each with a constant, of which one stands at the end."""
        found = [s for s in routine.statements() if s.kind is Kind.JUMP and s.text == "return"]
        if not found or routine.body.statements[-1] is not found[-1]:
            return None
        return found if all(self._is_constant(statement, data) for statement in found) else None

    def _is_constant(self, statement: Statement, data: bytes) -> bool:
        value = _RETURN.fullmatch(data[statement.code_start : statement.end])
        if value is None or statement.stop is not None or statement.calls:
            return False
        read = {access.variable for access in statement.accesses}
        constant = value[1].isdigit() or value[1] == b"MPI_SUCCESS"
        return constant or (bool(read) and read <= self.footprints.success)

    def _known(self, routine: Routine, start: int, edits: dict[str, list[Edit]]) -> bool:
        """Whether only statements that call it name it, and prototypes, which are edited."""
        name = routine.plain_name.encode()
        calls = [
            (user.file, call)
            for user in self.program.routines.values()
            for statement in user.statements()
            for call in statement.calls
            if call.name == routine.name
        ]
        alone = all(call.is_statement and not (call.macro or call.unknown) for _, call in calls)
        if not calls or not alone:
            return False
        prototype = re.compile(
            rb"(?m)^[ \t]*(?:(?:static|extern|inline)\s+)*(int)\s+" + name + rb"\s*\([^;{}]*\)\s*;"
        )
        for file, text in self._without_comments.items():
            places = {match.start() for match in re.finditer(rb"\b%s\b" % name, text)}
            for match in prototype.finditer(text):
                places -= {match.start() + match[0].index(name)}
                edits.setdefault(file, []).append(Edit(match.start(1), match.end(1), "void"))
            for user, call in calls:
                places -= {call.start} if user == file else set()
            if file == routine.file:
                places = {p for p in places if not start <= p < routine.body.start}
            if places:
                return False
        return True

    @cached_property
    def _without_comments(self) -> dict[str, bytes]:
        """The texts of all files with blanks in the place of comments."""
        return {
            name: _COMMENT.sub(lambda found: b" " * len(found[0]), source.data)
            for name, source in self.program.files.items()
        }

    def refused(self, site: RoutineSite, refusal: object) -> Proposal | None:
        return None

    def apply(self, plan: Plan[RoutineSite, dict[str, list[Edit]]]) -> Proposal:
        routine = plan.site.routine
        told = ReasonKind.NO_RESULT(routine=routine.name)
        reason = Reason(told, Location(routine.file, routine.line))
        proposal = Proposal(self.name, routine, routine.line, reason, plan.content)
        proposal.also, proposal.leads_to = (routine.name,), (WRAPPERS,)
        return proposal
