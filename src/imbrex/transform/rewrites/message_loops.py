"""Message loops: all messages of a loop are started, and waited for behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.guarded_calls import call_alone
from imbrex.transform.analysis.kept_spaces import kept_spaces
from imbrex.transform.analysis.message_loops import MessageLoop, MessageLoops
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind, LoopRange, Statement, walk
from imbrex.transform.rewrites.base import Plan, Refusal, Site
from imbrex.transform.rewrites.blocking import BlockingToNonblocking
from imbrex.transform.rewrites.boundary import NAME as BOUNDARY
from imbrex.transform.rewrites.distribution import (
    undividable,
    with_statements,
    without_statements,
)
from imbrex.transform.rewrites.entry_bounds import known_at_entry
from imbrex.transform.rewrites.proposals import Preparing, Proposal, StatementSite
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS
from imbrex.transform.text.braces import can_be_braced, closing, opening
from imbrex.transform.text.directives import directed
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.labels import Used, relabelled
from imbrex.transform.text.layout import indent_at
from imbrex.transform.text.loop_headers import Header, read_header
from imbrex.transform.text.loop_requests import LoopRequests, loop_requests
from imbrex.transform.text.placing import behind, in_front
from imbrex.transform.text.specification import identifiers

_BLOCKING = mpi_calls.BLOCKING.keys()
_MOST_MESSAGES = 4096  # requests of one loop


def _is_open(span: LoopRange) -> bool:
    """Whether how often a loop runs is no constant."""
    return bool(span.low.terms or span.high.terms)


@dataclass(frozen=True, slots=True)
class Starting:
    """A loop that is to start its messages."""

    loop: MessageLoop
    headers: list[Header]
    transfers: list[Transfer]  # of one iteration, in their order
    counted: bool = True  # how many iterations there are is a constant


class StartedInLoops(Preparing[StatementSite, Starting]):
    """A loop of blocking messages starts all of them; waits behind it complete them.

    Before:
        for (int d = 0; d < DIM; d++)
            MPI_Sendrecv(out[d], n, MPI_DOUBLE, above[d], d, in[d], n, MPI_DOUBLE, below[d], d,
                         comm, MPI_STATUS_IGNORE);
        work(w);

    After:
        for (int d = 0; d < DIM; d++) {
            MPI_Irecv(in[d], n, MPI_DOUBLE, below[d], d, comm, &receives[d]);
            MPI_Isend(out[d], n, MPI_DOUBLE, above[d], d, comm, &sends[d]);
        }
        work(w);
        MPI_Waitall(DIM, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(DIM, sends, MPI_STATUSES_IGNORE);
    """

    name = "message-loops"

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.facts = footprints.facts
        self.blocking = BlockingToNonblocking(program, footprints, self.facts)
        self._made: list[tuple[StatementSite, Proposal]] = []
        self._labels: Used = set()  # of loops behind waits
        self._names: dict[str, set[str]] = {}  # what its loops declare, by routine

    def sites(self) -> Iterator[StatementSite]:
        for routine in self.program.editable():
            for block in routine.body.plain():
                if not block.insertable or not block.braced:
                    continue
                for index, statement in enumerate(block.statements):
                    if statement.kind is Kind.LOOP and self._talks(statement):
                        yield StatementSite(routine, block, index)

    @staticmethod
    def _talks(loop: Statement) -> bool:
        return any(c.name in _BLOCKING for inner in loop.walk() for c in inner.calls)

    def proposals(self) -> list[Proposal]:
        """What may be done by itself, and once more for what it makes possible.

        Loops behind each other come as one first: their messages go together.
        """
        found = super().proposals()
        found = [*self._in_runs(), *found]
        more = [
            replace(each, leads_to=(BOUNDARY, WRAPPERS), also=(each.routine.name,))
            for each in found
            if each.edits
        ]
        return found + more

    def _in_runs(self) -> Iterator[Proposal]:
        """All loops of each run that has nothing but assignments between them."""
        runs: list[list[tuple[StatementSite, Proposal]]] = []
        for site, proposal in self._made:
            if runs and self._follows(runs[-1][-1][0], site):
                runs[-1].append((site, proposal))
            else:
                runs.append([(site, proposal)])
        for run in runs:
            if len(run) > 1:
                first = run[0][1]
                name = first.routine.file
                edits = [edit for _, each in run for edit in each.edits[name]]
                starts = frozenset[tuple[str, int]]().union(*(each.starts for _, each in run))
                yield replace(first, edits={name: edits}, starts=starts)

    def _follows(self, above: StatementSite, below: StatementSite) -> bool:
        if above.block is not below.block:
            return False
        between = above.block.statements[above.index + 1 : below.index]
        each = [self.footprints.of(statement, above.routine.file) for statement in between]
        return not any(found.heavy or found.events or found.stop for found in each)

    def refused(self, site: StatementSite, refusal: Refusal) -> Proposal:
        routine = site.routine
        lines = [c.line for s in site.statement.walk() for c in s.calls if c.name in _BLOCKING]
        told = frozenset((routine.name, line) for line in lines)
        reason = refusal.reason
        return Proposal(self.name, routine, site.line, reason, without_window=True, posts=told)

    def conditions(self, site: StatementSite) -> Starting | None:
        """How a loop starts its messages; None where it does more than exchange some.

        Raises Refusal where an iteration needs what one before it has received.
        """
        routine, statement = site.routine, site.statement
        source = self.program.files[routine.file]
        if self.facts.timing is not None:
            return None
        spaces = kept_spaces(self.program, self.footprints, routine)
        space = spaces.of(statement)
        if space is None:
            return None
        transfers = self._transfers(routine, space)
        headers = self._headers(routine, space) if transfers else None
        if headers is None:
            return None
        found = MessageLoops(self.program, self.footprints, routine, spaces).find(space, transfers)
        if isinstance(found, Reason):
            if self._computes(routine, space):
                return None
            raise Refusal(self.name, found)
        if found.behind:
            reason = undividable(source, routine, space, site.block)
            if reason is not None:
                raise Refusal(self.name, reason)
        every = [transfer for each in transfers.values() for transfer in each]
        if self._messages(space) * len(every) > _MOST_MESSAGES:
            return None
        counted = not any(map(_is_open, space.ranges))
        if not (counted or self._messages(space)):
            return None
        return Starting(found, headers, every, counted)

    def _transfers(self, routine: Routine, space: Space) -> dict[int, list[Transfer]]:
        """The transfers of each call of the innermost loop; none where one may not be started."""
        source = self.program.files[routine.file]
        found: dict[int, list[Transfer]] = {}
        for statement in walk(space.loops[-1].blocks[0].statements):
            if statement.blocks or not self.footprints.of(statement, routine.file).events:
                continue
            call = call_alone(statement)
            if call is None or call.name not in _BLOCKING or statement.parent is None:
                return {}
            site = Site(routine, statement, call)
            try:
                own = self.blocking.anew(routine.file).conditions(site)
            except Refusal:
                return {}  # told at the call itself
            status = own[0].status
            if status is not None and self.blocking.status_matters(site, status):
                return {}
            if any(transfer.part.mode == "ready" for transfer in own):
                return {}  # its receive may be posted for what an iteration before has received
            if source.is_fortran and len(own) > 1 and not statement.parent.braced:
                return {}
            found[id(statement)] = [replace(transfer, status=None) for transfer in own]
        return found

    def _headers(self, routine: Routine, space: Space) -> list[Header] | None:
        """The headers of loops between constants; None where one is none.

        One loop of a procedure of Fortran may have bounds that are known where that begins.
        """
        source = self.program.files[routine.file]
        if space.call is not None or space.elements or directed(space):
            return None
        found = []
        for loop, span in zip(space.loops, space.ranges, strict=True):
            header = read_header(source, loop, named=True)
            if header is None or not span.every:
                return None
            if _is_open(span) and not (
                sum(map(_is_open, space.ranges)) == 1
                and known_at_entry(self.program, self.footprints, routine, loop, header)
            ):
                return None
            if not source.is_fortran and self._local(header):
                return None
            found.append(header)
        return found

    def _local(self, header: Header) -> bool:
        """Whether a bound names a constant that is not known where the routine begins; of C."""
        named = identifiers(f"{header.low} {header.high}", fold=False)
        return any(
            variable.name in named and variable.kind != "global"
            for variable in self.program.variables.values()
        )

    def _computes(self, routine: Routine, space: Space) -> bool:
        """Whether a loop does more than exchange messages."""
        return any(
            found.heavy and not found.events
            for statement in space.loops[-1].blocks[0].statements
            for found in (self.footprints.of(statement, routine.file),)
        )

    @staticmethod
    def _messages(space: Space) -> int:
        """The iterations of a nest, as far as they are counted."""
        number = 1
        for span in space.ranges:
            if _is_open(span):
                continue
            number *= max(span.high.constant - span.low.constant + 1, 0)
        return number

    def apply(self, plan: Plan[StatementSite, Starting]) -> Proposal:
        routine, starting = plan.site.routine, plan.content
        source = self.program.files[routine.file]
        names = self._names.setdefault(routine.key, set())
        text = loop_requests(
            self.program,
            source,
            routine,
            starting.headers,
            starting.transfers,
            names,
            counted=starting.counted,
        )
        names.update(text.names)
        loop = plan.site.statement
        indent = indent_at(source.data, loop.code_start)
        edits = text.declarations(starting.transfers, [])
        edits += self._starts(source, text, starting)
        lines = [indent + line for line in text.wait(indent)]
        found = starting.loop
        if found.behind:
            edits += without_statements(source, found.space, found.ahead)
            rest = with_statements(source, found.space, found.behind)
            if source.is_fortran:
                rest = relabelled(source, rest, self._labels) or rest
            lines.append(rest)
        edits.append(behind(source, loop, "\n".join(lines)))
        reason = Reason(ReasonKind.STARTED_IN_LOOP(), Location(routine.file, loop.line))
        proposal = Proposal(self.name, routine, loop.line, reason, {routine.file: edits})
        proposal.starts = frozenset((routine.file, t.call.line) for t in starting.transfers)
        self._made.append((plan.site, proposal))
        return proposal

    def _starts(self, source: SourceFile, text: LoopRequests, starting: Starting) -> list[Edit]:
        """The calls as starts; ahead of those in an `if`, requests that are none."""
        body = starting.loop.space.loops[-1].blocks[0]
        edits: list[Edit] = []
        braced: set[int] = set()
        presets: list[int] = []
        for statement in walk(body.statements):
            own = starting.loop.transfers.get(id(statement))
            if own is None:
                continue
            block = statement.parent
            assert block is not None
            indent = text.indent(statement)
            lines = [text.start(transfer, indent) for transfer in own]
            whole = block.braced
            if not whole and len(lines) > 1 and can_be_braced(source, block):
                whole = True
                braced.add(id(block))
                edits += [opening(source, block), closing(source, block)]
            edits.append(
                Edit(
                    statement.code_start, statement.end, text.in_place(lines, indent, braced=whole)
                )
            )
            if block is not body:
                presets += [transfer.request for transfer in own]
        if presets:
            first = body.statements[0]
            indent = indent_at(source.data, first.code_start)
            if not body.braced and id(body) not in braced:
                edits += [opening(source, body), closing(source, body)]
            lines = [indent + text.none(number) for number in presets]
            edits.append(in_front(source, first.code_start, "\n".join(lines)))
        return edits
