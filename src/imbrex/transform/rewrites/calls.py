"""What all rewrites of MPI calls ask of a call, and where its window begins and ends."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.taken import is_entered
from imbrex.transform.analysis.transfer import Role, evaluation
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import ContentT, DoneT, Refusal, Rewrite, Site
from imbrex.transform.rewrites.placement import Placement

_ASSIGNED = re.compile(rb"(([A-Za-z_]\w*)\s*[|+]?=)\s*")


def sites_of(program: Program) -> Iterator[Site]:
    """All calls of the program, in textual order."""
    for routine in program.routines.values():
        yield from sites_in(routine)


def sites_in(routine: Routine) -> Iterator[Site]:
    """The calls of a routine, in textual order."""
    for statement in routine.statements():
        for call in statement.calls:
            yield Site(routine, statement, call)


class CallRewrite(Placement, Rewrite[Site, ContentT, DoneT]):
    """A rewrite of communication itself: it works on the model, from which the text is written."""

    def __init__(self, program: Program, footprints: Footprints, facts: ProgramFacts) -> None:
        super().__init__(footprints, facts)
        self.program = program

    def sites(self) -> Iterator[Site]:
        return (site for site in sites_of(self.program) if self.applies(site))

    def tolerates(self, problem: Cause) -> bool:
        """Whether the rewrite may be done although an argument has this problem."""
        return False

    def assigned(self, site: Site) -> str:
        """What takes the call's error code, as `rc =`, where nothing else needs it; C only.

        Nothing reads the variable, or it never holds another code than that of success.
        """
        source = self.program.files.get(site.routine.file)
        statement, call = site.statement, site.call
        if source is None or source.language is not Language.C or len(statement.calls) != 1:
            return ""
        found = _ASSIGNED.fullmatch(source.data[statement.code_start : call.start])
        if found is None or source.data[call.end : statement.end].strip() != b";":
            return ""
        name = found[2].decode()
        written = {
            access.variable
            for access in statement.accesses
            if access.write and not access.through and self._is(access.variable, name)
        }
        if len(written) != 1:
            return ""
        success = written <= self.footprints.success
        if not success and never_read(self.program, site.routine, *written) is not None:
            return ""
        return found[1].decode()

    def _is(self, key: str, name: str) -> bool:
        variable = self.program.variables.get(key)
        return variable is not None and variable.name == name and not variable.volatile

    @abstractmethod
    def applies(self, site: Site) -> bool:
        """Whether a call is of the kind that this rewrite takes."""

    def _check(self, site: Site) -> Argument | None:
        """What any call must hold to become nonblocking; its error code, in Fortran."""
        call, routine = site.call, site.routine
        self._check_place(site)
        language = self.program.files[routine.file].language
        if language is not Language.C and not routine.interface:
            self._refuse(site, ReasonKind.MPI_UNKNOWN())
        expected = mpi_calls.C_ARGUMENTS[call.name] + (language is not Language.C)
        optional_error = routine.interface == "mpi_f08" and len(call.arguments) == expected - 1
        if len(call.arguments) != expected and not optional_error:
            self._refuse(site, ReasonKind.ARGUMENT_COUNT())
        if self.facts.threads:
            raise Refusal(self.name, self.facts.threads)
        for argument in call.arguments:
            if argument.problem and not self.tolerates(argument.problem):
                self._refuse(
                    site,
                    ReasonKind.ARGUMENT_PROBLEM(argument=argument.text, cause=argument.problem),
                )
        self._check_arguments(site)
        return self._error_code(site, language, optional_error)

    def _check_place(self, site: Site) -> None:
        call, routine = site.call, site.routine
        if routine.problem:
            self._refuse(site, routine.problem)
        if call.macro:
            self._refuse(site, ReasonKind.CALL_OF_MACRO(macro=call.macro))
        if not call.is_statement and not self.assigned(site):
            self._refuse(site, ReasonKind.VALUE_USED())
        self._check_surroundings(site)

    def _check_surroundings(self, site: Site) -> None:
        """What stands around the statement must leave room for it elsewhere."""
        statement = site.statement
        if statement.text == "terminal":
            self._refuse(site, ReasonKind.CALL_ENDS_LOOP())
        if statement.stop:
            self._refuse(site, statement.stop)
        block = statement.parent
        inner: Statement = statement
        while block is not None:
            if not block.insertable:
                self._refuse(site, ReasonKind.CALL_AMID_MACRO())
            position = block.statements.index(inner)
            before = block.statements[position - 1] if position else None
            if before is not None and before.stop and "#pragma" in before.stop.text:
                self._refuse(site, ReasonKind.CALL_BELONGS(cause=before.stop))
            if inner.stop and inner.stop.kind is ReasonKind.LABEL:
                self._refuse(site, inner.stop)
            if inner.code_start > inner.start and inner is not statement:
                self._refuse(site, ReasonKind.CALL_IN_DIRECTED_LOOP())
            if block.owner is not None and block.owner.kind not in (
                Kind.IF,
                Kind.LOOP,
                Kind.BLOCK,
                Kind.CONSTRUCT,
                Kind.TRY,
            ):
                construct = block.owner.stop or ReasonKind.STATEMENT_KIND(
                    kind=block.owner.kind.value
                )
                self._refuse(site, ReasonKind.CALL_INSIDE(cause=construct))
            if block.owner is None:
                return
            inner = block.owner
            block = inner.parent

    def _check_arguments(self, site: Site) -> None:
        """Functions that are called for an argument must only read."""
        for inner in site.statement.calls:
            if inner is site.call:
                continue
            footprint = self.footprints.of_call(inner, site.routine.file)
            writes = any(access.write for access in footprint.accesses)
            if footprint.stop or footprint.events or writes:
                self._refuse(site, ReasonKind.ARGUMENT_CALLS(routine=inner.name))

    def _evaluation(self, site: Site) -> list[Access]:
        """All that evaluating the arguments reads."""
        reads = evaluation(site.call)
        for inner in site.statement.calls:
            if inner is not site.call:
                reads += self.footprints.of_call(inner, site.routine.file).accesses
        return reads

    def _error_code(self, site: Site, language: Language, missing: bool) -> Argument | None:
        if language is Language.C or missing:
            return None
        argument = site.call.arguments[-1]
        whole = self.footprints.unseen is None
        reason = never_read(self.program, site.routine, argument.base or "", whole=whole, code=True)
        if reason is not None and not self._code_stays(site, argument):
            text = ReasonKind.ERROR_CODE(cause=reason.cause)
            raise Refusal(self.name, Reason(text, reason.location))
        return argument

    def _code_stays(self, site: Site, argument: Argument) -> bool:
        """Whether an error code that is read is MPI_SUCCESS wherever the call stands."""
        return (argument.base or "") in self.footprints.success

    def set_before(self, site: Site, key: str) -> bool:
        """Whether a statement that surely comes before a call has set a variable."""
        inner, block = site.statement, site.statement.parent
        if is_entered(site.routine):
            return False
        while block is not None:
            for statement in block.statements[: block.statements.index(inner)]:
                if statement.kind is Kind.SIMPLE and self._sets(statement, key):
                    return True
                if statement.kind is Kind.DECLARE and self._begins_with_value(
                    site.routine, statement, key
                ):
                    return True
            if block.owner is None:
                return False
            inner, block = block.owner, block.owner.parent
        return False

    def _begins_with_value(self, routine: Routine, statement: Statement, key: str) -> bool:
        """Whether a declaration of C gives a variable a value."""
        source, variable = self.program.files.get(routine.file), self.program.variables.get(key)
        if source is None or source.is_fortran or variable is None:
            return False
        text = source.data[statement.start : statement.end]
        begins = re.search(rb"\b%s\s*=(?!=)" % re.escape(variable.name.encode()), text)
        return begins is not None and self._sets(statement, key)

    @staticmethod
    def _sets(statement: Statement, key: str) -> bool:
        return any(a.variable == key and a.write for a in statement.accesses) or any(
            call.name.startswith("MPI_") and call.arguments and call.arguments[-1].base == key
            for call in statement.calls
        )

    @staticmethod
    def _taking(site: Site) -> frozenset[str]:
        """What takes the code of the call; C only."""
        accesses = [] if site.call.is_statement else site.statement.accesses
        return frozenset(a.variable for a in accesses if a.write and not a.through)

    def without_codes(self, site: Site, accesses: list[Access]) -> list[Access]:
        """Accesses without those of error codes that are MPI_SUCCESS before and after."""
        success = self.footprints.success
        return [
            access
            for access in accesses
            if access.variable not in success or not self.set_before(site, access.variable)
        ]

    def _refuse(self, site: Site, cause: Cause) -> None:
        raise Refusal(self.name, Reason(cause, site.location))

    @staticmethod
    def _inserted(original: Statement, accesses: list[Access], role: Role) -> Statement:
        return Statement(
            Kind.INSERTED,
            original.start,
            original.end,
            original.line,
            original.end_line,
            accesses=accesses,
            role=role,
        )

    @staticmethod
    def _line_after(statement: Statement | None) -> int:
        """First line behind the start."""
        assert statement is not None and statement.parent is not None
        siblings = statement.parent.statements
        for other in siblings[siblings.index(statement) + 1 :]:
            if other.kind is not Kind.INSERTED:
                return min(other.line, statement.line)
        return statement.line

    @staticmethod
    def _line_before(statement: Statement | None, site: Site) -> int:
        """Last line before the wait."""
        assert statement is not None and statement.parent is not None
        siblings = statement.parent.statements
        for other in reversed(siblings[: siblings.index(statement)]):
            if other.kind is not Kind.INSERTED:
                return max(other.end_line, site.statement.end_line)
        return site.statement.end_line
