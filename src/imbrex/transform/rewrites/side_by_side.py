"""Calls of wrappers after each other that nothing computes beside: their messages go together.

`shift(u, left); shift(w, right);` waits for each message before it starts the next one. Split, both
are under way at one time, and take as long as the longer one.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform.model.causes import Reason
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.rewrites.base import Plan
from imbrex.transform.rewrites.common_window import CommonWindow
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.rewrites.sequences import WrapperSequences, gains
from imbrex.transform.rewrites.splitting import RoutineSite
from imbrex.transform.rewrites.uses import Split


class SideBySide(WrapperSequences):
    """Routines that communicate after each other have their messages under way together.

    Before:
        shift(u, left);
        shift(w, right);
        use(u, w);

    After:
        shift_start(u, left, imbrex_requests);
        shift_start(w, right, imbrex_requests2);
        shift_finish(u, imbrex_requests);
        shift_finish(w, imbrex_requests2);
        use(u, w);
    """

    def sites(self) -> Iterator[RoutineSite]:
        """Routines around MPI, those with each other that share a block of a caller."""
        return self.groups(least=1)

    def conditions(self, site: RoutineSite) -> list[Split] | None:
        """How to split the routines of which calls go together; None where one has work beside."""
        # What has work of its own beside its messages is no wrapper.
        routines = [routine for routine in site.routines if self.uses.may_pass_on(routine)]
        splits = [split for split in map(self.split_of, routines) if split is not None]
        if self.facts.timing is not None or any(map(gains, splits)):
            return None
        CommonWindow(self.footprints, self.uses, splits).give(empty=True)
        joined = {id(use.joins) for split in splits for use in split.uses if use.joins is not None}
        return [
            split
            for split in splits
            if any(use.joins is not None or id(use) in joined for use in split.uses)
        ] or None

    def apply(self, plan: Plan[RoutineSite, list[Split]]) -> Proposal:
        proposal = super().apply(plan)
        proposal.beside, proposal.worth = proposal.worth, 0
        callers = {use.routine.name for split in plan.content for use in split.uses}
        text = ReasonKind.SIDE_BY_SIDE(
            wrappers=", ".join(split.wrapper.name for split in plan.content),
            callers=", ".join(sorted(callers)),
        )
        proposal.reason = Reason(text, proposal.reason.location)
        return proposal
