"""What is told at the sites of the original text, of rewrites that were made on edited text."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.message_loop_sites import started_in_loops
from imbrex.transform.model.causes import Reason, located
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ORDERS, ReasonKind
from imbrex.transform.rewrites.base import Decision, Places
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.text.matched_lines import opcodes

_AT_CALLERS = ("wrappers", "hoisting", "sinking")  # these use the work of a routine's callers
_MOST_PAIRS = 2500  # lines that are compared with each other
_PART = re.compile(r"_(?:interior|boundary)\d*$")
_PLACE = re.compile(r"\(([^()\s]+):(\d+)\)")


class LineMap:
    """Lines of an edited text and of the original, in both directions."""

    def __init__(self, original: bytes, edited: bytes) -> None:
        self.to_original: dict[int, int] = {}
        old, new = original.splitlines(), edited.splitlines()
        # Comparing takes time with the square of how often a line occurs: only what differs.
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            self.to_original[same + 1] = same + 1
            same += 1
        tail = 0
        while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
            self.to_original[len(new) - tail] = len(old) - tail
            tail += 1
        old, new = old[same : len(old) - tail], new[same : len(new) - tail]
        for tag, i1, i2, j1, j2 in opcodes(old, new):
            if tag == "replace" and i2 - i1 > 1:
                for j, line in enumerate(_alike(old[i1:i2], new[j1:j2])):
                    self.to_original[same + j1 + j + 1] = same + i1 + line + 1
                continue
            added = max(0, (j2 - j1) - (i2 - i1))  # what is put in front of a call, as a rule
            for j in range(j1, j2):
                exact = i1 + max(0, j - j1 - added)
                line = exact if tag == "equal" else min(exact, max(i2 - 1, i1))
                self.to_original[same + j + 1] = same + line + 1

    def line(self, number: int) -> int:
        return self.to_original.get(number, number)


def _alike(old: list[bytes], new: list[bytes]) -> list[int]:
    """For each new line the old one that it stands for: in order, those most alike are pairs.

    What is put in front of a call, as a rule, belongs to the pair behind it.
    """
    if len(old) * len(new) > _MOST_PAIRS:
        added = max(0, len(new) - len(old))
        return [min(max(0, j - added), len(old) - 1) for j in range(len(new))]
    texts = [[line.decode(errors="replace").split() for line in side] for side in (old, new)]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, mine in reversed(list(enumerate(texts[0]))):
        for j, other in reversed(list(enumerate(texts[1]))):
            ratio = difflib.SequenceMatcher(None, mine, other, autojunk=False).ratio()
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + ratio**2)
    found: list[int] = []
    i = 0
    while len(found) < len(new):
        j = len(found)
        while i < len(old) and best[i][j] == best[i + 1][j]:
            i += 1
        found.append(min(i, len(old) - 1))
        i += i < len(old) and best[i][j] > best[i][j + 1]
    return found


def line_maps(originals: Mapping[str, bytes], edited: Mapping[str, bytes]) -> dict[str, LineMap]:
    """The maps of edited files, by their names."""
    return {name: LineMap(originals[name], text) for name, text in edited.items()}


def original_places(maps: Mapping[str, LineMap]) -> Callable[[Location], Location]:
    """What leads from a location in edited files to that in the original ones."""

    def place(location: Location) -> Location:
        known = maps.get(location.file)
        return location if known is None else Location(location.file, known.line(location.line))

    return place


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
    kept = [d for d in kept if not _is_wait_of(d, places)]
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


def _is_wait_of(decision: Decision, places: Places) -> bool:
    """Whether a site is the wait that was written behind one of these calls."""
    call = decision.site.call
    position = mpi_calls.REQUEST_OF_WAIT.get(call.name)
    request = call.arguments[position].text if position is not None else ""
    files = {file for file, _ in places}
    return "imbrex_request" in request and decision.site.routine.file in files


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
