"""Whom the ranks waited for that stood at one place of a run which did not come to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from imbrex.diagnosis.wording import MOST_NAMED, name_ranks
from imbrex.profile.awaited import ANY, Awaited
from imbrex.profile.run import Run

_SURE = (Awaited.SEND, Awaited.RECEIVE, Awaited.COLLECTIVE)
_COLLECTIVE = (Awaited.COLLECTIVE, Awaited.ONE_OF_COLLECTIVES)


@dataclass(frozen=True)
class Awaits:
    """Whom ranks that stood in one call waited for.

    `peers` are ranks of MPI_COMM_WORLD whose send or receive they waited for, `missing` those that
    had not entered the collective. `tags` are those of the messages, -1 for any. `any_source`: it
    was of whatever rank. `is_sure`: the call has no other requests that it may wait for. `circle`:
    the ranks wait for each other, in this order. `is_own`: each waits for itself.
    """

    peers: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    tags: tuple[int, ...] = ()
    any_source: bool = False
    is_sure: bool = True
    circle: tuple[int, ...] = ()
    is_own: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "peers": list(self.peers),
            "missing": list(self.missing),
            "tags": list(self.tags),
            "any_source": self.any_source,
            "is_sure": self.is_sure,
            "circle": list(self.circle),
        }

    def text(self, ranks: tuple[int, ...], operation: str) -> str:
        """`, waiting for rank 3 (tag 7)`, as it stands behind the call that `ranks` stood in."""
        if self.missing:
            is_request = operation.startswith("MPI_Wait")
            begin = "for a collective that" if is_request else "which"
            return f", {begin} {name_ranks(self.missing)} did not enter"
        tag = _tag(self.tags)
        if self.circle and set(self.circle) == set(ranks) and len(ranks) == 2:
            return f", each waiting for the other{tag}"
        if self.circle:
            order = ", ".join(map(str, self.circle[: MOST_NAMED + 1]))
            more = ", ..." if len(self.circle) > MOST_NAMED + 1 else ""
            return f", waiting for each other in a circle ({order}{more}){tag}"
        if self.any_source and not self.peers:
            return f", waiting for any rank{tag}"
        if self.is_own:
            return f", waiting for {'itself' if len(ranks) == 1 else 'themselves'}{tag}"
        if not self.is_sure and set(self.peers) <= set(ranks) and len(ranks) > 1:
            return f", with messages open among them{tag}"
        if not self.peers or len(self.peers) > MOST_NAMED:
            return ""
        begin = "waiting for" if self.is_sure else "with messages open to or from"
        return f", {begin} {name_ranks(self.peers)}{tag}"


def awaits_of(run: Run, threads: Mapping[int, int]) -> Awaits | None:
    """Of the ranks that stood at one place, each with the thread that did; None: not known."""
    if run.awaited is None:
        return None
    rows = [
        (int(row["rank"]), int(row["peer"]), int(row["tag"]), Awaited(int(row["kind"])))
        for row in run.awaited
        if threads.get(int(row["rank"])) == int(row["thread"])
    ]
    if not rows or {rank for rank, _, _, _ in rows} != threads.keys():
        return None  # of some it is not known
    messages = [row for row in rows if row[3] not in _COLLECTIVE]
    missing = {peer for _, peer, _, kind in rows if kind in _COLLECTIVE}
    return Awaits(
        peers=tuple(sorted({peer for _, peer, _, _ in messages if peer != ANY})),
        missing=tuple(sorted(missing)),
        tags=tuple(sorted({tag for _, _, tag, _ in messages})),
        any_source=any(peer == ANY for _, peer, _, _ in messages),
        is_sure=all(kind in _SURE for _, _, _, kind in rows),
        is_own=bool(messages) and all(rank == peer for rank, peer, _, _ in messages),
        circle=_circle({rank: peer for rank, peer, _, kind in messages if kind in _SURE}),
    )


def _circle(awaited: Mapping[int, int]) -> tuple[int, ...]:
    """Ranks each of which waits for the next, and the last for the first; of more than one."""
    done: set[int] = set()
    for start in sorted(awaited):
        path: list[int] = []
        rank = start
        while rank in awaited and rank not in done:
            done.add(rank)
            path.append(rank)
            rank = awaited[rank]
        if rank in path and len(path) - path.index(rank) > 1:
            return tuple(path[path.index(rank) :])
    return ()


def _tag(tags: tuple[int, ...]) -> str:
    if len(tags) != 1:
        return ""
    return " (any tag)" if tags[0] == ANY else f" (tag {tags[0]})"
