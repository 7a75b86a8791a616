"""Proposals made once more for what they make possible: collectives in routines of their own.

What feeds `call total(x, s)` is put in front of what does not; by itself that gains nothing. Behind
it the routine can be taken apart, and its collective is under way beside the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace

from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS

RETURNED_VALUES = "returned-values"  # a function is no wrapper before it


def leading(found: Iterable[Proposal], wrappers: Set[str]) -> list[Proposal]:
    """Those in routines that call `wrappers`, routines with collectives, to be tried with these."""
    return [
        replace(proposal, leads_to=(WRAPPERS, RETURNED_VALUES), also=tuple(sorted(names)))
        for proposal in found
        if proposal.edits
        and (
            names := wrappers
            & {call.name for s in proposal.routine.statements() for call in s.calls}
        )
    ]
