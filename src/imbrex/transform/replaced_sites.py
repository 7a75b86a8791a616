"""The call sites of the user's text where rewrites have replaced routines and calls."""

from __future__ import annotations

import re
from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.message_loop_sites import started_in_loops
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.rewrites.base import Decision, Places
from imbrex.transform.rewrites.proposals import Proposal

_PART = re.compile(r"_(?:interior|boundary)\d*$")


def put_back(
    decisions: list[Decision], first: list[Decision], taken: list[Proposal]
) -> list[Decision]:
    """The sites of routines and calls that were replaced, in the place of their successors."""
    names = {(d.site.routine.file, d.site.call.line): d.site.call.name for d in first}
    for decision in decisions:
        call = decision.site.call
        known = names.get((decision.site.routine.file, call.line), call.name)
        if known == f"{call.name}_replace":
            decision.site.call = replace(call, name=known)
    for proposal in taken:
        if not proposal.replaces:
            continue
        gone = {*proposal.replaces, proposal.routine.name, *proposal.also}
        decisions = [d for d in decisions if d.site.routine.name not in gone]
        for decision in first:
            if decision.site.routine.name not in (proposal.routine.name, *proposal.also):
                continue
            if (decision.site.routine.file, decision.site.call.line) in proposal.starts:
                decision.decision = "rewritten"
                decision.rewrites = [_changed_by(decision.site.call.name)]
                why = ReasonKind.BESIDE() if proposal.beside else ReasonKind.CALLERS_COMPUTE()
                decision.reason = Reason(why, decision.site.location)
            decisions.append(decision)
        decisions = _matching(decisions, first, proposal.matching)
    made = {name for proposal in taken for name in proposal.replaces}
    parts = tuple(f"{name}_" for name in made)  # of what was made
    decisions = [
        d
        for d in decisions
        if d.site.call.name not in made and not (parts and d.site.routine.name.startswith(parts))
    ]
    decisions = _without_parts(decisions, first)
    decisions = _posted_ahead(decisions, first, taken)
    decisions = _in_pieces(decisions, first, taken)
    decisions = started_in_loops(decisions, first, taken)
    _note_opened(decisions, taken)
    return sorted(decisions, key=lambda d: (d.site.routine.file, d.site.call.line))


def _without_parts(decisions: list[Decision], first: list[Decision]) -> list[Decision]:
    """The sites but for those of a part of a routine that is there as a whole, too."""
    known = {decision.site.routine.name for decision in first}
    whole = known & {decision.site.routine.name for decision in decisions}
    return [
        d
        for d in decisions
        if d.site.routine.name in known or _PART.sub("", d.site.routine.name) not in whole
    ]


def _changed_by(name: str) -> str:
    """The rewrite by which a call only starts where it stood."""
    if name in mpi_calls.COLLECTIVES:
        return "collectives"
    return "nonblocking" if name in mpi_calls.BLOCKING else "motion"


def _matching(decisions: list[Decision], first: list[Decision], places: Places) -> list[Decision]:
    """The sites of calls that became nonblocking for others, in the place of what they became."""
    if not places:
        return decisions
    moved = {
        (d.site.routine.file, d.site.call.line): d for d in decisions if d.decision == "rewritten"
    }
    own = {id(decision) for decision in first}
    told = {place for place, decision in moved.items() if id(decision) in own}
    kept = [
        d
        for d in decisions
        if id(d) in own or (d.site.routine.file, d.site.call.line) not in places
    ]
    files = {file for file, _ in places}
    kept = [d for d in kept if d.site.routine.file not in files or not _is_written_wait(d)]
    places -= told  # a copy of a part of what was divided stands for them, too
    for decision in first:
        place = (decision.site.routine.file, decision.site.call.line)
        if place in places:
            found = moved.get(place, decision)
            reason = Reason(ReasonKind.MATCHING_REWRITTEN(), decision.site.location)
            decision.reason = found.reason if place in moved else reason
            decision.first_line, decision.last_line = found.first_line, found.last_line
            decision.details = found.details if place in moved else []
            decision.decision, decision.rewrites = "rewritten", ["collectives"]
            kept += [] if any(decision is known for known in kept) else [decision]
    return kept


def _is_written_wait(decision: Decision) -> bool:
    """Whether a site is a wait that was written behind a call which became nonblocking."""
    call = decision.site.call
    position = mpi_calls.REQUEST_OF_WAIT.get(call.name)
    request = call.arguments[position].text if position is not None else ""
    return "imbrex_request" in request


def _note_opened(decisions: list[Decision], taken: list[Proposal]) -> None:
    """Tell of the calls whose messages travel while what was divided runs."""
    made = tuple(f"{name}: " for proposal in taken for name in proposal.replaces)
    for proposal in taken:
        for decision in decisions:
            call = decision.site.call
            place = (decision.site.routine.file, call.line)
            if place not in proposal.opened or decision.decision == "rewritten":
                continue
            if call.name in mpi_calls.STARTS or call.name in mpi_calls.COMPLETIONS:
                decision.decision, decision.rewrites = "rewritten", [proposal.rewrite]
                decision.reason = proposal.reason
                decision.details = [d for d in decision.details if not d.startswith(made)]


def _receive_near(decisions: list[Decision], routine: str, line: int) -> int | None:
    """The line of the receive of a routine that is nearest to a line."""
    receives = mpi_calls.RECEIVES.keys()
    lines = [
        d.site.call.line
        for d in decisions
        if d.site.routine.name == routine and d.site.call.name in receives
    ]
    return min(lines, key=lambda known: abs(known - line), default=None)


def _posted_ahead(
    decisions: list[Decision], first: list[Decision], taken: list[Proposal]
) -> list[Decision]:
    """The sites of receives that are posted ahead in the place of their starts and waits."""
    divided = {name: p.routine.name for p in taken for name in p.replaces}
    posts = {
        (divided.get(name, name), _receive_near(first, divided[name], line) or line)
        if name in divided
        else (name, line): proposal
        for proposal in taken
        for name, line in proposal.posts
    }
    for proposal in taken:
        if proposal.posts:
            proposal.posts = frozenset(post for post in posts if posts[post] is proposal)
            proposal.also = tuple({name for name, _ in proposal.posts} - {proposal.routine.name})
    if not posts:
        return decisions
    loops = {proposal.routine.name for proposal in taken if proposal.posts}
    known = {(d.site.routine.name, d.site.call.line, d.site.call.name) for d in first}
    brought = {d.site.call.name for d in first if (d.site.routine.name, d.site.call.line) in posts}
    added = ("MPI_Irecv", "MPI_Wait", *(brought & mpi_calls.COLLECTIVES))
    kept = []
    for decision in decisions:
        name, call = decision.site.routine.name, decision.site.call
        new = (name, call.line, call.name) not in known
        if (name, call.line) in posts or (name in loops and call.name in added and new):
            continue
        kept.append(decision)
    for decision in first:
        post = posts.get((decision.site.routine.name, decision.site.call.line))
        if post is None:
            continue
        name = decision.site.call.name
        decision.decision = "rewritten"
        decision.rewrites = [_changed_by(name)]
        decision.reason = Reason(ReasonKind.BEGINS_BEFORE(), decision.site.location)
        decision.details = []
        decision.crossed = post.worth
        kept.append(decision)
    return kept


def _in_pieces(
    decisions: list[Decision], first: list[Decision], taken: list[Proposal]
) -> list[Decision]:
    """The sites of collectives that have become messages, in the place of these messages."""
    for proposal in taken:
        if not proposal.messages:
            continue
        name = proposal.routine.name
        decisions = [d for d in decisions if d.site.routine.name not in proposal.messages]
        for decision in first:
            place = (decision.site.routine.file, decision.site.call.line)
            if decision.site.routine.name == name and place in proposal.opened:
                decision.decision, decision.rewrites = "rewritten", [proposal.rewrite]
                decision.reason, decision.details = proposal.reason, []
                decision.messages = proposal.messages
                decision.crossed = decision.worked = proposal.worth
                known = dict(proposal.reason.cause.parameters)["line"]
                decision.last_line = known if isinstance(known, int) else decision.last_line
                decisions = [*(d for d in decisions if not _is_at(d, place)), decision]
    return decisions


def _is_at(decision: Decision, place: tuple[str, int]) -> bool:
    return (decision.site.routine.file, decision.site.call.line) == place
