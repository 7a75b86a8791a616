"""Blocking collectives to nonblocking ones: all calls that may match one another, or none."""

from __future__ import annotations

import re

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.library import Libraries
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.analysis.whole_program import unseen_code
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language
from imbrex.transform.rewrites.base import Decision, Plan, Refusal, Site
from imbrex.transform.rewrites.blocking import BlockingToNonblocking

_C_COMMENT = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_FIXED_COMMENT = re.compile(rb"^[cC*!][^\n]*|![^\n]*", re.MULTILINE)
# A list of names that a scope imports, on as many lines as it has in either form.
_IMPORTS = re.compile(
    rb"^[ \t]*use\b[^\n]*\bmpi(?:_f08)?\s*,\s*only\s*:"
    rb"(?:[^\n&]*&[^\n]*\n|[^\n]*\n {5}[^ 0\n])*[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
_FREE_COMMENT = re.compile(rb"![^\n]*")
# Routines of MPI that make memory or files common to processes: a collective may be what keeps
# their uses apart, which data flow does not show.
SHARING = ("MPI_Win_", "MPI_File_")


def _blanked(match: re.Match[bytes]) -> bytes:
    """A comment without its text; strings stay."""
    return match[0] if match[0].startswith(b'"') else re.sub(rb"[^\n]", b" ", match[0])


def named_elsewhere(program: Program, name: str, sites: list[Site]) -> Location | None:
    """Where a name stands that is not read as one of these calls: in a macro, an inactive #if."""
    for source in program.files.values():
        fortran = source.language is not Language.C
        text = source.data.lower() if fortran else source.data
        if (name.lower() if fortran else name).encode() not in text:
            continue
        comment = _FREE_COMMENT if fortran else _C_COMMENT
        if source.language is Language.FORTRAN_FIXED:
            comment = _FIXED_COMMENT
        bare = comment.sub(_blanked, source.data)
        bare = _IMPORTS.sub(_blanked, bare) if fortran else bare
        pattern = re.compile(rb"(?<![A-Za-z0-9_])" + name.encode() + rb"(?![A-Za-z0-9_])")
        if fortran:
            pattern = re.compile(pattern.pattern, re.IGNORECASE)
        found = list(pattern.finditer(bare))
        read = sum(site.routine.file == source.name for site in sites)
        if len(found) > read:
            lines = {site.call.line for site in sites if site.routine.file == source.name}
            places = [bare.count(b"\n", 0, match.start()) + 1 for match in found]
            line = next((place for place in places if place not in lines), places[-1])
            return Location(source.name, line)
    return None


def all_named(program: Program, name: str) -> list[Site]:
    """The calls of this name, wherever they stand."""
    return [
        Site(routine, statement, call)
        for routine in program.routines.values()
        for statement in routine.statements()
        for call in statement.calls
        if call.name == name
    ]


class CollectivesToNonblocking(BlockingToNonblocking):
    """MPI_Bcast, Gather(v), Scatter(v), Allgather(v), Alltoall(v), Reduce and Allreduce.

    A blocking collective never matches a nonblocking one, and the calls of one communicator must
    come in the same order on all its processes (MPI 4.0, section 6.12): all calls that may match
    one another are rewritten, or none.

    Before:
        MPI_Bcast(parameters, n, MPI_INT, 0, comm);
        work(w);
        use(parameters);

    After:
        MPI_Ibcast(parameters, n, MPI_INT, 0, comm, &imbrex_requests[0]);
        work(w);
        MPI_Wait(&imbrex_requests[0], MPI_STATUS_IGNORE);
        use(parameters);
    """

    name = "collectives"

    def __init__(
        self,
        messages: BlockingToNonblocking,
        libraries: Libraries,
        reassociation: bool,
    ) -> None:
        """`libraries`: which routines call no MPI; `reassociation`: sums may be rounded anew."""
        super().__init__(messages.program, messages.footprints, messages.facts)
        self.datatypes = messages.datatypes
        self.reassociation = reassociation
        self.elsewhere = unseen_code(self.program, libraries, SHARING)

    def applies(self, site: Site) -> bool:
        return site.call.name in mpi_calls.BLOCKING_COLLECTIVES

    def groups(self, sites: list[Site]) -> list[list[Site]]:
        """Sites by what may match: name; of reductions also the operation and kind of type."""
        by_name: dict[str, list[Site]] = {}
        for site in sites:
            by_name.setdefault(site.call.name, []).append(site)
        found = []
        for members in by_name.values():
            keys = [self._reduction(site) for site in members]
            if None in keys:
                found.append(members)
                continue
            by_key: dict[tuple[str, str] | None, list[Site]] = {}
            for site, key in zip(members, keys, strict=True):
                by_key.setdefault(key, []).append(site)
            found += by_key.values()
        return found

    @staticmethod
    def _reduction(site: Site) -> tuple[str, str] | None:
        """Operation and kind of type of a reduction, where both are MPI's own."""
        arguments = [argument.constant for argument in site.call.arguments]
        operation = mpi_calls.OPERATION.get(site.call.name, len(arguments))
        if operation >= len(arguments) or arguments[operation] not in mpi_calls.OPERATIONS:
            return None
        kind = arguments[operation - 1]
        if kind in mpi_calls.EXACT_TYPES:
            return arguments[operation], "exact"
        return (arguments[operation], "floating") if kind in mpi_calls.FLOATING_TYPES else None

    def check_hidden(self, name: str) -> None:
        """Refuse where a call of this name is not read as one."""
        place = named_elsewhere(self.program, name, all_named(self.program, name))
        if place is not None:
            raise Refusal(self.name, Reason(ReasonKind.NAMED_ELSEWHERE(call=name), place))

    def conditions(self, site: Site) -> list[Transfer]:
        call = site.call
        error = self._check(site)
        self._check_reduction(site)
        memory = []
        for position, mode in mpi_calls.EFFECTS[call.name].items():
            argument = call.arguments[position]
            if argument.constant == "MPI_IN_PLACE":
                continue
            self._check_buffer(site, argument)
            memory.append((argument, mode == "w"))
        part = mpi_calls.BLOCKING_COLLECTIVES[call.name]
        transfer = Transfer(call, part, call.arguments[part.buffer], error=error, memory=memory)
        transfer.assigned = self._assigned_to(site)
        transfer.codes = self._taking(site)
        transfer.checked = call.checked
        return [transfer]

    def _check_reduction(self, site: Site) -> None:
        position = mpi_calls.OPERATION.get(site.call.name)
        if position is None:
            return
        key = self._reduction(site)
        if key is None:
            operation = site.call.arguments[position].text.strip()
            kind = site.call.arguments[position - 1].text.strip()
            self._refuse(site, ReasonKind.INEXACT(operation=operation, datatype=kind))

    def not_permitted(self, sites: list[Site]) -> Reason | None:
        """Why sites that could be moved stay: the outcome of a reduction may be another."""
        for site in sites if not self.reassociation else ():
            reduction = self._reduction(site)
            if reduction is not None and reduction[1] == "floating":
                kind = ReasonKind.REASSOCIATION
                if reduction[0] in mpi_calls.SELECTIONS:
                    kind = ReasonKind.SIGNED_ZERO
                return Reason(kind(), site.location)
        return None

    def decide(self, sites: list[Site], only: frozenset[tuple[str, int]]) -> list[Decision]:
        """Decide one group: all of it is rewritten, or nothing."""
        chosen = [s for s in sites if not only or (s.routine.file, s.call.line) in only]
        if not chosen:
            return []
        plans: list[Plan[Site, list[Transfer]]] = []
        datatypes = {file: (mixed, set(used)) for file, (mixed, used) in self.datatypes.items()}
        try:
            if self.elsewhere is not None:
                raise Refusal(self.name, self.elsewhere)
            self.check_hidden(sites[0].call.name)
            for site in sites:
                plans.append(Plan(site, self.conditions(site)))
        except Refusal as refusal:
            self.datatypes.clear()
            self.datatypes.update(datatypes)
            return [self._refused(site, refusal.reason) for site in chosen]
        if len(chosen) < len(sites):
            other = next(site for site in sites if site not in chosen)
            reason = Reason(ReasonKind.MATCHING_NOT_CHOSEN(), other.location)
            return [self._refused(site, reason) for site in chosen]
        decisions = [self.apply(plan) for plan in plans]
        if all(decision.decision == "nothing-to-gain" for decision in decisions):
            return decisions
        barred = self.not_permitted(sites)
        if barred is not None:
            for plan, decision in zip(plans, decisions, strict=True):
                if decision.decision == "rewritten":
                    self.undo(plan.site, plan.content)
            self.datatypes.clear()
            self.datatypes.update(datatypes)
            return [self._refused(site, barred) for site in chosen]
        for plan, decision in zip(plans, decisions, strict=True):
            if decision.decision == "nothing-to-gain":
                site = plan.site
                self.lower(site, plan.content)
                self.footprints.forget(site.statement)
                decision.decision, decision.rewrites = "rewritten", [self.name]
                decision.reason = Reason(
                    ReasonKind.MATCHING_REWRITTEN(),
                    site.location,
                )
        return decisions

    def _refused(self, site: Site, reason: Reason) -> Decision:
        if reason.location != site.location:
            reason = Reason(ReasonKind.MATCHING_STAYS(cause=reason.cause), reason.location)
        return Decision(site, "refused", reason, site.call.line, site.call.line)
