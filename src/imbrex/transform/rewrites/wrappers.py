"""Wrappers: a routine that only communicates becomes a start and a finish around its callers' work.

The caller has the computation, the wrapper the messages. Where calls of the wrapper can be followed
by computation that needs nothing of it, `exchange(u)` becomes `exchange_start(u, requests)`, which
posts, and `exchange_finish(u, requests)`, which waits and unpacks. The requests, and local arrays
that are buffers, belong to the caller: nothing outlives it.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform.analysis.divided import Schedule
from imbrex.transform.analysis.messages import has_collectives
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.common_window import CommonWindow
from imbrex.transform.rewrites.passing_on import PassingOn
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.rewrites.splitting import (
    RoutineSite,
    Splitting,
    messages_of,
    starts_in,
)
from imbrex.transform.rewrites.unsplit import called_amid, why_whole
from imbrex.transform.rewrites.uses import Split
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.halves import Halves


class Wrappers(Splitting[Split]):
    """A routine that only communicates becomes a start and a finish around its callers' work.

    Before:
        exchange(u);
        work(w);
        use(u);

    After:
        exchange_start(u, imbrex_requests);
        work(w);
        exchange_finish(u, imbrex_requests);
        use(u);
    """

    def sites(self) -> Iterator[RoutineSite]:
        for routine in self.program.routines.values():
            calls = messages_of(routine)
            if (
                (calls or self._communicates(routine))
                and routine.name != "main"
                and routine.file in self.program.files
            ):
                yield RoutineSite(routine, tuple(calls))

    def _communicates(self, routine: Routine) -> bool:
        return has_collectives(routine) or starts_in(routine) or self._begins_and_ends(routine)

    def _begins_and_ends(self, routine: Routine) -> bool:
        """Whether a routine calls what begins an exchange and what ends it."""
        return bool(self.boundary.beginnings.calls_in(routine))

    def proposals(self) -> list[Proposal]:
        """What may be done, and what is told of routines that others only pass on."""
        found = super().proposals()
        told = [self._told_of(proposal) for proposal in found if proposal.leads_to]
        return found + [proposal for proposal in told if proposal is not None]

    def _told_of(self, leader: Proposal) -> Proposal | None:
        """Why the routines that pass it on stay, where none of them can be taken apart."""
        reason = called_amid(self, leader.routine.name)
        if reason is None:
            return None
        wrapper = leader.routine
        return Proposal(self.name, wrapper, wrapper.line, reason, without_window=True)

    def unneeded(self, site: RoutineSite) -> Proposal | None:
        reason = why_whole(self, *self.whole[site.routine.key])
        if reason is None:
            return None
        return Proposal(self.name, site.routine, site.line, reason, without_window=True)

    def conditions(self, site: RoutineSite) -> Split | None:
        """How to split a routine; None where its callers have nothing to do meanwhile.

        Raises Refusal where they have, but the routine cannot be taken apart.
        """
        routine = site.routine
        schedule = self.schedule_of(routine, site.calls)
        split = Split(routine, schedule or Schedule(), [])
        if schedule is None:
            self.whole[routine.key] = (split, self.problem)
            return None
        self.uses.find(split)
        if not any(use.has_window for use in split.uses):
            self.whole[routine.key] = (split, None)
            return self._passed_on(split)
        self.check(split)
        split.kept = self.kept(split)
        self.uses.one_at_a_time(split)
        if not any(use.has_window for use in split.uses):
            self.whole[routine.key] = (split, None)
            return None
        if self.facts.timing is None:
            CommonWindow(self.footprints, self.uses, [split]).give()
        # In a routine that passes it on, and may be split in turn, calls have requests apart.
        PassingOn(self.footprints, self.uses).by(split)
        return split

    def _passed_on(self, split: Split) -> Split | None:
        """How to split a routine for those that only call it and can be split in turn, if any."""
        passing = PassingOn(self.footprints, self.uses)
        found = passing.by(split)
        if not found:
            return None
        try:
            self.check(split)
            split.kept = self.kept(split)
        except Refusal:
            return None
        if not split.kept and passing.is_last(found):
            return None  # NestedWrappers splits both at once
        split.passed_on = found
        return split

    def apply(self, plan: Plan[RoutineSite, Split]) -> Proposal:
        split = plan.content
        wrapper = split.wrapper
        halves = Halves(self.program, wrapper)
        edits: dict[str, list[Edit]] = {name: [] for name in self.program.files}
        edits[wrapper.file] += halves.definition(split.schedule, split.kept)
        (worth,) = self.put([(split, halves)], edits)
        matching = self.match([wrapper], edits)
        callers = ", ".join(sorted({use.routine.name for use in split.uses}))
        text = ReasonKind.SPLIT(wrapper=wrapper.name, callers=callers)
        reason = Reason(text, Location(wrapper.file, wrapper.line))
        proposal = Proposal(self.name, wrapper, wrapper.line, reason, edits)
        if split.passed_on:
            proposal.leads_to, proposal.also = (self.name,), split.passed_on
        schedule = split.schedule
        proposal.worth = worth * len([*schedule.transfers, *schedule.held, *schedule.begun])
        proposal.replaces = halves.full_names
        proposal.matching = matching
        proposal.starts = frozenset((wrapper.file, line) for line in schedule.calls)
        places = {(each.routine.file, each.call.line) for each in schedule.begun}
        proposal.opened = frozenset(places)
        return proposal
