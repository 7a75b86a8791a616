"""What a preparing rewrite gains: what starts and waits pass with it, and not without it."""

from __future__ import annotations

from typing import Protocol

from imbrex.transform import mpi_calls
from imbrex.transform.rewrites.base import Decision
from imbrex.transform.rewrites.proposals import Proposal


class Result(Protocol):
    """What trying the rewrites of communication on some text gives."""

    decisions: list[Decision]
    before: dict[str, bytes]
    after: dict[str, bytes]
    skipped: dict[str, str]
    notes: list[str]


Gain = tuple[int, int]
"""Computing statements, and where these are the same messages, that starts and waits pass."""


def gain(decisions: list[Decision], *, working: bool = False, by: Proposal | None = None) -> Gain:
    """What starts and waits pass, over all sites, and what a proposal gains by itself.

    `working`: only statements that do more than pack or unpack a message.
    """
    worth, beside = (0, 0) if by is None else (by.worth, by.beside)
    done = [decision for decision in decisions if decision.decision == "rewritten"]
    if working:
        return worth + sum(decision.worked for decision in done), 0
    crossed = sum(decision.crossed for decision in done)
    return worth + crossed, beside + sum(decision.beside for decision in done)


def _goes_between(proposal: Proposal, tried: Result) -> bool:
    """Whether a start or a wait stands between the pieces of a loop.

    What passes all of them passes more statements than before, and no more work: one loop would be
    divided again and again.
    """
    return any(
        tried.after[name].count(edit.text.encode()) < tried.before[name].count(edit.text.encode())
        for name, edits in proposal.edits.items()
        for edit in edits
    )


def between_pieces(batch: list[Proposal], reached: Result) -> bool:
    """Whether the pieces of each loop that was divided lie apart in the end."""
    return not any(
        edit.text.encode() in reached.after[name]
        for proposal in batch
        if proposal.divides
        for name, edits in proposal.edits.items()
        for edit in edits
    )


def _awaited(result: Result) -> int:
    """How many waits are moved: a receive that is posted ahead is no reason to wait sooner."""
    waits = [d for d in result.decisions if d.site.call.name in mpi_calls.WAITS]
    return sum(decision.decision == "rewritten" for decision in waits)


def pays(proposal: Proposal, tried: Result, best: Result) -> bool:
    name = proposal.routine.name
    if proposal.divides and not _goes_between(proposal, tried):
        return False
    if proposal.replaces:
        # The window in the callers takes the place of the one inside.
        gone = (name, *proposal.also)
        rest = [d for d in best.decisions if d.site.routine.name not in gone]
        return gain(tried.decisions, by=proposal) > gain(rest)
    if proposal.opens and any(
        d.decision == "rewritten" and d.crossed and d.site.call.line == proposal.opens
        for d in best.decisions
        if d.site.routine.name == name
    ):
        return False
    mine = [
        [d for d in result.decisions if d.site.routine.name == name] for result in (tried, best)
    ]
    working = proposal.for_work
    reached = gain(mine[0], working=working, by=proposal)
    known = gain(mine[1], working=working)
    if proposal.posts:  # for work in the iteration before, whatever else is under way there
        return reached[0] > known[0] and _awaited(tried) >= _awaited(best)
    return reached > known
