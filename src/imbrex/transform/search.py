"""The search over preparations: tried on the text, kept where more communication overlaps.

A preparing rewrite proposes edits that change nothing of what the program computes. The rewrites
of communication are then tried on the changed text. Only what lets a start or a wait pass more
computation stays, so that a program from which nothing is to be gained is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from imbrex.errors import ImbrexError
from imbrex.transform.line_maps import LineMap, line_maps
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.paying import Gain, Result, between_pieces, gain, pays
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.text.edits import apply_edits

_MOST = 400  # preparing rewrites in one run
_FEW = 2  # proposals that lead to others, which are tried one by one
_DEPTH = 2  # of what a proposal makes possible, how many follow


Identity = tuple[str, str, str, tuple[str, ...]]
"""The rewrite of a proposal, its routine, what it writes, and what it leads to."""

# Tries the rewrites of communication on some text, and what may prepare it for more of them.
Attempt = Callable[[dict[str, bytes]], tuple[Result, list[Proposal]]]
# What these rewrites propose for some text.
Screen = Callable[[dict[str, bytes], frozenset[str]], list[Proposal]]


Rejected = dict[Identity, frozenset[str]]
"""What gained nothing, with the files that it would edit."""


def unchanged(rejected: Rejected, before: dict[str, bytes], after: dict[str, bytes]) -> Rejected:
    """Those whose files are as they were: trying them again would read the program for nothing."""
    changed = {name for name, data in after.items() if before.get(name) != data}
    return {key: files for key, files in rejected.items() if not files & changed}


def prepare(
    first: Result,
    offered: list[Proposal],
    attempt: Attempt,
    screen: Screen,
    rejected: Rejected,
) -> tuple[Result, list[Proposal], list[Proposal]]:
    """The best outcome that preparing rewrites lead to, which of them it took, and what it offers.

    Routines do not depend on each other here, so that one proposal of each is tried at a time.
    What it offers comes with why a rewrite stays that only another one has made possible.
    `rejected` are not tried; those that gain nothing are added.
    """
    best, taken = first, []
    behind = _Refusals(first.before)
    current = dict(first.before)
    screened: dict[str, bytes] | None = None  # the text of which it is known what leads nowhere
    while True:
        batch = _batch([p for p in offered if p.edits and _identity(p) not in rejected])
        if not batch:
            break
        leaders = [p for p in offered if p.edits and _leads(p) and _identity(p) not in rejected]
        if _leads(batch[0]) and len(leaders) > _FEW and screened is not current:
            screened = current
            hopeless = _hopeless(leaders, current, screen, behind)
            rejected |= _identified(p for p in leaders if _identity(p) in hopeless)
            continue
        texts, merged = _merged(current, batch)
        if not merged:  # its own edits overlap: two calls on one line
            rejected |= _identified(batch)
            continue
        batch = merged
        try:
            tried, next_offers = attempt(texts)
        except ImbrexError:  # the text is not understood: better without
            rejected |= _identified(batch)
            continue
        if batch[0].leads_to:
            step = _follow(_Step(texts, tried, next_offers), batch[0], best, attempt, _DEPTH)
            if step is None or not between_pieces(batch, step.result):
                rejected |= _identified(batch)
                behind.add(batch, next_offers, texts)
                continue
            taken += [_placed(proposal, first.before, current) for proposal in batch]
            for proposal, text in zip(step.taken, step.before, strict=True):
                taken.append(_placed(proposal, first.before, text))
            best, current, offered = step.result, step.texts, step.offered
            continue
        useful = [p for p in batch if pays(p, tried, best)]
        rejected |= _identified(p for p in batch if p not in useful)
        if useful and len(useful) < len(batch):
            texts, _ = _merged(current, useful)
            tried, next_offers = attempt(texts)
        if not useful:
            continue
        room = _with_room(useful[0], offered, (current, tried), attempt)
        if room is not None:
            for proposal, text in zip(room.taken, room.before, strict=True):
                taken.append(_placed(proposal, first.before, text))
            best, current, offered = room.result, room.texts, room.offered
            continue
        taken += [_placed(proposal, first.before, current) for proposal in useful]
        best, current, offered = tried, texts, next_offers
        if len(taken) >= _MOST:
            break
    return best, taken, [*offered, *behind.found]


class _Refusals:
    """Why what some proposals lead to stays, with the lines of the first text."""

    def __init__(self, first: dict[str, bytes]) -> None:
        self.first = first
        self.found: list[Proposal] = []

    def add(
        self, leaders: list[Proposal], offered: list[Proposal], texts: dict[str, bytes]
    ) -> None:
        """`offered`: what there is behind the leaders, which are done in these texts."""
        for offer in offered:
            if offer.edits or "`imbrex_" in offer.reason.text:  # it is in no text of the user's
                continue
            if any(_is_behind(offer, leader) for leader in leaders):
                placed = _placed(offer, self.first, texts)
                self.found.append(replace(placed, on_first=True))


def _is_behind(offer: Proposal, leader: Proposal) -> bool:
    return offer.rewrite in leader.leads_to and offer.routine.name in leader.also


def _leads(proposal: Proposal) -> bool:
    """Whether it gains nothing itself, and is done for what it makes possible."""
    return bool(proposal.leads_to) and not proposal.replaces


def _hopeless(
    leaders: list[Proposal], texts: dict[str, bytes], screen: Screen, behind: _Refusals
) -> set[Identity]:
    """Those behind which nothing else may gain, though all that can be are done at once.

    Each attempt reads the whole program, which has many of them.
    """
    hopeless: set[Identity] = set()
    while len(leaders) > _FEW:
        merged, promising = _promising(leaders, texts, screen, _DEPTH, behind)
        if not merged:
            break
        known = {_identity(each) for each in merged}
        hopeless |= known - promising
        leaders = [each for each in leaders if _identity(each) not in known]
    return hopeless


def _promising(
    leaders: list[Proposal],
    texts: dict[str, bytes],
    screen: Screen,
    depth: int,
    behind: _Refusals,
) -> tuple[list[Proposal], set[Identity]]:
    """Those that could be done together, and of these the ones that lead somewhere.

    Of each routine one: what one makes possible another may take away again.
    """
    of_routine: dict[tuple[str, str], Proposal] = {}
    for leader in leaders:
        of_routine.setdefault((leader.routine.file, leader.routine.name), leader)
    all_done, merged = _merged(texts, [*of_routine.values()])
    wanted = frozenset(name for leader in merged for name in leader.leads_to)
    try:
        offered = screen(all_done, wanted)
    except ImbrexError:  # one by one they may be understood
        return [], set()
    found: set[Identity] = set()
    further: dict[Identity, list[Proposal]] = {}
    for leader in merged:
        mine = [offer for offer in offered if offer.edits and _is_behind(offer, leader)]
        if not all(map(_leads, mine)):
            found.add(_identity(leader))
        elif mine:
            further[_identity(leader)] = mine
        else:
            behind.add([leader], offered, all_done)
    following = {_identity(o): o for mine in further.values() for o in mine}
    if following and depth > 0:
        known, deeper = _promising([*following.values()], all_done, screen, depth - 1, behind)
        deeper |= following.keys() - {_identity(o) for o in known}
        found |= {key for key, mine in further.items() if any(_identity(o) in deeper for o in mine)}
    else:
        found |= further.keys()
    return merged, found


@dataclass(slots=True)
class _Step:
    """A text, what came of it, and the proposals on the way to it."""

    texts: dict[str, bytes]
    result: Result
    offered: list[Proposal]
    taken: list[Proposal] = field(default_factory=list)
    before: list[dict[str, bytes]] = field(default_factory=list)  # each of them
    worth: Gain = (0, 0)


def _follow(
    step: _Step, leader: Proposal, best: Result, attempt: Attempt, depth: int
) -> _Step | None:
    """What gains by what a proposal has made possible, itself or one step further."""
    found: _Step | None = None
    for offer in step.offered:
        mine = _is_behind(offer, leader)
        if not offer.edits or not mine or (not offer.replaces and depth <= 1):
            continue
        texts, merged = _merged(step.texts, [offer])
        if not merged:
            continue
        try:
            tried, offered = attempt(texts)
        except ImbrexError:
            continue
        taken, before = [*step.taken, offer], [*step.before, step.texts]
        here: _Step | None = _Step(texts, tried, offered, taken, before)
        assert here is not None
        if offer.leads_to:
            here = _follow(here, offer, best, attempt, depth)
        elif offer.replaces:
            here.worth = gain(tried.decisions, by=offer)
            here = here if pays(offer, tried, best) else None
        else:
            here = _follow(here, leader, best, attempt, depth - 1)
        if here is not None and (found is None or here.worth > found.worth):
            found = here
    return found


def _with_room(
    leader: Proposal,
    offered: list[Proposal],
    plain: tuple[dict[str, bytes], Result],
    attempt: Attempt,
) -> _Step | None:
    """A routine that is replaced, with buffers of their own for its messages, where more of these
    are then under way around the work of its callers.

    `plain`: the text as it is, and what comes of it where the routine's buffers stay.
    """
    name = leader.routine.name
    buffers = [p for p in offered if p.edits and p.for_work and p.routine.name == name]
    if not leader.replaces or not buffers:
        return None
    current, known = plain
    texts, merged = _merged(current, buffers)
    if not merged:
        return None
    try:
        tried, offers = attempt(texts)
        step = _Step(texts, tried, offers, merged, [current] * len(merged))
        for _ in range(_DEPTH):
            more = _one_more(step, name, attempt)
            if more is None:
                break
            step = more
        again = [p for p in step.offered if p.edits and p.rewrite == leader.rewrite]
        again = [p for p in again if p.routine.name == name and p.worth > leader.worth]
        divided, found = _merged(step.texts, again[:1])
        if not found:
            return None
        tried, offers = attempt(divided)
    except ImbrexError:
        return None
    reached = gain(tried.decisions, by=found[0])
    if reached <= gain(known.decisions, by=leader):
        return None
    taken, before = [*step.taken, *found], [*step.before, step.texts]
    return _Step(divided, tried, offers, taken, before, reached)


def _one_more(step: _Step, name: str, attempt: Attempt) -> _Step | None:
    """What helps inside a routine once its buffers are apart: packing goes ahead of unpacking."""
    for offer in step.offered:
        inside = offer.routine.name == name and not (offer.replaces or offer.leads_to)
        texts, merged = _merged(step.texts, [offer] if inside and offer.edits else [])
        if not merged:
            continue
        tried, offered = attempt(texts)
        if pays(offer, tried, step.result):
            return _Step(texts, tried, offered, [*step.taken, offer], [*step.before, step.texts])
    return None


def _placed(proposal: Proposal, first: dict[str, bytes], current: dict[str, bytes]) -> Proposal:
    """The proposal with the lines of the first text."""
    place = proposal.reason.location
    file = proposal.routine.file
    if proposal.opened or proposal.starts or proposal.matching:
        maps = line_maps(first, current)
        opened, starts, matching = (
            frozenset((name, maps[name].line(line)) for name, line in lines)
            for lines in (proposal.opened, proposal.starts, proposal.matching)
        )
        proposal = replace(proposal, opened=opened, starts=starts, matching=matching)
    if proposal.posts and file in current:
        lines = LineMap(first[file], current[file])
        posts = frozenset((name, lines.line(line)) for name, line in proposal.posts)
        proposal = replace(proposal, posts=posts)
    known = LineMap(first[place.file], current[place.file])
    where = Location(place.file, known.line(place.line))
    cause = proposal.reason.cause.renumbered(known.line)
    return replace(proposal, reason=Reason(cause, where))


def _identity(proposal: Proposal) -> Identity:
    edits = ";".join(edit.text for changes in proposal.edits.values() for edit in changes)
    return proposal.rewrite, proposal.routine.name, edits, proposal.leads_to


def _identified(proposals: Iterable[Proposal]) -> Rejected:
    return {_identity(each): frozenset(each.edits) for each in proposals}


def _batch(offered: list[Proposal]) -> list[Proposal]:
    """The first proposal of each routine; one that changes several routines goes alone.

    Those that make the same possible go together. What only has messages under way beside others
    comes last: a window with work in it may need the same calls.
    """
    offered = [proposal for proposal in offered if not proposal.beside] or offered
    found: dict[tuple[str, str], Proposal] = {}
    for proposal in offered:
        if not proposal.replaces and not proposal.leads_to:
            found.setdefault((proposal.routine.file, proposal.routine.name), proposal)
    if found or not offered:
        return list(found.values())
    leader = offered[0]
    if not leader.leads_to:
        return [leader]
    if leader.divides:
        return [leader]
    return [p for p in offered if p.rewrite == leader.rewrite and p.also == leader.also]


def _merged(
    current: dict[str, bytes], batch: list[Proposal]
) -> tuple[dict[str, bytes], list[Proposal]]:
    """The texts with the edits of all proposals; those that overlap with earlier ones are left."""
    kept: list[Proposal] = []
    texts = current
    for proposal in batch:
        try:
            texts = {
                name: apply_edits(
                    data, [e for p in [*kept, proposal] for e in p.edits.get(name, [])]
                )
                for name, data in current.items()
            }
        except ValueError:
            continue
        kept.append(proposal)
    return texts, kept
