"""Wrappers of wrappers: a routine that calls routines around MPI is split with them.

`exchange_all` calls `exchange` for each field or direction; its callers have the computation. All
starts that pass the finishes before them go into `exchange_all_start`, all that must wait into
`exchange_all_finish`; each inner call has its part of the caller's requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from imbrex.transform.analysis.declared_values import declared_in_place, may_be_placed
from imbrex.transform.analysis.divided import Item, Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.messages import has_collectives
from imbrex.transform.analysis.paths import Path
from imbrex.transform.analysis.schedule import Scheduler
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


@dataclass(slots=True)
class _Seen:
    """What is known of the statements that a schedule has taken so far."""

    divisible: Callable[[Statement], bool]  # whether a conditional may be taken apart
    blocked: list[Access] = field(default_factory=list)  # of what is late
    changed: frozenset[str] = frozenset()
    waiting: bool = False  # a start is late, and all further ones

    def meets(self, footprints: Footprints, accesses: list[Access]) -> bool:
        """Whether something late must stay ahead."""
        return footprints.conflict(accesses, self.blocked, self.changed) is not None


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
                use.routine is routine and id(use.inside or use.statement) not in self._placed(nest)
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
        seen = _Seen(Scheduler(self.footprints, routine).divisible)
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
            if not self._enter(nest, seen, statement, ()):
                return None
        return nest

    def _enter(self, nest: Nest, seen: _Seen, statement: Statement, path: Path) -> bool:
        """Take a statement, or those in a conditional; False where something else communicates."""
        schedule, file = nest.outer.schedule, nest.outer.wrapper.file
        asked = [access for guard, _ in path for access in guard.accesses]
        found = self.footprints.of(statement, file)
        accesses = [*found.accesses, *asked]
        seen.changed |= self.footprints.changed(accesses)
        leaf = self._leaf(statement)
        if leaf is not None:
            self._divide(nest, seen, leaf, Item(statement, path, [*statement.accesses, *asked]))
            return True
        if seen.divisible(statement):
            return all(
                self._enter(nest, seen, child, (*path, (statement, number)))
                for number, block in enumerate(statement.blocks)
                for child in block.statements
            )
        meets = seen.meets(self.footprints, accesses)
        (schedule.late if meets else schedule.early).append(Item(statement, path, accesses))
        seen.blocked += accesses if meets else []
        return not found.events

    def _divide(self, nest: Nest, seen: _Seen, leaf: Split, item: Item) -> None:
        """Enter both halves of an inner call; `item`: the call, with what its arguments read."""
        schedule, call = nest.outer.schedule, item.statement.calls[0]
        early = leaf.schedule.accesses(leaf.schedule.early)
        late = leaf.schedule.accesses(leaf.schedule.late)
        start = self.footprints.bound(call, leaf.wrapper, early) + item.accesses
        finish = self.footprints.bound(call, leaf.wrapper, late + leaf.schedule.flying)
        finish += self._given(leaf, call, list(item.statement.accesses))
        finish += [access for guard, _ in item.path for access in guard.accesses]
        halves = (replace(item, accesses=start), replace(item, accesses=finish))
        seen.waiting = seen.waiting or seen.meets(self.footprints, start)
        inner = Inner(call, leaf, schedule.requests)
        for number, half in enumerate(halves):
            nest.inner[id(half)], nest.number[id(half)] = inner, number
        (schedule.late if seen.waiting else schedule.early).append(halves[0])
        schedule.late.append(halves[1])
        seen.blocked += finish + (start if seen.waiting else [])
        schedule.requests += len(leaf.schedule.transfers)
        nest.wrappers[leaf.wrapper.name] = leaf

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
