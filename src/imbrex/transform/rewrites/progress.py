"""Progress calls in the loops of a window, for libraries that move data only inside MPI.

As in Shet et al., section 4.3, where calls of MPI_Iprobe during the work do it. The call must not
complete anything: MPI_Test would free the request and lose the status that the wait gives.
MPI_Request_get_status drives the library and leaves the request as it is; where several requests
are under way, or none is known to be set, MPI_Iprobe does it. It asks MPI_COMM_WORLD, since MPICH
does not look at the network for MPI_COMM_SELF, and for the largest tag that every MPI allows: Open
MPI returns without looking at the network where a message that matches waits to be received.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.work import Work
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Decision, Plan, Refusal, Rewrite, Site
from imbrex.transform.rewrites.progress_windows import Window, Windows
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.progress_text import ProgressText

NAME = "progress"
_PARALLEL = re.compile(rb"^\s*#\s*pragma\s+(omp|acc)|^[!cC*]\$(omp|acc)", re.MULTILINE | re.I)
_MOST_LEVELS = 4  # of calls between the window and the loop
_MOST_ITERATIONS = 1 << 20
_CLOCK_READINGS = 16  # in one interval: a reading costs as much as a hundred accesses


@dataclass(slots=True)
class Spot:
    """Where a progress call goes: at the beginning of a loop's body, or around the loop."""

    routine: Routine
    loop: Statement
    every: int  # iterations
    divided: bool  # the innermost loop is divided into strips
    clocked: bool  # the clock is asked in those, as the length of an iteration is not known


class ProgressCalls(Rewrite[Window, list[Spot], dict[str, list[Edit]]]):
    """The loops of a window call MPI now and then, for libraries that move data only inside MPI.

    It is asked for with `--progress` or `--machine`, not with `--rewrites`.

    Before:
        MPI_Irecv(v, n, MPI_DOUBLE, left, 0, comm, &request);
        for (int i = 0; i < m; i++)
            w[i] = 2.0 * w[i];
        MPI_Wait(&request, MPI_STATUS_IGNORE);

    After:
        MPI_Irecv(v, n, MPI_DOUBLE, left, 0, comm, &request);
        for (int imbrex_first = 0; imbrex_first < m; imbrex_first += 32768) {
            MPI_Request_get_status(request, &imbrex_flag, MPI_STATUS_IGNORE);
            for (int i = imbrex_first; i < m && i < imbrex_first + 32768; i++)
                w[i] = 2.0 * w[i];
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    """

    name = NAME

    def __init__(
        self,
        program: Program,
        footprints: Footprints,
        facts: ProgramFacts,
        interval_s: float,
        longest_s: dict[tuple[str, str], float],
    ) -> None:
        """`interval_s`: the time between two progress calls.

        `longest_s`: what a message takes at most, by file and routine, where it was measured.
        """
        self.program = program
        self.footprints = footprints
        self.facts = facts
        self.interval_s = interval_s
        self.longest_s = longest_s
        self.work = Work(program)
        self.taken: set[int] = set()  # loops that have a call
        self.windows_of: Counter[int] = Counter()  # by loop
        self.texts: dict[str, ProgressText] = {}  # by routine

    def sites(self) -> Iterator[Window]:
        return Windows(self.program, self.footprints).find()

    def conditions(self, site: Window) -> list[Spot]:
        """Where calls go. Raises Refusal where none may or need be put."""
        window = site
        here = Location(window.waiting.file, window.call.line)
        if self.facts.threads:
            raise Refusal(self.name, self.facts.threads)
        for source in self.program.files.values():
            match = _PARALLEL.search(source.data)
            if match:
                line = source.line_of(match.start())
                text = ReasonKind.PARALLEL_REGIONS()
                raise Refusal(self.name, Reason(text, Location(source.name, line)))
        longest_s = self._longest_s(window.routine)
        if longest_s is not None and longest_s < self.interval_s:
            text = ReasonKind.SHORT_MESSAGES(
                longest_us=f"{1e6 * longest_s:.3g}",
                interval_us=f"{1e6 * self.interval_s:.3g}",
            )
            raise Refusal(self.name, Reason(text, here))
        reasons: list[Reason] = []
        spots = [
            spot
            for statement in window.statements
            for spot in self._in(window.routine, statement, reasons, _MOST_LEVELS)
        ]
        if not spots:
            text = ReasonKind.NO_LONG_LOOP()
            raise Refusal(self.name, reasons[0] if reasons else Reason(text, here))
        return spots

    def _longest_s(self, routine: Routine) -> float | None:
        """Of a routine's messages; of all where none of its own was measured."""
        own = self.longest_s.get((routine.file, routine.name))
        return max(self.longest_s.values(), default=None) if own is None else own

    def _in(
        self, routine: Routine, statement: Statement, reasons: list[Reason], levels: int
    ) -> list[Spot]:
        """Spots inside one statement of a window."""
        footprint = self.footprints.of(statement, routine.file)
        if not footprint.heavy and statement.kind is not Kind.IF:
            return []
        if footprint.events:
            event = footprint.events[0]
            reasons.append(Reason(ReasonKind.PROGRESS_MADE(call=event.name), event.location))
            return []
        if statement.kind is Kind.LOOP:
            return self._in_loop(routine, statement, reasons, levels)
        found = [
            spot
            for block in statement.blocks
            for inner in block.statements
            for spot in self._in(routine, inner, reasons, levels)
        ]
        if levels:
            for call in statement.calls:
                other = self.program.routines.get(call.name)
                for inner in other.body.statements if other is not None else ():
                    assert other is not None
                    found += self._in(other, inner, reasons, levels - 1)
        return found

    def _in_loop(
        self, routine: Routine, loop: Statement, reasons: list[Reason], levels: int
    ) -> list[Spot]:
        once = self.work.of_body(loop)
        iterations = self.work.iterations(loop)
        if iterations is not None and once * iterations < 0.5 * self.interval_s:
            return []
        body = [inner for block in loop.blocks for inner in block.statements]
        if once > self.interval_s:
            found = [s for inner in body for s in self._in(routine, inner, reasons, levels)]
            if found:
                return found
        problem = self._problem(routine, loop)
        if problem is not None:
            reasons.append(problem)
            return []
        every = self._every(once * 1.5, self.interval_s)
        innermost = not any(self.footprints.of(s, routine.file).heavy for s in body)
        if every > 1 and innermost:
            problem = self._indivisible(routine, loop)
            if problem is not None:
                reasons.append(problem)
                return []
        divided = every > 1 and innermost
        clocked = not divided and self.work.uncertain(loop)
        if clocked:
            every = self._every(once, self.interval_s / _CLOCK_READINGS)
        return [Spot(routine, loop, every, divided, clocked)]

    @staticmethod
    def _every(once_s: float, span_s: float) -> int:
        """The power of two of iterations that last `span_s`."""
        every = 1
        while every * once_s < span_s and every < _MOST_ITERATIONS:
            every *= 2
        return every

    def _problem(self, routine: Routine, loop: Statement) -> Reason | None:
        """Why no call may be put into a loop."""
        here = Location(routine.file, loop.line)
        source = self.program.files.get(routine.file)
        if source is None or routine.problem:
            return Reason(routine.problem or ReasonKind.ROUTINE_UNREAD(), here)
        if loop.stop:
            return Reason(loop.stop, here)
        text = ProgressText(self.program, source, routine)
        if source.language is Language.C:
            if not 0 <= source.mpi_known_from < loop.start:
                return Reason(ReasonKind.NO_MPI_HEADER(file=routine.file), here)
        elif not routine.interface:
            return Reason(ReasonKind.ROUTINE_WITHOUT_MPI(routine=routine.name), here)
        elif text.is_pure():
            return Reason(ReasonKind.PURE(routine=routine.name), here)
        if routine.declare_after < 0 and routine.first_executable < 0:
            return Reason(ReasonKind.NO_PLACE_FOR_DECLARATIONS(routine=routine.name), here)
        inner: Statement | None = loop
        while inner is not None:
            block = inner.parent
            if block is None or not (block.insertable or inner is loop):
                return Reason(ReasonKind.LOOP_AMID_MACRO(), here)
            if inner.code_start > inner.start >= 0 and inner.kind is Kind.LOOP:
                return Reason(ReasonKind.DIRECTED_LOOP(), Location(routine.file, inner.line))
            inner = block.owner
        if not text.fits(loop):
            return Reason(ReasonKind.LOOP_BODY_LINE(), here)
        return None

    def _indivisible(self, routine: Routine, loop: Statement) -> Reason | None:
        """Why an innermost loop may not be divided into strips."""
        here = Location(routine.file, loop.line)
        source = self.program.files[routine.file]
        if loop.loop is None or not ProgressText(self.program, source, routine).divides(loop):
            return Reason(ReasonKind.LOOP_INDIVISIBLE(), here)
        for inner in loop.walk():
            if inner.kind is Kind.JUMP and inner.text not in ("continue", "cycle", "return"):
                place = Location(routine.file, inner.line)
                return Reason(ReasonKind.LOOP_LEFT(statement=inner.text), place)
        if self._read_behind(routine, loop.loop.index):
            return Reason(ReasonKind.INDEX_READ(), here)
        return None

    def _read_behind(self, routine: Routine, index: str) -> bool:
        def reads(block: Block) -> bool:
            for statement in block.statements:
                if statement.loop is not None and statement.loop.index == index:
                    continue
                if any(a.variable == index and not a.write for a in statement.accesses):
                    return True
                if any(reads(inner) for inner in statement.blocks):
                    return True
            return False

        return reads(routine.body)

    def insert(
        self, chosen: Callable[[str, int], bool]
    ) -> tuple[dict[str, list[Edit]], list[Decision]]:
        """Edits of all files, and what was decided for each window whose wait is chosen."""
        edits: dict[str, list[Edit]] = {}
        decisions: list[Decision] = []
        found = [
            (window, self.validate(window))
            for window in self.sites()
            if chosen(window.waiting.file, window.call.line)
        ]
        plans = [plan for _, plan in found if isinstance(plan, Plan)]
        self.windows_of = Counter(id(spot.loop) for plan in plans for spot in plan.content)
        for window, plan in found:
            site = Site(window.waiting, window.wait, window.call)
            if isinstance(plan, Plan):
                reason = Reason(ReasonKind.PROGRESS_CALLS(), site.location)
                decision = Decision(site, "rewritten", reason, site.line, site.line, [NAME])
                decision.first_line = window.statements[0].line
                decision.last_line = window.statements[-1].end_line
                decision.details = list(dict.fromkeys(map(self._told, plan.content)))
                decisions.append(decision)
                for name, changes in self.apply(plan).items():
                    edits.setdefault(name, []).extend(changes)
            elif plan is not None:
                cause = ReasonKind.ABOUT(subject=NAME, cause=plan.reason.cause)
                reason = Reason(cause, plan.reason.location)
                decisions.append(Decision(site, "nothing-to-gain", reason, site.line, site.line))
        for key, text in self.texts.items():
            # In front of a call at the same place.
            file = self.program.routines[key].file
            edits[file] = text.declarations() + edits[file]
        return edits, decisions

    def apply(self, plan: Plan[Window, list[Spot]]) -> dict[str, list[Edit]]:
        """The calls of one window, by file; a loop of several windows gets one call."""
        edits: dict[str, list[Edit]] = {}
        for spot in plan.content:
            if id(spot.loop) in self.taken:
                continue
            self.taken.add(id(spot.loop))
            routine = spot.routine
            text = self.texts.get(routine.key)
            if text is None:
                source = self.program.files[routine.file]
                text = self.texts[routine.key] = ProgressText(self.program, source, routine)
            alone = routine is plan.site.routine and self.windows_of[id(spot.loop)] == 1
            request = plan.site.request if alone else None
            clock = self.interval_s if spot.clocked else None
            changes = text.put(spot.loop, spot.every, spot.divided, request, clock)
            edits.setdefault(routine.file, []).extend(changes)
        return edits

    def _told(self, spot: Spot) -> str:
        place = f"{spot.routine.file}:{spot.loop.line}"
        if spot.clocked:
            interval_us = f"{1e6 * self.interval_s:.0f}"
            if spot.every == 1:
                return ReasonKind.PROGRESS_CLOCK(place=place, interval_us=interval_us).text
            return ReasonKind.PROGRESS_CLOCK_READ(
                place=place, interval_us=interval_us, iterations=spot.every
            ).text
        strip_us = f"{self.work.of_body(spot.loop) * spot.every * 1e6:.0f}"
        kind = ReasonKind.PROGRESS_STRIPS if spot.divided else ReasonKind.PROGRESS_EVERY
        return kind(place=place, iterations=spot.every, strip_us=strip_us).text
