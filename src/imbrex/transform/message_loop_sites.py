"""The sites of messages in loops that start them all: one for each call that was there."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.rewrites.base import Decision
from imbrex.transform.rewrites.proposals import Proposal

_MADE = mpi_calls.STARTS.keys() | {"MPI_Waitall"}


def started_in_loops(
    decisions: list[Decision], first: list[Decision], taken: list[Proposal]
) -> list[Decision]:
    """The decisions with the calls of the first text in the place of their starts and waits.

    Each has the window of what was moved nearest to it.
    """
    of_routine: dict[str, list[Proposal]] = {}
    for proposal in taken:
        if proposal.starts and not proposal.replaces:
            of_routine.setdefault(proposal.routine.name, []).append(proposal)
    known = {(d.site.routine.name, d.site.call.line, d.site.call.name) for d in first}
    for name, proposals in of_routine.items():
        places = {place for proposal in proposals for place in proposal.starts}
        there = {id(decision) for decision in decisions}
        originals = [
            d
            for d in first
            if (d.site.routine.file, d.site.call.line) in places and id(d) not in there
        ]
        made = [
            d
            for d in decisions
            if d.site.routine.name == name
            and d.site.call.name in _MADE
            and (name, d.site.call.line, d.site.call.name) not in known
        ]
        moved = [decision for decision in made if decision.decision == "rewritten"]
        if not originals or not moved:
            continue
        gone = {id(decision) for decision in made}
        decisions = [decision for decision in decisions if id(decision) not in gone]
        for decision in originals:
            line = decision.site.call.line
            best = min(moved, key=lambda d: (abs(d.site.call.line - line), -d.crossed))
            decision.decision, decision.reason, decision.details = "rewritten", best.reason, []
            decision.rewrites = list(dict.fromkeys([proposals[0].rewrite, *best.rewrites]))
            decision.first_line, decision.last_line = best.first_line, best.last_line
            decision.crossed, decision.worked = best.crossed, best.worked
            decisions.append(decision)
    return decisions
