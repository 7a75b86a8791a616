"""What splitting a routine around MPI into a start and a finish asks of it and of its callers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.divided import Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.schedule import Scheduler
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.analysis.whole_program import incomplete
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import TEMPORARY, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind
from imbrex.transform.rewrites.base import Places, Refusal, Site
from imbrex.transform.rewrites.blocking import BlockingToNonblocking
from imbrex.transform.rewrites.boundary import BoundaryFirst
from imbrex.transform.rewrites.kept import KNOWN_TYPES, Kept
from imbrex.transform.rewrites.proposals import ContentT, Preparing
from imbrex.transform.rewrites.uses import Split, Use, Uses
from imbrex.transform.rewrites.wrapped_collectives import WrappedCollectives
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.given_out import made_known
from imbrex.transform.text.half_calls import Finish, HalfCalls
from imbrex.transform.text.halves import Halves
from imbrex.transform.text.layout import indent_at
from imbrex.transform.text.local_vectors import is_vector, knows_vectors
from imbrex.transform.text.members import Declared, declared_in_class, object_of
from imbrex.transform.text.parted import Parted
from imbrex.transform.text.separate_halves import declares_plainly
from imbrex.transform.text.specification import identifiers

NAME = "wrappers"


@dataclass(frozen=True, slots=True)
class RoutineSite:
    """A routine, and the calls that make it a wrapper."""

    routine: Routine
    calls: tuple[Site, ...] = ()
    routines: tuple[Routine, ...] = ()  # with it, where several are split at once

    @property
    def line(self) -> int:
        return self.routine.line


def _starts_late(schedule: Schedule) -> bool:
    """Whether the finish starts messages, or has blocking ones."""
    names = mpi_calls.STARTS.keys() | mpi_calls.BLOCKING.keys()
    return any(call.name in names for item in schedule.late for call in item.statement.calls)


_INTEGER = re.compile(r"(?:unsigned |long |short )*(?:int|long)\b|integer\b|size_t\b")

_OF_KINDS = frozenset(
    ("d0", "e0", "kind", "mpi_request", "selected_int_kind", "selected_real_kind")
)


def _same_meaning(routine: Routine, user: Routine, name: str) -> bool:
    """Whether a name, as of a kind of numbers, is that of the same thing in two routines."""
    if name in _OF_KINDS and routine.meaning is not None and routine.meaning(name) is None:
        return True
    if routine.meaning is None or user.meaning is None:
        return False
    meaning = routine.meaning(name)
    return meaning is not None and meaning == user.meaning(name)


def messages_of(routine: Routine) -> list[Site]:
    """The blocking messages that a routine sends and receives itself."""
    return [
        Site(routine, statement, call)
        for statement in routine.statements()
        for call in statement.calls
        if call.name in mpi_calls.BLOCKING
    ]


def _otherwise(call: Call) -> bool:
    """Whether a call is not by the routine's own name: by a type, or by a generic name."""
    return call.on is not None or bool(call.generic)


def _by_another(routine: Routine, user: Routine) -> bool:
    """Whether a caller calls a routine otherwise than by its own name."""
    calls = (call for s in user.statements() for call in s.calls)
    return any(call.name == routine.name and _otherwise(call) for call in calls)


def starts_in(routine: Routine) -> bool:
    """Whether a routine starts messages that are nonblocking already, or persistent."""
    names = mpi_calls.STARTS.keys() | mpi_calls.PERSISTENT_STARTS
    return any(call.name in names for s in routine.statements() for call in s.calls)


class Splitting(Preparing[RoutineSite, ContentT]):
    """Takes routines around MPI apart, with what must hold of their callers and of their text."""

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.facts = footprints.facts
        self.boundary = BoundaryFirst(program, footprints)
        self.uses = Uses(program, footprints, self.boundary)
        self.blocking = BlockingToNonblocking(program, footprints, self.facts)
        self.collectives = WrappedCollectives(program, footprints)
        # Routines that stay whole, as far as they were looked at, and what stands in the way.
        self.whole: dict[str, tuple[Split, Reason | None]] = {}
        self.problem: Reason | None = None  # why the last schedule asked for is none

    def schedule_of(self, routine: Routine, sites: Sequence[Site]) -> Schedule | None:
        """What of a routine is early and what late; None where it cannot be taken apart."""
        self.problem = None
        statements = [
            s for s in routine.statements() if not s.blocks and s.kind is not Kind.DECLARE
        ]
        if len(statements) > 60 or (routine.visible and not self.program.has_main):
            return None
        blocking = self.blocking.anew(routine.file)
        collectives = self.collectives.of(routine, blocking)
        if collectives.problem is not None and not (sites or starts_in(routine)):
            self.problem = collectives.problem
            return None
        transfers = dict(collectives.transfers)
        for site in sites:
            try:
                transfers[id(site.call)] = blocking.conditions(site)
            except Refusal:
                return None  # told at the call itself
            for transfer in transfers[id(site.call)]:
                status = transfer.status
                transfer.status_read = status is not None and blocking.status_matters(site, status)
        schedule = self._scheduled(routine, transfers)
        timing = self.facts.in_order if schedule.in_order else self.facts.timing
        if schedule.only_sends:
            # A message sent leaves where it did: what others receive first is as free as it was.
            timing = incomplete(self.program)
        self.problem = schedule.problem or timing
        if self.problem is None and not (schedule.transfers or schedule.held or schedule.begun):
            line = sites[0].line if sites else routine.line
            place = Location(routine.file, line)
            self.problem = Reason(ReasonKind.MESSAGES_GUARDED(), place)
        schedule.sizes = Kept(self.program, self.footprints, self.name).sizes(routine, schedule)
        return schedule if self.problem is None else None

    def _scheduled(self, routine: Routine, transfers: dict[int, list[Transfer]]) -> Schedule:
        """The schedule that leaves no start to the finish, where there is one.

        What tells how much comes blocks as before: what then comes is worth more than that is.
        """
        first = found = Scheduler(self.footprints, routine).run(transfers)
        while found.problem is None and _starts_late(found) and self._counts(found):
            begun = {id(call) for item in found.early for call in item.statement.calls}
            if found is not first and begun.isdisjoint(transfers):
                return first
            transfers = {key: each for key, each in transfers.items() if key not in begun}
            found = Scheduler(self.footprints, routine).run(transfers, ahead=True)
        last = found.problem is None and not _starts_late(found)
        return found if last and (found.transfers or found.held) else first

    def _counts(self, schedule: Schedule) -> bool:
        """Whether the messages that the start begins are of integers alone."""
        keys = {access.variable for data in schedule.data.values() for access in data}
        known = [self.program.variables.get(key) for key in keys]
        return not schedule.held and all(
            each is not None and _INTEGER.match(each.element) is not None for each in known
        )

    def refuse(self, routine: Routine, line: int, cause: Cause) -> None:
        raise Refusal(self.name, Reason(cause, Location(routine.file, line)))

    def check(self, split: Split) -> None:
        routine = split.wrapper
        if routine.problem:
            self.refuse(
                routine, routine.line, ReasonKind.ABOUT(subject=routine.name, cause=routine.problem)
            )
        if routine.scope is not None and routine.scope.virtual:
            self.refuse(routine, routine.line, ReasonKind.VIRTUAL(routine=routine.name))
        if routine.name in self.program.across:
            self.refuse(routine, routine.line, ReasonKind.OTHER_LANGUAGE(routine=routine.name))
        if routine.address_taken and routine.bound:
            self.refuse(routine, routine.line, ReasonKind.BOUND_TO_TYPE(routine=routine.name))
        if routine.address_taken:
            self.refuse(routine, routine.line, ReasonKind.ADDRESS_TAKEN(routine=routine.name))
        if routine.conditional or routine.plain_name.lower() in self.program.inactive:
            self.refuse(routine, routine.line, ReasonKind.CONDITIONAL(routine=routine.name))
        seen = {id(use.call) for use in split.uses}
        for user in self.uses.callers(routine.name):
            for call in self.uses.calls_in(user, routine.name):
                if id(call) in seen:
                    continue
                text = ReasonKind.CALL_NOT_STATEMENT(routine=routine.name)
                if call.picked:
                    text = (
                        ReasonKind.GENERIC(routine=routine.name)
                        if call.generic
                        else ReasonKind.BY_ITS_TYPE(routine=routine.name)
                    )
                self.refuse(user, call.line, text)
        halves = Halves(self.program, routine)
        if halves.problem is not None:
            self.refuse(routine, routine.line, halves.problem)
        for name in self.program.files:
            if halves.given_out(name) is None:
                self.refuse(routine, routine.line, ReasonKind.NAME_LISTED(routine=routine.name))
        by_type = [use.routine for use in split.uses if _otherwise(use.call)]
        if by_type and made_known(self.program, routine, by_type, halves.names) is None:
            self.refuse(routine, routine.line, ReasonKind.NOT_GIVEN_OUT(routine=routine.name))
        for use in split.uses:
            self._check_arguments(split, use)
            if use.routine.file not in self.program.files or use.routine.problem:
                self.refuse(
                    use.routine, use.call.line, ReasonKind.NOT_EDITABLE(routine=use.routine.name)
                )
            if object_of(self.program, use.routine, routine, use.call) is None:
                text = ReasonKind.OBJECT_COMPUTED(routine=routine.name)
                self.refuse(use.routine, use.call.line, text)
            if use.routine.file != routine.file and not halves.reachable(use.routine):
                text = ReasonKind.OTHER_FILE(routine=routine.name)
                self.refuse(use.routine, use.call.line, text)

    def _check_arguments(self, split: Split, use: Use) -> None:
        """Arguments may stand in two calls, and a temporary copy ends with the call it is for."""
        if any(access.write for access in use.given):
            self.refuse(use.routine, use.call.line, ReasonKind.ARGUMENT_EFFECTS())
        schedule = split.schedule
        done = schedule.accesses(schedule.early + schedule.late) + schedule.flying
        written = [a for a in self.footprints.bound(use.call, split.wrapper, done) if a.write]
        changed = self.footprints.changed(written)
        if self.footprints.conflict(written, use.given, changed) is not None:
            self.refuse(use.routine, use.call.line, ReasonKind.ARGUMENT_EFFECTS())
        flying = {access.variable for access in schedule.flying}
        for key, argument in zip(split.wrapper.parameters, use.call.arguments, strict=False):
            variable = self.program.variables.get(key)
            if argument.absent:
                continue
            if argument.base == TEMPORARY and key in flying:
                text = ReasonKind.EXPRESSION(argument=argument.text.strip())
                self.refuse(use.routine, use.call.line, text)
            named = argument.problem is not None and (
                argument.problem.kind is ReasonKind.KEYWORD_ARGUMENT
                or (variable is not None and bool(variable.bounds))
            )
            if argument.problem is not None and named:
                text = ReasonKind.ARGUMENT_PROBLEM(
                    argument=argument.text.strip(), cause=argument.problem
                )
                self.refuse(use.routine, use.call.line, text)

    def kept(self, split: Split) -> list[Variable]:
        """Local variables that hold something from the start to the finish; raises Refusal."""
        kept = Kept(self.program, self.footprints, self.name).of(split.wrapper, split.schedule)
        if any(is_vector(variable) for variable in kept):
            self._check_vectors(split)
        if split.wrapper.interface_body is not None:
            for variable in kept:
                if not declares_plainly(self.program, split.wrapper, variable):
                    text = ReasonKind.NOT_PLAIN_SUBROUTINE(routine=split.wrapper.name)
                    self.refuse(split.wrapper, split.wrapper.line, text)
        for variable in kept:
            kind = variable.element.rstrip("* ").removeprefix("const ")
            if variable.element.endswith("*") and kind not in KNOWN_TYPES:
                self._check_files(split)
        for variable in kept if self.program.files[split.wrapper.file].is_fortran else ():
            names = identifiers(variable.element.partition("(")[2], fold=True)
            for use in split.uses:
                if any(not _same_meaning(split.wrapper, use.routine, name) for name in names):
                    text = ReasonKind.KEPT_TYPE(variable=variable.name, routine=use.routine.name)
                    self.refuse(use.routine, use.call.line, text)
        for use in split.uses if split.wrapper.interface == "mpi_f08" else ():
            # The type of requests is brought in where it is not known, behind the first statement.
            if use.routine.interface != "mpi_f08" and use.routine.access.behind_head < 0:
                text = ReasonKind.KEPT_TYPE(variable="MPI_Request", routine=use.routine.name)
                self.refuse(use.routine, use.call.line, text)
        return kept

    def _check_files(self, split: Split) -> None:
        """Another file may have no name for the type of a pointer that its routine is to hold."""
        declared = declared_in_class(self.program, split.wrapper)
        files = {use.routine.file for use in split.uses} - {split.wrapper.file}
        if files or isinstance(declared, Declared):
            text = ReasonKind.OTHER_FILE(routine=split.wrapper.name)
            self.refuse(split.wrapper, split.wrapper.line, text)

    def _check_vectors(self, split: Split) -> None:
        """What declares or calls a half with a vector must know what that is."""
        declared = declared_in_class(self.program, split.wrapper)
        sources = [self.program.files[use.routine.file] for use in split.uses]
        sources += [declared.source] if isinstance(declared, Declared) else []
        kept = [variable for variable in split.kept if is_vector(variable)]
        for source in sources:
            known = all(knows_vectors(source, variable) for variable in kept)
            if source.name != split.wrapper.file and not known:
                text = ReasonKind.OTHER_FILE(routine=split.wrapper.name)
                self.refuse(split.wrapper, split.wrapper.line, text)

    def rename(self, halves: Halves, edits: dict[str, list[Edit]]) -> None:
        """Give the names of the halves out where the routine's is given out."""
        for name in self.program.files:
            edits[name] += halves.given_out(name) or []
        for name, changes in halves.in_class().items():
            edits.setdefault(name, []).extend(changes)
        users = self.uses.callers(halves.routine.name)
        users = [user for user in users if _by_another(halves.routine, user)]
        known = made_known(self.program, halves.routine, users, halves.names) if users else None
        for name, changes in (known or {}).items():
            edits.setdefault(name, []).extend(changes)

    def put(self, parts: Sequence[tuple[Split, Halves]], edits: dict[str, list[Edit]]) -> list[int]:
        """Put the halves of routines in the place of their calls; how much work each passes."""
        written: list[tuple[Split, HalfCalls]] = []
        for split, halves in parts:
            written.append((split, HalfCalls(halves, [calls for _, calls in written])))
            self.rename(halves, edits)
            self._declare(*written[-1], edits)
        return self._edit_uses(written, edits)

    def match(self, routines: Sequence[Routine], edits: dict[str, list[Edit]]) -> Places:
        """Let what may match collectives of routines that are divided become nonblocking as well.

        Returns the places of these calls.
        """
        names = {routine.key for routine in routines}
        sites = [s for s in self.collectives.matching(routines) if s.routine.key not in names]
        for name, changes in self.collectives.edits(sites).items():
            edits[name] += changes
        return frozenset((site.routine.file, site.line) for site in sites)

    @staticmethod
    def _declare(split: Split, calls: HalfCalls, edits: dict[str, list[Edit]]) -> None:
        """What the callers need; ahead of all that uses it at the same place."""
        seen: set[str] = set()
        for use in split.uses:
            if use.routine.name not in seen:
                seen.add(use.routine.name)
                slots = 1 + max(u.slot for u in split.uses if u.routine is use.routine)
                edits[use.routine.file] += calls.declarations(use.routine, split.kept, slots)

    def _edit_uses(
        self, written: Sequence[tuple[Split, HalfCalls]], edits: dict[str, list[Edit]]
    ) -> list[int]:
        parted = Parted(self.program)
        worth = [0] * len(written)
        # Of calls that join another one, by its identity: their finishes.
        finishes: dict[int, list[Finish]] = {}
        for split, calls in written:
            for use in split.uses:
                if use.joins is not None:
                    data = self.program.files[use.routine.file].data
                    indent = indent_at(data, use.statement.code_start)
                    text = calls.half(1, use.routine, use.call, split.kept, use.slot, indent)
                    joining = finishes.setdefault(id(use.joins), [])
                    joining.append(Finish(use.call.start, text, use.statement, use.inside))
        for number, (split, calls) in enumerate(written):
            for use in split.uses:
                if use.joins is not None:
                    worth[number] += 1
                    edits[use.routine.file] += calls.start(
                        use.routine, use.statement, use.inside, use.call, split.kept, use.slot
                    )
                    continue
                interior = ""
                if use.division is not None:
                    interior, changes = self.boundary.pieces(use.routine, use.division, parted)
                    edits[use.routine.file] += changes
                edits[use.routine.file] += calls.use(
                    use.routine,
                    use.statement,
                    use.inside,
                    use.call,
                    use.block,
                    (use.first, use.last),
                    interior,
                    split.kept,
                    use.slot,
                    finishes.get(id(use), []),
                )
                worth[number] += use.passed + (1 if use.division else 0)
        for name, changes in parted.edits().items():
            edits[name] += changes
        return worth
