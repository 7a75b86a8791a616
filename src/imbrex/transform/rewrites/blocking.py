"""Blocking to nonblocking, with motion: start as early and wait as late as the data allow."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.copies import only_copies
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.motion import Motion, Reach
from imbrex.transform.analysis.transfer import Role, Transfer, data_accesses, evaluation
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.program import (
    UNKNOWN_MEMORY,
    Access,
    Argument,
    Kind,
    Language,
    Program,
    Reason,
    Statement,
)
from imbrex.transform.rewrites.base import Decision, Refusal, Site
from imbrex.transform.rewrites.placement import Placement

_NO_BUFFER = frozenset({"MPI_BOTTOM", "MPI_IN_PLACE", "NULL", "0"})


class BlockingToNonblocking(Placement):
    """MPI_Send, Ssend, Rsend, Recv and Sendrecv become a start, a window and a wait."""

    name = "nonblocking"

    def __init__(self, program: Program, footprints: Footprints, facts: ProgramFacts) -> None:
        super().__init__(footprints, facts)
        self.program = program
        self.kinds: dict[str, tuple[bool, set[tuple[str, bool]]]] = {}

    def anew(self, file: str) -> BlockingToNonblocking:
        """For a trial on calls of a file: what it finds fit is not noted here."""
        other = BlockingToNonblocking(self.program, self.footprints, self.facts)
        mixed, kinds = self._kinds_in(file)
        other.kinds[file] = (mixed, set(kinds))
        return other

    def applies(self, site: Site) -> bool:
        return site.call.name in mpi_calls.BLOCKING

    # Conditions ------------------------------------------------------------------------

    def validate(self, site: Site) -> list[Transfer]:
        """The transfers of the call.

        Raises Refusal where the call may not become nonblocking at all.
        """
        call, routine = site.call, site.routine
        error = self._check(site)
        status = self._status(site)
        transfers = []
        for part in mpi_calls.BLOCKING[call.name]:
            buffer = call.arguments[part.buffer]
            self._check_buffer(site, buffer)
            if part.direction == "receive":
                for position in (part.peer, part.tag):
                    wildcard = self.facts.wildcard(call, call.arguments[position], routine.file)
                    if wildcard:
                        raise Refusal(self.name, wildcard)
            wanted = status if part.direction == "receive" else None
            transfers.append(Transfer(call, part, buffer, wanted, error=error))
        return transfers

    def _check(self, site: Site) -> Argument | None:
        """What any call must hold to become nonblocking; its error code, in Fortran."""
        call, routine = site.call, site.routine
        self._check_place(site)
        language = self.program.files[routine.file].language
        if language is not Language.C and not routine.interface:
            self._refuse(site, "neither mpif.h nor the whole of a module of MPI is known here")
        expected = mpi_calls.C_ARGUMENTS[call.name] + (language is not Language.C)
        optional_error = routine.interface == "mpi_f08" and len(call.arguments) == expected - 1
        if len(call.arguments) != expected and not optional_error:
            self._refuse(site, "the call has an unexpected number of arguments")
        if self.facts.threads:
            raise Refusal(self.name, self.facts.threads)
        for argument in call.arguments:
            if argument.problem:
                self._refuse(site, f"`{argument.text}`: {argument.problem}")
        self._check_arguments(site)
        return self._error_code(site, language, optional_error)

    def _check_buffer(self, site: Site, buffer: Argument) -> None:
        base = (buffer.base or "").lstrip("*")
        unknown = base not in self.program.variables or UNKNOWN_MEMORY in buffer.beyond
        if buffer.text.strip().upper() in _NO_BUFFER or unknown:
            self._refuse(site, f"the memory that `{buffer.text}` names is not known")
        shared = self.program.overlays.get(buffer.base or "", set()) - {"a pointer"}
        if shared:
            self._refuse(site, f"`{buffer.text}` is in {min(shared)}")
        if self.program.files[site.routine.file].language is not Language.C:
            self._check_interface(site, buffer)

    def _refuse(self, site: Site, text: str) -> None:
        raise Refusal(self.name, Reason(text, site.location))

    def _check_place(self, site: Site) -> None:
        call, routine, statement = site.call, site.routine, site.statement
        if routine.problem:
            self._refuse(site, routine.problem)
        if call.macro:
            self._refuse(site, f"the call comes from the macro {call.macro}")
        if not call.is_statement:
            self._refuse(site, "the value of the call is used (its error code is checked)")
        if statement.text == "terminal":
            self._refuse(site, "the call is the statement that ends a loop")
        if statement.stop:
            self._refuse(site, statement.stop)
        block = statement.parent
        inner: Statement = statement
        while block is not None:
            if not block.insertable:
                self._refuse(site, "the code around the call comes from a macro or a header")
            position = block.statements.index(inner)
            before = block.statements[position - 1] if position else None
            if before is not None and before.stop and "#pragma" in before.stop:
                self._refuse(site, f"the call belongs to `{before.stop}`")
            if inner.code_start > inner.start and inner is not statement:
                self._refuse(site, "the call is inside a parallel or directed loop")
            if block.owner is not None and block.owner.kind not in (
                Kind.IF,
                Kind.LOOP,
                Kind.BLOCK,
            ):
                what = block.owner.stop or f"a {block.owner.kind.value}"
                self._refuse(site, f"the call is inside {what}")
            if block.owner is None:
                return
            inner = block.owner
            block = inner.parent

    def _check_interface(self, site: Site, buffer: Argument) -> None:
        """Without an interface, a compiler wants all buffers of one procedure to be alike."""
        routine = site.routine
        if routine.interface in ("mpi", "mpi_f08"):
            return
        mixed, kinds = self._kinds_in(routine.file)
        kind = self._kind(buffer)
        if mixed or kind is None:
            return
        kinds.add(kind)
        if len(kinds) > 1:
            kinds.discard(kind)
            self._refuse(
                site,
                "nonblocking calls with buffers of two types need `use mpi` instead of mpif.h: "
                "compilers reject the mismatch",
            )

    def _kind(self, buffer: Argument) -> tuple[str, bool] | None:
        variable = self.program.variables.get(buffer.base or "")
        return None if variable is None else (variable.element, bool(variable.bounds))

    def _kinds_in(self, file: str) -> tuple[bool, set[tuple[str, bool]]]:
        """Whether the file mixes types already, and the types of its nonblocking buffers."""
        if file not in self.kinds:
            used: dict[str, set[tuple[str, bool]]] = {}
            for routine in self.program.routines.values():
                for statement in routine.statements() if routine.file == file else ():
                    for call in statement.calls:
                        if call.name in mpi_calls.PARTS and call.arguments:
                            kind = self._kind(call.arguments[0])
                            if kind is not None:
                                used.setdefault(call.name, set()).add(kind)
            mixed = any(len(kinds) > 1 for kinds in used.values())
            fixed = {k for name in mpi_calls.NONBLOCKING for k in used.get(name, set())}
            self.kinds[file] = (mixed, fixed)
        return self.kinds[file]

    def _check_arguments(self, site: Site) -> None:
        """Functions that are called for an argument must only read."""
        for inner in site.statement.calls:
            if inner is site.call:
                continue
            footprint = self.footprints.of_call(inner, site.routine.file)
            writes = any(access.write for access in footprint.accesses)
            if footprint.stop or footprint.events or writes:
                self._refuse(site, f"an argument calls {inner.name}, which may have side effects")

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
        reason = never_read(self.program, site.routine, argument.base or "")
        if reason is not None:
            text = f"the error code may be checked: {reason.text}"
            raise Refusal(self.name, Reason(text, reason.location))
        return argument

    def _status(self, site: Site) -> Argument | None:
        position = mpi_calls.STATUS.get(site.call.name)
        if position is None:
            return None
        argument = site.call.arguments[position]
        return None if argument.text.strip().upper() == "MPI_STATUS_IGNORE" else argument

    # Doing it --------------------------------------------------------------------------

    def apply(self, site: Site, transfers: list[Transfer]) -> Decision:
        """Put starts and waits into the model, as far apart as the data allow."""
        self._lower(site, transfers)
        motion = Motion(self.footprints, self.facts, site.routine)
        ups = [self._move_up(motion, transfer) for transfer in transfers]
        downs = [self._move_down(motion, transfer) for transfer in transfers]
        downs = [
            self._into_branches(motion, transfer, self._into_next(motion, transfer, reach))
            for transfer, reach in zip(transfers, downs, strict=True)
        ]
        crossed = sum(reach.position.crossed for reach in ups + downs)
        starts = [self._line_after(transfer.start) for transfer in transfers]
        ends = [self._line_before(transfer.wait, site) for transfer in transfers]
        decision = Decision(
            site,
            "rewritten",
            Reason("", site.location),
            min(starts),
            max(ends),
            [self.name],
            crossed=crossed,
            worked=crossed - sum(reach.position.packed for reach in ups + downs),
        )
        for transfer, up, down in zip(transfers, ups, downs, strict=True):
            decision.details += self._describe(transfer, up, down)
        if not crossed:
            self._undo(site, transfers)
            decision.decision = "nothing-to-gain"
            decision.rewrites = []
            up, down = ups[0], downs[0]
            decision.reason = Reason(
                f"no computation in the window: before it {up.blocker}; behind it {down.blocker}",
                down.blocker.location,
            )
        elif self._only_unpacks(site, transfers, ups, downs):
            self._undo(site, transfers)
            decision.decision, decision.rewrites, decision.crossed = "nothing-to-gain", [], 0
            decision.reason = Reason(
                "only the end of the send could wait, and only while values are copied: "
                "both directions are under way together as it is",
                site.location,
            )
        else:
            self.footprints.forget(site.statement)
            decision.reason = Reason(
                f"{crossed} computing statement{'s' if crossed > 1 else ''} in the window",
                site.location,
            )
        return decision

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

    def _lower(self, site: Site, transfers: list[Transfer]) -> None:
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
                transfer.control.append(
                    Access(
                        transfer.status.base or UNKNOWN_MEMORY,
                        transfer.status.through,
                        True,
                        site.call.line,
                    )
                )
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

    def _undo(self, site: Site, transfers: list[Transfer]) -> None:
        site.statement.removed = False
        for transfer in transfers:
            for statement in (transfer.start, transfer.wait, *transfer.more_waits):
                if statement is not None and statement.parent is not None:
                    statement.parent.statements.remove(statement)

    # Telling ---------------------------------------------------------------------------

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

    @staticmethod
    def _describe(transfer: Transfer, up: Reach, down: Reach) -> list[str]:
        name = transfer.part.start
        buffer = transfer.buffer.text.strip()
        return [
            f"{name} of {buffer}: not earlier, because {up.blocker}",
            f"wait for {buffer}: not later, because {down.blocker}",
        ]
