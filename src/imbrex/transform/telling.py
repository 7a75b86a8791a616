"""What is told at the sites of the original text, of rewrites that were made on edited text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.line_maps import LineMap, line_maps, original_places
from imbrex.transform.model.causes import Reason, located
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ORDERS, ReasonKind
from imbrex.transform.rewrites.base import Decision, Places
from imbrex.transform.rewrites.proposals import Proposal

_AT_CALLERS = ("wrappers", "hoisting", "sinking")  # these use the work of a routine's callers
_PLACE = re.compile(r"\(([^()\s]+):(\d+)\)")


def _begun(decision: Decision, place: Callable[[Location], Location]) -> Places:
    """Where what a wait completes is started, in the original files."""
    begun = [place(Location(*start)) for start in decision.begun]
    return frozenset((start.file, start.line) for start in begun)


def tell_bound(program: Program, decisions: list[Decision]) -> None:
    """Say of messages that stay that callers are not seen: another name leads to them."""
    named: dict[str, bool] = {}  # whether it is known that a call is one of it
    for call in program.calls():
        named[call.name] = named.get(call.name, False) or not call.picked
    anywhere = {source for target, _, source in program.pointer_facts if target == "address"}
    for decision in decisions:
        routine = decision.site.routine
        if decision.decision != "nothing-to-gain" or not routine.stays:
            continue
        unknown = f"function:{routine.name}" in anywhere
        if not unknown and named.get(routine.name, True):
            continue
        kind = ReasonKind.GENERIC
        if routine.bound:
            kind = ReasonKind.BOUND_TO_TYPE if unknown else ReasonKind.BY_ITS_TYPE
        place = Location(routine.file, routine.line)
        decision.barred = Reason(kind(routine=routine.name), place)


def copies(decisions: list[Decision]) -> list[Decision]:
    """The decisions as they are, whatever is told of these later."""
    return [
        replace(
            decision,
            site=replace(decision.site),
            rewrites=list(decision.rewrites),
            details=list(decision.details),
        )
        for decision in decisions
    ]


def relocated(decisions: list[Decision], maps: dict[str, LineMap]) -> list[Decision]:
    """The decisions with the lines of the original files."""
    place = original_places(maps)

    def text(line: str) -> str:
        return _PLACE.sub(lambda m: f"({place(Location(m[1], int(m[2])))})", line)

    for decision in decisions:
        known = maps.get(decision.site.routine.file)
        decision.reason = decision.reason.relocated(place)
        decision.details = [text(detail) for detail in decision.details]
        decision.begun = _begun(decision, place)
        if known is not None:
            decision.first_line = known.line(decision.first_line)
            decision.last_line = known.line(decision.last_line)
            call = decision.site.call
            decision.site.call = replace(call, line=known.line(call.line))
    return decisions


def without_room(decisions: list[Decision], first: list[Decision]) -> set[tuple[str, int]]:
    """Lines whose calls have the window and buffers that they had before preparing rewrites."""

    def windows(found: list[Decision]) -> dict[tuple[str, int], list[tuple[str, list[str]]]]:
        told: dict[tuple[str, int], list[tuple[str, list[str]]]] = {}
        for decision in found:
            if decision.decision == "rewritten":
                at = (decision.site.routine.file, decision.site.call.line)
                told.setdefault(at, []).append((decision.reason.text, list(decision.details)))
        return told

    before, now = windows(first), windows(decisions)
    return {at for at, window in now.items() if before.get(at) == window}


def of_routines(decisions: list[Decision]) -> dict[str, list[Decision]]:
    """The decisions by the name of the routine of their site."""
    found: dict[str, list[Decision]] = {}
    for decision in decisions:
        found.setdefault(decision.site.routine.name, []).append(decision)
    return found


def note(
    decisions: Mapping[str, list[Decision]],
    proposal: Proposal,
    maps: dict[str, LineMap],
    unmoved: Set[tuple[str, int]] = frozenset(),
) -> None:
    """Tell of a preparing rewrite, or of its refusal, at the sites of its routine.

    `decisions`: by the name of their routine. What it made no room for is not told of it;
    `unmoved` has the lines of such sites.
    """
    if proposal.messages:
        return  # its one site says it
    place = proposal.reason.location
    known = maps.get(place.file)
    line = place.line if known is None else known.line(place.line)
    done = bool(proposal.edits)
    text = f"{proposal.rewrite}: " + ("" if done else "not done, because ")
    text += located(proposal.reason.text, f"{place.file}:{line}")
    names = {proposal.routine.name, *proposal.also}
    posts = {(name, at if known is None else known.line(at)) for name, at in proposal.posts}
    for decision in (each for name in sorted(names) for each in decisions.get(name, ())):
        if text in decision.details:
            continue
        if done and decision.decision != "rewritten":
            continue
        at = (decision.site.routine.file, decision.site.call.line)
        posted = (decision.site.routine.name, decision.site.call.line) in posts
        if posts and not posted:
            continue
        if done and not proposal.replaces and at in unmoved and not posted:
            continue
        permitted = proposal.reason.kind in ORDERS and not decision.worked
        if proposal.without_window and decision.decision == "rewritten" and not permitted:
            continue
        told = [decision.reason.text, *decision.details]
        if proposal.about and (
            decision.decision != "nothing-to-gain"
            or not any(f"`{proposal.about}`" in line for line in told)
        ):
            continue
        if done and proposal.rewrite not in decision.rewrites:
            decision.rewrites.insert(0, proposal.rewrite)
        decision.details.append(text)
        ends = decision.site.call.name not in mpi_calls.STARTS or decision.counts
        if not done and ends and proposal.rewrite in _AT_CALLERS:
            where = Location(place.file, line)
            decision.barred = decision.barred or Reason(proposal.reason.cause, where)


def note_stated(program: Program, decisions: list[Decision]) -> None:
    """Tell at each window what the user's word is needed for."""
    for decision in decisions:
        routine = decision.site.routine
        for statement in routine.statements() if decision.decision == "rewritten" else ():
            if not decision.first_line <= statement.line <= decision.last_line:
                continue
            for key in sorted(statement.independent):
                name = program.variables[key].name
                told = ReasonKind.STATED(line=statement.line, variable=name)
                decision.details.append(str(Reason(told, Location(routine.file, statement.line))))


def add_later(
    decisions: list[Decision],
    later: list[Decision],
    before: dict[str, bytes],
    after: dict[str, bytes],
) -> None:
    """Note at the original sites what a further run on the rewritten text has moved."""
    maps = line_maps(before, after)
    for other in later:
        if other.decision != "rewritten":
            continue
        file = other.site.routine.file
        line = maps[file].line(other.site.call.line) if file in maps else other.site.call.line
        for decision in decisions:
            if (decision.site.routine.file, decision.site.call.line) == (file, line):
                if decision.decision != "rewritten":
                    decision.reason = other.reason.relocated(original_places(maps))
                decision.decision = "rewritten"
                decision.begun |= _begun(other, original_places(maps))
                decision.rewrites += [r for r in other.rewrites if r not in decision.rewrites]


def tell_starts(decisions: list[Decision]) -> None:
    """Say of starts that stay where they are, but whose wait moves, just that: it is done."""
    moved = {
        place: decision.site.location
        for decision in decisions
        if decision.decision == "rewritten"
        for place in decision.begun
    }
    for decision in decisions:
        place = (decision.site.routine.file, decision.site.call.line)
        starts = decision.site.call.name in mpi_calls.STARTS
        if starts and place in moved and decision.decision != "rewritten":
            decision.decision = "nothing-to-gain"
            decision.reason = Reason(ReasonKind.WAIT_MOVES(), moved[place])
            decision.details, decision.work, decision.barred = [], False, None
