"""Calls of different wrappers after each other: these are split at once, with one window for all.

`exchange_rows(u)` and `exchange_columns(u)` are in front of a sweep over `u`. Split one by one,
only the last would be under way beside the sweep's interior: the window of one ends where another
one communicates.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform.analysis.messages import has_collectives
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.common_window import CommonWindow
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.rewrites.splitting import (
    NAME,
    RoutineSite,
    Splitting,
    messages_of,
    starts_in,
)
from imbrex.transform.rewrites.uses import Split, Use, meet
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.halves import Halves


class WrapperSequences(Splitting[list[Split]]):
    """Routines that communicate after each other are split around the same work.

    Before:
        exchange_rows(u);
        exchange_columns(u);
        work(w);
        use(u);

    After:
        exchange_rows_start(u, imbrex_requests);
        exchange_columns_start(u, imbrex_requests2);
        work(w);
        exchange_rows_finish(u, imbrex_requests);
        exchange_columns_finish(u, imbrex_requests2);
        use(u);
    """

    name = NAME

    def sites(self) -> Iterator[RoutineSite]:
        """Routines around MPI, those with each other that share a block of a caller."""
        return self.groups(least=2)

    def groups(self, *, least: int) -> Iterator[RoutineSite]:
        """Such routines, as many as `least` at once."""
        routines = {
            routine.name: routine
            for routine in self.program.routines.values()
            if routine.name != "main"
            and routine.file in self.program.files
            and (messages_of(routine) or starts_in(routine) or has_collectives(routine))
        }
        group = {name: {name} for name in routines}
        for caller in self.program.routines.values() if len(routines) >= least else ():
            of_block: dict[int, set[str]] = {}
            for name, calls in self.uses.usable(caller).items():
                for block, _, _ in calls if name in routines else ():
                    of_block.setdefault(id(block), set()).add(name)
            for names in of_block.values():
                whole = set().union(*(group[name] for name in names))
                group.update(dict.fromkeys(whole, whole))
        seen: set[str] = set()
        for name, names in group.items():
            if name not in seen and len(names) >= least:
                seen |= names
                found = tuple(r for each, r in routines.items() if each in names)
                yield RoutineSite(found[0], (), found)

    def conditions(self, site: RoutineSite) -> list[Split] | None:
        """How to split the routines of which calls share a window; None where none do."""
        splits = [split for split in map(self.split_of, site.routines) if split is not None]
        if self.facts.timing is not None or not any(map(gains, splits)):
            return None
        common = CommonWindow(self.footprints, self.uses, splits)
        if any(_any_meet(calls) for calls in common.by_block()):
            return None
        common.give()
        owner = {id(use): split for split in splits for use in split.uses}
        sharing: set[int] = set()
        for split in splits:
            for use in split.uses:
                if use.joins is not None and owner[id(use.joins)] is not split:
                    sharing |= {id(split), id(owner[id(use.joins)])}
        return [split for split in splits if id(split) in sharing] or None

    def split_of(self, routine: Routine) -> Split | None:
        """How to split one of the routines; None where it stays whole."""
        schedule = self.schedule_of(routine, messages_of(routine))
        if schedule is None:
            return None
        split = Split(routine, schedule, [])
        self.uses.find(split)
        try:
            self.check(split)
            split.kept = self.kept(split)
        except Refusal:
            return None  # told by the rewrite that splits it alone
        self.uses.one_at_a_time(split)
        common = CommonWindow(self.footprints, self.uses, [split])
        return split if common.may_share(split) else None

    def apply(self, plan: Plan[RoutineSite, list[Split]]) -> Proposal:
        splits = plan.content
        edits: dict[str, list[Edit]] = {name: [] for name in self.program.files}
        parts: list[tuple[Split, Halves]] = []
        for split in splits:
            halves = Halves(self.program, split.wrapper, [made for _, made in parts])
            edits[split.wrapper.file] += halves.definition(split.schedule, split.kept)
            parts.append((split, halves))
        worth = self.put(parts, edits)
        matching = self.match([split.wrapper for split in splits], edits)
        first, *more = (split.wrapper for split in splits)
        callers = {use.routine.name for split in splits for use in split.uses}
        text = ReasonKind.SPLIT_SEQUENCE(
            wrappers=", ".join(split.wrapper.name for split in splits),
            callers=", ".join(sorted(callers)),
        )
        reason = Reason(text, Location(first.file, first.line))
        proposal = Proposal(self.name, first, first.line, reason, edits)
        proposal.also = tuple(routine.name for routine in more)
        proposal.all_chosen = True
        proposal.matching = matching
        proposal.replaces = tuple(name for _, halves in parts for name in halves.full_names)
        opened: set[tuple[str, int]] = set()
        for split, each in zip(splits, worth, strict=True):
            schedule = split.schedule
            started = [*schedule.transfers, *schedule.held, *schedule.begun]
            proposal.worth += each * len(started)
            proposal.starts |= {(split.wrapper.file, line) for line in schedule.calls}
            opened |= {(begun.routine.file, begun.call.line) for begun in schedule.begun}
        proposal.opened = frozenset(opened)
        return proposal


def gains(split: Split) -> bool:
    return any(use.has_window for use in split.uses)


def _any_meet(calls: list[Use]) -> bool:
    """Whether windows that were found one by one meet: none was made to pass the other."""
    return any(meet(one, use) for number, use in enumerate(calls) for one in calls[:number])
