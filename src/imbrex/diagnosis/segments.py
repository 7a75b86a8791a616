"""The whole run as parts of one bar: compute, each cause for certain, and what is not certain."""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.diagnosis.account import Account
from imbrex.diagnosis.words import CAUSE_WORDS
from imbrex.profile.causes import CAUSES

OPEN = "open"
"""The part of which more than one cause may be the reason."""
WAITING = "waiting"
"""Of a run without causes: time with nothing in flight."""

_MATTERS = 0.1
"""The share of the open time from which a cause is named for it."""


@dataclass(frozen=True)
class Segment:
    """A part of the run: `kind` is compute, a cause, `open` or `waiting`; `share` is of 1."""

    kind: str
    words: str
    share: float


def segments(account: Account) -> tuple[Segment, ...]:
    """The parts in the order of the bar; their shares add up to 1 where anything was measured."""
    busy = account.busy_s
    if busy <= 0:
        return ()
    found = [Segment("compute", "compute", account.compute_s / busy)]
    whole = account.whole
    if not account.caused:
        waiting = min(account.sums.wait_min_s, whole.call_s)
        found.append(Segment(WAITING, "waiting, nothing in flight", waiting / busy))
        found.append(Segment(OPEN, "waiting or transfer", (whole.call_s - waiting) / busy))
    else:
        for name in CAUSES:
            found.append(Segment(name, CAUSE_WORDS[name], whole.cause(name).low / busy))
        found.append(Segment(OPEN, _possible(account), whole.uncertain_s / busy))
    return tuple(found)


def _possible(account: Account) -> str:
    """The causes that may have the time that none has for certain."""
    whole = account.whole
    named = [
        CAUSE_WORDS[name]
        for name in CAUSES
        if whole.cause(name).width > _MATTERS * whole.uncertain_s
    ]
    if not named:
        return "not certain"
    *first, last = named
    return f"{', '.join(first)} or {last}" if first else f"perhaps {last}"
