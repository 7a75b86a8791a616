"""Functions of C that return constants, which no call needs, lose their value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.messages import communicates
from imbrex.transform.analysis.success import gives_codes, is_code, returns_code
from imbrex.transform.analysis.taken import returns_taken
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.headers import is_editable
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Plan
from imbrex.transform.rewrites.named_code import NamedCode
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS
from imbrex.transform.rewrites.splitting import RoutineSite
from imbrex.transform.text.asked_results import ONE, TRUE, ZERO, Value, without_result
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, whole_lines
from imbrex.transform.text.returning_checks import leaving_macros, without_leaving
from imbrex.transform.text.routine_text import c_routine_text

NAME = "unused-results"
_RETURN = re.compile(rb"return\s*\(?\s*(\w+)\s*\)?\s*;")
_TRUTH = (b"true", b"false")
_RETURNS_CALL = re.compile(rb"return\s+")
_LIST = rb"\s*\((?:[^;{}()]|\([^;{}()]*\))*\)\s*;"  # parameters, of one function


@dataclass(slots=True)
class WithoutResult:
    """The edits by file, and whether what asks for the value is among them."""

    edits: dict[str, list[Edit]]
    # The routines that ask for the value, which then may have none themselves.
    asked_by: list[str] = field(default_factory=list)


class UnusedResults(Preparing[RoutineSite, WithoutResult]):
    """A function around a message that returns constants becomes one without a value.

    Then it can be split. It must be called by its name, by statements alone or where it always
    returns 0 or an error code of MPI; and all code of the program must be among the files. Errors
    of MPI end the program: checks of such a code never find another one, and go.

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

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.named = NamedCode(program)

    def sites(self) -> Iterator[RoutineSite]:
        if not self.program.is_whole or self.program.unread_code:
            return
        for routine in self.program.editable():
            body = routine.body.statements
            if routine.name == "main" or not body or body[-1].kind is not Kind.JUMP:
                continue
            plain = routine.scope is None and not routine.of_template
            in_c = self.program.files[routine.file].language is Language.C
            if in_c and plain and not routine.address_taken and self._communicates(routine):
                yield RoutineSite(routine)

    def _communicates(self, routine: Routine) -> bool:
        """Whether it does, or calls what does."""
        called = {call.name for s in routine.statements() for call in s.calls}
        if communicates(routine) or called & mpi_calls.WAITS:
            return True
        inside = [self.program.routines[name] for name in called & self.program.routines.keys()]
        return any(self.footprints.of_routine(each).events for each in inside)

    def conditions(self, site: RoutineSite) -> WithoutResult | None:
        """The edits; None where its value is needed, or is no constant."""
        routine = site.routine
        data = self.program.files[routine.file].data
        returns = self._returns(routine, data)
        ends = returns_taken(routine, self._values)
        found = c_routine_text(self.program, routine, value=True)
        kind = data[slice(*found.type)]
        if returns is None or found.problem is not None or kind not in (b"int", b"bool"):
            return None
        value = None
        if kind == b"int" and all(self._is_success(s, data) for s in ends):
            value = ZERO
        elif all(_returned(s, data) in (b"1", b"true") for s in ends):
            value = TRUE if kind == b"bool" else ONE
        checks = without_leaving(self.program.files[routine.file], routine, self._returning)
        if checks is None:
            return None
        *early, last = returns
        made = WithoutResult({routine.file: [Edit(*found.type, "void")]})
        edits = made.edits
        edits[routine.file] += checks
        for statement in early:
            edits[routine.file].append(Edit(statement.code_start, statement.end, "return;"))
        call = _returned_call(data, last)
        span = whole_lines(data, last.code_start, after_line(data, last.end))
        if call is not None:
            span = last.code_start, last.end
        edits[routine.file].append(Edit(*span, call or ""))
        return made if self._known(routine, found.span[0], made, value) else None

    def _called(self, routine: Routine) -> list[str]:
        """The routine and all that it calls, itself or through others."""
        found = [routine.name]
        for name in found:
            for statement in self.program.routines[name].statements():
                called = [call.name for call in statement.calls]
                found += [c for c in called if c in self.program.routines and c not in found]
        return found

    def _returns(self, routine: Routine, data: bytes) -> list[Statement] | None:
        """The statements that return a constant; the last stands at the end, and may also return
        what a call of MPI does."""
        found = [s for s in routine.statements() if s.kind is Kind.JUMP and s.text == "return"]
        if not found or routine.body.statements[-1] is not found[-1]:
            return None
        ends = returns_taken(routine, self._values)
        known = all(self._is_constant(s, data) for s in ends if s is not found[-1])
        last = self._is_constant(found[-1], data) or self._is_success(found[-1], data)
        return found if known and last else None

    @cached_property
    def _values(self) -> dict[str, int]:
        """What variables hold that have the code of success alone."""
        return dict.fromkeys(self.footprints.success, 0)

    def _is_success(self, statement: Statement, data: bytes) -> bool:
        """Whether a return gives 0, or what a call of MPI returns where its errors are fatal."""
        value = _returned(statement, data)
        if value is not None and (value.isdigit() or value in _TRUTH):
            return value.isdigit() and int(value) == 0
        if _returned_call(data, statement) is not None:
            return not gives_codes(self.program, self.footprints.unseen)
        return self._is_constant(statement, data)

    def _is_constant(self, statement: Statement, data: bytes) -> bool:
        value = _returned(statement, data)
        if value is None or statement.stop is not None or statement.calls:
            return False
        constant = value.isdigit() or value == b"MPI_SUCCESS"
        if value in _TRUTH:
            constant = not statement.accesses  # no variable of this name
        success = self.footprints.success
        return constant or is_code(self.program, statement, value, success)

    def _known(
        self, routine: Routine, start: int, made: WithoutResult, value: Value | None
    ) -> bool:
        """Whether only prototypes and calls name it, which are edited.

        Of a function that does not always return one value no call may ask for it.
        """
        name = routine.plain_name.encode()
        calls = self.named.calls.get(routine.name, [])
        for user, statement, call in calls:
            if call.is_statement and not (call.macro or call.unknown):
                continue
            source = self.program.files[user.file]
            asked = None if value is None else without_result(source, statement, call, value)
            if asked is None:
                return False
            made.edits.setdefault(user.file, []).extend(asked)
            made.asked_by.append(user.name)
        if not calls:
            return False
        prototype = re.compile(
            rb"(?m)^[ \t]*(?:(?:static|extern|inline)\s+)*(int|bool)\s+" + name + _LIST
        )
        for file, text in self.named.code.items():
            if name not in text:
                continue
            places = {match.start() for match in re.finditer(rb"\b%s\b" % name, text)}
            header = self.program.headers.get(file)
            if places and header is not None and not is_editable(self.program, header):
                return False
            for match in prototype.finditer(text):
                places -= {match.start() + match[0].index(name)}
                made.edits.setdefault(file, []).append(Edit(match.start(1), match.end(1), "void"))
            for user, _, call in calls:
                places -= {text.find(name, call.start)} if user.file == file else set()
            if file == routine.file:
                places = {p for p in places if not start <= p < routine.body.start}
            if places:
                return False
        return True

    @cached_property
    def _returning(self) -> frozenset[bytes]:
        return leaving_macros(self.named.code.values(), b"return")

    def refused(self, site: RoutineSite, refusal: object) -> Proposal | None:
        return None

    def apply(self, plan: Plan[RoutineSite, WithoutResult]) -> Proposal:
        routine = plan.site.routine
        asking = dict.fromkeys(plan.content.asked_by)
        told = ReasonKind.CHECKS_GO if asking else ReasonKind.NO_RESULT
        reason = Reason(told(routine=routine.name), Location(routine.file, routine.line))
        proposal = Proposal(self.name, routine, routine.line, reason, plan.content.edits)
        proposal.also = (*self._called(routine), *asking)
        # What hands the value on may have none in turn, and be split with what it calls.
        proposal.leads_to = (WRAPPERS, self.name) if asking else (WRAPPERS,)
        return proposal


def _returned(statement: Statement, data: bytes) -> bytes | None:
    """The name or number that is returned, if it is one."""
    found = _RETURN.fullmatch(data[statement.code_start : statement.end])
    return None if found is None else found[1]


def _returned_call(data: bytes, statement: Statement) -> str | None:
    """The call of MPI whose error code is returned as it is, as a statement."""
    call = statement.calls[0] if len(statement.calls) == 1 else None
    if call is None or call.macro or not returns_code(call) or statement.stop is not None:
        return None
    plain = _RETURNS_CALL.fullmatch(data[statement.code_start : call.start])
    ends = data[call.end : statement.end].strip() in (b";", b"")
    return f"{data[call.start : call.end].decode()};" if plain and ends else None
