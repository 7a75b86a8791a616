"""Decides all call sites of a program; one call that moved may make room for another."""

from __future__ import annotations

from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.messages import is_copy
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.base import Decision, Refusal, Site, left_alone
from imbrex.transform.rewrites.blocking import BlockingToNonblocking
from imbrex.transform.rewrites.collectives import CollectivesToNonblocking
from imbrex.transform.rewrites.motion import ExistingMotion
from imbrex.transform.rewrites.pieces import Lowered
from imbrex.transform.rewrites.placement import settle
from imbrex.transform.rewrites.statement_motion import StatementMotion


def _sites(routine: Routine) -> list[Site]:
    """The communication calls of a routine, in textual order."""
    sites = []
    for statement in routine.statements():
        for call in statement.calls:
            if is_copy(statement.parent):
                continue
            if (
                call.name in mpi_calls.BLOCKING
                or call.name in mpi_calls.LEFT_ALONE
                or call.name in mpi_calls.COLLECTIVES
            ):
                sites.append(Site(routine, statement, call))
    return sites


@dataclass(slots=True)
class Deciding:
    """The rewrites of communication, and what each site was decided to be."""

    only: frozenset[tuple[str, int]]  # (file name, line); all where empty
    rewrites: frozenset[str]
    messages: BlockingToNonblocking
    collectives: CollectivesToNonblocking
    existing: ExistingMotion
    whole: StatementMotion
    decided: dict[int, Decision] = field(default_factory=dict)
    moved: bool = False

    def decide(self, routines: list[Routine]) -> list[Decision]:
        of_routine = [_sites(routine) for routine in routines]
        sites = [site for inner in of_routine for site in inner]
        groups = self.collectives.groups([s for s in sites if self.collectives.applies(s)])
        if self.collectives.name not in self.rewrites:
            groups = []
        lowered: list[Lowered] = []
        existing_calls: list[Decision] = []
        if self.existing.name in self.rewrites:
            for routine in routines:
                found, refused = self.existing.lower_all(routine, self.only)
                lowered += found
                existing_calls += refused
        self._settle(routines, of_routine, groups)
        self.messages.beside = True
        self._settle(routines, of_routine, groups)
        self.messages.count_beside(self.decided.values())
        existing_calls += self.existing.finish(lowered)
        existing_calls = self._whole_statements(routines, existing_calls)
        return existing_calls + [
            self.decided[id(site)] for site in sites if id(site) in self.decided
        ]

    def _settle(
        self, routines: list[Routine], of_routine: list[list[Site]], groups: list[list[Site]]
    ) -> None:
        """Decide all sites, again while one of them moves."""
        self.moved = True
        while self.moved:
            self.moved = settle(self.messages, routines)
            for inner in of_routine:
                self._messages(inner)
            for group in groups:
                if all(self._open(site) for site in group):
                    for decision in self.collectives.decide(group, self.only):
                        self._note(decision)

    def _whole_statements(
        self, routines: list[Routine], decisions: list[Decision]
    ) -> list[Decision]:
        """Move statements that only start or only complete messages; decisions with theirs."""
        if self.whole.name not in self.rewrites:
            return decisions
        lowered: list[Lowered] = []
        refused: list[Decision] = []
        for routine in routines:
            found, not_moved = self.whole.lower_all(routine, self.only)
            lowered += found
            refused += not_moved
        if lowered:
            settle(self.whole, routines)
        return self.whole.tell(decisions, self.whole.finish(lowered), refused)

    def _messages(self, sites: list[Site]) -> None:
        """Decide the sends and receives of a routine, again while one more of them moves."""
        moved = True
        while moved:
            moved = False
            for site in sites:
                if self.collectives.applies(site) or not self._open(site):
                    continue
                decision = self._message(site)
                if decision is not None:
                    self._note(decision)
                    moved = moved or decision.decision == "rewritten"

    def _open(self, site: Site) -> bool:
        known = self.decided.get(id(site))
        return known is None or known.decision == "nothing-to-gain"

    def _note(self, decision: Decision) -> None:
        self.decided[id(decision.site)] = decision
        self.moved = self.moved or decision.decision == "rewritten"

    def _message(self, site: Site) -> Decision | None:
        if self.only and (site.routine.file, site.call.line) not in self.only:
            return None
        decision = left_alone(site)
        if decision is not None:
            return decision
        if self.messages.name not in self.rewrites:
            return None
        plan = self.messages.validate(site)
        if isinstance(plan, Refusal):
            return Decision(site, "refused", plan.reason, site.line, site.line)
        return None if plan is None else self.messages.apply(plan)
