"""Whom the calls of killed ranks wait for, by what each left: the arguments of the call that it is
in, its open requests, and which collectives it entered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.profile.awaited import ANY, AWAITED_DTYPE, Awaited
from imbrex.profile.call_log import CallLog, Communicator, Flag, Kind, read_call_log
from imbrex.profile.format import Ended, Table
from imbrex.profile.part import Part
from imbrex.profile.part_standing import PartStanding
from imbrex.profile.standing import State

MOST_PEERS = 64
"""So many of them are kept for one call."""
_SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend")
_RECEIVES = ("MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Sendrecv_replace")
_FROM_ROOT = ("MPI_Bcast", "MPI_Scatter", "MPI_Scatterv")
_WAITS_ALL = ("MPI_Wait", "MPI_Waitall")
_WAITS = (*_WAITS_ALL, "MPI_Waitany", "MPI_Waitsome")
_OPEN = 0
_SEND_KINDS = range(Kind.SEND, Kind.RECV)
_COLLECTIVES = range(Kind.ALL, Kind.NEIGHBOURS + 1)
_ANY_SOURCE = _ANY_TAG = -3


@dataclass(frozen=True)
class _Rank:
    part: Part
    log: CallLog
    entered: Mapping[int, int]
    """How many collectives it entered, by the number of their communicator."""

    @property
    def number(self) -> int:
        return int(self.part.rank["rank"])


def awaited_of(parts: Sequence[Part]) -> Table:
    """The rows of AWAITED_DTYPE of a job's parts; none where nobody is in a call."""
    if not any(s.state == State.IN_CALL for part in parts for s in part.standing):
        return np.empty(0, AWAITED_DTYPE)
    ranks = {rank.number: rank for part in parts if (rank := _read(part)) is not None}
    rows = [
        (rank.number, peer, tag, kind, 0, stand.thread)
        for rank in ranks.values()
        for stand in rank.part.standing
        if stand.state == State.IN_CALL
        for peer, tag, kind in _unique(_awaited(rank, stand, ranks))
    ]
    return np.array(rows, AWAITED_DTYPE)


def _unique(found: Iterator[tuple[int, int, Awaited]]) -> list[tuple[int, int, Awaited]]:
    return list(dict.fromkeys(found))[:MOST_PEERS]


def _read(part: Part) -> _Rank | None:
    try:
        log = read_call_log(part.file)
    except ImbrexError:
        return None
    calls = log.calls
    collective = (calls["kind"] >= min(_COLLECTIVES)) & (calls["kind"] <= max(_COLLECTIVES))
    collective &= calls["flags"] & Flag.PERSISTENT == 0  # of those the inits are counted
    entered: dict[int, int] = {}
    for comm in np.unique(calls["comm"][collective]):
        entered[int(comm)] = int(calls["sequence"][collective & (calls["comm"] == comm)].max())
    for stand in part.standing:
        if stand.awaited is not None and _is_collective(stand):
            comm, _, number = stand.awaited
            entered[comm] = max(entered.get(comm, 0), number)
    return _Rank(part, log, entered)


def _name(stand: PartStanding) -> str:
    return stand.operation.removesuffix("_c")


def _is_collective(stand: PartStanding) -> bool:
    return _name(stand) not in (*_SENDS, *_RECEIVES, *_WAITS)


def _awaited(
    rank: _Rank, stand: PartStanding, ranks: Mapping[int, _Rank]
) -> Iterator[tuple[int, int, Awaited]]:
    """Peers, tags and what for, of one thread."""
    if _name(stand) in _WAITS:
        yield from _of_requests(rank, stand, ranks)
    elif stand.awaited is not None:
        comm, peer, tag = stand.awaited
        communicator = rank.log.communicators.get(comm)
        if communicator is None:
            return
        if _is_collective(stand):
            root = peer if _name(stand) in _FROM_ROOT else None
            for missing in _missing(rank, communicator, tag, root, ranks):
                yield missing, 0, Awaited.COLLECTIVE
        else:
            kind = Awaited.SEND if _name(stand) in _SENDS else Awaited.RECEIVE
            yield from _of_message(communicator, peer, tag, kind)


def _of_message(
    communicator: Communicator, peer: int, tag: int, kind: Awaited
) -> Iterator[tuple[int, int, Awaited]]:
    tag = ANY if tag == _ANY_TAG else tag
    if peer == _ANY_SOURCE:
        yield ANY, tag, kind
    elif communicator.peers is not None and 0 <= peer < len(communicator.peers):
        world = communicator.peers[peer]
        if world >= 0:
            yield world, tag, kind


def _of_requests(
    rank: _Rank, stand: PartStanding, ranks: Mapping[int, _Rank]
) -> Iterator[tuple[int, int, Awaited]]:
    """Of what is open, which a call that completes requests may wait for."""
    calls = rank.log.calls
    calls = calls[(calls["end_call"] == _OPEN) & (calls["enter_ns"] <= stand.since_ns)]
    message = (calls["kind"] >= Kind.SEND) & (calls["kind"] <= Kind.RECV)
    collective = (calls["kind"] >= min(_COLLECTIVES)) & (calls["kind"] <= max(_COLLECTIVES))
    calls = calls[message | (collective & (calls["flags"] & Flag.PERSISTENT == 0))]
    # The log does not tell which of them are in the call's list.
    further = 0 if len(calls) == 1 and _name(stand) in _WAITS else 3
    for call in calls:
        communicator = rank.log.communicators.get(int(call["comm"]))
        if communicator is None:
            continue
        if int(call["kind"]) in _COLLECTIVES:
            number = int(call["sequence"])
            for missing in _missing(rank, communicator, number, None, ranks):
                yield missing, 0, Awaited(Awaited.COLLECTIVE + further)
        else:
            kind = Awaited.SEND if int(call["kind"]) in _SEND_KINDS else Awaited.RECEIVE
            found = _of_message(communicator, int(call["peer"]), int(call["tag"]), kind)
            for peer, tag, _ in found:
                yield peer, tag, Awaited(kind + further)


def _missing(
    rank: _Rank,
    communicator: Communicator,
    number: int,
    root: int | None,
    ranks: Mapping[int, _Rank],
) -> Iterator[int]:
    """Which members did not enter the collective of this number; not those of whom it is unknown.
    Of one from a root the root alone, where this rank is not the root itself."""
    members = communicator.own
    if members is None or communicator.inter or communicator.met:
        return
    if root is not None and 0 <= root < len(members) and members[root] != rank.number:
        members = [members[root]]
    for member in members:
        other = ranks.get(member)
        if other is None or other.number == rank.number or not other.log.complete:
            continue
        if other.entered.get(communicator.number, 0) < number and _is_known(other):
            yield member


def _is_known(rank: _Rank) -> bool:
    """Whether the rank is in no call that may be the collective without saying so."""
    return int(rank.part.rank["ended"]) != Ended.FINALIZED and all(
        stand.state != State.IN_CALL
        or stand.awaited is not None
        or _name(stand) in (*_WAITS, *_SENDS, *_RECEIVES, "MPI_Finalize", "MPI_Abort")
        for stand in rank.part.standing
    )
