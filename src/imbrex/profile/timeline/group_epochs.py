"""Epochs of MPI_Win_post, start, complete and wait: who gives, who takes, and who waits for whom.

The rules are those of runtime/analysis/group_epoch.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.call_log import Flag, Kind
from imbrex.profile.format import Table
from imbrex.profile.timeline.format import UNKNOWN, Match

START_OWN_NS = 20_000
"""For how long a start that need not wait for a post may be busy."""
_BEGIN = ("MPI_Win_post", "MPI_Win_start")


def is_group_epoch(calls: Table) -> NDArray[np.bool_]:
    """Records of one member of the group of an epoch."""
    return np.isin(calls["kind"], (Kind.EXPOSURE, Kind.ACCESS))


def begins_epoch(calls: Table, operations: Sequence[str]) -> NDArray[np.bool_]:
    """Those of them that begin it, and do not end it."""
    numbers = [number for number, name in enumerate(operations) if name in _BEGIN]
    return np.asarray(is_group_epoch(calls) & np.isin(calls["operation"], numbers), np.bool_)


def gives(calls: Table, begins: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Posts and completes: the other side waits for them."""
    kind = calls["kind"]
    return np.asarray(
        ((kind == Kind.EXPOSURE) & begins) | ((kind == Kind.ACCESS) & ~begins), np.bool_
    )


def posted_ns(calls: Table, begins: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Of each start, and of each complete by its start: when the target's post was entered, UNKNOWN
    where that is not known or nobody waits for it; of all other records too."""
    found = np.full(len(calls), UNKNOWN, np.int64)
    access = calls["kind"] == Kind.ACCESS
    known: dict[tuple[Any, ...], int] = {}
    names = ("rank", "thread", "comm", "peer", "sequence")
    for row in np.flatnonzero(access).tolist():
        key = tuple(int(calls[name][row]) for name in names)
        if begins[row]:
            needs = calls["match"][row] == Match.MATCHED and not calls["flags"][row] & Flag.VARYING
            known[key] = int(calls["peer_enter_ns"][row]) if needs else UNKNOWN
        found[row] = known.get(key, UNKNOWN)
    return found
