"""Lists of requests that a routine fills and waits for itself, which live on when it returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.begun import Beginnings, Begun
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine


@dataclass(slots=True)
class OwnLists:
    """What a routine knows of them."""

    # The lists, and the request variables whose handles they take in.
    keys: frozenset[str] = frozenset()
    begins: set[int] = field(default_factory=set)  # statements that call what starts messages
    # What those touch, as the statement knows it that waits for them.
    ended: dict[int, list[Access]] = field(default_factory=dict)


def own_lists(beginnings: Beginnings, routine: Routine) -> OwnLists:
    """The lists whose waits in a routine are all for what it has started in front of them."""
    lists = beginnings.program.request_vectors
    ends: dict[int, tuple[str, Begun]] = {}
    elsewhere: set[str] = set()
    for statement in routine.statements():
        waits = [
            base
            for call in statement.calls
            if call.name in mpi_calls.REQUEST_OF_COMPLETION
            and (base := request_argument(call).base or "") in lists
        ]
        if not waits:
            continue
        body = routine.body
        index = body.statements.index(statement) if statement in body.statements else -1
        begun = beginnings.ended_by(routine, body, index) if index >= 0 else None
        if begun is None:
            elsewhere.update(waits)
        else:
            ends[id(statement)] = (waits[0], begun)
    own = {key for key, _ in ends.values()} - elsewhere
    changes = [s.list_change for s in routine.statements() if s.list_change is not None]
    found = OwnLists(frozenset(own | {c.taken for c in changes if c.key in own and c.taken}))
    for end, (key, begun) in ends.items():
        if key in own:
            _note_calls(found, beginnings.footprints, routine, end, begun)
    return found


def _note_calls(
    found: OwnLists, footprints: Footprints, routine: Routine, end: int, begun: Begun
) -> None:
    """Note what the calls touch that start some of the messages."""
    body = routine.body.statements
    last = next(n for n, statement in enumerate(body) if id(statement) == end)
    for statement in begun.statements:
        if any(footprints.program.callee(c.name, routine.file) for c in statement.calls):
            found.begins.add(id(statement))
            changed = footprints.changed_by(body[body.index(statement) : last], routine.file)
            accesses = footprints.of(statement, routine.file).accesses
            found.ended.setdefault(end, []).extend(footprints.later(accesses, changed))
