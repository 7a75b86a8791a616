"""What became of single messages of a time line: hidden, exposed, stalled or late, and why.

The rules follow the causes of the call that saw the receive complete (runtime/analysis/causes.c)
and the bounds of the transfer (docs/theory/measuring.md); they only choose which of them to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.diagnosis import wording
from imbrex.profile.timeline.timeline import Timeline

_Array = NDArray[Any]
MOSTLY = 0.5
"""The share of a time from which something is told as its reason."""


class Fate(IntEnum):
    """What a message is drawn as."""

    HIDDEN = 0
    EXPOSED = 1
    STALLED = 2
    LATE = 3
    OPEN = 4


FATE_WORDS = ("hidden", "exposed", "stalled", "late", "not decided")


class Reason(IntEnum):
    """Why; the texts are in REASON_TEXTS."""

    HIDDEN = 0
    LATE_SENDER = 1
    LATE_OTHER = 2
    LATE_RECEIVER = 3
    LOST_OVERLAP = 4
    STALLED = 5
    BLOCKING = 6
    NO_WINDOW = 7
    NOT_MOVED = 8
    INSIDE_MPI = 9
    OPEN = 10
    NO_TIMES = 11


_FATE_OF = (
    *(Fate.HIDDEN, Fate.LATE, Fate.LATE, Fate.LATE, Fate.STALLED, Fate.STALLED),
    *(Fate.EXPOSED, Fate.EXPOSED, Fate.EXPOSED, Fate.EXPOSED, Fate.OPEN, Fate.OPEN),
)

REASON_TEXTS = (
    "Hidden: of the {x} that the network needs, at least {hidden} passed while rank {receiver} "
    "computed.",
    "Late sender: rank {receiver} waited in {wait}, and rank {sender} entered {send} only {late} "
    "later. No overlap helps while there is nothing to send: balance the work, or send earlier.",
    "Rank {receiver} was in {wait}, which also waited for rank {other}: that came {late} late. "
    "This message was not what it waited for.",
    "Late receiver: rank {sender} waited until rank {receiver} entered {receive}, {late} later. "
    "Post the receive earlier.",
    "Not hidden, though it could have been: both sides had begun {window} before rank {receiver} "
    "entered {wait}, and it computed. Then {inside} passed inside that call, where the network "
    "needs {x}. Nobody drove the transfer meanwhile: MPI_Test calls in the work, a progress thread "
    "or a setting would.",
    "Stalled: {inside} passed inside {wait} with both sides there, where the network needs {x}. "
    "The cores, the memory or the link were shared, or rank {sender} computed without driving it.",
    "Not hidden, because {wait} receives and waits in one call: {inside} of it passed with both "
    "sides there. Post the receive earlier (MPI_Irecv), compute, and wait then.",
    "Not hidden, because there was no work to hide it behind: only {window} lay between the begin "
    "of the transfer and {wait}, and the network needs {x}. Begin earlier, or wait later.",
    "Not hidden, though there were {window} of work between the begin of the transfer and {wait}: "
    "{inside} passed inside that call; the network needs {x}.",
    "Not hidden: of the {x} that the network needs at most {hidden_max} passed while rank "
    "{receiver} computed. Of the {window} between the begin of the transfer and {wait} it spent "
    "the rest inside MPI, or nobody drove the transfer.",
    "Not decided: of the {x} that the network needs, {hidden} to {hidden_max} were hidden.",
    "How long the network needs for it is not known: calibrate, and it is.",
)
"""By Reason. What stands in braces are ranks, calls with their places, and times."""


@dataclass(frozen=True)
class Fates:
    """One entry per message of `Timeline.messages`; times in ns.

    `wait` is the row of the call that saw the receive complete, -1 where it is not in the time
    line. `late_ns` is what `reason` calls late, `other` the rank of it; `inside_ns` the time in
    the wait with both sides there, `window_ns` the receiver's time between the begin of the
    transfer and the wait.
    """

    fate: NDArray[np.uint8]
    reason: NDArray[np.uint8]
    wait: NDArray[np.int64]
    late_ns: NDArray[np.int64]
    inside_ns: NDArray[np.int64]
    window_ns: NDArray[np.int64]
    other: NDArray[np.int64]


def fates(timeline: Timeline) -> Fates:
    """What became of each message."""
    calls, messages = timeline.calls, timeline.messages
    send, receive = calls[messages["send"]], calls[messages["receive"]]
    begun, entered, left = send["enter_ns"], receive["end_enter_ns"], receive["end_exit_ns"]
    wait = row_of_call(timeline, receive["rank"], entered)
    late = np.maximum(0, np.minimum(begun, left) - entered)
    inside = np.maximum(0, left - np.maximum(entered, begun))
    window = np.maximum(0, entered - np.maximum(receive["exit_ns"], begun))
    least, most = receive["x_lo_ns"], receive["x_hi_ns"]
    wait_late = _sum_of(calls, wait, ("late_sender", "late_receiver", "late_collective"))
    stalled = _sum_of(calls, wait, ("stalled",))
    lost = _sum_of(calls, wait, ("lost_overlap",))
    length = np.maximum(1, left - entered)
    sender_late, sender_length = _late_receiver(timeline, send, receive)
    other, other_late = _last_to_come(wait, begun, send["rank"], entered, left)

    rules = (
        (Reason.LATE_SENDER, late > MOSTLY * length),
        (Reason.NO_TIMES, most <= 0),
        (Reason.HIDDEN, receive["hidden_min_ns"] >= MOSTLY * most),
        (Reason.LATE_OTHER, (wait_late > MOSTLY * length) & (other != send["rank"])),
        (Reason.LATE_RECEIVER, sender_late > MOSTLY * np.maximum(1, sender_length)),
        (
            Reason.LOST_OVERLAP,
            # Less time inside than the network needs at least: some of it was hidden.
            (lost >= MOSTLY * inside) & (inside >= least) & (window >= MOSTLY * least),
        ),
        (Reason.STALLED, (inside > most) & (stalled > MOSTLY * inside)),
        (
            Reason.BLOCKING,
            (entered == receive["enter_ns"]) & (inside >= MOSTLY * np.minimum(least, inside + 1)),
        ),
        (Reason.NO_WINDOW, (receive["exposed_min_ns"] > 0) & (window < least)),
        (Reason.NOT_MOVED, receive["exposed_min_ns"] >= MOSTLY * most),
        (Reason.INSIDE_MPI, receive["hidden_max_ns"] < MOSTLY * least),
    )
    reason = np.full(len(messages), Reason.OPEN, np.uint8)
    for name, holds in reversed(rules):
        reason[holds] = name
    fate = np.asarray(_FATE_OF, np.uint8)[reason]
    fate[(reason == Reason.LOST_OVERLAP) & (inside <= most)] = Fate.EXPOSED
    late = np.where(reason == Reason.LATE_OTHER, other_late, late)
    late = np.where(reason == Reason.LATE_RECEIVER, sender_late, late)
    return Fates(
        fate=fate,
        reason=reason,
        wait=wait,
        late_ns=late,
        inside_ns=inside,
        window_ns=window,
        other=other,
    )


def row_of_call(timeline: Timeline, rank: _Array, enter_ns: _Array) -> NDArray[np.int64]:
    """The first row of the call that a rank entered at a moment, -1 where it is not there."""
    calls = timeline.calls
    rows = np.flatnonzero(timeline.first)
    found = np.full(len(rank), -1, np.int64)
    if not len(rows) or not len(rank):
        return found
    times, numbers = np.unique(
        np.concatenate([calls["enter_ns"][rows], enter_ns]), return_inverse=True
    )
    del times
    keys = calls["rank"][rows].astype(np.int64) << 32 | numbers[: len(rows)]
    wanted = np.asarray(rank, np.int64) << 32 | numbers[len(rows) :]
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(rows) - 1)
    same = keys[order[at]] == wanted
    found[same] = rows[order[at]][same]
    return found


def _sum_of(calls: Any, rows: _Array, names: tuple[str, ...]) -> _Array:
    """The least of some causes of calls, 0 where the call is not there."""
    if not len(calls):
        return np.zeros(len(rows), np.int64)
    total = sum(calls[f"{name}_min_ns"][rows].astype(np.int64) for name in names)
    return np.where(rows >= 0, total, 0)


def _late_receiver(timeline: Timeline, send: Any, receive: Any) -> tuple[_Array, _Array]:
    """How long senders waited for the receive to be posted, and how long that call was."""
    rows = row_of_call(timeline, send["rank"], send["end_enter_ns"])
    waited = _sum_of(timeline.calls, rows, ("late_receiver",))
    posted = np.maximum(0, receive["enter_ns"] - send["end_enter_ns"])
    return np.minimum(waited, posted), send["end_exit_ns"] - send["end_enter_ns"]


def _last_to_come(
    wait: _Array, begun: _Array, sender: _Array, entered: _Array, left: _Array
) -> tuple[_Array, _Array]:
    """Of the messages that one call completed the sender that began last, and how late (ns)."""
    order = np.lexsort((begun, wait))
    last = np.ones(len(order), np.bool_)
    last[:-1] = wait[order[1:]] != wait[order[:-1]]
    group = np.cumsum(np.concatenate([[0], last[:-1]])).astype(np.int64) if len(order) else order
    ends = order[last]
    other, late = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    if len(order):
        other[order] = sender[ends][group]
        late[order] = begun[ends][group]
    return other, np.maximum(0, np.minimum(late, left) - entered)


def explain(timeline: Timeline, found: Fates, number: int, names: Mapping[int, str]) -> str:
    """Why a message was or was not hidden, in words; `names`: `MPI_Wait at a.c:3` by row."""
    calls = timeline.calls
    message = timeline.messages[number]
    send, receive = calls[message["send"]], calls[message["receive"]]
    wait = int(found.wait[number])

    def time(nanoseconds: int) -> str:
        return wording.seconds(int(nanoseconds) / 1e9)

    return REASON_TEXTS[found.reason[number]].format(
        sender=send["rank"],
        receiver=receive["rank"],
        other=found.other[number],
        send=names[message["send"]],
        receive=names[message["receive"]],
        wait=names[wait] if wait >= 0 else "the call that completed it",
        late=time(found.late_ns[number]),
        inside=time(found.inside_ns[number]),
        window=time(found.window_ns[number]),
        x=wording.interval(int(receive["x_lo_ns"]) / 1e9, int(receive["x_hi_ns"]) / 1e9),
        hidden=time(receive["hidden_min_ns"]),
        hidden_max=time(receive["hidden_max_ns"]),
    )
