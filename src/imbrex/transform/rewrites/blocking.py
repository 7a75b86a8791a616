"""Blocking to nonblocking, with motion: start as early and wait as late as the data allow."""

from __future__ import annotations

from collections.abc import Iterable

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.copies import only_copies
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.motion import Reach
from imbrex.transform.analysis.null_source import may_fill_nothing
from imbrex.transform.analysis.transfer import Role, Transfer, data_accesses
from imbrex.transform.analysis.unread import never_read, tells_source
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.memory import BY_POINTER, UNKNOWN_MEMORY
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind
from imbrex.transform.rewrites.base import Decision, Plan, Site
from imbrex.transform.rewrites.calls import CallRewrite

_NO_BUFFER = frozenset({"MPI_BOTTOM", "MPI_IN_PLACE", "NULL", "0"})


class BlockingToNonblocking(CallRewrite[list[Transfer], Decision]):
    """MPI_Send, Ssend, Rsend, Recv and Sendrecv become a start, a window and a wait.

    The start moves up to the last producer of the data, the wait down to its first consumer.

    Before:
        fill(u);
        work(w);
        MPI_Sendrecv(u, n, MPI_DOUBLE, right, 0, v, n, MPI_DOUBLE, left, 0, comm,
                     MPI_STATUS_IGNORE);
        use(v);

    After:
        MPI_Irecv(v, n, MPI_DOUBLE, left, 0, comm, &imbrex_requests[0]);
        fill(u);
        MPI_Isend(u, n, MPI_DOUBLE, right, 0, comm, &imbrex_requests[1]);
        work(w);
        MPI_Wait(&imbrex_requests[0], MPI_STATUS_IGNORE);
        use(v);
    """

    name = "nonblocking"

    def __init__(self, program: Program, footprints: Footprints, facts: ProgramFacts) -> None:
        super().__init__(program, footprints, facts)
        self.datatypes: dict[str, tuple[bool, set[tuple[str, bool]]]] = {}
        self.begun: dict[int, list[Transfer]] = {}  # by the identity of the site

    def anew(self, file: str) -> BlockingToNonblocking:
        """For a trial on calls of a file: what it finds fit is not noted here."""
        other = BlockingToNonblocking(self.program, self.footprints, self.facts)
        mixed, datatypes = self._datatypes_in(file)
        other.datatypes[file] = (mixed, set(datatypes))
        return other

    def applies(self, site: Site) -> bool:
        return site.call.name in mpi_calls.BLOCKING

    def conditions(self, site: Site) -> list[Transfer]:
        """The transfers of the call.

        Raises Refusal where the call may not become nonblocking at all.
        """
        call = site.call
        error = self._check(site)
        status = self._status(site)
        transfers = []
        for part in mpi_calls.BLOCKING[call.name]:
            buffer = call.arguments[part.buffer]
            self._check_buffer(site, buffer)
            wanted = status if part.direction == "receive" else None
            transfers.append(Transfer(call, part, buffer, wanted, error=error))
            transfers[-1].assigned = self._assigned_to(site)
            transfers[-1].codes = self._taking(site)
            transfers[-1].checked = call.checked
        return transfers

    def _assigned_to(self, site: Site) -> str:
        return "" if site.call.is_statement else self.assigned(site)

    def _check_buffer(self, site: Site, buffer: Argument) -> None:
        base = (buffer.base or "").lstrip("*")
        unknown = base not in self.program.variables or UNKNOWN_MEMORY in buffer.extends_into
        if buffer.constant in _NO_BUFFER or unknown:
            self._refuse(site, ReasonKind.BUFFER_UNKNOWN(argument=buffer.text))
        shared = self.program.overlays.get(buffer.base or "", set()) - {BY_POINTER}
        # Of a target these are the pointers that may name it, too.
        shared = {name for name in shared if name not in self.program.variables}
        if shared:
            self._refuse(site, ReasonKind.OVERLAID(variable=buffer.text, how=min(shared)))
        if self.program.files[site.routine.file].language is not Language.C:
            self._check_interface(site, buffer)

    def _check_interface(self, site: Site, buffer: Argument) -> None:
        """Without an interface, a compiler wants all buffers of one procedure to be alike."""
        routine = site.routine
        if routine.interface in ("mpi", "mpi_f08"):
            return
        mixed, datatypes = self._datatypes_in(routine.file)
        kind = self._kind(buffer)
        if mixed or kind is None:
            return
        datatypes.add(kind)
        if len(datatypes) > 1:
            datatypes.discard(kind)
            self._refuse(
                site,
                ReasonKind.MISMATCH(),
            )

    def _kind(self, buffer: Argument) -> tuple[str, bool] | None:
        variable = self.program.variables.get(buffer.base or "")
        return None if variable is None else (variable.element, bool(variable.bounds))

    def _datatypes_in(self, file: str) -> tuple[bool, set[tuple[str, bool]]]:
        """Whether the file mixes types already, and the types of its nonblocking buffers."""
        if file not in self.datatypes:
            used: dict[str, set[tuple[str, bool]]] = {}
            for routine in self.program.routines.values():
                for statement in routine.statements() if routine.file == file else ():
                    for call in statement.calls:
                        data = call.name in mpi_calls.PARTS or call.name in mpi_calls.COLLECTIVES
                        if data and call.arguments:
                            kind = self._kind(call.arguments[0])
                            if kind is not None:
                                used.setdefault(call.name, set()).add(kind)
            mixed = any(len(datatypes) > 1 for datatypes in used.values())
            fixed = {k for name in mpi_calls.NONBLOCKING for k in used.get(name, set())}
            self.datatypes[file] = (mixed, fixed)
        return self.datatypes[file]

    def _status(self, site: Site) -> Argument | None:
        position = mpi_calls.STATUS.get(site.call.name)
        if position is None:
            return None
        argument = site.call.arguments[position]
        if argument.constant == "MPI_STATUS_IGNORE":
            return None
        file, key = site.routine.file, argument.base or ""
        if (
            self.status_matters(site, argument)
            and may_fill_nothing(self.footprints, site.statement, site.call, file)
            and tells_source(self.program, site.routine, key)
        ):
            self._refuse(site, ReasonKind.NULL_STATUS())
        return argument

    def apply(self, plan: Plan[Site, list[Transfer]]) -> Decision:
        """Put starts and waits into the model, as far apart as the data allow."""
        site, transfers = plan.site, plan.content
        self.lower(site, transfers)
        motion = self.motion(site.routine)
        ups = [self._move_up(motion, transfer) for transfer in transfers]
        downs = [self._move_down(motion, transfer) for transfer in transfers]
        downs = [
            self._into_branches(motion, transfer, self._into_next(motion, transfer, reach))
            for transfer, reach in zip(transfers, downs, strict=True)
        ]
        crossed = sum(reach.position.crossed for reach in ups + downs)
        beside = sum(reach.position.beside for reach in ups + downs)
        starts = [self._line_after(transfer.start) for transfer in transfers]
        ends = [self._line_before(transfer.wait, site) for transfer in transfers]
        decision = Decision(
            site,
            "rewritten",
            Reason(ReasonKind.WINDOW(count=crossed), site.location),
            min(starts),
            max(ends),
            [self.name],
            crossed=crossed,
            worked=crossed - sum(reach.position.packed for reach in ups + downs),
        )
        for transfer, up, down in zip(transfers, ups, downs, strict=True):
            decision.details += self._describe(transfer, up, down)
        if not crossed and beside:
            decision.reason = Reason(ReasonKind.BESIDE(), site.location)
        if not crossed and not beside:
            self.undo(site, transfers)
            decision.decision = "nothing-to-gain"
            decision.rewrites = []
            up, down = ups[0], downs[0]
            decision.reason = Reason(
                ReasonKind.NO_WINDOW(before=up.blocker, behind=down.blocker),
                down.blocker.location,
            )
        elif not beside and self._only_unpacks(site, transfers, ups, downs):
            self.undo(site, transfers)
            decision.decision, decision.rewrites, decision.crossed = "nothing-to-gain", [], 0
            decision.reason = Reason(ReasonKind.ONLY_UNPACKS(), site.location)
        else:
            self.footprints.forget(site.statement)
            self.begun[id(site)] = transfers
        return decision

    def count_beside(self, decisions: Iterable[Decision]) -> None:
        """Note how many messages each message was moved over, once all have been moved."""
        for decision in decisions:
            transfers = self.begun.get(id(decision.site), [])
            decision.beside = sum(transfer.beside for transfer in transfers)

    def _only_unpacks(
        self, site: Site, transfers: list[Transfer], ups: list[Reach], downs: list[Reach]
    ) -> bool:
        """Whether all that a send and receive in one would gain is a send's wait behind copying.

        Two calls to MPI more for each message then cost more than they bring.
        """
        for transfer, up, down in zip(transfers, ups, downs, strict=True):
            if up.position.crossed or (transfer.receives and down.position.crossed):
                return False
        wait = next(t.wait for t, d in zip(transfers, downs, strict=True) if d.position.crossed)
        assert wait is not None and wait.parent is not None
        siblings = wait.parent.statements
        if len(transfers) < 2 or site.statement not in siblings:
            return False
        passed = siblings[siblings.index(site.statement) + 1 : siblings.index(wait)]
        return all(
            only_copies(self.program, other) for other in passed if other.kind is not Kind.INSERTED
        )

    def lower(self, site: Site, transfers: list[Transfer]) -> None:
        """Replace the call by starts and waits at the same place."""
        original = site.statement
        block = original.parent
        assert block is not None
        position = block.statements.index(original)
        reads = self._evaluation(site)
        starts, waits = [], []
        for transfer in transfers:
            data = data_accesses(self.program, transfer)
            transfer.start = self._inserted(original, [*reads, *data], Role(transfer, True))
            if transfer.status is not None and self.status_matters(site, transfer.status):
                transfer.status_read = True
                transfer.control += [a for a in (transfer.sets_status,) if a is not None]
            release = [*data, *transfer.control]
            transfer.wait = self._inserted(original, release, Role(transfer, False))
            starts.append(transfer.start)
            waits.append(transfer.wait)
        original.removed = True
        block.statements[position + 1 : position + 1] = starts + waits
        for statement in starts + waits:
            statement.parent = block

    def status_matters(self, site: Site, status: Argument) -> bool:
        return never_read(self.program, site.routine, status.base or "") is not None

    def undo(self, site: Site, transfers: list[Transfer]) -> None:
        """Take starts and waits out of the model: the call stands as it stood."""
        self.begun.pop(id(site), None)
        self.footprints.forget(site.statement)
        site.statement.removed = False
        for transfer in transfers:
            for statement in (transfer.start, transfer.wait, *transfer.more_waits):
                if statement is not None and statement.parent is not None:
                    statement.parent.statements.remove(statement)

    @staticmethod
    def _describe(transfer: Transfer, up: Reach, down: Reach) -> list[str]:
        name = transfer.part.start
        buffer = transfer.buffer.text.strip()
        return [
            f"{name} of {buffer}: not earlier, because {up.blocker}",
            f"wait for {buffer}: not later, because {down.blocker}",
        ]
