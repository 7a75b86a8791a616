"""Wrappers of wrappers: a routine that calls routines around MPI is split with them.

`exchange_all` calls `exchange` for each field or direction; its callers have the computation. All
starts that pass the finishes before them go into `exchange_all_start`, all that must wait into
`exchange_all_finish`; each inner call has its part of the caller's requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from imbrex.transform.analysis.declared_values import declared_in_place, may_be_placed
from imbrex.transform.analysis.divided import Item, Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.messages import has_collectives
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Plan
from imbrex.transform.rewrites.passing_on import PassingOn
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.rewrites.splitting import NAME, RoutineSite, Splitting, messages_of
from imbrex.transform.rewrites.uses import Split
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.half_calls import HalfCalls
from imbrex.transform.text.halves import Halves


@dataclass(slots=True)
class Inner:
    """One call of an inner wrapper: its half of the work, and its first request."""

    call: Call
    split: Split
    first: int


@dataclass(slots=True)
class Nest:
    """A routine around wrappers, and the wrappers that it calls."""

    outer: Split
    wrappers: dict[str, Split]
    inner: dict[int, Inner] = field(default_factory=dict)  # by the identity of the item
    number: dict[int, int] = field(default_factory=dict)  # which half, by the same


class NestedWrappers(Splitting[Nest]):
    """A routine that calls such routines is split with them.

    Before:
        exchange_all(u, v);
        work(w);
        use(u, v);

    After:
        exchange_all_start(u, v, imbrex_requests);
        work(w);
        exchange_all_finish(u, v, imbrex_requests);
        use(u, v);
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.leaves: dict[str, Split] = {}
        self.finishes: dict[str, Halves] = {}  # of these, as far as it was asked

    def sites(self) -> Iterator[RoutineSite]:
        """Routines that call wrappers; which routines are those is found first."""
        self.leaves, self.finishes = {}, {}
        files = self.program.files
        for routine in self.program.routines.values():
            calls = messages_of(routine)
            talks = bool(calls) or has_collectives(routine)
            if routine.name == "main" or not talks or routine.file not in files:
                continue
            schedule = self.schedule_of(routine, calls)
            if schedule is not None:
                self.leaves[routine.name] = Split(routine, schedule, [])
        for routine in self.program.routines.values():
            if routine.name in self.leaves or routine.file not in files:
                continue
            if routine.name != "main" and self._calls(routine):
                yield RoutineSite(routine)

    def _calls(self, routine: Routine) -> list[Call]:
        return [c for s in routine.statements() for c in s.calls if c.name in self.leaves]

    def conditions(self, site: RoutineSite) -> Nest | None:
        """How to split a routine with the wrappers it calls; None where nothing is gained.

        Raises Refusal where its callers have work meanwhile, but it cannot be taken apart.
        """
        routine = site.routine
        nest = self._schedule(routine)
        if (
            nest is None
            or not nest.inner
            or self._other_requests(nest)
            or (routine.visible and not self.program.has_main)
        ):
            return None
        self.uses.find(nest.outer)
        if not any(use.has_window for use in nest.outer.uses):
            return None
        nest.outer.kept = self.kept(nest.outer)
        self.uses.one_at_a_time(nest.outer)
        if not any(use.has_window for use in nest.outer.uses):
            return None
        self.check(nest.outer)
        for leaf in nest.wrappers.values():
            leaf.uses = []
            self.uses.find(leaf)
            self.check(leaf)
            if self.kept(leaf):
                text = ReasonKind.INNER_LOCAL(inner=leaf.wrapper.name, outer=routine.name)
                self.refuse(leaf.wrapper, leaf.wrapper.line, text)
            if any(
                use.routine is routine and id(use.statement) not in self._placed(nest)
                for use in leaf.uses
            ):
                text = ReasonKind.INNER_GUARDED(inner=leaf.wrapper.name)
                self.refuse(routine, routine.line, text)
        return nest

    @staticmethod
    def _other_requests(nest: Nest) -> bool:
        """Whether requests of routines that are called have another type than its own have."""
        own = nest.outer.wrapper.interface == "mpi_f08"
        return any(
            (leaf.wrapper.interface == "mpi_f08") is not own for leaf in nest.wrappers.values()
        )

    @staticmethod
    def _placed(nest: Nest) -> set[int]:
        items = [*nest.outer.schedule.early, *nest.outer.schedule.late]
        return {id(item.statement) for item in items if id(item) in nest.inner}

    def _schedule(self, routine: Routine) -> Nest | None:
        """What of the routine is early and what late, the halves of inner calls apart."""
        schedule = Schedule()
        nest = Nest(Split(routine, schedule, []), {})
        above: list[Access] = []  # by what precedes a statement
        blocked: list[Access] = []
        changed: frozenset[str] = frozenset()  # by all that is done so far
        waiting = False
        for statement in routine.body.statements:
            found = self.footprints.of(statement, routine.file)
            if statement.kind is Kind.DECLARE:
                if declared_in_place(self.footprints, routine, above, statement) is None:
                    schedule.declarations.append(statement)
                    continue
                if not may_be_placed(self.footprints, routine, statement):
                    return None
            if found.stop or found.leaves:
                return None
            above += found.accesses
            changed |= self.footprints.changed(found.accesses)
            leaf = self._leaf(statement)
            if leaf is None:
                meets = self._meets(found.accesses, blocked, changed)
                if found.events:
                    return None
                (schedule.late if meets else schedule.early).append(
                    Item(statement, (), list(found.accesses))
                )
                blocked += found.accesses if meets else []
                continue
            call = statement.calls[0]
            accesses = list(statement.accesses)
            early = leaf.schedule.accesses(leaf.schedule.early)
            late = leaf.schedule.accesses(leaf.schedule.late)
            start = self.footprints.bound(call, leaf.wrapper, early) + accesses
            finish = self.footprints.bound(call, leaf.wrapper, late + leaf.schedule.flying)
            given = self._given(leaf, call, accesses)
            halves = (Item(statement, (), start), Item(statement, (), finish + given))
            waiting = waiting or self._meets(start, blocked, changed)
            inner = Inner(call, leaf, schedule.requests)
            for number, item in enumerate(halves):
                nest.inner[id(item)], nest.number[id(item)] = inner, number
            (schedule.late if waiting else schedule.early).append(halves[0])
            schedule.late.append(halves[1])
            blocked += halves[1].accesses + (start if waiting else [])
            schedule.requests += len(leaf.schedule.transfers)
            nest.wrappers[leaf.wrapper.name] = leaf
        return nest

    def _given(self, leaf: Split, call: Call, accesses: list[Access]) -> list[Access]:
        """What evaluating the arguments reads that the finish of a wrapper takes.

        `accesses`: what evaluating all of them does.
        """
        routine = leaf.wrapper
        if routine.on_object or any(access.write for access in accesses):
            return accesses
        if routine.name not in self.finishes:
            halves = Halves(self.program, routine)
            if halves.problem is None:
                halves.definition(leaf.schedule, [])
            self.finishes[routine.name] = halves
        halves = self.finishes[routine.name]
        if halves.problem is not None or len(call.arguments) != len(routine.parameters):
            return accesses
        return [read for i in halves.used[1] for read in call.arguments[i].reads]

    def _leaf(self, statement: Statement) -> Split | None:
        if statement.kind is not Kind.SIMPLE or len(statement.calls) != 1:
            return None
        call = statement.calls[0]
        plain = call.is_statement and not call.macro and not call.unknown
        return self.leaves.get(call.name) if plain else None

    def _meets(
        self, accesses: list[Access], blocked: list[Access], changed: frozenset[str]
    ) -> bool:
        return self.footprints.conflict(accesses, blocked, changed) is not None

    def apply(self, plan: Plan[RoutineSite, Nest]) -> Proposal:
        nest = plan.content
        outer = nest.outer.wrapper
        edits: dict[str, list[Edit]] = {name: [] for name in self.program.files}
        written: dict[str, Halves] = {}
        for name, leaf in nest.wrappers.items():
            halves = written[name] = Halves(self.program, leaf.wrapper)
            edits[leaf.wrapper.file] += halves.definition(leaf.schedule, [])
            leaf.uses = [use for use in leaf.uses if use.routine is not outer]
            for use in leaf.uses:  # a start stays behind what others finish
                use.first = use.last = use.block.statements.index(use.statement)
                use.division = None
            # In other routines that pass it on, to be split in turn, calls have requests apart.
            PassingOn(self.footprints, self.uses).by(leaf)
            if outer.file != leaf.wrapper.file:
                edits[outer.file] += HalfCalls(halves).known_in(outer)
        for item in (*nest.outer.schedule.early, *nest.outer.schedule.late):
            if id(item) in nest.inner:
                self._render(nest, item, written)
        both = Halves(self.program, outer)
        edits[outer.file] += both.definition(nest.outer.schedule, nest.outer.kept)
        parts = [(leaf, written[name]) for name, leaf in nest.wrappers.items()]
        *_, worth = self.put([*parts, (nest.outer, both)], edits)
        matching = self.match([leaf.wrapper for leaf in nest.wrappers.values()], edits)
        first, *inner_names = nest.wrappers
        callers = ", ".join(sorted({use.routine.name for use in nest.outer.uses}))
        text = ReasonKind.SPLIT_NEST(
            outer=outer.name, inner=", ".join(nest.wrappers), callers=callers
        )
        place = Location(outer.file, outer.line)
        wrapper = nest.wrappers[first].wrapper
        proposal = Proposal(self.name, wrapper, outer.line, Reason(text, place), edits)
        proposal.worth = worth * nest.outer.schedule.requests
        proposal.matching = matching
        proposal.also = (*inner_names, outer.name)
        proposal.replaces = (
            *both.full_names,
            *(name for halves in written.values() for name in halves.full_names),
        )
        proposal.starts = frozenset(
            (leaf.wrapper.file, transfer.call.line)
            for leaf in nest.wrappers.values()
            for transfer in leaf.schedule.transfers
        )
        return proposal

    @staticmethod
    def _render(nest: Nest, item: Item, written: dict[str, Halves]) -> None:
        inner, number = nest.inner[id(item)], nest.number[id(item)]
        halves = written[inner.split.wrapper.name]
        requests = "imbrex_requests"
        if halves.fortran:
            requests += f"({inner.first + 1})"
        elif inner.first:
            requests = f"&{requests}[{inner.first}]"

        def text(indent: str) -> str:
            own = [requests] if halves.count else []
            return HalfCalls(halves).call(number, nest.outer.wrapper, inner.call, own, indent)

        item.render = text
