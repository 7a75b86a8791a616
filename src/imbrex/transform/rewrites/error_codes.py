"""Calls whose error code a declaration takes or a condition asks for, as statements of their own.

An error of MPI ends the program, unless it names another error handler: what a call returns is
MPI_SUCCESS. A variable that holds nothing else is asked behind the call as well as around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.success import SUCCESS, gives_codes, returns_code
from imbrex.transform.analysis.taken import is_entered
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan
from imbrex.transform.rewrites.declared_ahead import head_for
from imbrex.transform.rewrites.error_jumps import without_jumps
from imbrex.transform.rewrites.named_code import NamedCode
from imbrex.transform.rewrites.private import free_name
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS
from imbrex.transform.rewrites.unused_results import NAME as UNUSED_RESULTS
from imbrex.transform.text.c_text import CText
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import first_on_line, indent_at, line_start
from imbrex.transform.text.returning_checks import leaving_macros
from imbrex.transform.text.routine_text import c_routine_text

_DECLARED = re.compile(rb"(?:const\s+)?(int|auto)\s+(?:const\s+)?([A-Za-z_]\w*)\s*=\s*")
_ASKED = re.compile(rb"if\s*\(\s*(?:%s\s*!=\s*)?(?:\(\s*([A-Za-z_]\w*)\s*=\s*)?" % SUCCESS)
_BEHIND = re.compile(rb"\s*(?:!=\s*%s\s*)?\)" % SUCCESS)
_TAKEN = frozenset(
    (
        *mpi_calls.BLOCKING,
        *mpi_calls.BLOCKING_COLLECTIVES,
        *mpi_calls.STARTS,
        *mpi_calls.REQUEST_OF_WAIT,
    )
)
_NAME = "imbrex_code"
_OPEN = (Kind.IF, Kind.LOOP, Kind.BLOCK)


@dataclass(frozen=True, slots=True)
class CodeSite:
    """A routine, with the statements whose calls are to stand alone."""

    routine: Routine
    taken: tuple[Statement, ...]

    @property
    def line(self) -> int:
        return self.taken[0].calls[0].line


class ErrorCodes(Preparing[CodeSite, list[Edit]]):
    """A call whose error code is taken in a declaration or a condition stands in front of it.

    Before:
        work(w);
        int code = MPI_Recv(v, n, MPI_DOUBLE, left, 0, comm, &status);
        if (code != MPI_SUCCESS)
            return code;

    After:
        int code = MPI_SUCCESS;
        work(w);
        code = MPI_Recv(v, n, MPI_DOUBLE, left, 0, comm, &status);
        if (code != MPI_SUCCESS)
            return code;
    """

    name = "error-codes"

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.named = NamedCode(program)

    def sites(self) -> Iterator[CodeSite]:
        for source, routine in self._routines():
            taken = tuple(self._taken(source, routine))
            if is_entered(routine):  # no declaration goes ahead of a label
                taken = tuple(s for s in taken if s.kind is Kind.IF)
            if taken:
                yield CodeSite(routine, taken)

    def _routines(self) -> Iterator[tuple[SourceFile, Routine]]:
        """The routines of C that may be edited, where MPI returns no code but that of success."""
        if gives_codes(self.program, self.footprints.unseen):
            return
        for routine in self.program.editable():
            source = self.program.files[routine.file]
            if source.language is Language.C and not routine.problem:
                yield source, routine

    def _taken(self, source: SourceFile, routine: Routine) -> Iterator[Statement]:
        for statement in routine.statements():
            call = statement.calls[0] if len(statement.calls) == 1 else None
            if call is None or call.is_statement or call.macro or call.name not in _TAKEN:
                continue
            block = statement.parent
            if statement.stop is not None or not returns_code(call) or block is None:
                continue
            room = block.insertable and block.braced and self._is_open(block)
            if room and first_on_line(source.data, statement.start):
                declared = self._is_declared(source.data, statement, call)
                if declared or self._is_asked(source.data, statement, call):
                    yield statement

    @staticmethod
    def _is_open(block: Block) -> bool:
        return block.owner is None or (block.owner.kind in _OPEN and block.owner.stop is None)

    def _is_declared(self, data: bytes, statement: Statement, call: Call) -> bool:
        found = _DECLARED.fullmatch(data[statement.code_start : call.start])
        return (
            found is not None
            and statement.kind is Kind.DECLARE
            and data[call.end : statement.end].strip() == b";"
            and self._holds_success(statement, found[2].decode())
        )

    def _is_asked(self, data: bytes, statement: Statement, call: Call) -> bool:
        found = _ASKED.fullmatch(data[statement.code_start : call.start])
        if found is None or statement.kind is not Kind.IF or not statement.blocks:
            return False
        behind = data[call.end : statement.blocks[0].start]
        if found[1] is not None:
            closed = re.match(rb"\s*\)", behind)
            if closed is None or not self._holds_success(statement, found[1].decode()):
                return False
            behind = behind[closed.end() :]
        return _BEHIND.match(behind) is not None

    def _holds_success(self, statement: Statement, name: str) -> bool:
        """Whether the variable of this name, that a statement sets, holds no other code."""
        variables = self.program.variables
        written = {a.variable for a in statement.accesses if a.write and not a.through}
        return written <= self.footprints.success and [variables[key].name for key in written] == [
            name
        ]

    def conditions(self, site: CodeSite) -> list[Edit]:
        """The edits; declarations go to where their block begins to compute."""
        source = self.program.files[site.routine.file]
        data = source.data
        edits: list[Edit] = []
        heads: dict[int, list[str]] = {}
        code = free_name(_NAME, site.routine.taken)
        for statement in site.taken:
            if statement.kind is Kind.DECLARE:
                edits.append(self._declared_ahead(data, statement, heads))
            else:
                edits += _asked_behind(data, statement, code)
        if any(edit.text == code for edit in edits):
            text = CText(source, site.routine, 0)
            edits += text.declare([f"int {code} = MPI_SUCCESS;"])
        for place, names in heads.items():
            indent = indent_at(data, place)
            lines = "".join(f"{indent}int {name} = MPI_SUCCESS;\n" for name in names)
            at = line_start(data, place)
            edits.append(Edit(at, at, lines))
        return edits

    def _declared_ahead(
        self, data: bytes, statement: Statement, heads: dict[int, list[str]]
    ) -> Edit:
        """A declaration becomes an assignment; `heads`: what is declared in front of what."""
        found = _DECLARED.match(data, statement.code_start)
        assert found is not None
        name = found[2].decode()
        place = head_for(self.program, data, statement, name)
        before = ""
        if place is None:
            before = f"int {name} = MPI_SUCCESS;\n{indent_at(data, statement.start)}"
        else:
            heads.setdefault(place, []).append(name)
        return Edit(statement.code_start, statement.calls[0].start, f"{before}{name} = ")

    def proposals(self) -> list[Proposal]:
        """What may be done by itself, and once more as what lets a function lose its value.

        Also what lets a function be taken apart that jumps to a label where MPI fails.
        """
        found = super().proposals()
        leading = [
            replace(proposal, leads_to=(UNUSED_RESULTS,), also=(proposal.routine.name,))
            for proposal in found
            if proposal.edits
            and not is_entered(proposal.routine)
            and self._returns_code(proposal.routine)
        ]
        return [*found, *leading, *self._without_jumps()]

    @cached_property
    def _jumping(self) -> frozenset[bytes]:
        return leaving_macros(self.named.code.values(), b"goto")

    def _without_jumps(self) -> Iterator[Proposal]:
        """Routines that only errors have jump to labels lose these, to be taken apart."""
        success = self.footprints.success
        for source, routine in self._routines():
            if routine.name == "main" or not is_entered(routine):
                continue
            taken = tuple(self._taken(source, routine))
            asked = {id(statement) for statement in taken if statement.kind is Kind.IF}
            jumps = without_jumps(source, routine, success, asked, self._jumping)
            if jumps is None:
                continue
            edits = {routine.file: jumps + self.conditions(CodeSite(routine, taken))}
            reason = Reason(
                ReasonKind.JUMPS_GO(routine=routine.name), Location(routine.file, routine.line)
            )
            leads = UNUSED_RESULTS if self._returns_code(routine) else WRAPPERS
            yield Proposal(
                self.name,
                routine,
                routine.line,
                reason,
                edits,
                leads_to=(leads,),
                also=(routine.name,),
            )

    def _returns_code(self, routine: Routine) -> bool:
        """Whether it may return such a code to a caller that is seen."""
        kind = c_routine_text(self.program, routine, value=True).type
        if self.program.files[routine.file].data[slice(*kind)] != b"int" or routine.name == "main":
            return False
        return any(s.text == "return" and s.kind is Kind.JUMP for s in routine.statements())

    def apply(self, plan: Plan[CodeSite, list[Edit]]) -> Proposal:
        site = plan.site
        reason = Reason(ReasonKind.CODE_APART(), Location(site.routine.file, site.line))
        return Proposal(
            self.name, site.routine, site.line, reason, {site.routine.file: plan.content}
        )


def _asked_behind(data: bytes, statement: Statement, code: str) -> list[Edit]:
    """A condition asks for a variable that is set in front of it: for `code`, or for its own."""
    found = _ASKED.match(data, statement.code_start)
    assert found is not None
    call, at = statement.calls[0], statement.code_start
    start, end = call.start, call.end
    name = code
    if found[1] is not None:
        name = found[1].decode()
        start = data.rindex(b"(", 0, found.start(1))
        end = data.index(b")", call.end) + 1
    made = data[call.start : call.end].decode()
    front = Edit(at, at, f"{name} = {made};\n{indent_at(data, statement.start)}")
    return [front, Edit(start, end, name)]
